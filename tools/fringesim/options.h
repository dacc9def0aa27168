#ifndef FRINGESIM_OPTIONS_H
#define FRINGESIM_OPTIONS_H

/* What fringesim's command line says. */
#include "camera.h"
#include "fringe/patterns.h"
#include "fringe/projector_response.h"
#include "run/stage.h"
#include "simulated_scene.h"

enum { AXIS_X, AXIS_Y, AXIS_BOTH };

enum kind { KIND_STEP, KIND_TWO_PLUS_ONE, KIND_SQUARE, KIND_DITHER };

struct parameters {
	struct simulated_scene_options scene;
	struct numbers period, shift;
	long steps, frames;
	int kind, axis, dither;
	struct pattern_spec spec;	/* as far as options give it */
	const char *truth, *corners, *manifest, *lut;
	struct projector_response response;
	struct camera camera;
	double ambient, motion, turn, marker_at;
	bool picture;
};

extern const struct opt fringesim_options[];

#endif
