/*
 * Does the phase of a frame rise in the direction of its reference's, and can c be in mm? The phase
 * of a surface rises as that of the plane does, but for its slopes, which turn that direction by
 * less than 70 degrees where both camera and projector see them. From a pixel to the next, c times
 * the rise over the pixels' distance is the ratio of distance and baseline. Phases on a coarse grid
 * are kept, so that the warning does not depend on threads or bands.
 */
#ifndef REFERENCE_CHECK_H
#define REFERENCE_CHECK_H

#include "depthfit.h"
#include "image/coarse_grid.h"

struct reference_check {
	struct coarse_grid grid;
	float (*kept)[2];	/* [row][column]: phase, reference */
	double plane[2];	/* what an ideal reference rises by along x and y; NaN: measured */
	double spacing_mm;	/* of pixels on the plane; NaN: not known */
	double c;		/* mm/rad; NaN: not one for all pixels */
	bool off;		/* no warning: of no use here, or given already */
};

/* For frames of this head over this reference. -1 after fail(). */
int reference_check_plan(struct reference_check *, const struct depthfit *,
    const struct frame_head *);
void reference_check_free(struct reference_check *);
/* Of check->kept. */
size_t reference_check_bytes(const struct reference_check *);
/* Looks at row y. */
void reference_check_row(const struct reference_check *, const struct depthfit *,
    const struct frame *, size_t y);
/* All rows are made: warns, once in a run. */
void reference_check_warn(struct reference_check *);

#endif
