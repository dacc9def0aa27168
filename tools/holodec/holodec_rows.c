/*
 * The loops over rows of holodec: levels to readings, by pixel or by the medians around it, these
 * to depths and points (methods section 12); and the counts that picture_checks.c judges.
 */
#include "holodec.h"

#include "image/texture_rows.h"
#include "holodec.px.h"
#include "place.px.h"

/* ---- a piece of a row: levels, and what each pixel reads ---- */

#define TILE_STEP 16 /* pixels that are read together, each time */
#define TILE_WIDTH (TILE + 2 * MARGIN + TILE_STEP)

/* With pixels to both sides: the first one of the piece is at [MARGIN]. */
struct tile {
	float sine[TILE_WIDTH], cosine[TILE_WIDTH], stair[TILE_WIDTH];
	float rest[TILE_WIDTH];         /* NaN in the background */
	float order[TILE_WIDTH];        /* as read: not whole; NaN in the background */
	size_t first, end;              /* all others are background */
} __attribute__((aligned(64)));

/* Bytes as floats. */
static void
tile_load_bytes(const unsigned char *restrict in, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (float)(int)in[i];
}

static void
tile_load_samples(const struct frame *in, size_t c, size_t y, size_t x, size_t n,
    float *restrict out)
{
	const float *restrict row;

	if (in->head.type == SAMPLE_UCHAR) {
		tile_load_bytes((const unsigned char *)frame_row(in, c, y) + x, out, n);
		return;
	}
	row = (const float *)frame_row(in, c, y) + x;
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = holodec_level(row[i]);
}

/* NaN before `first` and from `end` on. */
static void
tile_fill_ends(float *row, size_t n, size_t first, size_t end)
{
	for (size_t i = 0; i < first; i++)
		row[i] = PX_NAN;
	for (size_t i = end; i < n; i++)
		row[i] = PX_NAN;
}

/* Pixels x .. x + n - 1 of row y and MARGIN to both sides; beyond the image is background. */
static void
tile_load(const struct frame *in, const struct reading *reading, size_t y, size_t x, size_t n,
    struct tile *tile)
{
	float *const plane[3] = { tile->sine, tile->cosine, tile->stair };
	size_t left = x < MARGIN ? x : MARGIN, after = in->head.w - x - n;
	size_t right = after < MARGIN ? after : MARGIN, first = 0, end = n + 2 * MARGIN;

	for (int c = 0; c < 3; c++) {
		memset(plane[c], 0, MARGIN * sizeof(float));
		memset(plane[c] + MARGIN + n, 0, (MARGIN + TILE_STEP) * sizeof(float));
		tile_load_samples(in, reading->channel[c], y, x - left, left + n + right,
		    plane[c] + MARGIN - left);
	}
	while (first < end && holodec_black(tile->sine[first], tile->cosine[first]))
		first++;
	while (first < end && holodec_black(tile->sine[end - 1], tile->cosine[end - 1]))
		end--;
	tile->first = first;
	tile->end = end;
}

/*
 * Rest and order of each pixel by itself. n counts the margins. Each step has its own loop: one for
 * all would wait for the division, and the table's look-up keeps it from being vectorised. All
 * begin and end at a whole vector, in the background.
 */
static void
tile_read(struct tile *restrict tile, const struct reading *restrict reading, size_t n)
{
	const size_t first = tile->first / TILE_STEP * TILE_STEP;
	const size_t end = (tile->end + TILE_STEP - 1) / TILE_STEP * TILE_STEP;
	const float *restrict sine = tile->sine, *restrict cosine = tile->cosine;
	const float *restrict stair = tile->stair;
	float *restrict rest = tile->rest, *restrict order = tile->order;
	float per_height = 1 / reading->code.height;
	uint16_t part[TILE_WIDTH];	/* of a stair, which rests are in */

	tile_fill_ends(tile->rest, n, first, end);
	tile_fill_ends(tile->order, n, first, end);
	CPU_SIMD
	for (size_t i = first; i < end; i++)
		order[i] = px_atan2_tangent(sine[i] - 127.5f, cosine[i] - 127.5f);
	CPU_SIMD
	for (size_t i = first; i < end; i++) {
		rest[i] = holo_rest_of(order[i], sine[i] - 127.5f, cosine[i] - 127.5f);
		part[i] = (uint16_t)(int)(rest[i] * HOLO_PROFILE);
	}
	for (size_t i = first; i < end; i++)
		order[i] = reading->stair[part[i]];
	/* Orders from what order 0 has; NaN for both in the background. The hole is added, since a
	 * condition around the reading of a level would keep the loop from being vectorised. */
	CPU_SIMD
	for (size_t i = first; i < end; i++) {
		bool missing = holodec_missing(sine[i], cosine[i], stair[i]);
		PX_F hole = px_select(missing, PX_NAN, 0.0f);

		order[i] = holodec_order(stair[i], order[i], per_height) + hole;
		rest[i] = rest[i] + hole;
	}
}

