#define _GNU_SOURCE
#include "feature/corner.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "feature/peaks.h"

#define STEPS_MOST 20
#define ENOUGH 1e-3 /* px: a step below it is the last; what is left is its square */
#define ENOUGH_TO_FIND 0.05
#define RING 32         /* places on the ring that angles are read from */
#define RING_RADIUS 2.0 /* sigma */
#define ONE_SADDLE 1.5  /* sigma: nearer ones are the same */

void
saddles_free(struct saddles *saddles)
{
	free(saddles->saddle);
	*saddles = (struct saddles){ 0 };
}

/* False where it is none. */
static bool
describe(const struct derivatives *d, double sigma, struct saddle *saddle)
{
	double det = d->xx * d->yy - d->xy * d->xy;
	double mean = 0.5 * (d->xx + d->yy), half = 0.5 * (d->xx - d->yy);
	double root = hypot(half, d->xy), low = mean - root, high = mean + root;

	if (!(det < 0) || !(high > 0) || !(low < 0))
		return false;
	saddle->strength = sigma * sigma * sqrt(-det);
	saddle->light = 0.5 * atan2(d->xy, half);
	if (saddle->light < 0)
		saddle->light += M_PI;
	saddle->open = M_PI / 4;
	return true;
}

/* saddle_refine() to the step that is enough. */
static bool
refine(const struct derivative_plane *in, const struct derivative_kernels *k, double reach,
    double enough, struct saddle *saddle)
{
	struct saddle at = *saddle;

	for (int i = 0; i < STEPS_MOST; i++) {
		struct derivatives d;
		double det, step[2], length;

		derivatives_at(k, in, at.x, at.y, &d);
		if (!describe(&d, k->sigma, &at))
			return false;
		det = d.xx * d.yy - d.xy * d.xy;
		step[0] = (d.xy * d.y - d.yy * d.x) / det;
		step[1] = (d.xy * d.x - d.xx * d.y) / det;
		length = hypot(step[0], step[1]);
		/* the image is no parabola: no step beyond its curvature's reach */
		if (length > k->sigma) {
			step[0] *= k->sigma / length;
			step[1] *= k->sigma / length;
		}
		at.x += step[0];
		at.y += step[1];
		if (!(hypot(at.x - saddle->x, at.y - saddle->y) <= reach))
			return false;
		if (length < enough) {
			*saddle = at;
			return true;
		}
	}
	return false;
}

bool
saddle_refine(const struct derivative_plane *in, const struct derivative_kernels *k, double reach,
    struct saddle *saddle)
{
	return refine(in, k, reach, ENOUGH, saddle);
}

/* ---- finding ---- */

static bool
is_new(const struct saddles *saddles, const struct saddle *saddle, double least)
{
	for (size_t i = 0; i < saddles->n; i++)
		if (hypot(saddle->x - saddles->saddle[i].x, saddle->y - saddles->saddle[i].y) <
		    least)
			return false;
	return true;
}

static double
read_bilinear(const struct derivative_plane *in, double x, double y)
{
	double column = fmin(fmax(x, 0), (double)(in->w - 1)),
	       row = fmin(fmax(y, 0), (double)(in->h - 1));
	size_t i = (size_t)column, j = (size_t)row;
	size_t right = i + 1 < in->w ? i + 1 : i, below = j + 1 < in->h ? j + 1 : j;
	const float *above = in->v + j * in->stride, *under = in->v + below * in->stride;
	double a = column - (double)i, b = row - (double)j;

	return (1 - b) * ((1 - a) * (double)above[i] + a * (double)above[right]) +
	    b * ((1 - a) * (double)under[i] + a * (double)under[right]);
}

/*
 * What H cannot tell, whose eigenvalues are opposite whatever the angle of the edges: from the
 * values on a ring about the saddle. Two bright quarters of half angle a have the harmonics 4/(pi
 * m) sin(m a) for even m and none for odd m, so that the fourth over the second is cos 2a. False
 * where the odd ones are as strong: that is no meeting of four quarters.
 */
static bool
measure_open(const struct derivative_plane *in, double radius, struct saddle *saddle)
{
	double harmonic[5][2] = { { 0 } }, odd, c2;

	for (int k = 0; k < RING; k++) {
		double angle = 2 * M_PI * k / RING;
		double v = read_bilinear(in, saddle->x + radius * cos(saddle->light + angle),
		    saddle->y + radius * sin(saddle->light + angle));

		for (int m = 1; m <= 4; m++) {
			harmonic[m][0] += v * cos(m * angle);
			harmonic[m][1] += v * sin(m * angle);
		}
	}
	odd = hypot(hypot(harmonic[1][0], harmonic[1][1]), hypot(harmonic[3][0], harmonic[3][1]));
	c2 = harmonic[2][0];
	if (!(c2 > odd))
		return false;
	saddle->open = 0.5 * acos(fmin(fmax(harmonic[4][0] / c2, -0.95), 0.95));
	return true;
}

/* The strongest of the peaks that are saddles. */
static int
take_peaks(const struct derivative_plane *in, const struct derivative_kernels *k,
    const struct peaks *peaks, size_t most, struct saddles *saddles)
{
	saddles->saddle = calloc(most, sizeof(*saddles->saddle));
	if (!saddles->saddle)
		return fail_memory();
	for (size_t i = 0; i < peaks->n && i < 2 * most && saddles->n < most; i++) {
		struct saddle saddle = { .x = peaks->peak[i].x, .y = peaks->peak[i].y };

		if (refine(in, k, ONE_SADDLE * k->sigma, ENOUGH_TO_FIND, &saddle) &&
		    measure_open(in, RING_RADIUS * k->sigma, &saddle) &&
		    is_new(saddles, &saddle, ONE_SADDLE * k->sigma))
			saddles->saddle[saddles->n++] = saddle;
	}
	return 0;
}

