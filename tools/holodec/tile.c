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
		memset(plane[c] + MARGIN + n, 0, MARGIN * sizeof(float));
		tile_load_samples(in, reading->channel[c], y, x - left, left + n + right,
		    plane[c] + MARGIN - left);
	}
	find_ends(tile, n + 2 * MARGIN);
}

/* The hole is added, since a condition around the reading of the stair would keep the loop from
 * being vectorised. */
void
tile_read(struct tile *restrict tile, const struct reading *restrict reading, size_t n)
{
	const float *restrict sine = tile->sine, *restrict cosine = tile->cosine;
	const float *restrict level = tile->stair, *restrict stair = reading->stair;
	float *restrict rests = tile->rest, *restrict orders = tile->order;
	float per_height = 1 / reading->code.height;

	tile_fill_ends(rests, n, tile->first, tile->end);
	tile_fill_ends(orders, n, tile->first, tile->end);
	CPU_SIMD
	for (size_t i = tile->first; i < tile->end; i++) {
		PX_F rest = holo_rest(sine[i] - 127.5f, cosine[i] - 127.5f);
		PX_F order = holodec_order(level[i], stair[(int)(rest * HOLO_PROFILE)], per_height);
		bool missing = holodec_missing(sine[i], cosine[i], level[i]);
		PX_F hole = px_select(missing, PX_NAN, 0.0f);

		rests[i] = rest + hole;
		orders[i] = order + hole;
	}
}
