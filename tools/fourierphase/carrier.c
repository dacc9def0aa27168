/*
 * Finds the carrier of an image, the frequency of its fringes, in its power spectrum: a peak that
 * stands out from its surroundings on all sides (texture, noise) and from the frequencies below and
 * above it in its own direction (the trail of an edge).
 */
#include "fourierphase.h"

#include "image/statistics.h"
#include "run/run.h"

/* ---- the spectrum of an image: the mean over pieces of it ---- */

#define TILES 3		/* pieces along each side of the image, or fewer */
#define RING_RATIO 1.25	/* of the frequencies of a ring and the next one */

/* A wave that fades n samples out towards both ends. */
static void
make_fade(float *fade, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fade[i] = (float)pow(sin(M_PI * ((double)i + 0.5) / (double)n), 2);
}

/* Sets the first samples of the pieces along a side of n; how many there are. */
static size_t
place_tiles(size_t n, size_t tile, size_t *at)
{
	size_t count = (n + tile - 1) / tile;

	count = count < TILES ? count : TILES;
	for (size_t i = 0; i < count; i++)
		at[i] = count > 1 ? i * (n - tile) / (count - 1) : 0;
	return count;
}

/* Adds up the powers of all pieces, whose first columns and rows are at x and y. */
static void
add_pieces(struct run *run, struct spectrum_job *job, const size_t *x, size_t across_n,
    const size_t *y, size_t down_n)
{
	const struct fourier_spectrum *spectrum = job->spectrum;
	const size_t n = across_n * down_n;

	for (size_t i = 0; i < n; i += 2) {
		job->pieces = n - i < 2 ? 1 : 2;
		for (size_t k = 0; k < job->pieces; k++)
			job->piece[k] = (struct spectrum_piece){ job->signal->v +
				y[(i + k) / across_n] * job->signal->w + x[(i + k) % across_n] };
		run_for(run, job->pieces, fourierphase_rows()->spectrum_piece, job);
		run_for(run, fourier_items(spectrum->h, FFT_LANES),
		    fourierphase_rows()->spectrum_rows, job);
		run_for(run, fourier_items(spectrum->w, FFT_LANES),
		    fourierphase_rows()->spectrum_columns, job);
		for (size_t k = 0; k < job->pieces; k++)
			free(job->piece[k].counts);
	}
}

/* The caller drops the spectrum's store. */
static void
fourier_spectrum_make(struct run *run, const struct fourier_signal *signal,
    struct fourier_spectrum *spectrum)
{
	struct spectrum_job job = { .signal = signal, .spectrum = spectrum };
	size_t stride, plane, all, x[TILES], y[TILES], across_n, down_n;
	struct pixel_store *store;
	float *memory;

	spectrum->tile_w = signal->w < SPECTRUM_TILE ? signal->w : SPECTRUM_TILE;
	spectrum->tile_h = signal->h < SPECTRUM_TILE ? signal->h : SPECTRUM_TILE;
	spectrum->w = line_fft_length(spectrum->tile_w);
	spectrum->h = line_fft_length(spectrum->tile_h);
	spectrum->columns = spectrum->w / 2 + 1;
	/* rows a power of two apart would share a few places of the cache */
	stride = fourier_items(spectrum->w, FFT_LANES) * FFT_LANES;
	job.stride = stride + FFT_LANES;
	plane = job.stride * spectrum->h;
	all = spectrum->columns * spectrum->h;
	across_n = place_tiles(signal->w, spectrum->tile_w, x);
	down_n = place_tiles(signal->h, spectrum->tile_h, y);
	make_fade(job.fade_x, spectrum->tile_w);
	make_fade(job.fade_y, spectrum->tile_h);
	for (size_t i = 0; i < FOURIER_RINGS; i++)
		spectrum->ring[i] = NAN;
	spectrum->store = fourier_scratch(all * (2 + sizeof(double) / sizeof(float)), &memory);
	spectrum->sorted = (void *)memory;
	spectrum->power = (void *)(spectrum->sorted + all);
	spectrum->smooth = spectrum->power + all;
	store = fourier_scratch(3 * plane, &memory);
	line_fft_new(spectrum->w, &job.across);
	line_fft_new(spectrum->h, &job.down);
	job.re = memory;
	job.im = job.re + plane;
	job.power = job.im + plane;
	memset(memory, 0, 3 * plane * sizeof(float));
	add_pieces(run, &job, x, across_n, y, down_n);
	run_for(run, spectrum->h, fourierphase_rows()->spectrum_power, &job);
	run_for(run, spectrum->h, fourierphase_rows()->spectrum_smooth, spectrum);
	line_fft_free(&job.across);
	line_fft_free(&job.down);
	pixel_store_drop(store);
}

