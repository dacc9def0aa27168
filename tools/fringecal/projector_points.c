#include "projector_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/symmetric.h"

#define TERMS 6			/* of a quadratic: 1 x y x^2 x y y^2 */
#define ROUNDS 4		/* of leaving out pixels of another fringe order */
#define BLUR_SQUARE 0.3		/* of a lens, in pixels squared; a little one, for weights alone */

const struct projector_points_options projector_points_usual = { 31, 0.6, 3 };

/* ---- a quadratic in a window ---- */

struct window {
	const struct coordinate_map *map;
	size_t x0, y0, x1, y1;		/* from x0 to before x1 */
	size_t whole;			/* pixels of it, were it not cut by the picture */
	double corner[2], scale;	/* terms are of (pixel - corner) / scale */
	double offset_px;		/* taken off coordinates, so that sums keep their digits */
	double gradient[2];		/* of the coordinate, of the last fit; zeros: none yet */
};

struct quadratic {
	double a[TERMS];
	double variance;		/* of a[0], where sigma is right */
	double chi;			/* rms of residual / sigma */
	size_t used;
};

static void
terms(const struct window *w, size_t x, size_t y, double t[TERMS])
{
	double dx = ((double)x - w->corner[0]) / w->scale;
	double dy = ((double)y - w->corner[1]) / w->scale;

	t[0] = 1;
	t[1] = dx;
	t[2] = dy;
	t[3] = dx * dx;
	t[4] = dx * dy;
	t[5] = dy * dy;
}

static double
value(const struct quadratic *q, const double t[TERMS])
{
	double sum = 0;

	for (size_t i = 0; i < TERMS; i++)
		sum += q->a[i] * t[i];
	return sum;
}

/* The derivative of ln sigma along one axis, `step` being the distance of pixels along it, `place`
 * the pixel's place on it and `last` the last one's. */
static double
log_slope(const float *sigma, size_t at, size_t place, size_t last, size_t step)
{
	size_t a = place > 0 ? at - step : at, b = place < last ? at + step : at;
	double ratio = (double)sigma[b] / (double)sigma[a];

	return b > a && ratio > 0 && isfinite(ratio) ?
	    log(ratio) / (place > 0 && place < last ? 2 : 1) : 0;
}

/*
 * Pixel (x, y) of the window's map; false where it is invalid. At the edge between black and white
 * the lens mixes the two, and what a pixel sees is moved towards the white by
 * blur^2 grad ln(amplitude): an error that sigma does not know.
 */
static bool
sample(const struct window *w, size_t x, size_t y, double *px, double *variance)
{
	const struct coordinate_map *map = w->map;
	size_t at = y * map->w + x;
	double sigma = (double)map->sigma[at], moved;

	*px = (double)map->px[at] - w->offset_px;
	if (!isfinite(*px) || !(sigma > 0) || !isfinite(sigma))
		return false;
	moved = log_slope(map->sigma, at, x, map->w - 1, 1) * w->gradient[0] +
	    log_slope(map->sigma, at, y, map->h - 1, map->w) * w->gradient[1];
	moved *= BLUR_SQUARE;
	*variance = sigma * sigma + moved * moved;
	return true;
}

/* Solves A a = b, A symmetric (its lower half is used and overwritten); the variance is element
 * (0, 0) of the inverse, the square of the first column of L^-1. False where A is singular. */
static bool
solve(double A[TERMS * TERMS], const double b[TERMS], struct quadratic *q)
{
	double e[TERMS];

	if (!symmetric_factor(TERMS, A, 1e-10))
		return false;
	q->variance = 0;
	for (size_t i = 0; i < TERMS; i++) {
		e[i] = i == 0;
		for (size_t k = 0; k < i; k++)
			e[i] -= A[TERMS * i + k] * e[k];
		e[i] /= A[TERMS * i + i];
		q->variance += e[i] * e[i];
	}
	memcpy(q->a, b, sizeof(q->a));
	symmetric_solve(TERMS, A, q->a, 1);
	return true;
}

