/* Phase shifts that are found in the images. */
#pragma once

#include "fringe/capture_set.h"
#include "fringe/phase_steps.h"

struct run;

/* ---- the shifts of one fringe set by least squares ---- */

#define STEP_SEARCH_MOST 200	/* images of a set */

/* The least squares of a pixel, I = A + B cos(phi + shift): (A, B cos phi, B sin phi) are k times
 * its samples. False: the shifts determine no phase, as the determinant is `least` at most. */
bool step_search_weights(const double *shift_rad, size_t n, double least,
    double k[3][STEP_SEARCH_MOST]);
/*
 * One round of Wang and Han 2004: the pixels from the shifts, the shifts from the pixels. gram:
 * n x n sums over the pixels of the products of their samples. own_level: each image has its own
 * share of A; then an image's mean over all pixels is taken out of its samples. *change_rad: how
 * far the worst shift moved, the first one's motion taken out. False: the images determine none,
 * and shift_rad stays.
 */
bool step_search_round(const double *gram, size_t n, bool own_level, double *shift_rad,
    double *change_rad);
#define STEP_SEARCH_IMAGES 64	/* of a fringe set, at most, where its shifts are not known about */

/*
 * The shifts of 3 to STEP_SEARCH_IMAGES images for the first round, by the circle that they lie on
 * if all phases come as often, and the amplitude does not depend on them. gram as in
 * step_search_round(). False: they lie on none.
 */
bool step_search_begin(const double *gram, size_t n, double *shift_rad);

/* ---- the shifts of a whole measurement, whose images are known (phasewrap --shift auto) ---- */

struct step_search {
	bool on, verbose;
	double sign, origin_rad;	/* as for phase_shift_weights_solve() */
	float max_value;		/* of a sample; one that reaches it is saturated */
	float least_amplitude;		/* of a pixel with fringes */
	bool warned;
	double *expected;		/* the shifts that were given, of all fringe sets */
};

/* Keeps the shifts of a planned measurement as those that are expected; sets the key
 * found_shift_rad. -1 after fail(). */
int step_search_plan(struct step_search *, const struct capture_set *, struct meta *);
/* Finds the shifts of one measurement, solves the fit of each fringe set with them, and sets the
 * key of the output. -1 after fail() where they cannot be found. */
int step_search_run(struct step_search *, struct run *, const struct frame *in,
    struct capture_set *, struct phase_shift_fit *fit);
void step_search_free(struct step_search *);
