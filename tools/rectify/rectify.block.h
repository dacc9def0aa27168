/* What rectify.comp reads, in C and in GLSL. */
#ifndef RECTIFY_BLOCK_H
#define RECTIFY_BLOCK_H

#include "base/px.h"

struct rectify_block {
	uint channel, type;		/* of the input; its samples */
	uint kind, cubic;		/* enum rectify_kind */
	uint stride, rows;		/* of the map */
	float max_step, saturated;
};

#endif
