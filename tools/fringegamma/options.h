#ifndef OPTIONS_H
#define OPTIONS_H

/* What fringegamma's command line says. */
#include "fringe/capture_set.h"
#include "run/stage.h"

struct parameters {
	struct capture_options captures;
	const char *manifest, *lut, *harmonics;
	struct numbers levels;
	int sign, channel;
	long highest;
	double full, mean, amplitude, max_value, min_swing, phase_origin;
	bool json, vary;
};

extern const struct opt fringegamma_options[];

/* Do they go together? -1 after fail_usage(). */
int options_check(const struct run *, const struct parameters *);

#endif
