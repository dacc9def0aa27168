#define _GNU_SOURCE
#include "feature/corner.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define STEPS_MOST 20
#define ENOUGH 1e-5		/* px: a step below it is the last */
#define ONE_SADDLE 1.5		/* sigma: nearer ones are the same */

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
	saddle->open = atan(sqrt(high / -low));
	return true;
}

bool
saddle_refine(const struct derivative_plane *in, const struct derivative_kernels *k, double reach,
    struct saddle *saddle)
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
		if (length < ENOUGH) {
			*saddle = at;
			return true;
		}
	}
	return false;
}

/* ---- finding ---- */

struct peak {
	float strength;		/* -det H */
	uint32_t x, y;
};

struct peaks {
	size_t n, room;
	struct peak *peak;
};

static int
add_peak(struct peaks *peaks, struct peak peak)
{
	if (peaks->n == peaks->room) {
		size_t room = peaks->room ? 2 * peaks->room : 1024;
		struct peak *more = reallocarray(peaks->peak, room, sizeof(*more));

		if (!more)
			return fail_memory();
		peaks->peak = more;
		peaks->room = room;
	}
	peaks->peak[peaks->n++] = peak;
	return 0;
}

/* Strongest first; equal ones from the top left. */
static int
compare_peaks(const void *a, const void *b)
{
	const struct peak *p = a, *q = b;

	if (p->strength != q->strength)
		return p->strength > q->strength ? -1 : 1;
	if (p->y != q->y)
		return p->y < q->y ? -1 : 1;
	return p->x < q->x ? -1 : p->x > q->x;
}

/* Peaks of the middle one of three rows. */
static int
find_peaks(const float *const row[3], size_t w, size_t y, struct peaks *peaks)
{
	for (size_t x = 1; x + 1 < w; x++) {
		float v = row[1][x];

		if (!(v > 0) || !(v > row[1][x - 1]) || !(v >= row[1][x + 1]))
			continue;
		if (v > row[0][x - 1] && v > row[0][x] && v > row[0][x + 1] && v >= row[2][x - 1] &&
		    v >= row[2][x] && v >= row[2][x + 1] &&
		    add_peak(peaks, (struct peak){ v, (uint32_t)x, (uint32_t)y }) < 0)
			return -1;
	}
	return 0;
}

static void
respond(const float *const restrict d[DERIVATIVES], size_t w, float *restrict out)
{
	const float *restrict xx = d[DERIVATIVE_XX], *restrict xy = d[DERIVATIVE_XY];
	const float *restrict yy = d[DERIVATIVE_YY];

	for (size_t x = 0; x < w; x++)
		out[x] = xy[x] * xy[x] - xx[x] * yy[x];
}

static int
all_peaks(const struct derivative_plane *in, const struct derivative_kernels *k, float *memory,
    size_t length, struct peaks *peaks)
{
	float *second[DERIVATIVES] = { [DERIVATIVE_XX] = memory, [DERIVATIVE_XY] = memory + length,
		[DERIVATIVE_YY] = memory + 2 * length };
	float *work = memory + 6 * length;

	for (size_t y = 0; y < in->h; y++) {
		float *to = memory + (3 + y % 3) * length;

		derivatives_row(k, in, y, work, second);
		respond((const float *const *)second, in->w, to);
		if (y >= 2 && find_peaks((const float *const[3]){
		    memory + (3 + (y - 2) % 3) * length, memory + (3 + (y - 1) % 3) * length, to },
		    in->w, y - 1, peaks) < 0)
			return -1;
	}
	return 0;
}

static bool
is_new(const struct saddles *saddles, const struct saddle *saddle, double least)
{
	for (size_t i = 0; i < saddles->n; i++)
		if (hypot(saddle->x - saddles->saddle[i].x, saddle->y - saddles->saddle[i].y) <
		    least)
			return false;
	return true;
}

/* The strongest of the peaks that are saddles. */
static int
take_peaks(const struct derivative_plane *in, const struct derivative_kernels *k,
    const struct peaks *peaks, size_t most, double least, struct saddles *saddles)
{
	float weakest = peaks->n ? (float)(least * least) * peaks->peak[0].strength : 0;

	saddles->saddle = calloc(most, sizeof(*saddles->saddle));
	if (!saddles->saddle)
		return fail_memory();
	for (size_t i = 0; i < peaks->n && i < 2 * most && saddles->n < most; i++) {
		struct saddle saddle = { .x = peaks->peak[i].x, .y = peaks->peak[i].y };

		if (peaks->peak[i].strength < weakest)
			break;
		if (saddle_refine(in, k, ONE_SADDLE * k->sigma, &saddle) &&
		    is_new(saddles, &saddle, ONE_SADDLE * k->sigma))
			saddles->saddle[saddles->n++] = saddle;
	}
	return 0;
}

