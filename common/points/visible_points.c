#include "points/visible_points.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

/* Distances that the medians are taken of: more make them no better. */
#define SAMPLES 65536
#define NORMAL_MEDIAN 0.6745	/* of |x|, x of the normal distribution with standard deviation 1 */

bool
visible_points_at(const struct visible_points *points, size_t x, size_t y, double X[3])
{
	for (int k = 0; k < 3; k++)
		X[k] = frame_floats(points->frame, points->channel[k], y)[x];
	return isfinite(X[0]) && isfinite(X[1]) && isfinite(X[2]);
}

/* The distance to the next pixel along an axis, and of the point from the middle of its two
 * neighbours there; NaN where points are missing. */
static void
measure(const struct visible_points *points, size_t x, size_t y, bool down, float *step,
    float *off)
{
	const struct frame_head *head = &points->frame->head;
	size_t at = down ? y : x, n = down ? head->h : head->w;
	double X[3], next[3], before[3], middle[3];

	*step = *off = NAN;
	if (at + 1 >= n || !visible_points_at(points, x, y, X) ||
	    !visible_points_at(points, x + !down, y + down, next))
		return;
	*step = (float)visible_points_distance(X, next);
	if (at == 0 || !visible_points_at(points, x - !down, y - down, before))
		return;
	for (int k = 0; k < 3; k++)
		middle[k] = (before[k] + next[k]) / 2;
	*off = (float)visible_points_distance(X, middle);
}

static double
median(const float *v, size_t n)
{
	size_t middle = n / 2;
	float at = 0;

	if (n)
		numbers_ranks(v, n, &middle, 1, &at);
	return (double)at;
}

int
visible_points_init(struct visible_points *points, const struct frame *frame,
    const size_t channel[3])
{
	size_t pixels = frame->head.w * frame->head.h, stride = pixels / SAMPLES + 1;
	size_t steps = 0, offs = 0;
	float *step = malloc(4 * SAMPLES * sizeof(*step)), *off;

	*points = (struct visible_points){ .frame = frame,
		.channel = { channel[0], channel[1], channel[2] } };
	if (!step)
		return fail_memory();
	off = step + 2 * SAMPLES;
	for (size_t i = 0; i < pixels; i += stride)
		for (int down = 0; down < 2; down++) {
			measure(points, i % frame->head.w, i / frame->head.w, down, &step[steps],
			    &off[offs]);
			steps += isfinite(step[steps]);
			offs += isfinite(off[offs]);
		}
	points->spacing = median(step, steps);
	/* of X - (X1 + X2)/2, whose variance is 3/2 of a point's */
	points->noise = median(off, offs) / NORMAL_MEDIAN / sqrt(1.5);
	free(step);
	return 0;
}

/* The neighbour at (x + dx, y + dy), if it is linked with X. */
static bool
linked(const struct visible_points *points, const double X[3], size_t x, size_t y, int dx, int dy,
    double next[3])
{
	const struct frame_head *head = &points->frame->head;

	if ((dx < 0 && x == 0) || (dy < 0 && y == 0) || (dx > 0 && x + 1 >= head->w) ||
	    (dy > 0 && y + 1 >= head->h))
		return false;
	return visible_points_at(points, x + (size_t)dx, y + (size_t)dy, next) &&
	    visible_points_distance(X, next) <= VISIBLE_LINK * points->spacing;
}

static bool
tangent(const struct visible_points *points, const double X[3], size_t x, size_t y, bool down,
    double along[3])
{
	double before[3], next[3];
	bool has_before = linked(points, X, x, y, -!down, -down, before);
	bool has_next = linked(points, X, x, y, !down, down, next);

	if (has_before && has_next) {
		double a = visible_points_distance(X, before), b = visible_points_distance(X, next);

		has_before = a <= VISIBLE_STEP * b;
		has_next = b <= VISIBLE_STEP * a;
	}
	for (int k = 0; k < 3; k++)
		along[k] = has_before && has_next ? (next[k] - before[k]) / 2 :
		    has_next ? next[k] - X[k] : X[k] - before[k];
	return has_before || has_next;
}

bool
visible_points_tangents(const struct visible_points *points, size_t x, size_t y, double along_x[3],
    double along_y[3])
{
	double X[3];

	return visible_points_at(points, x, y, X) && tangent(points, X, x, y, false, along_x) &&
	    tangent(points, X, x, y, true, along_y);
}
