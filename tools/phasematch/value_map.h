/* The values that are matched: an absolute phase, or the mean of several as a projector column. */
#ifndef VALUE_MAP_H
#define VALUE_MAP_H

#include <stdbool.h>

#include "frame/frame.h"

#define PHASES_MOST 16

/* The phases of one side that make one map. */
struct value_map {
	size_t phases;
	size_t channel[PHASES_MOST];
	size_t sigma[PHASES_MOST];	/* channels of their standard deviations, if has_sigma */
	bool has_sigma;
	float scale[PHASES_MOST];	/* turns of the first phase in one of this */
	float weight[PHASES_MOST];
	float unit;			/* of the map, in one radian of the first phase */
	float variance_most;		/* of the phases about their mean, in its radians squared */
};

/*
 * Row y of a map: values times `sign`, NaN where there is none. sigma: its standard deviation;
 * NULL: not wanted. *inconsistent: so many pixels have phases that lie too far apart. Returns the
 * number of pixels that have a phase.
 */
size_t value_map_row(const struct value_map *, const struct frame *in, size_t y, size_t w,
    float sign, float *values, float *sigma, size_t *inconsistent);

#endif
