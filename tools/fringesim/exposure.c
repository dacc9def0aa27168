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
	bool dithered = exposure->projected.pattern->wave == WAVE_DITHERED;

	for (size_t x = 0; x < simulated->rig.w; x++) {
		size_t i = y * simulated->rig.w + x;
		double light = exposure->ambient, level;

		if (simulated->visibility[i] == VISIBILITY_LIT && dithered)
			light += projected_pattern_level(&exposure->projected,
			    dithered_share(&exposure->dithered, simulated->column[0][i],
			    simulated->column[1][i]));
		else if (simulated->visibility[i] == VISIBILITY_LIT)
			light += projected_pattern_at(&exposure->projected, column ? column[i] : 0);
		level = camera_level(camera, &exposure->capture, (double)x + origin[0],
		    (double)y + origin[1], simulated->share[i] * light);
		camera_store(camera, level, frame_row(exposure->out, 0, y), x);
	}
}

int
exposure_fill(struct run *run, struct exposure *exposure, const struct pattern_spec *spec,
    const struct patterns *patterns)
{
	const struct rig *rig = &exposure->simulated->rig;
	struct dithered *dithered = &exposure->dithered;

	dithered->sigma_px = exposure->projected.response->defocus_px;
	if (exposure->projected.pattern->wave == WAVE_DITHERED && dithered_make(run, dithered,
	    spec, patterns, exposure->capture.image, rig, exposure->how) < 0)
		return -1;
	run_for(run, rig->h, expose_row, exposure);
	frame_free(dithered->image);
	dithered->image = NULL;
	return 0;
}
