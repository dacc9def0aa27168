/* One capture of a simulated scene. */
#ifndef FRINGESIM_EXPOSURE_H
#define FRINGESIM_EXPOSURE_H

#include "camera.h"
#include "fringe/projector_response.h"
#include "simulated_scene.h"

struct exposure {
	const struct camera *camera;
	const struct simulated_scene *simulated;
	struct projected_pattern projected;
	struct camera_capture capture;
	double ambient;
	struct frame *out;
};

/* Fills `out` on all of the run's threads. */
void exposure_fill(struct run *, const struct exposure *);

#endif