/* The mean power over a square of 2 radius + 1 frequencies. */
static double
fourier_spectrum_mean(const struct fourier_spectrum *spectrum, double k, double l, long radius)
{
	long at_k = lround(k), at_l = lround(l);
	double sum = 0;

	for (long i = -radius; i <= radius; i++)
		for (long j = -radius; j <= radius; j++)
			sum += (double)fourier_spectrum_power(
			    spectrum, spectrum->power, at_k + i, at_l + j);
	return sum / (double)((2 * radius + 1) * (2 * radius + 1));
}

/* How many frequencies of a row lie within this square of their size. */
static size_t
columns_within(const struct fourier_spectrum *spectrum, double fy, double square)
{
	double room = square - fy * fy, x = room < 0 ? -1 : sqrt(room) * (double)spectrum->w;

	return x < 0 ? 0 : x < (double)spectrum->columns ? (size_t)x + 1 : spectrum->columns;
}

/* The median power of the ring that a frequency lies in. */
static double
fourier_spectrum_ring(struct fourier_spectrum *spectrum, struct fourier_carrier f)
{
	double i = floor(-log(hypot(f.x, f.y)) / log(RING_RATIO));
	size_t r = i < 0 ? 0 : i < FOURIER_RINGS - 1 ? (size_t)i : FOURIER_RINGS - 1, n = 0;
	double inner = r < FOURIER_RINGS - 1 ? pow(RING_RATIO, -2 * (double)(r + 1)) : 0;
	double outer = pow(RING_RATIO, -2 * (double)r);

	if (!isnan(spectrum->ring[r]))
		return spectrum->ring[r];
	for (size_t y = 0; y < spectrum->h; y++) {
		double fy = fourier_spectrum_frequency(spectrum, 0, y).y;
		size_t x = columns_within(spectrum, fy, inner);
		size_t end = columns_within(spectrum, fy, outer);

		for (x += y == 0 && x == 0; x < end; x++)
			spectrum->sorted[n++] =
			    (double)spectrum->smooth[y * spectrum->columns + x];
	}
	spectrum->ring[r] = n ? statistics_quantile(spectrum->sorted, n, 0.5) : 0;
	return spectrum->ring[r];
}

/* ---- peaks ---- */

#define MIN_SIDE_PX 16			/* rows or columns do not show a period */
#define CONTRAST_LEAST 10	/* of a peak; noise and texture reach a third of it (tests) */
#define CONTRAST_MOST 100	/* a higher one makes no peak better */
#define POWER_LEAST 1e-4	/* of the greatest power: nobody projects weaker fringes */
#define FREQUENCY_LEAST 1e-6	/* turns per pixel, a lower one is 0 */
/* distances from a peak's top, over its frequency */
#define TOP_REACH 0.35		/* the centre of a narrow peak is searched for so far */
#define WINDOW_REACH 0.75	/* the centre of a peak that a surface spreads */
#define SPREAD 0.03		/* the centre of such a peak lies further away than this */
#define SETTLED 0.01		/* the centre rests when it moves by less */
#define SAME_FRINGES 0.75	/* a peak within it belongs to the same fringes */
#define HARMONIC 0.15		/* a harmonic may be off by so much */
#define MOVES 10		/* of the centre, at most */
#define RADIUS 24		/* frequencies that a centre is taken from, to either side */
#define RING_FLOOR 4			/* times the median of its ring: more stands out */
#define OTHER_SHARE 0.2		/* of the best peak's power: less is not another pattern */

/* A peak's power over that at `times` its frequency and at its frequency over `times`. A trail,
 * whose power falls evenly, has 1. */
static double
contrast_along(const struct fourier_spectrum *spectrum, struct fourier_carrier f, double power,
    double times)
{
	double k = f.x * (double)spectrum->w, l = f.y * (double)spectrum->h, below, above;
	long radius = lround(0.08 * hypot(k, l));

	radius = radius < 1 ? 1 : radius;
	below = fourier_spectrum_mean(spectrum, k / times, l / times, radius);
	above = fourier_spectrum_mean(spectrum, k * times, l * times, radius);
	if (times * fmax(fabs(f.x), fabs(f.y)) >= 0.5)
		above = below;
	return below > 0 && above > 0 ? power / sqrt(below * above) : CONTRAST_MOST;
}

