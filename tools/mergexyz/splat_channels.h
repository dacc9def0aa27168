/* Which channels of the views are merged, and by what they are weighted. */
#ifndef SPLAT_CHANNELS_H
#define SPLAT_CHANNELS_H

#include "splat_view.h"

struct splat_channels {
	char names[20 * (4 + SPLAT_ATTRIBUTES)];	/* of the result */
	bool sigma;			/* all views have it */
};

/*
 * Finds them in one frame of each view: x y z, the attributes that all have, the weight (enum
 * splat_weight, -1: the first that all have). unit: of the calibration. Sets all of the sources but
 * pose and eye. -1 after fail().
 */
int splat_channels_find(struct frame *const *view, size_t views, int weight, const char *unit,
    struct splat_channels *, struct splat_source *source);

#endif
