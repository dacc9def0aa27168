/*
 * Do pixels without light go on as valid ones? Noise has an amplitude, too, but its phase is
 * random: it has nothing to do with that of a neighbour, and with four and more steps the fit
 * leaves as much as it takes. Pixels on a coarse grid of the first measurement of a run are looked
 * at, row by row, so that the warning does not depend on threads or bands.
 */
#ifndef UNLIT_H
#define UNLIT_H

#include "image/coarse_grid.h"
#include "phasewrap.h"

struct unlit_pixel {
	float square;			/* of the amplitude; NaN: not valid, or no neighbour */
	float cosine, sine;		/* of the phase less that of the neighbour */
	float left;			/* what the fit leaves, squared, per degree of freedom */
};

struct unlit {
	struct coarse_grid grid;
	size_t set;			/* the fringe set of the longest period */
	struct unlit_pixel *pixel;
	bool off;			/* nothing to tell: a limit is given, or it was told */
};

/* For frames of this head, whose captures are sorted and limits known. -1 after fail(). */
int unlit_plan(struct unlit *, const struct phasewrap *, const struct frame_head *);
void unlit_free(struct unlit *);
/* Looks at row y, which phasewrap_row() has made. */
void unlit_row(const struct unlit *, const struct phasewrap *, const struct frame *in,
    const struct frame *out, size_t y);
/* All rows are made: warns where many pixels with a phase are noise, and names a limit. */
void unlit_warn(struct unlit *, const struct phasewrap *);

#endif
