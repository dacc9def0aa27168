#ifndef PHASEWRAP_OPTIONS_H
#define PHASEWRAP_OPTIONS_H

/* What phasewrap's command line says. */
#include "fringe/capture_set.h"
#include "limits.h"
#include "noise.h"
#include "run/stage.h"

enum as { AS_PHASE, AS_VECTOR };

struct parameters {
	struct capture_options captures;
	const char *manifest;
	int sign, channel, as;
	struct numbers count;
	double field_px, phase_origin;
	struct limit_options limits;
	struct noise_options noise;
};

extern const struct opt phasewrap_options[];

#endif
