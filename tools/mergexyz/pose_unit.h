/* Poses in metres for points in millimetres. */
#ifndef MERGEXYZ_POSE_UNIT_H
#define MERGEXYZ_POSE_UNIT_H

#include <stdbool.h>

#include "pieces.h"

/*
 * Warns where a pose that turns a view by 5 degrees and more against the first one shifts it by
 * less than 0.5 % of what a turn about its points does: T in metres makes 0.1 %. A shift of exactly
 * 0 is a camera turned about itself; points all around 0 are not in a camera's frame. False where
 * it turns too little to tell. Of `first` the frame is not read. *warned: set where it did.
 */
bool pose_unit_warn(const struct piece *first, const struct piece *, bool *warned);

#endif
