/* What testpair computes per pixel. */
#ifndef TESTPAIR_PX_H
#define TESTPAIR_PX_H

#include "base/px.h"

PX_FN float
testpair_sum(float left, float ref, float right)
{
	PX_F sum = left + 1000.0f * ref;

	return sum + 1000000.0f * right;
}

/* What testpair.comp knows. */
struct testpair_block {
	uint left, left_type, ref, ref_type, right, right_type, right_w;
};

#endif
