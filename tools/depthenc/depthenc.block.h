/* What depthenc.comp reads, in C and in GLSL. */
#ifndef DEPTHENC_BLOCK_H
#define DEPTHENC_BLOCK_H

#include "base/px.h"

struct depthenc_block {
	uint depth;			/* channel of the input */
	uint colour;			/* 1: there are planes of sine and cosine */
	uint wide;			/* 1: 16 bits a sample */
	float zero, per_depth, guard, swing, middle, amplitude, fringes;
};

#endif
