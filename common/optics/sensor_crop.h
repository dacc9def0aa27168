/* Where a frame lies on its sensor. */
#ifndef SENSOR_CROP_H
#define SENSOR_CROP_H

#include "run/stage.h"

/*
 * Pixel (0, 0) begins at origin_px of the full frame (option, else key, else `otherwise`); a pixel
 * is bin[0] x bin[1] of the full frame's (key bin). So the centre of column i is the full frame's
 * origin_px[0] + (i + 1/2) bin[0] - 1/2. -1 after fail().
 */
int sensor_crop_origin(const struct run *, const struct numbers *option, const struct frame_head *,
    const double otherwise[2], double origin_px[2], double bin[2]);

#endif
