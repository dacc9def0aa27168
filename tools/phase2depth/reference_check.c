#define _GNU_SOURCE
#include "reference_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"

#define PIXELS 1024		/* of the grid, about */
#define LEAST 100		/* pairs in each direction from which on they tell something */
#define APART_DEG 80.0		/* between the directions in which both rise */
#define FRINGES 1.0		/* of each from one side of the picture to the other, at least */
#define RATIO_LEAST 0.02	/* of distance and baseline: in right rigs 0.3 to 30, */
#define RATIO_MOST 500.0	/* and a thousand times less or more in another unit */

#define TURN (2 * M_PI)

int
reference_check_plan(struct reference_check *check, const struct depthfit *fit,
    const struct frame_head *head)
{
	bool one = fit->degree == 1 && fit->c_map[0] == NO_CHANNEL;

	reference_check_free(check);
	check->off |= fit->wrapped;
	if (check->off)
		return 0;
	check->plane[0] = fit->ref == NO_CHANNEL ? fit->plane[1] : NAN;
	check->plane[1] = fit->ref == NO_CHANNEL ? fit->plane[2] : NAN;
	check->spacing_mm = strcmp(head->unit, "mm") ? NAN : head->spacing[0];
	check->c = one ? fabs(fit->c[0]) : NAN;
	check->grid = coarse_grid(head->w, head->h, PIXELS);
	check->kept = malloc(reference_check_bytes(check));
	return check->kept ? 0 : fail_memory();
}

void
reference_check_free(struct reference_check *check)
{
	free(check->kept);
	check->kept = NULL;
}

size_t
reference_check_bytes(const struct reference_check *check)
{
	return check->off ? 0 : coarse_grid_pixels(&check->grid) * sizeof(*check->kept);
}

/* Bands may share rows: both store the same. */
void
reference_check_row(const struct reference_check *check, const struct depthfit *fit,
    const struct frame *in, size_t y)
{
	const float *phase, *ref;

	if (check->off || y % check->grid.step)
		return;
	phase = frame_floats(in, fit->phase, y);
	ref = fit->ref == NO_CHANNEL ? phase : frame_floats(in, fit->ref, y);
	for (size_t i = 0; i < check->grid.columns; i++) {
		float *to = check->kept[coarse_grid_row(&check->grid, y) + i];

		__atomic_store(&to[0], &phase[i * check->grid.step], __ATOMIC_RELAXED);
		__atomic_store(&to[1], &ref[i * check->grid.step], __ATOMIC_RELAXED);
	}
}

/* The median rise from pixel to pixel, between nodes that are `apart` in the list; NaN where few
 * have both phases. */
static double
find_rise(const struct reference_check *check, size_t which, bool along_y, double *rises)
{
	size_t apart = along_y ? check->grid.columns : 1, n = 0;

	for (size_t i = 0; i + apart < coarse_grid_pixels(&check->grid); i++) {
		double rise = (double)check->kept[i + apart][which] -
		    (double)check->kept[i][which];

		if (isfinite(rise) && (along_y || (i + 1) % check->grid.columns))
			rises[n++] = rise / (double)check->grid.step;
	}
	return n < LEAST ? NAN : statistics_ranked(rises, n, n / 2);
}

/* Fringes from one side of the picture to the other; NaN where a rise is. */
static double
fringes(const struct reference_check *check, const double rise[2])
{
	const struct coarse_grid *grid = &check->grid;

	return (fabs(rise[0]) * (double)grid->columns + fabs(rise[1]) * (double)grid->rows) *
	    (double)grid->step / TURN;
}

static void
judge(struct reference_check *check, double *rises)
{
	double phase[2], ref[2], apart_deg, ratio;

	for (size_t k = 0; k < 2; k++) {
		phase[k] = find_rise(check, 0, k, rises);
		ref[k] = isnan(check->plane[k]) ? find_rise(check, 1, k, rises) :
		    check->plane[k];
	}
	if (!(fringes(check, phase) > FRINGES) || !(fringes(check, ref) > FRINGES))
		return;
	apart_deg = 180 / M_PI * fabs(atan2(phase[0] * ref[1] - phase[1] * ref[0],
	    phase[0] * ref[0] + phase[1] * ref[1]));
	ratio = check->c * hypot(ref[0], ref[1]) / check->spacing_mm;
	if (apart_deg > APART_DEG)
		warn("absphase", "rises in another direction than the reference does, %.0f degrees "
		    "beside it: are both of the same axis, sign and camera?", apart_deg);
	else if (ratio < RATIO_LEAST || ratio > RATIO_MOST)
		warn("--c", "%g mm for a radian, of which the reference has %.3g in a mm, would "
		    "need a camera %.2g times as far away as it is from the projector: is it in "
		    "mm?", check->c, hypot(ref[0], ref[1]) / check->spacing_mm, ratio);
	else
		return;
	check->off = true;
}

void
reference_check_warn(struct reference_check *check)
{
	double *rises;

	if (check->off)
		return;
	rises = malloc(coarse_grid_pixels(&check->grid) * sizeof(*rises));
	if (rises)
		judge(check, rises);
	free(rises);
	check->off = true;	/* the first frame tells */
}