/* Least squares over the valid pixels that lie within `most` of the last fit (NULL: all). */
static bool
fit(const struct window *w, const struct quadratic *last, double most, struct quadratic *q)
{
	double A[TERMS * TERMS] = { 0 }, b[TERMS] = { 0 }, px, variance, t[TERMS];

	q->used = 0;
	for (size_t y = w->y0; y < w->y1; y++)
		for (size_t x = w->x0; x < w->x1; x++) {
			double weight;

			terms(w, x, y, t);
			if (!sample(w, x, y, &px, &variance) ||
			    (last && fabs(px - value(last, t)) > most))
				continue;
			weight = 1 / variance;
			q->used++;
			for (size_t i = 0; i < TERMS; i++) {
				b[i] += weight * t[i] * px;
				for (size_t j = 0; j <= i; j++)
					A[TERMS * i + j] += weight * t[i] * t[j];
			}
		}
	return q->used > TERMS && solve(A, b, q);
}

/* Sets chi, and adds to the ripple unless it is NULL. */
static void
residuals(const struct window *w, struct quadratic *q, double most, struct projector_ripple *ripple)
{
	double sum = 0, px, variance, t[TERMS];

	for (size_t y = w->y0; y < w->y1; y++)
		for (size_t x = w->x0; x < w->x1; x++) {
			double turn, r, weight;

			terms(w, x, y, t);
			if (!sample(w, x, y, &px, &variance))
				continue;
			r = px - value(q, t);
			if (fabs(r) > most)
				continue;
			weight = 1 / variance;
			sum += weight * r * r;
			if (!ripple)
				continue;
			turn = 2 * M_PI * (value(q, t) + w->offset_px) / w->map->period_px;
			for (int k = 0; k < PROJECTOR_HARMONICS; k++) {
				ripple->re[k] += weight * r * cos((k + 1) * turn);
				ripple->im[k] += weight * r * sin((k + 1) * turn);
			}
			ripple->square += weight * r * r;
			ripple->predicted += w->map->absolute;
			ripple->weight += weight;
		}
	q->chi = sqrt(sum / (double)(q->used - TERMS));
}

/* A pixel of a wrong fringe order is off by a period: after the first fit, and after each one that
 * moved, what is off by half of one is left out. The least that is ever taken for a wrong order. */
static bool
fit_orders(struct window *w, struct quadratic *q, double *most)
{
	struct quadratic next;
	size_t used = 0;

	*most = w->map->period_px / 2;
	if (!fit(w, NULL, 0, q))
		return false;
	for (int round = 0; round < ROUNDS && used != q->used; round++) {
		used = q->used;
		w->gradient[0] = q->a[1] / w->scale;
		w->gradient[1] = q->a[2] / w->scale;
		if (!fit(w, q, *most, &next))
			return false;
		*q = next;
	}
	return true;
}

/* ---- corners ---- */

/* Pixels to each side of corner i: half a window, and not past the nearest other corner. */
static size_t
reach(const double (*corner)[2], size_t n, size_t i, size_t window)
{
	double most = (double)(window / 2);

	for (size_t k = 0; k < n; k++) {
		double away = fmax(fabs(corner[k][0] - corner[i][0]),
		    fabs(corner[k][1] - corner[i][1]));

		if (k != i && away < most)
			most = away;
	}
	return (size_t)most;
}

/* The window about a corner, cut by the picture; false where the corner lies outside, or the window
 * is too small for a fit. */
static bool
place(struct window *w, const struct coordinate_map *map, const double corner[2], size_t half)
{
	size_t x, y;

	if (half < 2 || !(corner[0] >= -0.5 && corner[0] < (double)map->w - 0.5) ||
	    !(corner[1] >= -0.5 && corner[1] < (double)map->h - 0.5))
		return false;
	x = (size_t)round(corner[0]);
	y = (size_t)round(corner[1]);
	w->map = map;
	w->x0 = x > half ? x - half : 0;
	w->y0 = y > half ? y - half : 0;
	w->x1 = map->w - x > half ? x + half + 1 : map->w;
	w->y1 = map->h - y > half ? y + half + 1 : map->h;
	w->whole = (2 * half + 1) * (2 * half + 1);
	w->corner[0] = corner[0];
	w->corner[1] = corner[1];
	w->scale = (double)half;
	w->offset_px = isfinite(map->px[y * map->w + x]) ? (double)map->px[y * map->w + x] : 0;
	return true;
}

