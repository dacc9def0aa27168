/* The rig of a simulated scene that a laser lights: it stands where a projector would, which looks
 * at the scene and sees all of it. */
#ifndef FRINGESIM_SIMULATED_LASER_H
#define FRINGESIM_SIMULATED_LASER_H

#include "simulated_scene.h"

/* Reads the calibration: camera, plane and stage; sets the rig's distance. -1 after fail(). */
int simulated_laser_open(struct simulated_scene *, const struct simulated_scene_options *);

#endif
