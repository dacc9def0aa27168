/* The parameters of the shaders of undither3 --filter gauss, in C and in GLSL. */
#ifndef UNDITHER3_BLOCK_H
#define UNDITHER3_BLOCK_H

#include "base/px.h"

#define UNDITHER3_REACH 3u		/* of the Gaussian */

struct undither3_block {
	/* where each plane's bits lie in the input: channel, column of its first, and which bits */
	uint from[4], column[4], bit[4];
	uint to[4];			/* channels of the output, and scratch planes */
	uint planes;
	uint texture;			/* 1: the input's channel 1 is the texture, as it is */
	float kernel[4];		/* 3, 2, 1 pixels off, and at the pixel */
};

#endif