/* Rests and orders to turns, the order rounded and held to 0 .. most. */
static void
decode_nearest_turns(const float *restrict rest, const float *restrict order, float *restrict turns,
    size_t n, float most)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		turns[i] = rest[i] + holo_nearest_order(order[i], 0.0f, 1.0f, most);
}

/* Turns to depth; NaN where that is farther than slack (normalised) outside of the cube. */
static void
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

/* A quarter of a turn beyond the faces, in normalised depth. */
static float
decode_slack(const struct holo_code *code)
{
	return HOLODEC_SLACK / code->turns_per_depth;
}

/* ---- medians of 7 x 7 readings: of seven along each row, then of these down the column ---- */

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

static void
medians_start(struct medians_ring *ring, const struct reading *reading, const struct frame *in,
    size_t x, size_t n, size_t y0)
{
	ring->y0 = y0;
	for (size_t k = 0; k < 6; k++)
		median_row(reading, in, (ptrdiff_t)(y0 + k) - MARGIN, x, n, &ring->row[k]);
}

static const struct medians *
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

/* ---- from readings to depths, without regions ---- */

/* Depths of n pixels of row y from x on, each by itself; the tile keeps the readings. */
static void
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

/* The same as the papers decode, by floor or rounding of the stair without its model, and with
 * whole turns off the median of five in the row taken out. */
static void
decode_plain(
    const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n, float *out)
{
	float per_height = 1 / reading->code.height, half_step = reading->half_step;
	struct tile tile;
	float turns[TILE] __attribute__((aligned(64)));
	const float *restrict t = tile.order + MARGIN - 2;

	tile_load(in, reading, y, x, n, &tile);
	tile_read(&tile, reading, n + 2 * MARGIN);
	CPU_SIMD
	for (size_t i = 0; i < n + 2 * MARGIN; i++)
		tile.order[i] =
		    tile.rest[i] + holo_plain_order(tile.stair[i], per_height, half_step);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		turns[i] = holo_unspike(
		    t[i + 2], median_of_5(t[i], t[i + 1], t[i + 2], t[i + 3], t[i + 4]));
	decode_to_depth(turns, out, x, n, &reading->code, INFINITY);
}

/* Rows y0 .. y1 - 1 of n columns from x on into channel z, by the medians around each pixel. */
static void
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

/* ---- pixels so near to the background that a lossy format has mixed them with it ---- */

#define WIDEST (TILE + 2 * BACKGROUND_REACH_MOST)

/* Drops pixels of channel z with background in the square of `reach` around them, in rows
 * y0 .. y1 - 1 of n columns from x on. Outside the image is none. */
static void
background_drop(const struct reading *reading, size_t reach, const struct frame *in,
    struct frame *out, size_t z, size_t x, size_t n, size_t y0, size_t y1)
{
	size_t h = in->head.h, after = in->head.w - x - n;
	size_t left = x < reach ? x : reach, right = after < reach ? after : reach;
	size_t next = y0 < reach ? 0 : y0 - reach, wide = left + n + right;
	float sine[WIDEST], cosine[WIDEST];
	int32_t last[WIDEST], *shown = last + reach - left;	/* lowest row with background, down
								 * to y + reach */
	unsigned char black[WIDEST];

	for (size_t i = 0; i < WIDEST; i++)
		last[i] = INT32_MIN;
	for (size_t y = y0; y < y1; y++) {
		int32_t since = (int32_t)y - (int32_t)reach;
		float *restrict depth = frame_floats(out, z, y) + x;
		unsigned char any[TILE] = { 0 };

		for (; next <= y + reach && next < h; next++) {
			tile_load_samples(in, reading->channel[0], next, x - left, wide, sine);
			tile_load_samples(in, reading->channel[1], next, x - left, wide, cosine);
			CPU_SIMD
			for (size_t i = 0; i < wide; i++)
				shown[i] = holodec_black(sine[i], cosine[i]) ? (int32_t)next
									     : shown[i];
		}
		CPU_SIMD
		for (size_t i = 0; i < n + 2 * reach; i++)
			black[i] = last[i] >= since;
		for (size_t k = 0; k <= 2 * reach; k++) {
			CPU_SIMD
			for (size_t i = 0; i < n; i++)
				any[i] |= black[i + k];
		}
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			depth[i] = px_select(any[i] != 0, PX_NAN, depth[i]);
	}
}

