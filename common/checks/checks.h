/*
 * All checks (run/check.h), by subject. A stage that wants one names it in its list; checks(7) says
 * what each looks at, its limits, and what to do when it fires.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include "run/check.h"

struct capture_fringe;
struct phase_shift_fit;

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

/* For checks of fringe images, all in steps.c. The first marks the fringe images of the input, the
 * second the phase, too. */
void check_fringe_channels(const struct check_facts *, const struct check_heads *, bool *in,
    bool *out);
void check_phase_channels(const struct check_facts *, const struct check_heads *, bool *in,
    bool *out);

/* What the images of one pixel hold: the amplitude times cosine and sine of the phase. */
struct check_wave {
	double cosine, sine;
};

/* Of pixel x of sampled row i, by the weights of its fringe set. left, which may be NULL: what the
 * fit leaves, squared, per degree of freedom; 0 where it leaves nothing. */
struct check_wave check_wave(const struct capture_fringe *, const struct phase_shift_fit *,
    const struct frame *, size_t i, size_t x, double *left);

#endif