static enum projector_point_fault
one_axis(const struct coordinate_map *map, const double corner[2], size_t half,
    const struct projector_points_options *options, size_t axis, struct projector_point *out)
{
	struct window w = { 0 };
	struct quadratic q;
	double most;

	if (!place(&w, map, corner, half))
		return PROJECTOR_POINT_OUTSIDE;
	if (!fit_orders(&w, &q, &most) ||
	    (double)q.used < options->least_valid * (double)w.whole)
		return PROJECTOR_POINT_INVALID;
	residuals(&w, &q, most, NULL);
	out->uv[axis] = q.a[0] + w.offset_px;
	out->gradient[axis][0] = q.a[1] / w.scale;
	out->gradient[axis][1] = q.a[2] / w.scale;
	out->sigma[axis] = sqrt(q.variance);
	out->residual[axis] = q.chi;
	return PROJECTOR_POINT_GOOD;
}

/* The median residual of the points that have one: what sigma is to be multiplied by. */
static int
find_scale(const struct projector_point *point, size_t n, size_t axis, double *scale)
{
	float *chi = malloc((n ? n : 1) * sizeof(*chi)), median;
	size_t count = 0;

	*scale = 1;
	if (!chi)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		if (point[i].fault == PROJECTOR_POINT_GOOD)
			chi[count++] = (float)point[i].residual[axis];
	if (count) {
		numbers_ranks(chi, count, &(size_t){ count / 2 }, 1, &median);
		*scale = (double)median > 0 ? (double)median : 1;
	}
	free(chi);
	return 0;
}

/* Judges the fit by its residual, and lets sigma grow with it. */
static void
judge(struct projector_point *point, const double scale[2],
    const struct projector_points_options *options)
{
	for (size_t axis = 0; axis < 2 && point->fault == PROJECTOR_POINT_GOOD; axis++) {
		point->residual[axis] /= scale[axis];
		point->sigma[axis] *= scale[axis];
		if (!(point->residual[axis] <= options->most_residual))
			point->fault = PROJECTOR_POINT_RESIDUAL;
	}
	if (point->fault != PROJECTOR_POINT_GOOD)
		point->uv[0] = point->uv[1] = point->sigma[0] = point->sigma[1] = NAN;
}

/* Of a corner whose quadratic exists, however well it fits: a projector's response is seen there
 * most of all. */
static void
add_ripple(const struct coordinate_map *map, const double corner[2], size_t half,
    struct projector_ripple *ripple)
{
	struct window w = { 0 };
	struct quadratic q;
	double most;

	if (place(&w, map, corner, half) && fit_orders(&w, &q, &most))
		residuals(&w, &q, most, ripple);
}

int
projector_points(const struct coordinate_map map[2], const double (*corner)[2], size_t n,
    const struct projector_points_options *options, struct projector_point *out,
    struct projector_ripple ripple[2])
{
	double scale[2] = { 1, 1 };

	for (size_t i = 0; i < n; i++) {
		size_t half = reach(corner, n, i, options->window);

		memset(&out[i], 0, sizeof(out[i]));
		for (size_t axis = 0; axis < 2 && out[i].fault == PROJECTOR_POINT_GOOD; axis++)
			out[i].fault = one_axis(&map[axis], corner[i], half, options, axis,
			    &out[i]);
		for (size_t axis = 0; ripple && axis < 2 && out[i].fault == PROJECTOR_POINT_GOOD;
		    axis++)
			add_ripple(&map[axis], corner[i], half, &ripple[axis]);
	}
	for (size_t axis = 0; axis < 2; axis++)
		if (!map[axis].absolute && find_scale(out, n, axis, &scale[axis]) < 0)
			return -1;
	for (size_t i = 0; i < n; i++)
		judge(&out[i], scale, options);
	return 0;
}

double
projector_ripple_rms(const struct projector_ripple *ripple, int *strongest)
{
	double sum = 0, most = 0;

	*strongest = 0;
	for (int k = 1; k < PROJECTOR_HARMONICS && ripple->weight > 0; k++) {
		double re = ripple->re[k] / ripple->weight, im = ripple->im[k] / ripple->weight;
		double square = 2 * (re * re + im * im);	/* half of (2 |c|)^2 */

		sum += square;
		if (square > most) {
			most = square;
			*strongest = k + 1;
		}
	}
	return sqrt(sum);
}
