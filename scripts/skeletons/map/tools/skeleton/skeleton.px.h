/* What skeleton computes per pixel (methods.md, its section; the paper's equation). */
#ifndef SKELETON_PX_H
#define SKELETON_PX_H

#include "base/px.h"

PX_FN float
skeleton_pixel(float value, float gain)
{
	return px_select(px_isnan(value), PX_NAN, value * gain);
}

#endif
