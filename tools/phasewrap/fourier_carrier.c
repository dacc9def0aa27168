#include "fourier_carrier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "image/fft.h"
#include "image/statistics.h"
#include "run/run.h"

#define TILE 512	/* pixels along each side of a piece of the image, or less */
#define TILES 3		/* of them along each side of the image, or less */
#define LEAST_CYCLES 2.5	/* in a piece: less is the light, not fringes */
#define MOST 0.334	/* turns a pixel: patterns of compression and colour sensors lie above */
#define LEAST_POWER 1e-4	/* of the greatest: what has less is none that anybody projects */
#define CONTRAST 100	/* more makes no peak better */
#define LEAST_FREQUENCY 1e-6	/* less is none */
#define RINGS 64	/* of frequencies, each wider than the one before by: */
#define RING_RATIO 1.25
#define NEAR 0.35	/* of its frequency: so far from its top may a peak's centre be */
#define WIDE 0.75	/* likewise: so wide may it be */
#define HARMONIC 0.15	/* of its frequency: so far a harmonic may be off */
#define SHARE 0.2	/* of the best peak's power: less is not another pattern */

/* The power of the frequencies k = 0 .. w / 2 across and l = 0 .. h - 1 (or negative) down. */
struct spectrum {
	size_t w, h, columns;	/* of the transform; w / 2 + 1 */
	size_t tile_w, tile_h;
	float *power, *smooth;
	double ring[RINGS];	/* the median power in each */
};

/* ---- the spectrum ---- */

struct job {
	const struct fourier_signal *signal;
	const struct spectrum *spectrum;
	struct fft *across, *down;
	struct fft_complex *v;		/* a plane for every two pieces */
	size_t tiles, x[TILES], y[TILES], across_n, down_n;
	bool failed;
};

/* Piece i, its mean taken off and its borders faded out, becomes a part of the plane's samples. */
static void
take_tile(const struct job *job, size_t i, bool imaginary, struct fft_complex *v)
{
	const struct spectrum *spectrum = job->spectrum;
	const struct fourier_signal *signal = job->signal;
	size_t x0 = job->x[i % job->across_n], y0 = job->y[i / job->across_n], n = 0;
	double sum = 0;
	float mean;

	for (int pass = 0; pass < 2; pass++) {
		mean = n ? (float)(sum / (double)n) : 0;
		for (size_t y = 0; y < spectrum->tile_h; y++) {
			const float *row = signal->v + (y0 + y) * signal->w + x0;
			double fade_y = sin(M_PI * ((double)y + 0.5) / (double)spectrum->tile_h);

			for (size_t x = 0; x < spectrum->tile_w; x++) {
				double fade;
				float *to = &v[y * spectrum->w + x].re + imaginary;

				if (px_isnan(row[x]))
					continue;
				if (pass == 0) {
					sum += (double)row[x];
					n++;
					continue;
				}
				fade = fade_y *
				    sin(M_PI * ((double)x + 0.5) / (double)spectrum->tile_w);
				*to = (float)(fade * fade) * (row[x] - mean);
			}
		}
	}
}

static void
transform(void *arg, size_t item)
{
	struct job *job = arg;
	size_t n = job->spectrum->w * job->spectrum->h;
	struct fft_plane plane = { job->spectrum->w, job->spectrum->h, job->v + item * n };

	memset(plane.v, 0, n * sizeof(*plane.v));
	for (size_t i = 2 * item; i < job->tiles && i < 2 * item + 2; i++)
		take_tile(job, i, i % 2, plane.v);
	if (fft_rows(NULL, job->across, FFT_FORWARD, &plane) < 0 ||
	    fft_columns(NULL, job->down, FFT_FORWARD, &plane, 0, plane.w) < 0)
		__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
}