/* The contrast of a peak: the better of two distances, as the surface may spread the peak, but no
 * more than its power over the median of its ring. */
static double
contrast(struct fourier_spectrum *spectrum, struct fourier_carrier f, double power)
{
	double ring = fourier_spectrum_ring(spectrum, f);

	return fmin(ring > 0 ? power / ring : CONTRAST_MOST,
	    fmax(contrast_along(spectrum, f, power, 1.5), contrast_along(spectrum, f, power, 2)));
}

/* Is the power nowhere greater in the 3 x 3 frequencies about this one? */
static bool
is_summit(const struct fourier_spectrum *spectrum, size_t x, size_t y)
{
	const float *smooth = spectrum->smooth;
	float own = smooth[y * spectrum->columns + x];

	for (long i = -1; i <= 1; i++)
		for (long j = -1; j <= 1; j++)
			if (fourier_spectrum_power(spectrum, smooth, (long)x + i, (long)y + j) >
			    own)
				return false;
	return own > 0;
}

double
fourier_carrier_distance(struct fourier_carrier a, struct fourier_carrier b)
{
	return fmin(hypot(a.x - b.x, a.y - b.y), hypot(a.x + b.x, a.y + b.y));
}

/* The same fringes, or a harmonic of them: n times their frequency, aliased at the Nyquist
 * frequency. */
static bool
belongs_to(struct fourier_carrier f, struct fourier_carrier of)
{
	double size = hypot(of.x, of.y);

	if (fourier_carrier_distance(f, of) < SAME_FRINGES * size)
		return true;
	for (int n = 2; n < 8; n++)
		if (fourier_carrier_distance(f, (struct fourier_carrier){ remainder(n * of.x, 1),
			    remainder(n * of.y, 1) }) < HARMONIC * size)
			return true;
	return false;
}

/* Texture at low frequencies may have more power than fringes, but less contrast. */
bool
fourier_carrier_better(const struct fourier_peak *a, const struct fourier_peak *b)
{
	return a->power * fmin(a->contrast, CONTRAST_MOST) >
	    b->power * fmin(b->contrast, CONTRAST_MOST);
}

/* Makes the frequency at x, y of the spectrum the best peak, if it is one and better. */
static void
judge_peak(struct fourier_spectrum *spectrum, const struct fourier_peak *of, size_t x,
    size_t y, struct fourier_peak best[2])
{
	struct fourier_peak peak = { fourier_spectrum_frequency(spectrum, x, y),
		(double)spectrum->smooth[y * spectrum->columns + x], 0 };
	size_t along = fabs(peak.carrier.y) > peak.carrier.x;
	double along_rows = peak.carrier.x * (double)spectrum->tile_w;
	double down = fabs(peak.carrier.y) * (double)spectrum->tile_h, ring;

	if ((along ? down : along_rows) < FOURIER_LEAST_CYCLES ||
	    fmax(peak.carrier.x, fabs(peak.carrier.y)) > FOURIER_CARRIER_MOST ||
	    !is_summit(spectrum, x, y))
		return;
	ring = fourier_spectrum_ring(spectrum, peak.carrier);
	if (peak.power < CONTRAST_LEAST * ring)
		return;
	peak.contrast = contrast(spectrum, peak.carrier, peak.power);
	if (peak.contrast < CONTRAST_LEAST || !fourier_carrier_better(&peak, &best[along]))
		return;
	if (of && ((of[0].contrast > 0 && belongs_to(peak.carrier, of[0].carrier)) ||
	    (of[1].contrast > 0 && belongs_to(peak.carrier, of[1].carrier))))
		return;
	best[along] = peak;
}

/* The best peaks of either direction, of a power of `least` or more; of: peaks that they must not
 * belong to, or NULL. */
static void
find_best(struct fourier_spectrum *spectrum, double least, const struct fourier_peak *of,
    struct fourier_peak best[2])
{
	size_t n = spectrum->columns;

	best[0] = best[1] = (struct fourier_peak){ 0 };
	if (of)
		least = fmax(least, OTHER_SHARE * fmax(of[0].power, of[1].power));
	for (size_t y = 0; y < spectrum->h; y++) {
		const float *smooth = spectrum->smooth + y * n;

		for (size_t x = 0; x < n; x++)
			if ((double)smooth[x] >= least && (x == 0 || smooth[x] >= smooth[x - 1]) &&
			    (x + 1 == n || smooth[x] >= smooth[x + 1]))
				judge_peak(spectrum, of, x, y, best);
	}
}

