#include "fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/numbers.h"

#define BLOCKS 64		/* of a level's rows, for the threads */
#define PIECE 512		/* pixels of the coarser level's row at a time */

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

/* Depths of level 0, NaN where a pixel has none. */
static void
load_depths(const float *restrict depth, const struct depthcode_code *code, size_t n,
    float *restrict out)
{
	float zero = code->zero, per_depth = code->per_depth;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F z = depthcode_normalise(depth[x], zero, per_depth);

		out[x] = px_select(depthcode_inside(z), depthcode_clamp(z), PX_NAN);
	}
}

/* 2 * PIECE pixels of the next finer level from x on, NaN outside of it. */
static void
load_piece(const struct filling *filling, size_t x, size_t y, float *out)
{
	size_t finer = filling->level - 1, w = filling->fill->w[finer], n = 0;

	if (y < filling->fill->h[finer])
		n = w - x < 2 * PIECE ? w - x : 2 * PIECE;
	if (finer)
		memcpy(out, row_of(filling->fill, finer, y) + x, n * sizeof(*out));
	else if (n)
		load_depths(frame_floats(filling->frame, filling->channel, y) + x, filling->code, n,
		    out);
	for (; n < 2 * PIECE; n++)
		out[n] = PX_NAN;
}

static void
take_means(const float *restrict upper, const float *restrict lower, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float a = upper[2 * x], b = upper[2 * x + 1];
		float c = lower[2 * x], d = lower[2 * x + 1];
		PX_F sum = px_select(px_isnan(a), 0.0f, a) + px_select(px_isnan(b), 0.0f, b) +
		    px_select(px_isnan(c), 0.0f, c) + px_select(px_isnan(d), 0.0f, d);
		PX_F count = px_select(px_isnan(a), 0.0f, 1.0f) +
		    px_select(px_isnan(b), 0.0f, 1.0f) + px_select(px_isnan(c), 0.0f, 1.0f) +
		    px_select(px_isnan(d), 0.0f, 1.0f);

		out[x] = px_select(count > 0.0f, sum / count, PX_NAN);
	}
}

static void
push_row(const struct filling *filling, size_t y)
{
	const struct fill *fill = filling->fill;
	size_t w = fill->w[filling->level];
	float *out = row_of(fill, filling->level, y);
	float upper[2 * PIECE], lower[2 * PIECE];

	for (size_t x = 0; x < w; x += PIECE) {
		load_piece(filling, 2 * x, 2 * y, upper);
		load_piece(filling, 2 * x, 2 * y + 1, lower);
		take_means(upper, lower, out + x, w - x < PIECE ? w - x : PIECE);
	}
}

/* ---- back to finer ones ---- */

/* Weights 3/4 and 1/4 in both directions. */
#define MEAN_OF_FOUR(near, near_other, far, far_other) \
	((9 * (near) + 3 * (near_other) + 3 * (far) + (far_other)) / 16)

static size_t
neighbour(size_t x, size_t n)
{
	return x & 1 ? (x / 2 + 1 < n ? x / 2 + 1 : x / 2) : x / 2 - (x / 2 > 0);
}

/* Pixel x of row y of `level`, from the coarser one. */
static float
pull(const struct fill *fill, size_t level, size_t y, size_t x)
{
	size_t coarser = level + 1, at = x / 2, other = neighbour(x, fill->w[coarser]);
	const float *near = row_of(fill, coarser, y / 2);
	const float *far = row_of(fill, coarser, neighbour(y, fill->h[coarser]));

	return MEAN_OF_FOUR(near[at], near[other], far[at], far[other]);
}

static void
pull_row(const struct filling *filling, size_t y)
{
	const struct fill *fill = filling->fill;
	float *row = row_of(fill, filling->level, y);

	for (size_t x = 0; x < fill->w[filling->level]; x++)
		if (px_isnan(row[x]))
			row[x] = pull(fill, filling->level, y, x);
}

/* n pixels of a row from x on with one more at either end, which the first and the last stand for
 * beyond the row. */
static void
load_widened(const float *row, size_t w, size_t x, size_t n, float *out)
{
	out[0] = row[x ? x - 1 : 0];
	memcpy(out + 1, row + x, n * sizeof(*out));
	out[n + 1] = row[x + n < w ? x + n : w - 1];
}

static void
pull_pairs(const float *restrict near, const float *restrict far, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		out[2 * x] = MEAN_OF_FOUR(near[x + 1], near[x], far[x + 1], far[x]);
		out[2 * x + 1] = MEAN_OF_FOUR(near[x + 1], near[x + 2], far[x + 1], far[x + 2]);
	}
}

void
fill_row(const struct fill *fill, size_t y, size_t x, size_t n, float *out)
{
	const float *near = row_of(fill, 1, y / 2);
	const float *far = row_of(fill, 1, neighbour(y, fill->h[1]));
	float a[PIECE + 2], b[PIECE + 2], pair[2 * PIECE];

	for (size_t done = 0; done < n; done += 2 * PIECE) {
		size_t now = n - done < 2 * PIECE ? n - done : 2 * PIECE, at = (x + done) / 2;

		load_widened(near, fill->w[1], at, half(now), a);
		load_widened(far, fill->w[1], at, half(now), b);
		pull_pairs(a, b, pair, half(now));
		memcpy(out + done, pair, now * sizeof(*out));
	}
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