int
saddles_find(const struct derivative_plane *in, const struct derivative_kernels *k, size_t most,
    double least, struct saddles *saddles)
{
	struct peaks peaks;
	int status;

	*saddles = (struct saddles){ 0 };
	if (peaks_find(in, k, PEAK_SADDLE, least, &peaks) < 0)
		return -1;
	status = take_peaks(in, k, &peaks, most, saddles);
	free(peaks.peak);
	if (status < 0)
		saddles_free(saddles);
	return status;
}

/* ---- uncertainty ---- */

#define PROBE_SIGMA 1.0 /* px: of the smoothing that places of no pixel are read with */
#define PROBE_RADIUS 5
#define PROBE_SIDE (2 * PROBE_RADIUS + 1)
#define PROBES_SIDE 8 /* on each side of the saddle, at least */
#define PROBES_LINE (4 * PROBES_SIDE + 1)
#define PROBE_REACH 4 /* sigma: the kernels' own */
#define PROBE_SPAN (2 * DERIVATIVES_RADIUS_MOST + PROBE_SIDE)

/* Places that have one fraction of a pixel in common, `step` px from each other, -side to side
 * along x and along y about the middle one. */
struct probes {
	double at[2]; /* the middle one, px */
	int step, side;
	double weight[2][PROBE_SIDE]; /* of pixels about a place, along x and along y */
};

static void
probes_init(struct probes *probes, double x, double y, int step, int side)
{
	*probes = (struct probes){ .at = { x, y }, .step = step, .side = side };
	for (int i = 0; i < 2; i++) {
		double unused[2][PROBE_SIDE], at = probes->at[i];

		derivative_weights(PROBE_SIGMA, PROBE_RADIUS, at - floor(at + 0.5),
		    (double *const[3]){ probes->weight[i], unused[0], unused[1] });
	}
}

/* The smoothed image at the places of line j: value[i + side]. */
static void
probes_read(const struct probes *probes, const struct derivative_plane *in, int j, double *value)
{
	size_t n = (size_t)(2 * probes->side * probes->step + PROBE_SIDE);
	double column = floor(probes->at[0] + 0.5) - probes->side * probes->step - PROBE_RADIUS;
	double row = floor(probes->at[1] + 0.5) + j * probes->step - PROBE_RADIUS;
	double sum[PROBE_SPAN] = { 0 };
	float room[PROBE_SPAN];

	for (int k = 0; k < PROBE_SIDE; k++) {
		const float *v = derivative_window(in, column, row + k, n, room);
		double weight = probes->weight[1][k];

		for (size_t i = 0; i < n; i++)
			sum[i] += weight * (double)v[i];
	}
	for (int i = 0; i <= 2 * probes->side; i++) {
		value[i] = 0;
		for (int k = 0; k < PROBE_SIDE; k++)
			value[i] += probes->weight[0][k] * sum[i * probes->step + k];
	}
}

/*
 * Variance of a pixel's noise, from differences of places that a half turn about the saddle takes
 * to each other: pixels on one side.
 */
static double
pixel_variance(const struct derivative_plane *in, double reach, const struct saddle *saddle)
{
	double near[2] = { floor(saddle->x + 0.5), floor(saddle->y + 0.5) }, sum = 0, n = 0;
	int step = (int)fmax(1, floor(reach / PROBES_SIDE)), side = (int)(reach / step);
	struct probes here, turned;

	probes_init(&here, near[0], near[1], step, side);
	probes_init(&turned, 2 * saddle->x - near[0], 2 * saddle->y - near[1], step, side);
	for (int j = 0; j <= side; j++) {
		double a[PROBES_LINE], b[PROBES_LINE];

		probes_read(&here, in, j, a);
		probes_read(&turned, in, -j, b);
		for (int i = j ? -side : 1; i <= side; i++) {
			double off = a[side + i] - b[side - i];

			if (hypot(i, j) * step > reach)
				continue;
			sum += off * off;
			n++;
		}
	}
	/* white noise of variance 1, smoothed, has 1/(4 pi PROBE_SIGMA^2); a difference twice that
	 */
	return 2 * M_PI * PROBE_SIGMA * PROBE_SIGMA * sum / n;
}

double
saddle_sigma(const struct derivative_plane *in, const struct derivative_kernels *k,
    const struct saddle *saddle)
{
	double reach = fmin(PROBE_REACH * k->sigma, DERIVATIVES_RADIUS_MOST);
	double variance = pixel_variance(in, reach, saddle), s2 = k->sigma * k->sigma;
	struct derivatives d;
	double det, inverse;

	derivatives_at(k, in, saddle->x, saddle->y, &d);
	det = d.xx * d.yy - d.xy * d.xy;
	/* white noise gives both parts of the gradient a variance of 1/(8 pi sigma^4) of its own */
	inverse = (d.xx * d.xx + d.yy * d.yy + 2 * d.xy * d.xy) / (det * det);
	return sqrt(variance / (8 * M_PI * s2 * s2) * inverse / 2);
}
