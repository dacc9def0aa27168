/*
 * Double three-step (Huang, Hu and Chiang 2002, "Double three-step phase-shifting algorithm"): two
 * sets of three images 60 degrees apart, each of which gives a phase; the mean of the two has the
 * error that the second harmonic makes cancelled to first order, as it is opposite in both.
 */
#ifndef DOUBLE_THREE_H
#define DOUBLE_THREE_H

#include "phasewrap.h"
#include "tile.h"

/* The two sets of three of a fringe set of six. */
struct double_three {
	struct capture_fringe half[2];
	struct phase_shift_fit fit[2];
	size_t plane[2][3];
	double shift_rad[2][3];
};

/* Allocates wrap->halves for captures whose fits are solved. -1 after fail() where the shifts are
 * no two sets of that kind. */
int double_three_plan(struct phasewrap *);
void double_three_forget(struct phasewrap *);
/* Its pass on the device. -1 after fail(). */
int double_three_passes(struct passes *, const struct phasewrap *);
/* In the place of fringe_sums_wrap(), but texture counts twice. */
void double_three_wrap(const struct phasewrap *, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct tile *);

#endif
