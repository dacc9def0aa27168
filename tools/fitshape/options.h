#ifndef FITSHAPE_OPTIONS_H
#define FITSHAPE_OPTIONS_H

#include "base/opt.h"
#include "run/run.h"

enum mode { MODE_PLANE, MODE_SPHERE, MODE_CYLINDER, MODE_SPHERES, MODE_LENGTH, MODES };
extern const char *const fitshape_modes[MODES];

struct parameters {
	bool robust, fixed, no_weights, json;
	double trim, distance;
	struct numbers roi, diameter, pixel;
	int along;			/* enum along; -1: not given */
};

extern const struct opt fitshape_options[];
/* 0; -1 after fail_usage(). */
int options_check(const struct parameters *, enum mode);

#endif
