#include "medians.h"

#include <string.h>

#include "base/cpu_level.h"
#include "holodec.px.h"

/* The median of seven readings along the row, each as seen from the pixel in the middle. */
static void
median_along(const float *restrict rest, const float *restrict order, float *restrict out,
    size_t first, size_t end)
{
	CPU_SIMD
	for (size_t i = first; i < end; i++) {
		PX_F r = rest[i + 3];

		out[i] = holodec_median_of_7(holodec_seen_from(r, order[i], rest[i]),
		    holodec_seen_from(r, order[i + 1], rest[i + 1]),
		    holodec_seen_from(r, order[i + 2], rest[i + 2]), order[i + 3],
		    holodec_seen_from(r, order[i + 4], rest[i + 4]),
		    holodec_seen_from(r, order[i + 5], rest[i + 5]),
		    holodec_seen_from(r, order[i + 6], rest[i + 6]));
	}
}

static void
median_down(const struct medians *const row[7], float *restrict out, size_t n)
{
	const struct medians *restrict a = row[0], *restrict b = row[1], *restrict c = row[2];
	const struct medians *restrict d = row[3], *restrict e = row[4], *restrict f = row[5];
	const struct medians *restrict g = row[6];

	tile_fill_ends(out, n, d->first, d->end);
	CPU_SIMD
	for (size_t i = d->first; i < d->end; i++) {
		PX_F r = d->rest[i];

		out[i] = holodec_median_of_7(holodec_seen_from(r, a->order[i], a->rest[i]),
		    holodec_seen_from(r, b->order[i], b->rest[i]),
		    holodec_seen_from(r, c->order[i], c->rest[i]), d->order[i],
		    holodec_seen_from(r, e->order[i], e->rest[i]),
		    holodec_seen_from(r, f->order[i], f->rest[i]),
		    holodec_seen_from(r, g->order[i], g->rest[i]));
	}
}

/* From an index into a tile to one of its n pixels. */
static size_t
without_margin(size_t i, size_t n)
{
	return i < MARGIN ? 0 : i - MARGIN < n ? i - MARGIN : n;
}

/* The medians along row y, or nothing but NaN outside of the image. */
static void
median_row(const struct reading *reading, const struct frame *in, ptrdiff_t y, size_t x, size_t n,
    struct medians *out)
{
	struct tile tile;

	if (y < 0 || y >= (ptrdiff_t)in->head.h) {
		tile_fill_ends(out->rest, n, n, n);
		tile_fill_ends(out->order, n, n, n);
		out->first = out->end = n;
		return;
	}
	tile_load(in, reading, (size_t)y, x, n, &tile);
	tile_read(&tile, reading, n + 2 * MARGIN);
	out->first = without_margin(tile.first, n);
	out->end = without_margin(tile.end, n);
	tile_fill_ends(out->order, n, out->first, out->end);
	median_along(tile.rest, tile.order, out->order, out->first, out->end);
	memcpy(out->rest, tile.rest + MARGIN, n * sizeof(*out->rest));
}

void
medians_start(struct medians_ring *ring, const struct reading *reading, const struct frame *in,
    size_t x, size_t n, size_t y0)
{
	ring->y0 = y0;
	for (size_t k = 0; k < 6; k++)
		median_row(reading, in, (ptrdiff_t)(y0 + k) - MARGIN, x, n, &ring->row[k]);
}

const struct medians *
medians_next(struct medians_ring *ring, const struct reading *reading, const struct frame *in,
    size_t x, size_t n, size_t y, float *order)
{
	const struct medians *around[7];
	size_t first = y - ring->y0;

	median_row(reading, in, (ptrdiff_t)y + MARGIN, x, n, &ring->row[(first + 6) % 7]);
	for (size_t k = 0; k < 7; k++)
		around[k] = &ring->row[(first + k) % 7];
	median_down(around, order, n);
	return around[MARGIN];
}
