/* What the filter knows of a frame, in C and in GLSL. */
#ifndef KALMAN_BLOCK_H
#define KALMAN_BLOCK_H

#include "base/px.h"

#define KALMAN_NONE 0xffffffffu

struct kalman_block {
	uint value0, value1, value2;	/* channels of the input; of one all are equal */
	uint out0, out1, out2;		/* and of the output */
	uint values;			/* 1, or 3: x y z */
	uint sigma_in, sigma_out;	/* channels of standard deviation, or KALMAN_NONE */
	uint angle;			/* the values are angles */
	float elapsed;			/* time since the last frame */
	float motion;			/* standard deviation per time, in the root of the
					   variances' unit */
	float moved;			/* the same, of the motion that stated variances have in
					   them: what is measured or given, not the least that the
					   gain is computed by */
	float keep;			/* after so much time a state is forgotten */
	float gate;			/* largest innovation, squared, over its variance */
	float repeat;			/* so many outliers in a row are a change */
	float per_square;		/* variances' unit per square of a value */
	float unit;			/* value per root of that unit; NaN: not known */
};

#endif