/* The centre of mass of what stands out round a frequency: within `reach` times it, of power above
 * `least` and above `rings` times the median of each ring. */
static struct fourier_carrier
find_centre(struct fourier_spectrum *spectrum, double reach, double least, double rings,
    struct fourier_carrier f)
{
	double w = (double)spectrum->w, h = (double)spectrum->h;
	double radius = reach * hypot(f.x, f.y), sum = 0, sum_x = 0, sum_y = 0;
	long k0 = lround(f.x * w), l0 = lround(f.y * h);
	long across = (long)(radius * w), down = (long)(radius * h);
	bool all = rings <= 0;
	long step_k = all ? 1 : 1 + across / RADIUS, step_l = all ? 1 : 1 + down / RADIUS;

	for (long i = -across / step_k * step_k; i <= across; i += step_k)
		for (long j = -down / step_l * step_l; j <= down; j += step_l) {
			double u = hypot((double)i / w, (double)j / h) / radius;
			double weight = all ? 1 : 1 - u * u, power;
			struct fourier_carrier own = { (double)(k0 + i) / w, (double)(l0 + j) / h };

			if (!(u <= 1))
				continue;
			power = (double)fourier_spectrum_power(spectrum, spectrum->smooth, k0 + i,
			    l0 + j) - fmax(least,
			    all ? 0 : rings * fourier_spectrum_ring(spectrum, own));
			if (power <= 0)
				continue;
			sum += weight * power;
			sum_x += weight * power * own.x;
			sum_y += weight * power * own.y;
		}
	return sum > 0 ? (struct fourier_carrier){ sum_x / sum, sum_y / sum } : f;
}

/*
 * The middle of the fringes' frequencies: of a narrow peak the centre of mass of its top. A surface
 * spreads the frequencies; the peak is that of its largest even part then, which may lie at one
 * end, and a window round it would cut the others off. So the centre of mass of all within the
 * window's reach takes its place, until it rests.
 */
static struct fourier_carrier
find_middle(struct fourier_spectrum *spectrum, const struct fourier_peak *peak)
{
	double least = fmax(peak->power / 20,
	    RING_FLOOR * fourier_spectrum_ring(spectrum, peak->carrier));
	struct fourier_carrier narrow = find_centre(spectrum, TOP_REACH, least, 0, peak->carrier);
	struct fourier_carrier f = narrow;

	for (int i = 0; i < MOVES; i++) {
		struct fourier_carrier next = find_centre(spectrum, WINDOW_REACH, 0,
		    RING_FLOOR, f);
		double moved = hypot(next.x - f.x, next.y - f.y) / hypot(f.x, f.y);

		if (i == 0 && !(moved > SPREAD))
			return narrow;
		f = next;
		if (!(moved > SETTLED))
			break;
	}
	return f;
}

/* Takes a peak to the middle of its frequencies; the carrier is positive along its axis. */
static void
refine(struct fourier_spectrum *spectrum, struct fourier_peak *peak, bool along_y)
{
	if (!(peak->contrast > 0))
		return;
	peak->carrier = find_middle(spectrum, peak);
	if (fabs(peak->carrier.x) < FREQUENCY_LEAST)
		peak->carrier.x = 0;
	if (fabs(peak->carrier.y) < FREQUENCY_LEAST)
		peak->carrier.y = 0;
	if (along_y ? peak->carrier.y < 0 : peak->carrier.x < 0) {
		peak->carrier.x = -peak->carrier.x;
		peak->carrier.y = -peak->carrier.y;
	}
}

void
fourier_carrier_find(
    struct run *run, const struct fourier_signal *signal, struct fourier_peaks *peaks)
{
	struct fourier_spectrum spectrum = { 0 };
	double least;

	fourier_spectrum_make(run, signal, &spectrum);
	memset(peaks, 0, sizeof(*peaks));
	peaks->few = signal->w < MIN_SIDE_PX || signal->h < MIN_SIDE_PX;
	least = POWER_LEAST * fourierphase_rows()->spectrum_greatest(&spectrum);
	find_best(&spectrum, least, NULL, peaks->best);
	find_best(&spectrum, least, peaks->best, peaks->other);
	for (int y = 0; y < 2; y++)
		refine(&spectrum, &peaks->best[y], y);
	pixel_store_drop(spectrum.store);
}
