/* The parameters of dither3.comp, in C and in GLSL. The thresholds are its table: [plane][y][x]. */
#ifndef DITHER3_BLOCK_H
#define DITHER3_BLOCK_H

#include "base/px.h"

#define DITHER3_TILE 64u

#define DITHER3_MSB 0u			/* enum dither_pack */
#define DITHER3_PLANAR 1u
#define DITHER3_RGB 2u

struct dither3_block {
	uint type;			/* of the samples, as GPU_UCHAR in gpu.glsl */
	uint channel[4];		/* sine, cosine, stair, texture */
	uint w;				/* of the input: images side by side are as wide */
	uint pack, texture_bits;
	uint to_circle;			/* of R and G */
};

#endif