/* ---- rows of a frame ---- */

/* Depths to coordinates: z holds the depth on entry. */
static void
place_points(const struct place *to, size_t row, float *restrict x, float *restrict y,
    float *restrict z, size_t w)
{
	const double(*place)[4] = to->row;
	const double y0 = (double)row;
	const double ax = place[0][0], bx = place[0][2], cx = place[0][1] * y0 + place[0][3];
	const double ay = place[1][0], by = place[1][2], cy = place[1][1] * y0 + place[1][3];
	const double az = place[2][0], bz = place[2][2], cz = place[2][1] * y0 + place[2][3];

	CPU_SIMD
	for (size_t i = 0; i < w; i++) {
		double column = (double)(int)i;
		PX_F depth = z[i];

		x[i] = holodec_coordinate(ax, column, bx, depth, cx);
		y[i] = holodec_coordinate(ay, column, by, depth, cy);
		z[i] = holodec_coordinate(az, column, bz, depth, cz);
	}
}

/* Rows y0 .. y1 - 1 of n columns from x on into channel z, of what has been found. */
static void
regions_decode(const struct regions *regions, const struct holo_code *code, struct frame *out,
    size_t z, size_t x, size_t n, size_t y0, size_t y1)
{
	float turns[TILE] __attribute__((aligned(64)));

	for (size_t y = y0; y < y1; y++) {
		size_t at = y * out->head.w + x;

		decode_nearest_turns(
		    regions->rest + at, regions->order + at, turns, n, code->order_most);
		decode_to_depth(turns, frame_floats(out, z, y) + x, x, n, code, decode_slack(code));
	}
}

/* Row y of depths, channel z: drops what the input's own certainty drops, and puts how certain each
 * pixel is into the last channel, where that is asked. */
static void
certain_row(const struct priv *priv, const struct frame *in, struct frame *out, size_t z, size_t y)
{
	size_t w = in->head.w;
	float *restrict depth = frame_floats(out, z, y);
	const float *restrict given = priv->certainty == NO_CHANNEL ? NULL
	    : (const float *)frame_row(in, priv->certainty, y);
	const float *restrict grown = priv->grown ? priv->regions.certainty + y * w : NULL;
	float *restrict to = priv->keep ? frame_floats(out, out->head.c - 1, y) : NULL;

	for (size_t x = 0; x < w; x++) {
		float certain = px_min(given ? given[x] : 1, grown ? grown[x] : 1);

		if (given && !(given[x] >= priv->least))
			depth[x] = PX_NAN;
		if (to)
			to[x] = px_isnan(depth[x]) ? PX_NAN : certain;
	}
}

/* Certainties, points and texture. */
static void
finish_row(const struct priv *priv, const struct frame *in, struct frame *out, size_t z, size_t y)
{
	size_t w = in->head.w, texture = priv->reading.channel[3];
	float *restrict out_row, scale = priv->texture_scale;
	bool grey = priv->matrix == TEXTURE_GREY;

	if (!priv->refusals.now && (priv->keep || priv->certainty != NO_CHANNEL))
		certain_row(priv, in, out, z, y);
	if (!priv->refusals.now && priv->xyz)
		place_points(&priv->place, y, frame_floats(out, 0, y), frame_floats(out, 1, y),
		    frame_floats(out, z, y), w);
	if (texture == NO_CHANNEL)
		return;
	for (size_t k = 0; k < (grey ? 1 : 3); k++) {
		out_row = frame_floats(out, z + 1 + k, y);
		if (in->head.type == SAMPLE_UCHAR)
			tile_load_bytes(frame_row(in, texture + k, y), out_row, w);
		else
			memcpy(out_row, frame_row(in, texture + k, y), w * sizeof(*out_row));
		CPU_SIMD
		for (size_t x = 0; x < w; x++)
			out_row[x] *= grey ? scale : 1;
	}
	if (!grey)
		texture_colours_of(frame_floats(out, z + 1, y), frame_floats(out, z + 2, y),
		    frame_floats(out, z + 3, y), w, scale, 255, priv->matrix == TEXTURE_BT709);
}

