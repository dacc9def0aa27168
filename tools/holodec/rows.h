/* Loops over the pixels of a tile: a piece of a row of a Holoimage, with pixels to both sides. */
#ifndef HOLODEC_ROWS_H
#define HOLODEC_ROWS_H

#include "run/stage.h"
#include "holo/holo.h"
#include "holodec.px.h"

#include <math.h>
#include <string.h>

#define TILE 512 /* pixels of a row that are decoded together */
#define MARGIN 3 /* beside them, for medians */
#define EDGE_MOST 64

/* How a picture is to be read. */
struct reading {
	struct holo_code code;
	size_t channel[4];             /* sine, cosine, stair, texture */
	float half_step;               /* 1/2 where plain decoding rounds */
	float stair[HOLO_PROFILE + 1]; /* of order 0 */
};

struct tile { /* pixel x of the row is at [MARGIN] */
	float sine[TILE + 2 * MARGIN], cosine[TILE + 2 * MARGIN], stair[TILE + 2 * MARGIN];
	float rest[TILE + 2 * MARGIN];  /* NaN in the background */
	float order[TILE + 2 * MARGIN]; /* as read: not whole; NaN in the background */
	size_t first, end;              /* before and behind there is nothing but background */
};

static void
load_bytes(const unsigned char *restrict in, float *restrict out, size_t n)
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

