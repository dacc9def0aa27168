#include "fourier_carrier.h"

#include <math.h>
#include <string.h>

#include "fourier_spectrum.h"

#define FEW 16	/* rows or columns */
#define LEAST_CYCLES 2.5	/* in a piece: less is the light, not fringes */
#define LEAST_POWER 1e-4	/* of the greatest: what has less is none that anybody projects */
#define CONTRAST 100	/* more makes no peak better */
#define LEAST_FREQUENCY 1e-6	/* less is none */
#define NEAR 0.35	/* of its frequency: so far from its top may a peak's centre be */
#define WIDE 0.75	/* likewise: so wide may it be */
#define WINDOW_REACH 0.75	/* likewise: of a peak that a surface spreads */
#define SPREAD 0.03	/* likewise: so far from its top lies the centre of such a one */
#define REST 0.01	/* likewise: by less it moves no more */
#define MOVES 10
#define RADIUS 24	/* frequencies that are looked at to either side; each is a mean of three */
#define FLOOR 4		/* times the median of a ring: what stands out is above */
#define HARMONIC 0.15	/* of its frequency: so far a harmonic may be off */
#define SHARE 0.2	/* of the best peak's power: less is not another pattern */

/* Over what lies at so many times and at such a part of its frequency: a trail, whose power falls
 * evenly, has 1. */
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
	return below > 0 && above > 0 ? power / sqrt(below * above) : CONTRAST;
}

/* The same, near or further aside: the surface may spread the peak; and over the median of its
 * ring. */
static double
contrast(struct fourier_spectrum *spectrum, struct fourier_carrier f, double power)
{
	double ring = fourier_spectrum_ring(spectrum, f);

	return fmin(ring > 0 ? power / ring : CONTRAST,
	    fmax(contrast_along(spectrum, f, power, 1.5), contrast_along(spectrum, f, power, 2)));
}

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

/* A frequency and its negative are the same. */
static double
distance(struct fourier_carrier a, struct fourier_carrier b)
{
	return fmin(hypot(a.x - b.x, a.y - b.y), hypot(a.x + b.x, a.y + b.y));
}

/* The same fringes, or a harmonic of them: n times their frequency, or that turned back at what a
 * pixel can show. */
static bool
belongs_to(struct fourier_carrier f, struct fourier_carrier of)
{
	double size = hypot(of.x, of.y);

	if (distance(f, of) < WIDE * size)
		return true;
	for (int n = 2; n < 8; n++)
		if (distance(f, (struct fourier_carrier){ remainder(n * of.x, 1),
			    remainder(n * of.y, 1) }) < HARMONIC * size)
			return true;
	return false;
}

/* Texture that falls with frequency may have more power than fringes, but stands out less. */
bool
fourier_carrier_better(const struct fourier_peak *a, const struct fourier_peak *b)
{
	return a->power * fmin(a->contrast, CONTRAST) > b->power * fmin(b->contrast, CONTRAST);
}

/* Of fringes, along the axis that they vary along. */
static double
cycles_along(const struct fourier_spectrum *spectrum, struct fourier_carrier f)
{
	return fabs(f.y) > f.x ? fabs(f.y) * (double)spectrum->tile_h
			       : f.x * (double)spectrum->tile_w;
}

/* Of all but the light. */
static double
greatest_power(const struct fourier_spectrum *spectrum)
{
	float greatest = 0;

	for (size_t y = 0; y < spectrum->h; y++) {
		const float *smooth = spectrum->smooth + y * spectrum->columns;
		size_t x = 0;

		while (x < spectrum->columns && fourier_spectrum_cycles(spectrum,
		    fourier_spectrum_frequency(spectrum, x, y)) < LEAST_CYCLES)
			x++;
		_Pragma("omp simd reduction(max : greatest)")
		for (size_t i = x; i < spectrum->columns; i++)
			greatest = smooth[i] > greatest ? smooth[i] : greatest;
	}
	return (double)greatest;
}

/* Judges the frequency at x, y of the spectrum. */
static void
judge_peak(struct fourier_spectrum *spectrum, const struct fourier_peak *of, size_t x,
    size_t y, struct fourier_peak best[2])
{
	struct fourier_peak peak = { fourier_spectrum_frequency(spectrum, x, y),
		(double)spectrum->smooth[y * spectrum->columns + x], 0 };
	size_t along = fabs(peak.carrier.y) > peak.carrier.x;
	double ring;

	if (cycles_along(spectrum, peak.carrier) < LEAST_CYCLES ||
	    fmax(peak.carrier.x, fabs(peak.carrier.y)) > FOURIER_CARRIER_MOST ||
	    !is_summit(spectrum, x, y))
		return;
	ring = fourier_spectrum_ring(spectrum, peak.carrier);
	if (peak.power < FOURIER_CARRIER_LEAST * ring)
		return;
	peak.contrast = contrast(spectrum, peak.carrier, peak.power);
	if (peak.contrast < FOURIER_CARRIER_LEAST || !fourier_carrier_better(&peak, &best[along]))
		return;
	if (of && ((of[0].contrast > 0 && belongs_to(peak.carrier, of[0].carrier)) ||
	    (of[1].contrast > 0 && belongs_to(peak.carrier, of[1].carrier))))
		return;
	best[along] = peak;
}

/* The best peaks of either direction; least: power that they have; of: those that they must not
 * belong to, or NULL. */
