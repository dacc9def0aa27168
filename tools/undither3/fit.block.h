/* The parameters of the shaders of undither3's fit, in C and in GLSL. */
#ifndef UNDITHER3_FIT_BLOCK_H
#define UNDITHER3_FIT_BLOCK_H

#include "base/px.h"

/* Planes have so many pixels of background around the picture, as on the processor. */
#define FIT_MARGIN 24u
#define FIT_TILE 64u
#define FIT_CLOSE 2
#define FIT_SMOOTH 3
#define FIT_REACH_MOST 18
#define FIT_MEND 8
#define FIT_MEND_LEAST 4
#define FIT_ORDERS 5

/* Scratch planes, as in struct planes; what is named twice is used first for one, then for the
 * other. */
#define FIT_INSIDE 0u
#define FIT_SINE 1u		/* smoothed */
#define FIT_COSINE 2u
#define FIT_REST 3u
#define FIT_ORDER 4u
#define FIT_RIGHT 5u
#define FIT_DOWN 6u
#define FIT_TURNS 7u
#define FIT_TRUSTED 8u
#define FIT_SPARE 9u		/* and three more */
#define FIT_SCRATCHES 13u
#define FIT_LOW FIT_SINE	/* refining: bounds, */
#define FIT_HIGH FIT_COSINE
#define FIT_FROM FIT_SPARE	/* turns of every second step, of the others, */
#define FIT_TO (FIT_SPARE + 1u)
#define FIT_LAST (FIT_SPARE + 2u)	/* and after a step */
#define FIT_SURFACE FIT_SPARE	/* orders by bits: turns, UNDITHER3_FAR without a surface, */
#define FIT_ABOVE (FIT_SPARE + 1u)	/* and struct orders */
#define FIT_BROKEN (FIT_SPARE + 2u)
#define FIT_MENDED FIT_REST	/* turns */
#define FIT_KEPT FIT_ORDER	/* of these, trusted: 1 or 0 */

#define FIT_BITS 0xffffffffu	/* the input, in the place of a plane */

/* Tables. */
#define FIT_PROFILE 0u		/* of the stair */
#define FIT_OF_FRINGE 1u	/* kernels */
#define FIT_OF_STAIR 2u
#define FIT_ARC_SINE 3u
#define FIT_ARC_COSINE 4u
#define FIT_THRESHOLD 5u

struct undither3_fit {
	uint from, to, down, smallest, last;	/* spreading; refining, from and to */
	uint anew, first;		/* refining: look for bounds; turns are those of the fit */
	uint reach, width;		/* of the kernels */
	float kernel[4];		/* of the Gaussian */
	float momentum, to_right, to_down;
	float height, order_most;
};

#endif
