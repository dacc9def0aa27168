/*
 * The weighted mean of several absolute phases, which all measure one coordinate u = T PHI/2 pi
 * (methods §5), in radians of one of them, the base. `scale`: turns of the base in one of a phase.
 */
#ifndef PHASE_MEAN_PX_H
#define PHASE_MEAN_PX_H

#include "base/px.h"

/* What a phase says more than the base does, ... */
PX_FN float
phase_mean_more(float own, float scale, float base)
{
	return own * scale - base;
}

/* ... the sum of which, weighed, goes to the base; in radians of the phase that has `ratio` turns
 * in one of the base, or in any other unit of which a radian of the base has `ratio`. */
PX_FN float
phase_mean_of(float base, float sum, float weight, float ratio)
{
	return (base + px_divide(sum, weight)) * ratio;
}

#endif
