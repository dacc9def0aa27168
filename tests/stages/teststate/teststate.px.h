/* What teststate computes per pixel. */
#ifndef TESTSTATE_PX_H
#define TESTSTATE_PX_H

#include "base/px.h"

/* A running mean: the first valid value, then last + gain (value - last); NaN leaves it. */
PX_FN float
teststate_mean(float last, float value, float gain)
{
	PX_F step = gain * (value - last);
	PX_F mean = last + step;
	PX_F known = px_select(px_isnan(last), value, mean);

	return px_select(px_isnan(value), last, known);
}

/* What teststate.comp knows. */
struct teststate_block {
	float gain;
};

#endif
