/* What skeleton.comp reads, in C and in GLSL. */
#ifndef SKELETON_BLOCK_H
#define SKELETON_BLOCK_H

#include "base/px.h"

struct skeleton_block {
	uint channel;
	float gain;
};

#endif
