#include "spatial.h"

#include "base/px.h"
#include "unwrap/patches_loops.h"
#include "unwrap/phase_anchor.h"

int
spatial_check(const struct spatial *spatial, const struct absolute_options *options,
    const char *excluded)
{
	const char *given = absolute_given(options);

	if (!spatial->on)
		return given ? fail_usage(given, "is for --coarse spatial") : 0;
	if (excluded)
		return fail_usage("--coarse", "spatial unwraps a phase or a beat, which %s does "
		    "without", excluded);
	return absolute_check(options);
}

/* How far turns of the first signal may be from whole turns of the others, per turn. */
#define WHOLE 2e-3

/* A component that nothing makes absolute is off by any number of the first signal's turns: then
 * only such signals can be ordered of whose turns these are whole numbers. */
static int
check_ratios(const struct unwrap_steps *steps)
{
	double ratio = 1;

	for (size_t r = 1; r < steps->n; r++) {
		ratio *= (double)steps->step[r].ratio;
		if (fabs(ratio - round(ratio)) > WHOLE * ratio)
			return fail(NULL, "the coarsest phase repeats every %.6g px, which are "
			    "%.4g periods of the next: give --anchor, --ref or a marker, which "
			    "tell its turns", steps->period_px, ratio);
	}
	return 0;
}

int
spatial_plan(struct run *run, const struct absolute_options *options, const struct frame_head *in,
    const struct temporal *temporal, const struct unwrap_steps *steps, struct frame_head *out,
    struct spatial *spatial)
{
	spatial->ratio = steps->period_px / temporal->period_px[temporal->target];
	if (absolute_plan(run, options, in, steps->period_px, &out->meta, &spatial->absolute) < 0)
		return -1;
	if (phase_anchor_is_relative(&out->meta) && check_ratios(steps) < 0)
		return -1;
	if (meta_set(&out->meta, "components", "0") < 0 ||
	    ((spatial->unwrapping.patches.w != in->w || spatial->unwrapping.patches.h != in->h) &&
	    unwrapping_begin(&spatial->unwrapping, patches_cut_row, in->w, in->h) < 0))
		return -1;
	head_free(&spatial->head);
	return head_init(&spatial->head, in->w, in->h, 2, SAMPLE_FLOAT);
}

/* ---- a frame ---- */

struct job {
	const struct frame *in;
	const struct unwrap_step *step;
	const struct components *components;
	struct frame *found;
};

/* The signal, the sum of its phases; it needs not be wrapped. */
static void
sum_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct unwrap_step *step = job->step;
	float *sum = frame_floats(job->found, 0, y);

	for (size_t i = 0; i < step->n; i++) {
		const float *phase = frame_floats(job->in, step->channel[i], y);
		float weight = step->weight[i];

		for (size_t x = 0; x < job->in->head.w; x++)
			sum[x] = (i ? sum[x] : 0) + weight * phase[x];
	}
}

static void
find_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct components *components = job->components;
	float *phase = frame_floats(job->found, 0, y), *label = frame_floats(job->found, 1, y);

	for (size_t x = 0; x < job->in->head.w; x++) {
		int32_t turns, number = components_result(components, x, y, &turns);

		phase[x] = number ? (float)((double)phase[x] + 2 * M_PI * turns) : PX_NAN;
		label[x] = number ? (float)number : PX_NAN;
	}
}

static size_t
count_kept(const struct components *components)
{
	size_t kept = 0;

	for (size_t i = 0; i < components->n; i++)
		kept += components->component[i].label > 0;
	return kept;
}

int
spatial_find(struct run *run, struct spatial *spatial, const struct frame *in,
    struct unwrap_steps *steps)
{
	struct job job = { in, &steps->step[0], NULL, NULL };
	struct phase_plane phase = { NULL, 0, (float)(0.5 / M_PI) };
	struct components components = { 0 };
	int status = -1;

	frame_free(spatial->found);
	spatial->found = NULL;
	if (frame_new(&spatial->head, &spatial->found) < 0)
		return -1;
	phase.frame = job.found = spatial->found;
	run_for(run, in->head.h, sum_row, &job);
	if (components_unwrap(run, &spatial->unwrapping, &phase, NULL, &components) == 0 &&
	    absolute_place(&spatial->absolute, &components, in, spatial->ratio) == 0) {
		job.components = &components;
		run_for(run, in->head.h, find_row, &job);
		steps->coarse = spatial->found;
		status = meta_setf(run_output_meta(run), "components", "%zu",
		    count_kept(&components));
	}
	components_free(&components);
	return status;
}

void
spatial_label_row(
    const struct spatial *spatial, const float *absphase, size_t y, size_t w, float *label)
{
	const float *found = frame_floats(spatial->found, 1, y);

	for (size_t x = 0; x < w; x++)
		label[x] = px_isnan(absphase[x]) ? PX_NAN : found[x];
}

void
spatial_free(struct spatial *spatial)
{
	frame_free(spatial->found);
	unwrapping_free(&spatial->unwrapping);
	head_free(&spatial->head);
}