int
saddles_find(const struct derivative_plane *in, const struct derivative_kernels *k, size_t most,
    double least, struct saddles *saddles)
{
	size_t length = (in->w + 15) / 16 * 16, bytes;
	struct peaks peaks = { 0 };
	float *memory = NULL;
	int status = -1;

	*saddles = (struct saddles){ 0 };
	if (size_multiply(6 * length + derivatives_work(k, in->w), sizeof(*memory), &bytes) < 0)
		return -1;
	memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
	if (!memory)
		return fail_memory();
	if (all_peaks(in, k, memory, length, &peaks) == 0) {
		qsort(peaks.peak, peaks.n, sizeof(*peaks.peak), compare_peaks);
		status = take_peaks(in, k, &peaks, most, least, saddles);
	}
	free(memory);
	free(peaks.peak);
	if (status < 0)
		saddles_free(saddles);
	return status;
}

/* ---- uncertainty ---- */

#define PROBE_SIGMA 1.0		/* px: of the smoothing that places of no pixel are read with */
#define PROBE_RADIUS 4
#define PROBES_SIDE 6		/* on each side of the saddle */

/* The image smoothed, at any place. */
static double
read_smoothed(const struct derivative_plane *in, double x, double y)
{
	double weight[2][3][2 * PROBE_RADIUS + 3], at[2] = { floor(x + 0.5), floor(y + 0.5) };
	double value = 0;

	for (int i = 0; i < 2; i++)
		derivative_weights(PROBE_SIGMA, PROBE_RADIUS + 1, (i ? y : x) - at[i],
		    (double *const[3]){ weight[i][0], weight[i][1], weight[i][2] });
	for (int j = 0; j <= 2 * PROBE_RADIUS + 2; j++) {
		double row = fmin(fmax(at[1] + j - PROBE_RADIUS - 1, 0), (double)(in->h - 1));
		double sum = 0;

		for (int i = 0; i <= 2 * PROBE_RADIUS + 2; i++) {
			double column =
			    fmin(fmax(at[0] + i - PROBE_RADIUS - 1, 0), (double)(in->w - 1));

			sum += weight[0][0][i] * (double)in->v[(size_t)row * in->stride +
			    (size_t)column];
		}
		value += weight[1][0][j] * sum;
	}
	return value;
}

/* Variance of a pixel's noise, from differences of places that a half turn takes to each other. */
static double
pixel_variance(const struct derivative_plane *in, double reach, const struct saddle *saddle)
{
	double sum = 0, step = reach / PROBES_SIDE;
	int n = 0;

	for (int j = 0; j <= PROBES_SIDE; j++)
		for (int i = j ? -PROBES_SIDE : 1; i <= PROBES_SIDE; i++) {
			double x = i * step, y = j * step, off;

			if (hypot(x, y) > reach)
				continue;
			off = read_smoothed(in, saddle->x + x, saddle->y + y) -
			    read_smoothed(in, saddle->x - x, saddle->y - y);
			sum += off * off;
			n++;
		}
	/* white noise of variance 1, smoothed, has 1/(4 pi PROBE_SIGMA^2); a difference twice that */
	return 2 * M_PI * PROBE_SIGMA * PROBE_SIGMA * sum / n;
}

double
saddle_sigma(const struct derivative_plane *in, const struct derivative_kernels *k,
    const struct saddle *saddle)
{
	double variance = pixel_variance(in, 2 * k->sigma, saddle), s2 = k->sigma * k->sigma;
	struct derivatives d;
	double det, inverse;

	derivatives_at(k, in, saddle->x, saddle->y, &d);
	det = d.xx * d.yy - d.xy * d.xy;
	/* white noise gives both parts of the gradient a variance of 1/(8 pi sigma^4) of its own */
	inverse = (d.xx * d.xx + d.yy * d.yy + 2 * d.xy * d.xy) / (det * det);
	return sqrt(variance / (8 * M_PI * s2 * s2) * inverse / 2);
}
