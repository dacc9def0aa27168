/* The loops of steger_rows.c. */
#pragma once

#include <math.h>

#include "feature/line.h"
#include "run/stage.h"

/* ---- steger_rows.c ---- */

/*
 * Pixels cannot carry sharp edges. Their sums alias, and the smoothed image of a bar has no slope
 * at a place that is off its middle, by up to 0.015 px for 3 px along an axis. The correction moves
 * every point along its normal to the middle of a bar of that width (up to SHARP_WIDTH_MOST), whose
 * image of exact pixel areas has no slope where the point was found.
 */
struct correction {
	const struct derivative_kernels *kernels;	/* those that found the points */
	double half_width;	/* px */
	struct line_points *points;
};

struct steger_rows {
	/* The loops of the line detector. */
	struct line_level line;
	/* Moves point i of a struct correction to the middle of its bar, for run_for(). */
	void (*correct_point)(void *correction, size_t i);
	/* The greatest common divisor of `common` and a plane's samples; common 0: none yet. */
	size_t (*common_divisor)(const struct line_image *, const struct line_plane *,
	    size_t common);
	/* The range of an image's finite floats; less than 0 if there are none. */
	double (*float_range)(const struct line_image *);
	/* The share of pixels that differ from the background by more than `least`; 0 if too few
	 * can be compared. */
	double (*differing)(const struct line_image *, double least);
	/* An image, less its background, at half the size: means of four pixels; NaN if one is. */
	void (*halve)(const struct line_image *, float *v);
	/* Are most of the points in `seen` within the lines of an image of 1/scale of the size? A
	 * wide, bright thing elsewhere contains none of them. */
	bool (*hold_most)(const struct line_points *wide, double scale, double sigma,
	    const struct line_points *seen);
};
LEVELS_OF(steger_rows)