static void
find_best(struct fourier_spectrum *spectrum, double least, const struct fourier_peak *of,
    struct fourier_peak best[2])
{
	size_t n = spectrum->columns;

	best[0] = best[1] = (struct fourier_peak){ 0 };
	if (of)
		least = fmax(least, SHARE * fmax(of[0].power, of[1].power));
	for (size_t y = 0; y < spectrum->h; y++) {
		const float *smooth = spectrum->smooth + y * n;

		for (size_t x = 0; x < n; x++)
			if ((double)smooth[x] >= least && (x == 0 || smooth[x] >= smooth[x - 1]) &&
			    (x + 1 == n || smooth[x] >= smooth[x + 1]))
				judge_peak(spectrum, of, x, y, best);
	}
}

/* What the centre of a peak is looked for in: within so much of the frequency's size, power above
 * that, or above so many times the median of each ring. */
struct surroundings {
	double reach, least, rings;
};

/* Adds what stands out at a frequency, in steps of the spectrum, to the sums. */
static void
add_standing_out(struct fourier_spectrum *spectrum, const struct surroundings *round, long k,
    long l, double weight, double sums[3])
{
	struct fourier_carrier f = { (double)k / (double)spectrum->w,
		(double)l / (double)spectrum->h };
	double power = (double)fourier_spectrum_power(spectrum, spectrum->smooth, k, l);

	power -= fmax(round->least,
	    round->rings > 0 ? round->rings * fourier_spectrum_ring(spectrum, f) : 0);
	if (power <= 0)
		return;
	sums[0] += weight * power;
	sums[1] += weight * power * f.x;
	sums[2] += weight * power * f.y;
}

/* The centre of mass of what stands out round a frequency. */
static struct fourier_carrier
find_centre(struct fourier_spectrum *spectrum, const struct surroundings *round,
    struct fourier_carrier f)
{
	double w = (double)spectrum->w, h = (double)spectrum->h;
	double radius = round->reach * hypot(f.x, f.y), sums[3] = { 0 };
	long k0 = lround(f.x * w), l0 = lround(f.y * h);
	long across = (long)(radius * w), down = (long)(radius * h);
	bool all = round->rings <= 0;
	long step_k = all ? 1 : 1 + across / RADIUS, step_l = all ? 1 : 1 + down / RADIUS;

	for (long i = -across / step_k * step_k; i <= across; i += step_k)
		for (long j = -down / step_l * step_l; j <= down; j += step_l) {
			double u = hypot((double)i / w, (double)j / h) / radius;

			if (u <= 1)
				add_standing_out(spectrum, round, k0 + i, l0 + j,
				    all ? 1 : 1 - u * u, sums);
		}
	return sums[0] > 0 ? (struct fourier_carrier){ sums[1] / sums[0], sums[2] / sums[0] } : f;
}

/*
 * The middle of the fringes' frequencies: the centre of mass of the peak's top, where it is narrow.
 * A surface spreads it, and the peak is that of its largest even part, which may lie at an end: a
 * window round it would cut the others off. So the centre of mass of all within the window's reach
 * takes its place, until it rests.
 */
static struct fourier_carrier
find_middle(struct fourier_spectrum *spectrum, const struct fourier_peak *peak)
{
	const struct surroundings wide = { WINDOW_REACH, 0, FLOOR };
	struct surroundings top = { NEAR, 0, 0 };
	struct fourier_carrier narrow, f;

	top.least = fmax(peak->power / 20, FLOOR * fourier_spectrum_ring(spectrum, peak->carrier));
	narrow = f = find_centre(spectrum, &top, peak->carrier);
	for (int i = 0; i < MOVES; i++) {
		struct fourier_carrier next = find_centre(spectrum, &wide, f);
		double moved = hypot(next.x - f.x, next.y - f.y) / hypot(f.x, f.y);

		if (i == 0 && !(moved > SPREAD))
			return narrow;
		f = next;
		if (!(moved > REST))
			break;
	}
	return f;
}

/* Of a carrier along y its y is positive. */
static void
refine(struct fourier_spectrum *spectrum, struct fourier_peak *peak, bool along_y)
{
	if (!(peak->contrast > 0))
		return;
	peak->carrier = find_middle(spectrum, peak);
	if (fabs(peak->carrier.x) < LEAST_FREQUENCY)
		peak->carrier.x = 0;
	if (fabs(peak->carrier.y) < LEAST_FREQUENCY)
		peak->carrier.y = 0;
	if (along_y ? peak->carrier.y < 0 : peak->carrier.x < 0) {
		peak->carrier.x = -peak->carrier.x;
		peak->carrier.y = -peak->carrier.y;
	}
}

int
fourier_carrier_find(
    struct run *run, const struct fourier_signal *signal, struct fourier_peaks *peaks)
{
	struct fourier_spectrum spectrum = { 0 };
	int status = fourier_spectrum_make(run, signal, &spectrum);
	double least;

	memset(peaks, 0, sizeof(*peaks));
	peaks->few = signal->w < FEW || signal->h < FEW;
	if (status == 0) {
		least = LEAST_POWER * greatest_power(&spectrum);
		find_best(&spectrum, least, NULL, peaks->best);
		find_best(&spectrum, least, peaks->best, peaks->other);
		for (int y = 0; y < 2; y++)
			refine(&spectrum, &peaks->best[y], y);
	}
	fourier_spectrum_free(&spectrum);
	return status;
}