/* Of two real pieces, one real and one imaginary, |Z(k)|^2 + |Z(-k)|^2 is twice both powers. */
static void
add_powers(const struct job *job, size_t planes)
{
	const struct spectrum *spectrum = job->spectrum;
	size_t w = spectrum->w, h = spectrum->h;

	for (size_t i = 0; i < planes; i++) {
		const struct fft_complex *v = job->v + i * w * h;

		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < spectrum->columns; x++) {
				struct fft_complex a = v[y * w + x];
				struct fft_complex b = v[(y ? h - y : 0) * w + (x ? w - x : 0)];

				spectrum->power[y * spectrum->columns + x] += a.re * a.re +
				    a.im * a.im + b.re * b.re + b.im * b.im;
			}
	}
}

/* The power at a frequency of either sign. */
static float
power_at(const struct spectrum *spectrum, const float *power, long k, long l)
{
	long w = (long)spectrum->w, h = (long)spectrum->h;

	k = (k % w + w) % w;
	if (k > w / 2) {
		k = w - k;
		l = -l;
	}
	return power[(size_t)((l % h + h) % h) * spectrum->columns + (size_t)k];
}

/* The mean over a square of frequencies. */
static double
mean_power(const struct spectrum *spectrum, double k, double l, long radius)
{
	long at_k = lround(k), at_l = lround(l);
	double sum = 0;

	for (long i = -radius; i <= radius; i++)
		for (long j = -radius; j <= radius; j++)
			sum += (double)power_at(spectrum, spectrum->power, at_k + i, at_l + j);
	return sum / (double)((2 * radius + 1) * (2 * radius + 1));
}

static void
smooth_rows(void *arg, size_t y)
{
	struct spectrum *spectrum = arg;

	for (size_t x = 0; x < spectrum->columns; x++)
		spectrum->smooth[y * spectrum->columns + x] =
		    (float)mean_power(spectrum, (double)x, (double)y, 1);
}

static struct fourier_carrier
frequency(const struct spectrum *spectrum, size_t x, size_t y)
{
	double h = (double)spectrum->h;

	return (struct fourier_carrier){ (double)x / (double)spectrum->w,
		(2 * y < spectrum->h ? (double)y : (double)y - h) / h };
}

/* Cycles in a piece of the image. */
static double
cycles(const struct spectrum *spectrum, struct fourier_carrier f)
{
	return hypot(f.x * (double)spectrum->tile_w, f.y * (double)spectrum->tile_h);
}

static size_t
ring_of(struct fourier_carrier f)
{
	double i = -log(hypot(f.x, f.y)) / log(RING_RATIO);

	return i < 0 ? 0 : i < RINGS - 1 ? (size_t)i : RINGS - 1;
}

/* The median of each ring of frequencies. */
static int
find_rings(struct spectrum *spectrum)
{
	size_t all = spectrum->columns * spectrum->h, n[RINGS] = { 0 }, first[RINGS];
	double *v = calloc(all, sizeof(*v));

	if (!v)
		return fail_memory();
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0, sum = 0; pass && i < RINGS; i++) {
			first[i] = sum;
			sum += n[i];
			n[i] = 0;
		}
		for (size_t i = 1; i < all; i++) {
			size_t r = ring_of(
			    frequency(spectrum, i % spectrum->columns, i / spectrum->columns));

			if (pass)
				v[first[r] + n[r]] = (double)spectrum->smooth[i];
			n[r]++;
		}
	}
	for (size_t i = 0; i < RINGS; i++)
		spectrum->ring[i] = n[i] ? statistics_quantile(v + first[i], n[i], 0.5) : 0;
	free(v);
	return 0;
}

/* ---- peaks ---- */

/* Over what lies at so many times and at such a part of its frequency: a trail, whose power falls
 * evenly, has 1. */
static double
contrast_along(const struct spectrum *spectrum, struct fourier_carrier f, double power,
    double times)
{
	double k = f.x * (double)spectrum->w, l = f.y * (double)spectrum->h, below, above;
	long radius = lround(0.08 * hypot(k, l));

	radius = radius < 1 ? 1 : radius;
	below = mean_power(spectrum, k / times, l / times, radius);
	above = mean_power(spectrum, k * times, l * times, radius);
	if (times * fmax(fabs(f.x), fabs(f.y)) >= 0.5)
		above = below;
	return below > 0 && above > 0 ? power / sqrt(below * above) : CONTRAST;
}

