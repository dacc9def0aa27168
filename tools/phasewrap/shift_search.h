/*
 * --shift auto: the shifts of each measurement out of its images (shift_gram.h), before its rows
 * are computed. Looks at some 65000 pixels with fringes that are unsaturated in all images.
 */
#ifndef SHIFT_SEARCH_H
#define SHIFT_SEARCH_H

#include "phasewrap.h"
#include "run/run.h"

struct shift_search {
	bool on, verbose;
	bool warned;
	double *expected;	/* the shifts that were given, of all fringe sets */
};

/* Keeps the shifts of the captures of a planned measurement as those that are expected; sets the
 * key found_shift_rad. -1 after fail(). */
int shift_search_plan(struct shift_search *, const struct phasewrap *, struct meta *);
/* Finds the shifts of one measurement, and solves its fits with them; sets the key. -1 after fail()
 * where they cannot be found. */
int shift_search_run(struct shift_search *, struct run *, struct phasewrap *,
    const struct frame *in);
void shift_search_free(struct shift_search *);

#endif
