/*
 * The loops of unwrapq: ranges and jumps of a phase, the weights of its pixels, the patches of
 * unwrap/patches_loops.h, and the output.
 */
#include "unwrapq.h"

#include <math.h>
#include <stdatomic.h>

#include "unwrap/patches_loops.h"

/* ---- ranges and jumps ---- */

static void
range_row(void *arg, size_t y)
{
	const struct range_job *job = arg;
	const float *v = frame_floats(job->frame, job->channel, y);
	float low = INFINITY, high = -INFINITY, turns = job->turns;
	size_t w = job->frame->head.w;

	_Pragma("omp simd reduction(min:low) reduction(max:high)")
	for (size_t x = 0; x < w; x++) {
		bool valid = phase_is_valid(v[x], turns);
		float least = valid ? v[x] : INFINITY, most = valid ? v[x] : -INFINITY;

		low = least < low ? least : low;
		high = most > high ? most : high;
	}
	job->low[y] = low;
	job->high[y] = high;
}

static void
count_jumps(const struct range_job *job, size_t y, const float *a, const float *b, size_t n)
{
	for (size_t x = 0; x < n; x++) {
		float jump = fabsf(a[x] - b[x]);

		job->all[y] += jump > job->half;
		job->large[y] += jump > job->nearly;
	}
}

static void
jump_row(void *arg, size_t y)
{
	const struct range_job *job = arg;
	const float *v = frame_floats(job->frame, job->channel, y);
	size_t w = job->frame->head.w;

	job->all[y] = job->large[y] = 0;
	count_jumps(job, y, v + 1, v, w - 1);
	if (y > 0)
		count_jumps(job, y, v, frame_floats(job->frame, job->channel, y - 1), w);
}

/* ---- weights ---- */

#define LEAST 1e-6f	/* smaller errors all have the same weight */

static float
inverse(float v)
{
	return 1 / fmaxf(fabsf(v), LEAST);
}

static void
invert_row(const float *v, float *weight, size_t w)
{
	for (size_t x = 0; x < w; x++)
		weight[x] = isnan(v[x]) ? NAN : inverse(v[x]);
}

/* Sums of the wrapped differences in a window, in turns, and of their squares. */
struct spread {
	float sum, squares;
	int n;
};

static void
add_step(struct spread *spread, float from, float to, float turns)
{
	float step = (to - from) * turns;

	step -= rintf(step);
	if (!(fabsf(step) <= 0.5f)) /* NaN */
		return;
	spread->sum += step;
	spread->squares += step * step;
	spread->n++;
}

/* Their standard deviation; for fewer than two that of random phases, 0.3. */
static float
deviation(const struct spread *spread)
{
	float n = (float)spread->n, mean = spread->sum / n;

	return spread->n < 2 ? 0.3f : sqrtf(fmaxf(spread->squares / n - mean * mean, 0));
}

static void
vary_row(const struct phase_plane *phase, size_t y, float *weight)
{
	size_t w = phase->frame->head.w, h = phase->frame->head.h;
	size_t y0 = y > 0 ? y - 1 : 0, y1 = y + 1 < h ? y + 1 : y;

	for (size_t x = 0; x < w; x++) {
		size_t x0 = x > 0 ? x - 1 : 0, x1 = x + 1 < w ? x + 1 : x;
		struct spread across = { 0 }, down = { 0 };

		for (size_t j = y0; j <= y1; j++)
			for (size_t i = x0; i <= x1; i++) {
				const float *v = phase_row(phase, j) + i;

				if (i < x1)
					add_step(&across, v[0], v[1], phase->turns);
				if (j < y1)
					add_step(&down, *v, phase_row(phase, j + 1)[i],
					    phase->turns);
			}
		weight[x] = inverse(deviation(&across) + deviation(&down));
	}
}

static void
weigh_row(void *arg, size_t y)
{
	const struct quality *quality = arg;
	const struct frame *in = quality->phase->frame;
	float *weight = frame_floats(quality->weights, 0, y);

	if (quality->kind == QUALITY_INVERSE)
		invert_row(frame_floats(in, quality->channel, y), weight, in->head.w);
	else
		vary_row(quality->phase, y, weight);
}

static size_t
list_weights(const struct frame *frame, size_t channel, size_t step, double *v)
{
	size_t w = frame->head.w, n = 0;

	for (size_t i = 0; i < w * frame->head.h; i += step) {
		float q = frame_sample(frame, channel, i / w, i % w);

		if (isfinite(q) && q > 0)
			v[n++] = (double)q;
	}
	return n;
}

/* ---- the output ---- */

#define SPAN 256	/* pixels of a row that are computed together */

/* For the pixels x of a row from x0 - 1 on, at [x - x0 + 1]: the number of their component, 0 for
 * pixels that are left out, and the turns to add to their phase. */
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

/* The same for a row of a square that is one patch. */
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

/* Finds n pixels from x0 on, a multiple of PATCH_SIDE, and the one before. */
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

/* Counts the pixels, of n, that differ from their neighbour by more than half a turn; both must
 * belong to components. */
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

/* Writes n pixels from x0 on of rows y0 to y1 - 1. Returns the number of cuts. */
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
	size_t y0 = i * OUTPUT_ROWS, y1 = y0 + OUTPUT_ROWS < h ? y0 + OUTPUT_ROWS : h;

	for (size_t x0 = 0; x0 < w; x0 += SPAN)
		cuts += write_spans(output, x0, w - x0 < SPAN ? w - x0 : SPAN, y0, y1);
	atomic_fetch_add(&output->cuts, cuts);
	run_pass_rows(output->run, output->in, output->out, y0, y1);
}

const struct unwrapq_rows AT_LEVEL(unwrapq_rows) = {
	.range_row = range_row,
	.jump_row = jump_row,
	.weigh_row = weigh_row,
	.list_weights = list_weights,
	.write_rows = write_rows,
	.cut_row = patches_cut_row,
};
