/*
 * Does the phase fall from left to right, or from top to bottom, where its sign is only assumed? It
 * rises where camera and projector stand upright, whatever the surface, and three, four and more
 * equal steps fit either sign. Pixels on a coarse grid of the first measurement of a run are looked
 * at, row by row, so that the warning does not depend on threads or bands.
 */
#ifndef DIRECTION_H
#define DIRECTION_H

#include "image/coarse_grid.h"
#include "phasewrap.h"

struct direction_pixel {
	float cosine, sine;		/* of the wave; NaN: not valid, or no neighbour */
	float beside_cosine, beside_sine;	/* of the next pixel in the row */
	float below_cosine, below_sine;	/* of the next pixel in the column; NaN: not valid */
};

struct direction {
	struct coarse_grid grid;
	size_t set;			/* the fringe set of the shortest period */
	struct direction_pixel *pixel;
	bool off;			/* nothing to tell: the sign is stated, or it was told */
};

/* For frames of this head, whose captures are sorted. -1 after fail(). */
int direction_plan(struct direction *, const struct phasewrap *, const struct frame_head *);
void direction_free(struct direction *);
/* Looks at row y, which phasewrap_row() has made. */
void direction_row(const struct direction *, const struct phasewrap *, const struct frame *in,
    const struct frame *out, size_t y);
/* All rows are made: warns where the phase falls all over the picture. */
void direction_warn(struct direction *, const struct phasewrap *);

#endif
