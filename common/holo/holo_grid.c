/* The grid that the points of a frame lie on. */
#include <math.h>

#include "base/fail.h"
#include "holo/holo.h"

/* A pixel may lie this far off the grid, in pixels. */
#define GRID_TOLERANCE 0.05

/* Sums of a line fit: value = corner + index spacing. */
struct fit {
	double n, i, v, ii, iv;
};

/* NaN where only one index was seen. */
static double
slope(const struct fit *fit)
{
	double spread = fit->n * fit->ii - fit->i * fit->i;

	return spread > 0.5 ? (fit->n * fit->iv - fit->i * fit->v) / spread : NAN;
}

static void
add_point(struct fit *fit, size_t index, float value)
{
	double i = (double)index, v = (double)value;

	fit->n++;
	fit->i += i;
	fit->v += v;
	fit->ii += i * i;
	fit->iv += i * v;
}

static bool
is_point(float x, float y)
{
	return isfinite(x) && isfinite(y);
}

/* How far the farthest pixel lies off the grid, in pixels, and which one it is. */
static double
farthest_off(const struct frame *frame, const size_t channel[2], const double spacing[2],
    const double corner[2], size_t at[2])
{
	double most = 0;

	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t x = 0; x < frame->head.w; x++) {
			float px = frame_floats(frame, channel[0], y)[x];
			float py = frame_floats(frame, channel[1], y)[x];
			double dx = ((double)px - corner[0]) / spacing[0] - (double)x;
			double dy = ((double)py - corner[1]) / spacing[1] - (double)y;
			double off = fmax(fabs(dx), fabs(dy));

			if (is_point(px, py) && !(off <= most)) {
				most = off;
				at[0] = x;
				at[1] = y;
			}
		}
	return most;
}

int
holo_grid(const struct frame *frame, size_t x, size_t y, double spacing[2], double corner[2])
{
	struct fit fit[2] = { { 0 } };
	const size_t channel[2] = { x, y };
	size_t at[2] = { 0, 0 };
	double off;

	for (size_t row = 0; row < frame->head.h; row++)
		for (size_t column = 0; column < frame->head.w; column++) {
			float px = frame_floats(frame, x, row)[column];
			float py = frame_floats(frame, y, row)[column];

			if (is_point(px, py)) {
				add_point(&fit[0], column, px);
				add_point(&fit[1], row, py);
			}
		}
	for (int i = 0; i < 2; i++)
		spacing[i] = slope(&fit[i]);
	for (int i = 0; i < 2; i++) {
		if (isnan(spacing[i]))
			spacing[i] = isnan(spacing[1 - i]) ? 1 : spacing[1 - i];
		corner[i] = fit[i].n ? (fit[i].v - fit[i].i * spacing[i]) / fit[i].n : 0;
	}
	off = farthest_off(frame, channel, spacing, corner, at);
	if (off <= GRID_TOLERANCE)
		return 0;
	return fail(NULL,
	    "x and y are no regular grid: pixel (%zu, %zu) lies %.3g pixels off it; make a depth "
	    "map of the points first",
	    at[0], at[1], off);
}
