/* Options that say something else than the keys of the images themselves. */
#ifndef CAPTURE_CONFLICTS_H
#define CAPTURE_CONFLICTS_H

#include "fringe/capture_set.h"

/*
 * Warns, in one line each, where an option contradicts the keys of images that say what they are;
 * the line names both and says which one counts. sign: 1 or -1; sign and origin_rad are NaN where
 * they are not given. `set` is sorted. -1 after fail(): a key that is no number, or
 * no image of --kind.
 */
int capture_conflicts_warn(const struct capture_options *, double sign, double origin_rad,
    const struct frame_head *, const struct capture_set *set);

#endif
