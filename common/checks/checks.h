/*
 * All checks (run/check.h), by subject. A stage that wants one names it in its list; checks(7) says
 * what each looks at, its limits, and what to do when it fires.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include "run/check.h"

/* light.c */
extern const struct check check_clipped, check_max_value, check_min_amplitude, check_saturation;
/* unlit.c */
extern const struct check check_no_fringes, check_unlit;
/* gray.c */
extern const struct check check_gray;
/* steps.c */
extern const struct check check_steps, check_assumed_shifts, check_direction;
/* geometry.c */
extern const struct check check_epipolar;

/* For checks of fringe images: marks those of the input. */
void check_fringe_channels(const struct check_facts *, const struct check_heads *, bool *in,
    bool *out);

#endif
