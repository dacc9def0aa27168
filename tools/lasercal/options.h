/* What lasercal's command line says. */
#ifndef LASERCAL_OPTIONS_H
#define LASERCAL_OPTIONS_H

#include "optics/stage_pose.h"
#include "run/stage.h"

enum mode { MODE_PLANE, MODE_DIRECTION, MODE_AXIS, LASERCAL_MODES };

extern const char *const lasercal_modes[LASERCAL_MODES];

struct parameters {
	const char *calib, *camera, *board, *corners, *off;
	int kind, channel;
	double sigma;
	struct numbers origin;
	struct stage_pose_options pose;
	double limit;
	bool plain;
};

extern const struct opt lasercal_options[];

/* Options that another mode has, or that contradict each other. -1 after fail_usage(). */
int options_check(const struct parameters *, enum mode);

#endif
