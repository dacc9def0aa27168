/* What skeleton.comp reads, in C and in GLSL. */
#ifndef SKELETON_BLOCK_H
#define SKELETON_BLOCK_H

#include "base/px.h"

struct skeleton_block {
	uint left, left_type, right, right_type;	/* channels, and types of their samples */
};

#endif
