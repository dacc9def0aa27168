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

/* What is the same for all pixels of a patch. */
struct part {
	int32_t patch, turns, number; /* turns to add to a pixel's own; 0: it is left out */
};

static struct part
part_of(const struct components *components, int32_t patch)
{
	const struct joined *joined = &components->joined;
	const struct component *component;

	if (patch == NO_PATCH)
		return (struct part){ patch, 0, 0 };
	component = &components->component[joined->component[patch]];
	return (struct part){ patch, joined->turns[patch] + component->shift, component->label };
}

/* n pixels of one patch. */
static void
write_part(const struct part *part, double rad, const float *restrict phase,
    const int32_t *restrict own, size_t n, float *restrict absphase, float *restrict label)
{
	float number = part->number ? (float)part->number : NAN;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		absphase[x] = (float)(phase[x] * rad + 2 * M_PI * (own[x] + part->turns));
		label[x] = number;
	}
	for (size_t x = 0; x < n && !part->number; x++)
		absphase[x] = NAN;
}

static void
write_row(void *arg, size_t y)
{
	const struct output *output = arg;
	const struct components *components = output->components;
	const float *phase = phase_row(components->phase, y);
	size_t w = output->in->head.w, cuts = 0;
	const int32_t *patch = components->patches->patch + y * w;
	const int32_t *own = components->patches->turns + y * w;
	float *absphase = frame_floats(output->out, 0, y), *label = frame_floats(output->out, 1, y);

	for (size_t x = 0, end; x < w; x = end) {
		struct part part = part_of(components, patch[x]);
		bool bordered;

		for (end = x + 1; end < w && patch[end] == patch[x]; end++)
			;
		write_part(&part, output->rad, phase + x, own + x, end - x, absphase + x,
		    label + x);
		if (!part.number)
			continue;
		cuts += x > 0 &&
		    is_cut(components, patch[x], own[x] + part.turns, phase[x], x - 1, y);
		/* a patch is a square: above it is the same from end to end, or nowhere */
		bordered = y > 0 && patch[(ptrdiff_t)x - (ptrdiff_t)w] != patch[x];
		for (size_t i = x; bordered && i < end; i++)
			cuts += is_cut(components, patch[i], own[i] + part.turns, phase[i], i,
			    y - 1);
	}
	output->cuts[y] = cuts;
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
