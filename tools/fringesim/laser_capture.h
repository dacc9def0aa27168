/* Captures of a laser's line on a simulated scene, and where it truly is. */
#ifndef FRINGESIM_LASER_CAPTURE_H
#define FRINGESIM_LASER_CAPTURE_H

#include "camera.h"
#include "io/target.h"
#include "laser_light.h"
#include "simulated_scene.h"

struct laser_scan {
	const struct camera *camera;
	const struct laser_options *options;
	struct simulated_scene *simulated;
	double level, ambient;		/* of the line's middle on white, and beside it */
	long pictures;
	struct target *truth;		/* NULL: not wanted */
};

/* Emits the pictures. -1 after fail(). */
int laser_scan(struct run *, const struct laser_scan *);

#endif
