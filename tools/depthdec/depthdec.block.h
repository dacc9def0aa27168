/* What depthdec.comp reads, in C and in GLSL. */
#ifndef DEPTHDEC_BLOCK_H
#define DEPTHDEC_BLOCK_H

#include "base/px.h"

#define DEPTHDEC_NONE 0xffffffffu

struct depthdec_block {
	uint luma, sine, cosine, coarse, mask;	/* channels of the input; DEPTHDEC_NONE */
	uint type;			/* of their samples */
	float zero, extent, guard, swing, middle, fringes, least, most;
};

#endif
