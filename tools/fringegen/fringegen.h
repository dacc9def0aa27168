/* What fringegen keeps of its options. */
#ifndef FRINGEGEN_FRINGEGEN_H
#define FRINGEGEN_FRINGEGEN_H

#include "fringe/lut.h"
#include "fringe/patterns.h"
#include "run/stage.h"

enum kind { KIND_SINE, KIND_SQUARE, KIND_DITHER, KIND_TWO_PLUS_ONE, KIND_COMPOSITE, KIND_GRAY };
enum axis { AXIS_X, AXIS_Y, AXIS_BOTH };

struct parameters {
	int kind, axis, bits, gray, dither;
	long steps, stair;
	struct numbers period_px, count, shift_rad;
	struct opt_size size;
	double mean, amplitude, gamma;
	const char *lut, *manifest;
	bool inverse, flats, marker;
	double marker_at;
};

struct priv {
	struct pattern_spec spec;
	struct patterns patterns;
	double mean, amplitude;		/* shares of full scale */
	struct lut lut;
	struct manifest manifest;
};

extern const char *const fringegen_kinds[];

#endif
