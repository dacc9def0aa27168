#include "fill.h"

#include <stdlib.h>

#include "base/numbers.h"

#define BLOCKS 64		/* of a level's rows, for the threads */

/* The work of one level. */
struct filling {
	const struct fill *fill;
	const struct depthcode_code *code;
	const struct frame *frame;
	size_t channel, level;
};

static size_t
half(size_t n)
{
	return (n + 1) / 2;
}

static float *
row_of(const struct fill *fill, size_t level, size_t y)
{
	return fill->value[level] + y * fill->w[level];
}

/* ---- to coarser levels ---- */

/* A pixel of level 0, NaN where it has no depth. */
static float
depth_at(const struct filling *filling, size_t x, size_t y)
{
	const struct depthcode_code *code = filling->code;
	float z = depthcode_normalise(frame_floats(filling->frame, filling->channel, y)[x],
	    code->zero, code->per_depth);

	return depthcode_inside(z) ? depthcode_clamp(z) : PX_NAN;
}

static float
value_at(const struct filling *filling, size_t x, size_t y)
{
	size_t finer = filling->level - 1;

	return finer ? row_of(filling->fill, finer, y)[x] : depth_at(filling, x, y);
}

static void
push_row(const struct filling *filling, size_t y)
{
	const struct fill *fill = filling->fill;
	size_t finer = filling->level - 1, w = fill->w[finer], h = fill->h[finer];
	float *out = row_of(fill, filling->level, y);

	for (size_t x = 0; x < fill->w[filling->level]; x++) {
		float sum = 0, n = 0;

		for (size_t v = 2 * y; v < 2 * y + 2 && v < h; v++)
			for (size_t u = 2 * x; u < 2 * x + 2 && u < w; u++) {
				float z = value_at(filling, u, v);

				sum += px_isnan(z) ? 0 : z;
				n += px_isnan(z) ? 0 : 1;
			}
		out[x] = n > 0 ? sum / n : PX_NAN;
	}
}

/* ---- back to finer ones ---- */

static size_t
neighbour(size_t x, size_t n)
{
	return x & 1 ? (x / 2 + 1 < n ? x / 2 + 1 : x / 2) : x / 2 - (x / 2 > 0);
}

/* Of pixels x to x + n - 1 in row y of `level`, from the coarser one: weights 3/4 and 1/4. */
static void
pull(const struct fill *fill, size_t level, size_t y, size_t x, size_t n, float *out)
{
	size_t coarser = level + 1, w = fill->w[coarser];
	const float *near = row_of(fill, coarser, y / 2);
	const float *far = row_of(fill, coarser, neighbour(y, fill->h[coarser]));

	for (size_t i = 0; i < n; i++) {
		size_t at = (x + i) / 2, other = neighbour(x + i, w);

		out[i] = (9 * near[at] + 3 * near[other] + 3 * far[at] + far[other]) / 16;
	}
}

static void
pull_row(const struct filling *filling, size_t y)
{
	const struct fill *fill = filling->fill;
	float *row = row_of(fill, filling->level, y);

	for (size_t x = 0; x < fill->w[filling->level]; x++)
		if (px_isnan(row[x]))
			pull(fill, filling->level, y, x, 1, row + x);
}

void
fill_row(const struct fill *fill, size_t y, size_t x, size_t n, float *out)
{
	pull(fill, 0, y, x, n, out);
}

/* ---- all of it ---- */

static void
push_block(void *arg, size_t i)
{
	const struct filling *filling = arg;
	size_t h = filling->fill->h[filling->level];

	for (size_t y = h * i / BLOCKS; y < h * (i + 1) / BLOCKS; y++)
		push_row(filling, y);
}

static void
pull_block(void *arg, size_t i)
{
	const struct filling *filling = arg;
	size_t h = filling->fill->h[filling->level];

	for (size_t y = h * i / BLOCKS; y < h * (i + 1) / BLOCKS; y++)
		pull_row(filling, y);
}

/* Level 1 is the last one at least, as level 0 takes from it. */
static int
make_levels(struct fill *fill, size_t w, size_t h)
{
	size_t room = 0, level = 0;
	float *values;

	fill->w[0] = w;
	fill->h[0] = h;
	do {
		level++;
		fill->w[level] = half(fill->w[level - 1]);
		fill->h[level] = half(fill->h[level - 1]);
		room += fill->w[level] * fill->h[level];
	} while (level < FILL_LEVELS - 1 && fill->w[level] * fill->h[level] > 1);
	fill->levels = level + 1;
	if (room > fill->room) {
		free(fill->value[1]);
		fill->value[1] = malloc(room * sizeof(float));
		fill->room = fill->value[1] ? room : 0;
	}
	values = fill->value[1];
	if (!values)
		return fail_memory();
	for (level = 1; level < fill->levels; level++) {
		fill->value[level] = values;
		values += fill->w[level] * fill->h[level];
	}
	return 0;
}

int
fill_frame(struct run *run, struct fill *fill, const struct depthcode_code *code,
    const struct frame *frame, size_t channel)
{
	struct filling filling = { .fill = fill, .code = code, .frame = frame,
		.channel = channel };
	float *top;

	if (make_levels(fill, frame->head.w, frame->head.h) < 0)
		return -1;
	for (filling.level = 1; filling.level < fill->levels; filling.level++)
		run_for(run, BLOCKS, push_block, &filling);
	top = fill->value[fill->levels - 1];
	if (px_isnan(*top))
		*top = 0.5f;
	for (filling.level = fill->levels - 2; filling.level > 0; filling.level--)
		run_for(run, BLOCKS, pull_block, &filling);
	return 0;
}

void
fill_free(struct fill *fill)
{
	free(fill->value[1]);
}
