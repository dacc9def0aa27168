#include "exposure.h"

static void
expose_row(void *arg, size_t y)
{
	const struct exposure *exposure = arg;
	const struct camera *camera = exposure->camera;
	const struct simulated_scene *simulated = exposure->simulated;
	const double *origin = simulated->rig.origin_px;
	char axis = exposure->projected.pattern->axis;	/* none in flat images */
	const double *column = axis ? simulated->column[axis == 'y'] : NULL;

	for (size_t x = 0; x < simulated->rig.w; x++) {
		size_t i = y * simulated->rig.w + x;
		double light = exposure->ambient, level;

		if (simulated->visibility[i] == VISIBILITY_LIT)
			light += projected_pattern_at(&exposure->projected, column ? column[i] : 0);
		level = camera_level(camera, &exposure->capture, (double)x + origin[0],
		    (double)y + origin[1], simulated->share[i] * light);
		camera_store(camera, level, frame_row(exposure->out, 0, y), x);
	}
}

void
exposure_fill(struct run *run, const struct exposure *exposure)
{
	run_for(run, exposure->simulated->rig.h, expose_row, (void *)exposure);
}