static void
depths(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *)
{
	const struct priv *priv = run->priv;
	const struct reading *reading = &priv->reading;
	size_t w = in->head.w, z = priv->xyz ? 2 : 0;
	size_t textures = reading->channel[3] == NO_CHANNEL ? 0 :
	    priv->matrix == TEXTURE_GREY ? 1 : 3;
	struct tile tile;

	/* of a refused picture all is NaN but the texture, the channels after z */
	for (size_t c = 0; priv->refusals.now && c < out->head.c; c++)
		for (size_t y = y0; y < y1; y++)
			for (size_t x = 0; x < w; x++)
				if (c <= z || c > z + textures)
					frame_floats(out, c, y)[x] = PX_NAN;
	for (size_t x = 0; x < w && !priv->refusals.now; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		if (priv->decode == DECODE_MEDIAN)
			decode_median(reading, in, out, z, x, n, y0, y1);
		else if (priv->decode == DECODE_REGION)
			regions_decode(&priv->regions, &reading->code, out, z, x, n, y0, y1);
		for (size_t y = y0; y < y1 && priv->decode == DECODE_PLAIN; y++)
			decode_plain(reading, in, y, x, n, frame_floats(out, z, y) + x);
		for (size_t y = y0; y < y1 && priv->decode == DECODE_NEAREST; y++)
			decode_nearest(reading, in, y, x, n, &tile, frame_floats(out, z, y) + x);
		if (priv->edge_px)
			background_drop(reading, priv->edge_px, in, out, z, x, n, y0, y1);
	}
	for (size_t y = y0; y < y1; y++)
		finish_row(priv, in, out, z, y);
}

/* ---- counts of pixels: is the picture a Holoimage, and is it exact? ---- */

#define COUNTED_ROW_STEP 8 /* one row of 8 is counted */

#define COUNTS_SIMD \
	_Pragma("omp simd reduction(+:points, inexact, off_level, off_circle, coloured) \
	    reduction(+:off_stair, outside, beyond)")

static void
add_counts(const struct tile *restrict tile, const float *restrict depth, size_t n,
    const struct exact_limits *limits, struct pixel_counts *counts)
{
	float circle = limits->circle, stair = limits->stair, height = limits->stair_height;
	float zero = 127.5f - limits->cut, middle = limits->middle, reach = limits->reach;
	int points = 0, inexact = 0, off_level = 0, off_circle = 0, coloured = 0;
	int off_stair = 0, outside = 0, beyond = 0;

	COUNTS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F r = tile->sine[i + MARGIN], g = tile->cosine[i + MARGIN];
		PX_F b = tile->stair[i + MARGIN], order = tile->order[i + MARGIN];
		PX_F off = holodec_off_circle(r - zero, g - zero);
		PX_F stair_off = px_abs(order - px_round(order));
		int point = r + g >= HOLO_BLACK, clean = r == 0.0f && g == 0.0f && b == 0.0f;

		points += point;
		inexact += point ? off > circle : !clean;
		off_level += point & (stair_off * height > stair);
		off_circle += point & (off > HOLO_OFF_CIRCLE_LEVELS);
		coloured += r != g || g != b;
		off_stair += point & (stair_off > 0.25f);
		outside += point & px_isnan(depth[i]);
		beyond += point & !(px_abs(depth[i] - middle) <= reach);
	}
	counts->pixels += n;
	counts->points += (size_t)points;
	counts->inexact += (size_t)inexact;
	counts->off_level += (size_t)off_level;
	counts->off_circle += (size_t)off_circle;
	counts->coloured += (size_t)coloured;
	counts->off_stair += (size_t)off_stair;
	counts->outside += (size_t)outside;
	counts->beyond += (size_t)beyond;
}

static struct pixel_counts
count_pixels(const struct reading *reading, const struct frame *in,
    const struct exact_limits *limits)
{
	struct pixel_counts counts = { 0 };
	struct tile tile;
	float depth[TILE] __attribute__((aligned(64)));

	for (size_t y = 0; y < in->head.h; y += COUNTED_ROW_STEP)
		for (size_t x = 0; x < in->head.w; x += TILE) {
			size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

			decode_nearest(reading, in, y, x, n, &tile, depth);
			add_counts(&tile, depth, n, limits, &counts);
		}
	return counts;
}

/* ---- steps from pixel to pixel, and the circle of fringes: was the picture altered? ---- */

