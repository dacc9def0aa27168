#include "tile.h"

#include <string.h>

#include "base/cpu_level.h"
#include "holodec.px.h"

void
tile_load_bytes(const unsigned char *restrict in, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (float)(int)in[i];
}

static void
load_floats(const float *restrict in, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = holodec_level(in[i]);
}

void
tile_load_samples(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *out)
{
	if (in->head.type == SAMPLE_UCHAR)
		tile_load_bytes((const unsigned char *)frame_row(in, c, y) + x, out, n);
	else
		load_floats((const float *)frame_row(in, c, y) + x, out, n);
}

static void
find_ends(struct tile *tile, size_t n)
{
	size_t first = 0, end = n;

	while (first < end && holodec_black(tile->sine[first], tile->cosine[first]))
		first++;
	while (first < end && holodec_black(tile->sine[end - 1], tile->cosine[end - 1]))
		end--;
	tile->first = first;
	tile->end = end;
}

void
tile_fill_ends(float *row, size_t n, size_t first, size_t end)
{
	for (size_t i = 0; i < first; i++)
		row[i] = PX_NAN;
	for (size_t i = end; i < n; i++)
		row[i] = PX_NAN;
}

void
tile_load(const struct frame *in, const struct reading *reading, size_t y, size_t x, size_t n,
    struct tile *tile)
{
	float *const plane[3] = { tile->sine, tile->cosine, tile->stair };
	size_t left = x < MARGIN ? x : MARGIN, behind = in->head.w - x - n;
	size_t right = behind < MARGIN ? behind : MARGIN;

	for (int c = 0; c < 3; c++) {
		memset(plane[c], 0, MARGIN * sizeof(float));
		memset(plane[c] + MARGIN + n, 0, (MARGIN + TILE_STEP) * sizeof(float));
		tile_load_samples(in, reading->channel[c], y, x - left, left + n + right,
		    plane[c] + MARGIN - left);
	}
	find_ends(tile, n + 2 * MARGIN);
}

/* Tangents into `tangent`, for rests. */
static void
read_tangents(const float *restrict sine, const float *restrict cosine, float *restrict tangent,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		tangent[i] = px_atan2_tangent(sine[i] - 127.5f, cosine[i] - 127.5f);
}

/* Rests of pixels with these tangents, and the parts of a stair that they are in. */
static void
read_rests(const float *restrict sine, const float *restrict cosine, const float *restrict tangent,
    float *restrict rest, uint16_t *restrict part, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		rest[i] = holo_rest_of(tangent[i], sine[i] - 127.5f, cosine[i] - 127.5f);
		part[i] = (uint16_t)(int)(rest[i] * HOLO_PROFILE);
	}
}

static void
read_stairs(const float *restrict stair, const uint16_t *restrict part, float *restrict out,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = stair[part[i]];
}

/* Orders from what order 0 has; NaN for both in the background. The hole is added, since a
 * condition around the reading of a level would keep the loop from being vectorised. */
static void
read_orders(struct tile *restrict tile, size_t first, size_t end, float per_height)
{
	CPU_SIMD
	for (size_t i = first; i < end; i++) {
		bool missing = holodec_missing(tile->sine[i], tile->cosine[i], tile->stair[i]);
		PX_F hole = px_select(missing, PX_NAN, 0.0f);

		tile->order[i] = holodec_order(tile->stair[i], tile->order[i], per_height) + hole;
		tile->rest[i] = tile->rest[i] + hole;
	}
}

/*
 * A loop for each step: one for all would wait for the division, and the table's look-up keeps it
 * from being vectorised whole. All of them begin at a whole vector and end behind one, in the
 * background.
 */
void
tile_read(struct tile *restrict tile, const struct reading *restrict reading, size_t n)
{
	const size_t first = tile->first / TILE_STEP * TILE_STEP;
	const size_t end = (tile->end + TILE_STEP - 1) / TILE_STEP * TILE_STEP;
	const float *sine = tile->sine + first, *cosine = tile->cosine + first;
	float *rest = tile->rest + first, *order = tile->order + first;
	uint16_t part[TILE_WIDTH];

	tile_fill_ends(tile->rest, n, first, end);
	tile_fill_ends(tile->order, n, first, end);
	read_tangents(sine, cosine, order, end - first);
	read_rests(sine, cosine, order, rest, part, end - first);
	read_stairs(reading->stair, part, order, end - first);
	read_orders(tile, first, end, 1 / reading->code.height);
}
