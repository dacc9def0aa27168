/* The parameters of holodec's shaders, in C and in GLSL: struct reading, and what to do. */
#ifndef HOLODEC_BLOCK_H
#define HOLODEC_BLOCK_H

#include "base/px.h"

#define HOLODEC_NONE 0xffffffffu

#define HOLODEC_NEAREST 1u	/* enum decode */
#define HOLODEC_MEDIAN 2u
#define HOLODEC_PLAIN 4u

/* Scratch planes. */
#define HOLODEC_REST 0u		/* of each pixel's turns; NaN in the background */
#define HOLODEC_ORDER 1u	/* as read; the turns where it is decoded plainly */
#define HOLODEC_ALONG 2u	/* medians of orders along the row */
#define HOLODEC_BLACK 3u	/* 1 where there is background so near in the row, else 0 */
#define HOLODEC_SCRATCHES 4u

struct holodec_block {
	uint type;			/* of the samples, as GPU_UCHAR in gpu.glsl */
	uint sine, cosine, stair, texture;	/* of the input; HOLODEC_NONE */
	uint depth;			/* of the output; the texture is behind it */
	uint decode, edge;
	float per_height, half_step, order_most;
	float turns_per_column, per_turn;
	float zero, range, slack;
	float texture_scale;
};

#ifndef HOLODEC_NO_DOUBLES
struct holodec_place_block {
	double row[12];			/* x, y, z of (column, row, depth, 1) */
};
#endif

#endif
