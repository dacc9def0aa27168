/* Is a picture, or the one that a table's points were found in, of the calibrated camera? */
#ifndef SENSOR_FIT_H
#define SENSOR_FIT_H

#include <stdbool.h>

#include "frame/head.h"
#include "optics/calib.h"

/* Where a picture of frame w x h begins on the sensor, and how large its pixels are. */
struct sensor_fit {
	double origin_px[2], bin[2];
	bool placed;			/* the frame, or an option, names its origin */
};

/*
 * The picture's size is the frame's, of a table the key image_size_px; without one there is nothing
 * to compare. Fails where the picture does not lie on the camera's full frame; warns where it is
 * smaller though nothing says that it is cut out, or, without a size in the calibration, where
 * the principal point (cx, cy) is far from its middle. *warned keeps it to one warning.
 */
int sensor_fit_check(const struct pinhole *, const struct frame_head *, bool is_picture,
    const struct sensor_fit *, bool *warned);

#endif
