#define _GNU_SOURCE
#include "offset_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "image/statistics.h"

#define PIXELS 1024		/* about as many are kept */
#define PIXELS_LEAST 256	/* of fewer no warning is given */

/* How near the angle lies to that of one image, in turns; of more images than so many it is too
 * near to none. Right captures of two real rigs are off by 0.005 to 0.009; a surface that moves
 * from one set to the next gives any angle. */
#define NEAR 0.012
#define STEPS_MOST 16
#define SURE 4.0		/* standard errors in that */
#define MISFIT 0.3		/* of several phases, from what one angle makes of them */
#define SPREAD 0.25		/* turns between the quartiles; random ones have 0.5 */

#define TURN (2 * M_PI)

int
offset_check_plan(struct offset_check *check, const struct temporal *temporal,
    const struct frame_head *head)
{
	double period_px = temporal->period_px[temporal->target], n;

	offset_check_free(check);
	if (!meta_get(&head->meta, "steps") || meta_number(&head->meta, "steps", 0, &n) < 0) {
		fail_clear();
		n = 0;
	}
	check->late = n >= 3 && n <= STEPS_MOST;
	check->steps = check->late ? (size_t)n : 0;
	check->others = 0;
	for (size_t k = 0; k < temporal->phases; k++) {
		if (k == temporal->target || temporal->period_px[k] == period_px)
			continue;
		check->channel[check->others] = temporal->channel[k];
		check->ratio[check->others++] = period_px / temporal->period_px[k];
	}
	check->grid = coarse_grid(head->w, head->h, PIXELS);
	check->kept = malloc(offset_check_bytes(check) + 1);
	return check->kept ? 0 : fail_memory();
}

void
offset_check_free(struct offset_check *check)
{
	free(check->kept);
	check->kept = NULL;
}

size_t
offset_check_bytes(const struct offset_check *check)
{
	return check->on ?
	    coarse_grid_pixels(&check->grid) * (check->others + 1) * sizeof(float) : 0;
}

/* Bands may share rows: both store the same. */
void
offset_check_row(const struct offset_check *check, const struct frame *in, const float *absolute,
    size_t y)
{
	if (!check->on || check->off || check->frames >= OFFSET_CHECK_FRAMES ||
	    y % check->grid.step)
		return;
	for (size_t i = 0; i < check->grid.columns; i++) {
		size_t x = i * check->grid.step;
		float *to =
		    check->kept + (coarse_grid_row(&check->grid, y) + i) * (check->others + 1);
		float position = absolute[x] * (float)(1 / TURN);

		__atomic_store(&to[0], &position, __ATOMIC_RELAXED);
		for (size_t k = 0; k < check->others; k++) {
			double beside = (double)frame_floats(in, check->channel[k], y)[x] -
			    (double)absolute[x] * check->ratio[k];
			float turns = isfinite(beside) ?
			    (float)remainder(beside / TURN, 1) : NAN;

			__atomic_store(&to[k + 1], &turns, __ATOMIC_RELAXED);
		}
	}
}

/* The median of one phase, and its standard error; false where too few pixels or no order tell. */
static bool
find_median(const struct offset_check *check, size_t other, double *turns, double *median,
    double *error)
{
	size_t n = 0, all = coarse_grid_pixels(&check->grid);
	double between;

	for (size_t i = 0; i < all; i++) {
		double v = (double)check->kept[i * (check->others + 1) + 1 + other];

		if (!isnan(v))
			turns[n++] = v;
	}
	if (n < PIXELS_LEAST)
		return false;
	*median = statistics_ranked(turns, n, n / 2);
	between = statistics_ranked(turns, n, n - 1 - n / 4) - statistics_ranked(turns, n, n / 4);
	*error = 0.93 * between / sqrt((double)n);	/* of normal errors: 1.25/1.35 */
	return between < SPREAD;
}

/* One angle for all phases by least squares. */
static void
judge(struct offset_check *check, double *turns)
{
	double median[UNWRAP_PHASES_MOST], up = 0, down = 0, variance = 0, left = 0, shift;

	for (size_t k = 0; k < check->others; k++) {
		double part = 1 - check->ratio[k], error;

		if (!find_median(check, k, turns, &median[k], &error))
			return;
		up += part * median[k];
		down += part * part;
		variance += part * part * error * error;
	}
	shift = up / down;
	for (size_t k = 0; k < check->others; k++) {
		double misfit = median[k] - shift * (1 - check->ratio[k]);

		left += misfit * misfit;
	}
	if (fabs(fabs(shift) - 1 / (double)check->steps) > NEAR ||
	    SURE * sqrt(variance) / down > NEAR ||
	    left > MISFIT * MISFIT * shift * shift * down)
		return;
	warn("absphase", "all phases are off by %.2f turns, as where each begins one of its %zu "
	    "images early or late (or the surface moved from one to the next): is phasewrap "
	    "--phase-origin right?", fabs(shift), check->steps);
	check->off = true;
}

void
offset_check_warn(struct offset_check *check)
{
	double *turns;

	if (!check->on || check->off || check->frames++ >= OFFSET_CHECK_FRAMES || !check->late ||
	    !check->others)
		return;
	turns = malloc(coarse_grid_pixels(&check->grid) * sizeof(*turns) + 1);
	if (turns)
		judge(check, turns);
	free(turns);
}
