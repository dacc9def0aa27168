/* The limits beyond which a pixel is invalid: what the user gives, what is usual. */
#ifndef LIMITS_H
#define LIMITS_H

#include "phasewrap.h"
#include "run/run.h"

struct limit_options {
	double min_modulation, min_amplitude, max_value, dark;	/* the last two NaN: not given */
	double max_fit_residual;				/* NaN: not given */
	bool fit_residual;
};

/* The value from which on a sample of this type is saturated, where nothing says another one. */
double limits_usual_most(enum sample);
/* Is one of them set that only fringes, or white and black, can be held against? */
bool limits_need_flats(const struct limit_options *);
/* Sets wrap->limits, wrap->fits and wrap->writes_fit, whose captures are sorted. -1 after fail().
 */
int limits_plan(const struct run *, const struct limit_options *, const struct frame_head *,
    struct phasewrap *);

#endif
