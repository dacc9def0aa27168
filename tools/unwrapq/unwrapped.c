#include "unwrapped.h"

#include <stdlib.h>

struct output {
	const struct passthrough *passing;
	const struct components *components;
	const struct frame *in;
	struct frame *out;
	double rad;   /* of a unit of the phase */
	size_t *cuts; /* of each row, with the one above */
};

/* Are a pixel of a patch and its neighbour at x1, y1 further apart than half a turn? Within a patch
 * none are. */
static inline bool
is_cut(const struct components *components, int32_t patch, int32_t turns, float v, size_t x1,
    size_t y1)
{
	const struct phase_plane *phase = components->phase;
	int32_t other;

	return components->patches->patch[y1 * components->patches->w + x1] != patch &&
	    components_result(components, x1, y1, &other) &&
	    turns - other != phase_turns((v - phase_row(phase, y1)[x1]) * phase->turns);
}

static void
write_row(void *arg, size_t y)
{
	const struct output *output = arg;
	const struct components *components = output->components;
	const float *phase = phase_row(components->phase, y);
	const int32_t *patch = components->patches->patch + y * components->patches->w;
	float *absphase = frame_floats(output->out, 0, y), *label = frame_floats(output->out, 1, y);
	int32_t turns, number;

	output->cuts[y] = 0;
	for (size_t x = 0; x < output->in->head.w; x++) {
		absphase[x] = label[x] = NAN;
		number = components_result(components, x, y, &turns);
		if (!number)
			continue;
		absphase[x] = (float)(phase[x] * output->rad + 2 * M_PI * turns);
		label[x] = (float)number;
		output->cuts[y] += x > 0 && is_cut(components, patch[x], turns, phase[x], x - 1, y);
		output->cuts[y] += y > 0 && is_cut(components, patch[x], turns, phase[x], x, y - 1);
	}
	passthrough_row(output->passing, output->in, output->out, y);
}

int
unwrapped_write(struct run *run, const struct components *components, const struct frame *in,
    double rad, const struct passthrough *passing, struct frame *out)
{
	struct output output = { passing, components, in, out, rad, NULL };
	size_t h = in->head.h, cuts = 0, kept = 0, pixels = 0;

	output.cuts = malloc(h * sizeof(*output.cuts));
	if (!output.cuts)
		return fail_memory();
	run_for(run, h, write_row, &output);
	for (size_t y = 0; y < h; y++)
		cuts += output.cuts[y];
	free(output.cuts);
	for (size_t i = 0; i < components->n; i++)
		if (components->component[i].label) {
			kept++;
			pixels += components->component[i].size;
		}
	if (run->verbose)
		note(NULL,
		    "%zu components of %zu pixels; %zu pairs of neighbours are over half a turn "
		    "apart",
		    kept, pixels, cuts);
	if (meta_setf(&out->head.meta, "components", "%zu", kept) < 0)
		return -1;
	return meta_setf(&out->head.meta, "cuts", "%zu", cuts);
}
