#ifndef TEXMAP_RECTIFIED_H
#define TEXMAP_RECTIFIED_H

/* Points in the axes of a rectified camera, where the calibration's world is the camera itself. */
#include "optics/stereo.h"
#include "points/visible.h"

/* Are the points of a rectified left picture (stereo_view()) in its own axes, and not turned back?
 * By the places that they are at, within half a pixel; where both would be true, it is false. */
bool rectified_points(const struct visible_points *, const struct stereo_view *);
/* Turns a camera of the world to those axes. */
void rectified_turn(const struct stereo_view *, struct pinhole *);

#endif