#define SAMPLED_ROWS 64	/* at least, or all of fewer */
#define STEP_MOST 8	/* at least one row of 8 is sampled */
#define AWAY 3		/* pixels to the background, which lossy formats mix in */

#define SMOOTH 0.2f	/* turns from pixel to pixel; more is a jump */

/* Rows that tell of one pixel: y - AWAY, y - 1, y, y + 1 and y + AWAY. */
enum { FAR_ABOVE, ABOVE, HERE, BELOW, FAR_BELOW, PIECE };

/* Turns from one pixel to the one two farther. */
PX_FN float
difference(float from, float to)
{
	return to - from - px_round(to - from);
}

/* Counts n pixels of a row, of which AWAY others precede and follow each. Each array has its own
 * loop. */
static void
add_steps(const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n,
    struct step_counts *counts)
{
	static const int row[PIECE] = { -AWAY, -1, 0, 1, AWAY };
	float sine[PIECE][TILE], cosine[PIECE][TILE], rest[PIECE][TILE];
	float along[TILE], down[TILE];	/* turns from the previous pixel to the next one */
	int32_t black[TILE], flat[TILE];
	uint points = 0, falls = 0, across = 0;

	for (int k = 0; k < PIECE; k++) {
		size_t at = y + (size_t)row[k];

		tile_load_samples(in, reading->channel[0], at, x, n, sine[k]);
		tile_load_samples(in, reading->channel[1], at, x, n, cosine[k]);
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			rest[k][i] = holo_rest(sine[k][i] - 127.5f, cosine[k][i] - 127.5f);
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		black[i] = holodec_black(sine[HERE][i], cosine[HERE][i]);
	CPU_SIMD
	for (size_t i = AWAY; i < n - AWAY; i++) {
		along[i] = difference(rest[HERE][i - 1], rest[HERE][i + 1]);
		down[i] = difference(rest[ABOVE][i], rest[BELOW][i]);
	}
	_Pragma("omp simd reduction(+:points, falls, across)")
	for (size_t i = AWAY; i < n - AWAY; i++) {
		float right = px_abs(along[i]), below = px_abs(down[i]);
		int32_t near = black[i - 3] | black[i - 2] | black[i - 1] | black[i] |
		    black[i + 1] | black[i + 2] | black[i + 3];
		uint is;

		for (int k = 0; k < PIECE; k++)
			near |= holodec_black(sine[k][i], cosine[k][i]);
		is = (uint)((right <= 2 * SMOOTH) & (below <= 2 * SMOOTH) & !near);
		points += is;
		falls += is & (uint)(along[i] < 0);
		across += is & (uint)(below > right);
		flat[i] = is & (uint)(right <= 2 * FRINGE_CIRCLE_FLAT) &
		    (uint)(below <= 2 * FRINGE_CIRCLE_FLAT);
	}
	counts->points += points;
	counts->falls += falls;
	counts->across += across;
	for (size_t i = AWAY; i < n - AWAY; i++) {
		float a = sine[HERE][i] - 127.5f, b = cosine[HERE][i] - 127.5f;

		if (flat[i])
			fringe_circle_count(&counts->circle, rest[HERE][i],
			    sqrt((double)(a * a + b * b)));
	}
}

_Static_assert(AWAY == 3, "add_steps() looks at three pixels before and after");

static void
count_steps(const struct reading *reading, const struct frame *in, struct step_counts *counts)
{
	size_t w = in->head.w, h = in->head.h, step = h / SAMPLED_ROWS;

	*counts = (struct step_counts){ 0 };
	step = step < 1 ? 1 : step > STEP_MOST ? STEP_MOST : step;
	for (size_t y = AWAY; y + AWAY < h; y += step)
		for (size_t x = 0; x + 2 * AWAY < w; x += TILE)
			add_steps(reading, in, y, x, w - x < TILE ? w - x : TILE, counts);
}

/* ---- colours: was the picture given a palette, as GIF and some PNG files have? ---- */

#define SLOTS 1024 /* a power of two, well above the number of colours */
#define PALETTE_PIXELS_LEAST 2048
#define EMPTY UINT32_MAX

/* Adds a colour that is not there yet; returns their number. */
static size_t
add_colour(uint32_t slot[SLOTS], size_t colours, uint32_t colour)
{
	size_t i = colour * 2654435761u % SLOTS;

	while (slot[i] != EMPTY && slot[i] != colour)
		i = (i + 1) % SLOTS;
	if (slot[i] == colour)
		return colours;
	slot[i] = colour;
	return colours + 1;
}

static size_t
count_colours(const struct frame *frame, size_t row_step)
{
	uint32_t slot[SLOTS];
	size_t colours = 0, pixels = 0;

	if (frame->head.type != SAMPLE_UCHAR || frame->head.c < 3)
		return PALETTE_MOST + 1;
	memset(slot, 0xff, sizeof(slot));
	for (size_t y = 0; y < frame->head.h; y += row_step) {
		const uint8_t *r = frame_row(frame, 0, y), *g = frame_row(frame, 1, y);
		const uint8_t *b = frame_row(frame, 2, y);

		for (size_t x = 0; x < frame->head.w; x++) {
			uint32_t colour = (uint32_t)r[x] << 16 | (uint32_t)g[x] << 8 | b[x];

			colours = add_colour(slot, colours, colour);
			if (colours > PALETTE_MOST)
				return colours;
		}
		pixels += frame->head.w;
	}
	return pixels < PALETTE_PIXELS_LEAST ? PALETTE_MOST + 1 : colours;
}

/* ---- depths of regions beyond the range ---- */

#define BEYOND_TURNS 0.05f
#define BEYOND_ROW_STEP 8	/* one row of 8 is looked at */

static void
count_beyond(const struct regions *regions, const struct holo_code *code, size_t *points,
    size_t *beyond)
{
	for (size_t y = 0; y < regions->h; y += BEYOND_ROW_STEP)
		for (size_t x = 0; x < regions->w; x++) {
			size_t at = y * regions->w + x;
			float turns = regions->order[at] + regions->rest[at];
			float z = holo_depth(
			    turns, (float)x, code->turns_per_column, 1 / code->turns_per_depth);

			*points += !px_isnan(turns);
			*beyond += (px_abs(z - 0.5f) - 0.5f) * code->turns_per_depth > BEYOND_TURNS;
		}
}

/* ---- places of the key holo_check ---- */

#define WINDOW_WIDTH (2 * HOLOCHECK_WINDOW + 1)

static struct holocheck_seen
look_at_place(const struct reading *reading, const struct frame *in, size_t x, size_t y)
{
	struct holocheck_seen seen = { .black = 1 };
	float rest[WINDOW_WIDTH][WINDOW_WIDTH], sine[WINDOW_WIDTH], cosine[WINDOW_WIDTH];
	const int reach = HOLOCHECK_WINDOW;
	double sum = 0, n = WINDOW_WIDTH * WINDOW_WIDTH, moments = n * reach * (reach + 1) / 3;
	int black = 0;

	if (x < HOLOCHECK_WINDOW || y < HOLOCHECK_WINDOW || x + HOLOCHECK_WINDOW >= in->head.w ||
	    y + HOLOCHECK_WINDOW >= in->head.h)
		return seen;
	for (size_t v = 0; v < WINDOW_WIDTH; v++) {
		size_t row = y + v - HOLOCHECK_WINDOW, first = x - HOLOCHECK_WINDOW;

		tile_load_samples(in, reading->channel[0], row, first, WINDOW_WIDTH, sine);
		tile_load_samples(in, reading->channel[1], row, first, WINDOW_WIDTH, cosine);
		for (size_t u = 0; u < WINDOW_WIDTH; u++) {
			rest[v][u] = holo_rest(sine[u] - 127.5f, cosine[u] - 127.5f);
			black += !(sine[u] + cosine[u] >= HOLO_BLACK);
		}
	}
	seen.black = black / n;
	for (int v = 0; v < WINDOW_WIDTH && black == 0; v++)
		for (int u = 0; u < WINDOW_WIDTH; u++) {
			float away = rest[v][u] - rest[reach][reach];
			double turns = (double)(away - px_round(away));

			sum += turns;
			seen.slope[0] += turns * (u - reach) / moments;
			seen.slope[1] += turns * (v - reach) / moments;
		}
	if (black == 0)
		seen.rest = (double)rest[reach][reach] + sum / n;
	return seen;
}

const struct holodec_rows AT_LEVEL(holodec_rows) = {
	.depths = depths,
	.load_samples = tile_load_samples,
	.medians_start = medians_start,
	.medians_next = medians_next,
	.count_pixels = count_pixels,
	.count_steps = count_steps,
	.count_colours = count_colours,
	.count_beyond = count_beyond,
	.look_at_place = look_at_place,
};
