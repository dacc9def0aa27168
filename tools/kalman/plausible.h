/* What values without a meaning, and a wrong motion, show in the frames. */
#ifndef KALMAN_PLAUSIBLE_H
#define KALMAN_PLAUSIBLE_H

#include "kalman.h"

/* Warns of values that are 0 among others that are far from it, as those that stand for none are,
 * unless depth grows towards the camera: 0 may be a plane behind. true where it has. */
bool plausible_zeros(struct noise *, const struct frame_head *, const char *name);
/* Warns where the motion a frame that was given is not that of the frames, whose noise has the
 * standard deviation `noise`. true where it has. */
bool plausible_motion(struct kalman *, const char *option, double motion, double noise);

#endif
