/* What skeleton computes per pixel (methods.md, its section; the paper's equation). */
#ifndef SKELETON_PX_H
#define SKELETON_PX_H

#include "base/px.h"

PX_FN float
skeleton_pixel(float left, float right)
{
	return px_select(px_isnan(left) || px_isnan(right), PX_NAN, left - right);
}

#endif
