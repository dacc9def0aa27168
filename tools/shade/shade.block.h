/* The parameters of shade.comp, in C and in GLSL. The colour map's anchors are its table:
 * [][rgb]. */
#ifndef SHADE_BLOCK_H
#define SHADE_BLOCK_H

#include "shade.px.h"

#define SHADE_NONE 0xffffffffu

struct shade_block {
	uint x, y, z;			/* of the input; x SHADE_NONE: a depth map's */
	uint normal[3];			/* the first SHADE_NONE: they are to be found */
	uint value;			/* to colour by; SHADE_NONE */
	uint rgb[3];			/* red, green, blue; the first SHADE_NONE: not by them */
	float sign;			/* of z, so that it points away from the camera */
	float right, down;		/* distances of a depth map's pixels */
	float jump;
	float low, span;		/* of values */
	float last;			/* number of the last anchor */
	uint lone;			/* 1: points without a triangle are drawn, too */
	float plaster;
	PX_STRUCT shade_vector background;	/* levels of 255 */
	PX_STRUCT shade_vector nan;	/* the colour of no value */
	PX_STRUCT shade_light light;
};

#endif