/* Samples x .. x + n - 1 of a row, as levels. */
static void
load(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *out)
{
	if (in->head.type == SAMPLE_UCHAR)
		load_bytes((const unsigned char *)frame_row(in, c, y) + x, out, n);
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

/* NaN before `first` and from `end` on. */
static void
fill_ends(float *row, size_t n, size_t first, size_t end)
{
	for (size_t i = 0; i < first; i++)
		row[i] = PX_NAN;
	for (size_t i = end; i < n; i++)
		row[i] = PX_NAN;
}

/* Pixels x .. x + n - 1 of row y and MARGIN to both sides; beyond the image is background. */
static void
load_tile(const struct frame *in, const struct reading *reading, size_t y, size_t x, size_t n,
    struct tile *tile)
{
	float *const plane[3] = { tile->sine, tile->cosine, tile->stair };
	size_t left = x < MARGIN ? x : MARGIN, behind = in->head.w - x - n;
	size_t right = behind < MARGIN ? behind : MARGIN;

	for (int c = 0; c < 3; c++) {
		memset(plane[c], 0, MARGIN * sizeof(float));
		memset(plane[c] + MARGIN + n, 0, MARGIN * sizeof(float));
		load(in, reading->channel[c], y, x - left, left + n + right,
		    plane[c] + MARGIN - left);
	}
	find_ends(tile, n + 2 * MARGIN);
}

/* What each pixel says by itself: rest and order. n counts the margins. The hole is added, since a
 * condition around the reading of the stair would keep the loop from being vectorised. */
static void
read_tile(struct tile *restrict tile, const struct reading *restrict reading, size_t n)
{
	const float *restrict sine = tile->sine, *restrict cosine = tile->cosine;
	const float *restrict level = tile->stair, *restrict stair = reading->stair;
	float *restrict rests = tile->rest, *restrict orders = tile->order;
	float per_height = 1 / reading->code.height;

	fill_ends(rests, n, tile->first, tile->end);
	fill_ends(orders, n, tile->first, tile->end);
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

static void
nearest_turns(const float *restrict rest, const float *restrict order, float *restrict turns,
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

/* A row of readings that are medians already; the median of seven of these down the column. */
struct medians {
	float rest[TILE], order[TILE];
	size_t first, end; /* NaN before and behind */
};

static void
median_down(const struct medians *const row[7], float *restrict out, size_t n)
{
	const struct medians *restrict a = row[0], *restrict b = row[1], *restrict c = row[2];
	const struct medians *restrict d = row[3], *restrict e = row[4], *restrict f = row[5];
	const struct medians *restrict g = row[6];

	fill_ends(out, n, d->first, d->end);
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

/* Turns to depth; NaN where that is farther than slack (normalised) outside of the cube. */
static void
to_depth(const float *restrict turns, float *restrict out, size_t x, size_t n,
    const struct holo_code *code, float slack)
{
	float per_column = code->turns_per_column, per_turn = 1 / code->turns_per_depth;
	float zero = code->depth_zero, range = code->depth_one - code->depth_zero;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = holodec_depth(
		    turns[i], (float)(int)(x + i), per_column, per_turn, zero, range, slack);
}

/* last[i] becomes y where there is background. */
static void
note_black(const float *restrict sine, const float *restrict cosine, int32_t *restrict last,
    int32_t y, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		last[i] = holodec_black(sine[i], cosine[i]) ? y : last[i];
}

static void
find_late(const int32_t *restrict last, int32_t since, unsigned char *restrict late, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		late[i] = last[i] >= since;
}

/* NaN where one of 2 reach + 1 marks is set, the first of them being that of the same number. */
static void
drop_marked(const unsigned char *restrict mark, size_t reach, float *restrict out, size_t n)
{
	unsigned char any[TILE] = { 0 };

	for (size_t k = 0; k <= 2 * reach; k++) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			any[i] |= mark[i + k];
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = px_select(any[i] != 0, PX_NAN, out[i]);
}

static void
scale_row(float *restrict row, size_t w, float scale)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		row[x] *= scale;
}

/* ---- pieces of rows ---- */

/* A quarter of a turn beyond the faces, in normalised depth. */
static float
slack(const struct holo_code *code)
{
	return HOLODEC_SLACK / code->turns_per_depth;
}

/* Depths of n pixels of row y from x on, each by itself. */
static void
decode_nearest(const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n,
    struct tile *tile, float *out)
{
	float turns[TILE];

	load_tile(in, reading, y, x, n, tile);
	read_tile(tile, reading, n + 2 * MARGIN);
	nearest_turns(
	    tile->rest + MARGIN, tile->order + MARGIN, turns, n, reading->code.order_most);
	to_depth(turns, out, x, n, &reading->code, slack(&reading->code));
}

static void
decode_plain(
    const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n, float *out)
{
	struct tile tile;
	float turns[TILE];

	load_tile(in, reading, y, x, n, &tile);
	read_tile(&tile, reading, n + 2 * MARGIN);
	plain_turns(&tile, reading, n + 2 * MARGIN);
	unspike(tile.order + MARGIN - 2, turns, n);
	to_depth(turns, out, x, n, &reading->code, INFINITY);
}

/* From a place in a tile to one among its n pixels. */
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
		fill_ends(out->rest, n, n, n);
		fill_ends(out->order, n, n, n);
		out->first = out->end = n;
		return;
	}
	load_tile(in, reading, (size_t)y, x, n, &tile);
	read_tile(&tile, reading, n + 2 * MARGIN);
	out->first = without_margin(tile.first, n);
	out->end = without_margin(tile.end, n);
	fill_ends(out->order, n, out->first, out->end);
	median_along(tile.rest, tile.order, out->order, out->first, out->end);
	memcpy(out->rest, tile.rest + MARGIN, n * sizeof(*out->rest));
}

/* Medians along the rows around the one that is being decoded, kept for the rows below. */
struct ring {
	struct medians row[7];
	size_t y0;
};

static void
ring_start(struct ring *ring, const struct reading *reading, const struct frame *in, size_t x,
    size_t n, size_t y0)
{
	ring->y0 = y0;
	for (size_t k = 0; k < 6; k++)
		median_row(reading, in, (ptrdiff_t)(y0 + k) - MARGIN, x, n, &ring->row[k]);
}

/* The next row, y: orders, and the readings that they belong to. */
static const struct medians *
ring_next(struct ring *ring, const struct reading *reading, const struct frame *in, size_t x,
    size_t n, size_t y, float *order)
{
	const struct medians *around[7];
	size_t first = y - ring->y0;

	median_row(reading, in, (ptrdiff_t)y + MARGIN, x, n, &ring->row[(first + 6) % 7]);
	for (size_t k = 0; k < 7; k++)
		around[k] = &ring->row[(first + k) % 7];
	median_down(around, order, n);
	return around[MARGIN];
}

/* Rows y0 .. y1 - 1 of the columns from x on. */
static void
decode_median(const struct reading *reading, const struct frame *in, struct frame *out, size_t z,
    size_t x, size_t n, size_t y0, size_t y1)
{
	struct ring ring;
	float order[TILE], turns[TILE];

	ring_start(&ring, reading, in, x, n, y0);
	for (size_t y = y0; y < y1; y++) {
		const struct medians *row = ring_next(&ring, reading, in, x, n, y, order);

		nearest_turns(row->rest, order, turns, n, reading->code.order_most);
		to_depth(turns, frame_floats(out, z, y) + x, x, n, &reading->code,
		    slack(&reading->code));
	}
}

/* Drops pixels with background in the square of `reach` around them, in rows y0 .. y1 - 1 of the
 * columns from x on. Outside the image is none. */
static void
drop_edge(const struct reading *reading, size_t reach, const struct frame *in, struct frame *out,
    size_t z, size_t x, size_t n, size_t y0, size_t y1)
{
	size_t h = in->head.h, behind = in->head.w - x - n;
	size_t left = x < reach ? x : reach, right = behind < reach ? behind : reach;
	size_t next = y0 < reach ? 0 : y0 - reach;
	float sine[TILE + 2 * EDGE_MOST], cosine[TILE + 2 * EDGE_MOST];
	int32_t last[TILE + 2 * EDGE_MOST]; /* row with background above that behind y + reach */
	unsigned char black[TILE + 2 * EDGE_MOST];

	for (size_t i = 0; i < TILE + 2 * EDGE_MOST; i++)
		last[i] = INT32_MIN;
	for (size_t y = y0; y < y1; y++) {
		for (; next <= y + reach && next < h; next++) {
			load(in, reading->channel[0], next, x - left, left + n + right, sine);
			load(in, reading->channel[1], next, x - left, left + n + right, cosine);
			note_black(sine, cosine, last + reach - left, (int32_t)next,
			    left + n + right);
		}
		find_late(last, (int32_t)y - (int32_t)reach, black, n + 2 * reach);
		drop_marked(black, reach, frame_floats(out, z, y) + x, n);
	}
}

#endif
