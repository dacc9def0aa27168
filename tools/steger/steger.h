/* What the checks of steger need from its plan, and the loops of steger_rows.c. */
#ifndef STEGER_H
#define STEGER_H

#include "base/cpu_level.h"
#include "feature/line.h"
#include "run/stage.h"

/* The least noise of an image: that of rounding to the camera's levels, and for floats a little of
 * their range. */
double line_noise_least(const struct line_image *);

/* ---- steger_checks.c: what a wrong option, background or channel shows ---- */

/* How the points of an image were found. */
struct plausible {
	const struct line_options *line;
	bool automatic;			/* the threshold is that of the noise */
	bool per_row, per_column, channel;	/* were given */
};

/* Warns if most of the image differs from its background. noise: NaN if it was not measured. -1
 * after fail(). */
int plausible_background(const struct line_image *, double noise);
/* Prints one warning if the threshold is within the noise; if a larger sigma sees a line that this
 * one sees only partly; if lines of the other sign respond much more than those that were found; if
 * most points are in short pieces; or if a row (column) cannot hold the line. -1 after fail(). */
int plausible_points(struct run *, struct line_finder *, const struct line_image *,
    const struct line_points *, const struct plausible *);
/* Warns about images of fringes, by their key role. Returns true after a warning. */
bool plausible_role(const struct frame_head *);
/* For images without a point, whose strongest response is `strongest`: *other is that of the other
 * sign if it is much larger, else 0. -1 after fail(). */
int plausible_other(struct run *, struct line_finder *, const struct line_image *,
    double strongest, double *other);

/* ---- steger_rows.c ---- */

/* A correction of points for sharp edges. */
struct correction {
	const struct derivative_kernels *kernels;
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

#endif
