/*
 * Ordered dithering compares each level with a threshold that is known: a bit leaves the phase on
 * one side of it. The averages of window.c do not use that. From them on, turns are moved to what
 * bends least while all bits are as they are (inverse halftoning onto the set of all pictures that
 * would give these bits, after Hein and Zakhor 1995; here of phases, not of levels).
 *
 * Descent with momentum (Nesterov 1983). A step reads the plane that the last one left, so that
 * the result does not depend on which thread takes which rows.
 */
#ifndef UNDITHER3_REFINE_H
#define UNDITHER3_REFINE_H

#include "undither3.h"

#define REFINE_STEPS 80
#define REFINE_BOUNDS 20	/* steps until bounds are looked for anew */

/* Planes as of `struct planes`; what is outside of the surface is UNDITHER3_FAR. */
struct refining {
	const struct job *job;
	float *low, *high;		/* turns that give the pixel's bits */
	float *last;			/* turns after a step */
	float *from, *to;		/* turns that a step starts from, and the next */
	float momentum;
	bool anew;			/* look for the bounds */
};

/* Turns of the whole picture, between the fit and its levels; sums and scratch are overwritten. */
void refine_turns(struct run *run, struct job *job);
/* Turns between which the bits of n pixels are as they are. x: a multiple of DITHER_TILE. */
void refine_bound_row(const struct refining *refining, size_t y, size_t x, size_t n);
/* Is one of n pixels inside of the surface? */
bool refine_any_inside(const float *restrict inside, size_t n);

#endif
