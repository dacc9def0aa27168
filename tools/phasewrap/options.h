#ifndef PHASEWRAP_OPTIONS_H
#define PHASEWRAP_OPTIONS_H

/* What phasewrap's command line says. */
#include "exposures.h"
#include "fringe/capture_set.h"
#include "limits.h"
#include "noise.h"
#include "run/stage.h"

enum as { AS_PHASE, AS_VECTOR };

struct fourier_options {
	struct numbers carrier;		/* camera px along x and y; n = 0: not given */
	int transform, window, removal;	/* -1: not given */
	double width;			/* of the carrier; NaN: not given */
	bool mirrored;
};

struct parameters {
	struct capture_options captures;
	const char *manifest, *harmonics;
	int sign, channel, as, dropped;
	struct numbers count, light;
	double field_px, phase_origin;
	struct limit_options limits;
	struct fourier_options fourier;
	struct exposure_options exposures;
	struct noise_options noise;
};

extern const struct opt phasewrap_options[];

/* Refuses options that exclude one another; shift_auto: --shift auto. -1 after fail_usage(). */
int options_check(const struct parameters *, bool shift_auto);

#endif
