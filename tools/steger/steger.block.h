/* What the shaders read, in C and in GLSL, and how they lay out scratch planes and the output. */
#ifndef STEGER_BLOCK_H
#define STEGER_BLOCK_H

#include "base/px.h"

#define STEGER_NONE 0xffffffffu
#define STEGER_GROUP 64		/* invocations that share a row */
#define STEGER_STEPS 64		/* LINE_STEPS */
#define STEGER_LANES 16		/* LINE_LANES */

/* Tables: a kernel's weights at distances 0 to radius, of three orders; those between pixels. */
#define STEGER_KERNELS 0u
#define STEGER_WEIGHTS 1u

/* Scratch planes: smoothed, first and second derivative down the columns; lists of a row's
 * candidates; how many they are, at column 0, and how many the rows above have, at column 1. */
#define STEGER_COLUMN 0u
#define STEGER_AT 3u		/* the column */
#define STEGER_DU 4u
#define STEGER_DV 5u
#define STEGER_NU 6u
#define STEGER_NV 7u
#define STEGER_RESPONSE 8u
#define STEGER_COUNT 9u
#define STEGER_SCRATCHES 10u

/*
 * A tile's rows of the output are one array of words: how many candidates the tile has, how many
 * rows, and from STEGER_HEADER on STEGER_RECORD words for each candidate, as many as there is room
 * for, in the order of rows and columns.
 */
#define STEGER_HEADER 4u
#define STEGER_RECORD 11u	/* x y, du dv nu nv response width, then of both sides: */
#define STEGER_HALF 8u		/* half the distance of the inflection points; */
#define STEGER_LEFT 9u		/* the gradients there */
#define STEGER_RIGHT 10u

struct steger_block {
	uint image, background;		/* channels; STEGER_NONE: no background */
	uint dark, plain;
	uint radius;			/* of kernels at pixels, px */
	uint taps, room;		/* of those between pixels; from one to the next */
	float low, limit;		/* least response; farthest from the pixel, px */
	float sigma, variance;
	float near_reach, reach;	/* where sides are sought, px: at first, and at most */
	uint region_x, region_y, region_w, region_h;	/* of pixels that may hold points */
};

#endif
