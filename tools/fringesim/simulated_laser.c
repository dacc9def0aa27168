#include "simulated_laser.h"

#include <math.h>
#include <string.h>

int
simulated_laser_open(struct simulated_scene *simulated,
    const struct simulated_scene_options *options)
{
	struct pinhole *projector = &simulated->calib.projector;
	const struct pinhole *camera = &simulated->calib.camera;
	double center[3], z[3], norm = 0;

	simulated->rig.distance = options->distance;
	if (laser_light_open(&simulated->light, &options->laser, options->calib,
	    &simulated->rig.distance) < 0)
		return -1;
	simulated->calib.camera = simulated->light.laser.camera;
	simulated->pixel_blur = isnan(options->blur) ? 0.7 : fmax(options->blur, 0.3);
	strcpy(simulated->calib.unit, simulated->light.laser.unit);
	if (!options->laser.from.n)
		return 0;
	pinhole_center(camera, center);
	for (int i = 0; i < 3; i++) {
		z[i] = center[i] + simulated->rig.distance * camera->R[6 + i] -
		    options->laser.from.v[i];
		norm += z[i] * z[i];
	}
	if (!(norm > 0))
		return fail_usage("--laser-from", "is within the scene");
	for (int i = 0; i < 3; i++) {
		projector->R[6 + i] = z[i] / sqrt(norm);
		projector->T[2] -= projector->R[6 + i] * options->laser.from.v[i];
	}
	laser_across(&projector->R[6], &projector->R[0], &projector->R[3]);
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 3; i++)
			projector->T[k] -= projector->R[3 * k + i] * options->laser.from.v[i];
		projector->K[4 * k] = 1;
		projector->K[3 * k + 2] = 5e8;
	}
	projector->K[8] = 1;
	projector->w = projector->h = 1e9;
	pinhole_complete(projector);
	return 0;
}
