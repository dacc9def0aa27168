#include "decode.h"

#include <math.h>

#include "base/cpu_level.h"
#include "holodec.px.h"

void
decode_nearest_turns(const float *restrict rest, const float *restrict order, float *restrict turns,
    size_t n, float most)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		turns[i] = rest[i] + holo_nearest_order(order[i], 0.0f, 1.0f, most);
}

/* The papers' decoding: floor or rounding of the stair, without its model. */
static void
plain_turns(struct tile *restrict tile, const struct reading *restrict reading, size_t n)
{
	float per_height = 1 / reading->code.height, half_step = reading->half_step;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		tile->order[i] =
		    tile->rest[i] + holo_plain_order(tile->stair[i], per_height, half_step);
}

/* Takes out whole turns that a pixel lies off the median of five in its row. */
static void
unspike(const float *restrict turns, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = holo_unspike(turns[i + 2],
		    median_of_5(turns[i], turns[i + 1], turns[i + 2], turns[i + 3], turns[i + 4]));
}

void
decode_to_depth(const float *restrict turns, float *restrict out, size_t x, size_t n,
    const struct holo_code *code, float slack)
{
	float per_column = code->turns_per_column, per_turn = 1 / code->turns_per_depth;
	float zero = code->depth_zero, range = code->depth_one - code->depth_zero;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = holodec_depth(
		    turns[i], (float)(int)(x + i), per_column, per_turn, zero, range, slack);
}

float
decode_slack(const struct holo_code *code)
{
	return HOLODEC_SLACK / code->turns_per_depth;
}

void
decode_nearest(const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n,
    struct tile *tile, float *out)
{
	float turns[TILE] __attribute__((aligned(64)));

	tile_load(in, reading, y, x, n, tile);
	tile_read(tile, reading, n + 2 * MARGIN);
	decode_nearest_turns(
	    tile->rest + MARGIN, tile->order + MARGIN, turns, n, reading->code.order_most);
	decode_to_depth(turns, out, x, n, &reading->code, decode_slack(&reading->code));
}

void
decode_plain(
    const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n, float *out)
{
	struct tile tile;
	float turns[TILE] __attribute__((aligned(64)));

	tile_load(in, reading, y, x, n, &tile);
	tile_read(&tile, reading, n + 2 * MARGIN);
	plain_turns(&tile, reading, n + 2 * MARGIN);
	unspike(tile.order + MARGIN - 2, turns, n);
	decode_to_depth(turns, out, x, n, &reading->code, INFINITY);
}

void
decode_median(const struct reading *reading, const struct frame *in, struct frame *out, size_t z,
    size_t x, size_t n, size_t y0, size_t y1)
{
	struct medians_ring ring;
	float order[TILE] __attribute__((aligned(64))), turns[TILE] __attribute__((aligned(64)));

	medians_start(&ring, reading, in, x, n, y0);
	for (size_t y = y0; y < y1; y++) {
		const struct medians *row = medians_next(&ring, reading, in, x, n, y, order);

		decode_nearest_turns(row->rest, order, turns, n, reading->code.order_most);
		decode_to_depth(turns, frame_floats(out, z, y) + x, x, n, &reading->code,
		    decode_slack(&reading->code));
	}
}
