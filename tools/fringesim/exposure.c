#include "exposure.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

/* What sample i of the scene sends to the camera. */
static double
sample_light(const struct exposure *exposure, size_t i)
{
	const struct simulated_scene *simulated = exposure->simulated;
	char axis = exposure->projected.pattern->axis;	/* none in flat images */
	const double *column = axis ? simulated->column[axis == 'y'] : NULL;
	double light = exposure->ambient;

	if (simulated->visibility[i] == VISIBILITY_LIT) {
		if (exposure->projected.pattern->wave == WAVE_DITHERED)
			light += projected_pattern_level(&exposure->projected,
			    dithered_share(&exposure->dithered, simulated->column[0][i],
			    simulated->column[1][i]));
		else
			light += projected_pattern_at(&exposure->projected, column ? column[i] : 0);
	}
	return simulated->share[i] * light;
}

static void
expose_pixel(const struct exposure *exposure, size_t x, size_t y, double light)
{
	const struct camera *camera = exposure->camera;
	const double *origin = exposure->simulated->rig.origin_px;
	double level = camera_level(camera, &exposure->capture, (double)x + origin[0],
	    (double)y + origin[1], light);

	camera_store(camera, level, frame_row(exposure->out, 0, y), x);
}

static void
expose_row(void *arg, size_t y)
{
	const struct exposure *exposure = arg;
	size_t w = exposure->simulated->rig.w;

	for (size_t x = 0; x < w; x++)
		expose_pixel(exposure, x, y, sample_light(exposure, y * w + x));
}

/* ---- the camera's blur: along the rows of samples, then across ---- */

static void
blur_row(void *arg, size_t row)
{
	struct exposure *exposure = arg;
	const struct simulated_scene *simulated = exposure->simulated;
	const struct camera_blur *blur = &exposure->blur;
	double *light = blur->line + row * simulated->columns;

	for (size_t i = 0; i < simulated->columns; i++)
		light[i] = sample_light(exposure, row * simulated->columns + i);
	/* a pixel's own samples and those before it are not needed by the pixels behind it */
	for (size_t x = 0; x < simulated->rig.w; x++) {
		double sum = 0;

		for (size_t k = 0; k < blur->n; k++)
			sum += blur->weight[k] * light[x * simulated->rig.samples + k];
		light[x] = sum;
	}
}

static void
blur_expose_row(void *arg, size_t y)
{
	const struct exposure *exposure = arg;
	const struct simulated_scene *simulated = exposure->simulated;
	const struct camera_blur *blur = &exposure->blur;
	const double *line = blur->line + y * simulated->rig.samples * simulated->columns;

	for (size_t x = 0; x < simulated->rig.w; x++) {
		double sum = 0;

		for (size_t k = 0; k < blur->n; k++)
			sum += blur->weight[k] * line[k * simulated->columns + x];
		expose_pixel(exposure, x, y, sum);
	}
}

static int
expose_blurred(struct run *run, struct exposure *exposure)
{
	const struct simulated_scene *simulated = exposure->simulated;
	const struct rig *rig = &simulated->rig;
	struct camera_blur *blur = &exposure->blur;
	double sum = 0;

	blur->n = (2 * rig->margin + 1) * rig->samples;
	blur->weight = calloc(blur->n, sizeof(*blur->weight));
	blur->line = calloc(simulated->columns * simulated->rows, sizeof(*blur->line));
	if (!blur->weight || !blur->line) {
		free(blur->weight);
		free(blur->line);
		return fail_memory();
	}
	for (size_t k = 0; k < blur->n; k++) {
		double off = rig_sample(rig, k) / simulated->blur;

		blur->weight[k] = exp(-off * off / 2);
		sum += blur->weight[k];
	}
	for (size_t k = 0; k < blur->n; k++)
		blur->weight[k] /= sum;
	run_for(run, simulated->rows, blur_row, exposure);
	run_for(run, rig->h, blur_expose_row, exposure);
	free(blur->weight);
	free(blur->line);
	return 0;
}

int
exposure_fill(struct run *run, struct exposure *exposure, const struct pattern_spec *spec,
    const struct patterns *patterns)
{
	const struct rig *rig = &exposure->simulated->rig;
	struct dithered *dithered = &exposure->dithered;
	int status = 0;

	dithered->sigma_px = exposure->projected.response->defocus_px;
	if (exposure->projected.pattern->wave == WAVE_DITHERED && dithered_make(run, dithered,
	    spec, patterns, exposure->capture.image, rig, exposure->how) < 0)
		return -1;
	if (rig->samples > 1)
		status = expose_blurred(run, exposure);
	else
		run_for(run, rig->h, expose_row, exposure);
	frame_free(dithered->image);
	dithered->image = NULL;
	return status;
}