/* The same, near or further aside: the surface may spread the peak; and over the median of its
 * ring. */
static double
contrast(const struct spectrum *spectrum, struct fourier_carrier f, double power)
{
	double ring = spectrum->ring[ring_of(f)];

	return fmin(ring > 0 ? power / ring : CONTRAST,
	    fmax(contrast_along(spectrum, f, power, 1.5), contrast_along(spectrum, f, power, 2)));
}

static bool
is_summit(const struct spectrum *spectrum, size_t x, size_t y)
{
	float own = spectrum->smooth[y * spectrum->columns + x];

	for (long i = -1; i <= 1; i++)
		for (long j = -1; j <= 1; j++)
			if (power_at(spectrum, spectrum->smooth, (long)x + i, (long)y + j) > own)
				return false;
	return own > 0;
}

static double
distance(struct fourier_carrier a, struct fourier_carrier b)
{
	return hypot(a.x - b.x, a.y - b.y);
}

/* The same fringes, or a harmonic of them: n times their frequency, or that turned back at what a
 * pixel can show. */
static bool
belongs_to(struct fourier_carrier f, struct fourier_carrier of)
{
	double size = hypot(of.x, of.y);

	if (distance(f, of) < WIDE * size)
		return true;
	for (int n = 2; n < 8; n++) {
		double x = remainder(n * of.x, 1), y = remainder(n * of.y, 1);

		if (hypot(f.x - x, f.y - y) < n * HARMONIC * size ||
		    hypot(f.x + x, f.y + y) < n * HARMONIC * size)
			return true;
	}
	return false;
}

/* Texture that falls with frequency may have more power than fringes, but stands out less. */
bool
fourier_carrier_better(const struct fourier_peak *a, const struct fourier_peak *b)
{
	return a->power * fmin(a->contrast, CONTRAST) > b->power * fmin(b->contrast, CONTRAST);
}

/* Of all but the light. */
static double
greatest_power(const struct spectrum *spectrum)
{
	double greatest = 0;

	for (size_t y = 0; y < spectrum->h; y++)
		for (size_t x = 0; x < spectrum->columns; x++)
			if (cycles(spectrum, frequency(spectrum, x, y)) >= LEAST_CYCLES)
				greatest = fmax(
				    greatest, (double)spectrum->smooth[y * spectrum->columns + x]);
	return greatest;
}

/* The best peaks of either direction; of: those that they must not belong to, or NULL. */
static void
find_best(const struct spectrum *spectrum, const struct fourier_peak *of,
    struct fourier_peak best[2])
{
	double least = LEAST_POWER * greatest_power(spectrum);

	best[0] = best[1] = (struct fourier_peak){ 0 };
	for (size_t y = 0; y < spectrum->h; y++)
		for (size_t x = 0; x < spectrum->columns; x++) {
			struct fourier_peak peak = { frequency(spectrum, x, y),
				(double)spectrum->smooth[y * spectrum->columns + x], 0 };
			size_t along = fabs(peak.carrier.y) > peak.carrier.x;

			if (cycles(spectrum, peak.carrier) < LEAST_CYCLES || peak.power < least ||
			    fmax(peak.carrier.x, fabs(peak.carrier.y)) > MOST ||
			    peak.power <
				FOURIER_CARRIER_LEAST * spectrum->ring[ring_of(peak.carrier)] ||
			    (of && peak.power < SHARE * fmax(of[0].power, of[1].power)) ||
			    !is_summit(spectrum, x, y))
				continue;
			peak.contrast = contrast(spectrum, peak.carrier, peak.power);
			if (peak.contrast < FOURIER_CARRIER_LEAST ||
			    !fourier_carrier_better(&peak, &best[along]))
				continue;
			if (of &&
			    ((of[0].contrast > 0 && belongs_to(peak.carrier, of[0].carrier)) ||
				(of[1].contrast > 0 && belongs_to(peak.carrier, of[1].carrier))))
				continue;
			best[along] = peak;
		}
}

