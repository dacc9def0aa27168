#include "unwrapped.h"

#include <stdatomic.h>

struct output {
	const struct passthrough *passing;
	const struct components *components;
	const struct frame *in;
	struct frame *out;
	double rad;   /* of a unit of the phase */
	_Atomic size_t cuts;
};

#define SPAN 256 /* pixels of a row that are worked on at a time */
#define ROWS 16	 /* rows of a job */

/* What is found of the pixels x of a row from x0 - 1 on: number [x - x0 + 1] of their component, 0
 * for those that are left out, and the turns to add to their phase. */
struct span {
	int32_t number[SPAN + 1], turns[SPAN + 1];
};

/* The result of a patch: its component's number, 0 for none, and the turns to add. */
struct result {
	int32_t number, turns;
};

static inline struct result
patch_result(const struct components *components, int32_t patch)
{
	const struct component *component;
	struct choice joined;

	if (patch == NO_PATCH)
		return (struct result){ 0, 0 };
	joined = components->joined[patch];
	component = &components->component[joined.other];
	return (struct result){ component->label, joined.turns + component->shift };
}

static void
find_pixels(const struct components *components, const int32_t *patch, const int32_t *own,
    size_t n, int32_t *number, int32_t *turns)
{
	struct result result = { 0 };
	int32_t last = NO_PATCH;

	for (size_t x = 0; x < n; x++) {
		if (patch[x] != last) {
			last = patch[x];
			result = patch_result(components, last);
		}
		number[x] = result.number;
		turns[x] = own[x] + result.turns;
	}
}

/* The same of a row of a square that is one patch. */
static void
find_square(struct result result, const int32_t *restrict own, int32_t *restrict number,
    int32_t *restrict turns)
{
	CPU_SIMD
	for (size_t x = 0; x < PATCH_SIDE; x++) {
		number[x] = result.number;
		turns[x] = own[x] + result.turns;
	}
}

/* x0: a multiple of PATCH_SIDE. */
static void
find_span(const struct components *components, size_t x0, size_t n, size_t y, struct span *span)
{
	size_t at = y * components->patches->w + x0;
	const int32_t *patch = components->patches->patch + at;
	const int32_t *own = components->patches->turns + at;
	int32_t *number = span->number + 1, *turns = span->turns + 1;

	span->number[0] = span->turns[0] = 0;
	if (x0 > 0)
		find_pixels(components, patch - 1, own - 1, 1, span->number, span->turns);
	for (size_t x = 0; x < n; x += PATCH_SIDE)
		if (x + PATCH_SIDE <= n && patches_is_whole(patch + x))
			find_square(patch_result(components, patch[x]), own + x, number + x,
			    turns + x);
		else
			find_pixels(components, patch + x, own + x,
			    n - x < PATCH_SIDE ? n - x : PATCH_SIDE, number + x, turns + x);
}

/* How many of n pixels and their neighbours, both of components, are further apart than half a
 * turn. */
static inline int32_t
count_cuts(const float *restrict phase, const float *restrict phase1,
    const int32_t *restrict number, const int32_t *restrict number1,
    const int32_t *restrict turns, const int32_t *restrict turns1, float unit, size_t n)
{
	int32_t cuts = 0;

	_Pragma("omp simd reduction(+:cuts)")
	for (size_t x = 0; x < n; x++) {
		int32_t step = phase_turns((phase[x] - phase1[x]) * unit);

		cuts += (number[x] != 0) & (number1[x] != 0) & (turns[x] - turns1[x] != step);
	}
	return cuts;
}

static inline void
write_span(const float *restrict phase, const int32_t *restrict number,
    const int32_t *restrict turns, double rad, float *restrict absphase, float *restrict label,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float v = (float)(phase[x] * rad + 2 * M_PI * turns[x]);

		absphase[x] = number[x] ? v : NAN;
		label[x] = number[x] ? (float)number[x] : NAN;
	}
}

/* n pixels from x0 on of rows y0 to y1. */
static size_t
write_spans(const struct output *output, size_t x0, size_t n, size_t y0, size_t y1)
{
	const struct components *components = output->components;
	float unit = components->phase->turns;
	struct span spans[2];
	size_t cuts = 0;

	if (y0 > 0)
		find_span(components, x0, n, y0 - 1, &spans[(y0 - 1) % 2]);
	for (size_t y = y0; y < y1; y++) {
		struct span *span = &spans[y % 2], *above = &spans[(y + 1) % 2];
		const float *phase = phase_row(components->phase, y) + x0;
		size_t skip = x0 == 0;

		find_span(components, x0, n, y, span);
		write_span(phase, span->number + 1, span->turns + 1, output->rad,
		    frame_floats(output->out, 0, y) + x0, frame_floats(output->out, 1, y) + x0, n);
		cuts += (size_t)count_cuts(phase + skip, phase + skip - 1, span->number + skip + 1,
		    span->number + skip, span->turns + skip + 1, span->turns + skip, unit,
		    n - skip);
		if (y > 0)
			cuts += (size_t)count_cuts(phase, phase_row(components->phase, y - 1) + x0,
			    span->number + 1, above->number + 1, span->turns + 1, above->turns + 1,
			    unit, n);
	}
	return cuts;
}

static void
write_rows(void *arg, size_t i)
{
	struct output *output = arg;
	size_t w = output->in->head.w, h = output->in->head.h, cuts = 0;
	size_t y0 = i * ROWS, y1 = y0 + ROWS < h ? y0 + ROWS : h;

	for (size_t x0 = 0; x0 < w; x0 += SPAN)
		cuts += write_spans(output, x0, w - x0 < SPAN ? w - x0 : SPAN, y0, y1);
	atomic_fetch_add(&output->cuts, cuts);
	for (size_t y = y0; y < y1; y++)
		passthrough_row(output->passing, output->in, output->out, y);
}

int
unwrapped_write(struct run *run, const struct components *components, const struct frame *in,
    double rad, const struct passthrough *passing, struct frame *out)
{
	struct output output = { passing, components, in, out, rad, 0 };
	size_t cuts, kept = 0, pixels = 0;

	run_for(run, (in->head.h + ROWS - 1) / ROWS, write_rows, &output);
	cuts = output.cuts;
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
