/* The parameters of holoenc.comp, in C and in GLSL: struct holo_code, and which channel is what. */
#ifndef HOLOENC_BLOCK_H
#define HOLOENC_BLOCK_H

#include "base/px.h"

#define HOLOENC_NONE 0xffffffffu

struct holoenc_block {
	uint depth, texture;		/* of the input; HOLOENC_NONE */
	uint place[3];			/* sine, cosine, stair in the output */
	uint angle;			/* round R and G together */
	float turns_per_column, turns_per_depth;
	float height, base, swing, waves, order_most;
	float depth_zero, per_depth, texture_scale;
};

#endif