/* The centre of mass of what stands out round a peak; along y its y is positive. */
static void
refine(const struct spectrum *spectrum, struct fourier_peak *peak, bool along_y)
{
	double w = (double)spectrum->w, h = (double)spectrum->h;
	double k0 = peak->carrier.x * w, l0 = peak->carrier.y * h;
	double radius = NEAR * hypot(peak->carrier.x, peak->carrier.y), k = 0, l = 0, sum = 0;
	double floor_power = fmax(peak->power / 20, 4 * spectrum->ring[ring_of(peak->carrier)]);

	for (long i = -(long)(radius * w); i <= (long)(radius * w); i++)
		for (long j = -(long)(radius * h); j <= (long)(radius * h); j++) {
			double power = (double)power_at(spectrum, spectrum->smooth, lround(k0) + i,
					   lround(l0) + j) -
			    floor_power;

			if (power <= 0 || hypot((double)i / w, (double)j / h) > radius)
				continue;
			k += power * (double)i;
			l += power * (double)j;
			sum += power;
		}
	if (sum > 0) {
		peak->carrier.x += k / sum / w;
		peak->carrier.y += l / sum / h;
	}
	if (fabs(peak->carrier.x) < LEAST_FREQUENCY)
		peak->carrier.x = 0;
	if (fabs(peak->carrier.y) < LEAST_FREQUENCY)
		peak->carrier.y = 0;
	if (along_y && peak->carrier.y < 0) {
		peak->carrier.x = -peak->carrier.x;
		peak->carrier.y = -peak->carrier.y;
	}
}

/* ---- all of it ---- */

static size_t
place_tiles(size_t n, size_t tile, size_t *at)
{
	size_t count = (n + tile - 1) / tile;

	count = count < TILES ? count : TILES;
	for (size_t i = 0; i < count; i++)
		at[i] = count > 1 ? i * (n - tile) / (count - 1) : 0;
	return count;
}

static int
make_spectrum(struct run *run, const struct fourier_signal *signal, struct spectrum *spectrum)
{
	struct job job = { .signal = signal, .spectrum = spectrum };
	size_t planes, all;
	int status = -1;

	spectrum->tile_w = signal->w < TILE ? signal->w : TILE;
	spectrum->tile_h = signal->h < TILE ? signal->h : TILE;
	spectrum->w = fft_fast_length(spectrum->tile_w);
	spectrum->h = fft_fast_length(spectrum->tile_h);
	spectrum->columns = spectrum->w / 2 + 1;
	all = spectrum->columns * spectrum->h;
	job.across_n = place_tiles(signal->w, spectrum->tile_w, job.x);
	job.down_n = place_tiles(signal->h, spectrum->tile_h, job.y);
	job.tiles = job.across_n * job.down_n;
	planes = (job.tiles + 1) / 2;
	spectrum->power = calloc(all, sizeof(*spectrum->power));
	spectrum->smooth = calloc(all, sizeof(*spectrum->smooth));
	job.v = calloc(planes, spectrum->w * spectrum->h * sizeof(*job.v));
	if (!spectrum->power || !spectrum->smooth || !job.v)
		fail_memory();
	else if (fft_new(spectrum->w, &job.across) == 0 && fft_new(spectrum->h, &job.down) == 0) {
		run_for(run, planes, transform, &job);
		status = job.failed ? -1 : 0;
	}
	if (status == 0) {
		add_powers(&job, planes);
		run_for(run, spectrum->h, smooth_rows, spectrum);
		status = find_rings(spectrum);
	}
	fft_free(job.across);
	fft_free(job.down);
	free(job.v);
	return status;
}

int
fourier_carrier_find(
    struct run *run, const struct fourier_signal *signal, struct fourier_peaks *peaks)
{
	struct spectrum spectrum = { 0 };
	int status = make_spectrum(run, signal, &spectrum);

	memset(peaks, 0, sizeof(*peaks));
	if (status == 0) {
		find_best(&spectrum, NULL, peaks->best);
		find_best(&spectrum, peaks->best, peaks->other);
		for (int y = 0; y < 2; y++)
			refine(&spectrum, &peaks->best[y], y);
	}
	free(spectrum.power);
	free(spectrum.smooth);
	return status;
}
