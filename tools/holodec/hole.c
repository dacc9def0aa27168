#include "hole.h"

#include "base/cpu_level.h"
#include "expected.h"
#include "holo/bits.h"
#include "holodec.px.h"

/* A pixel may be a hole where it is darker, by this factor, than RING_MOST and more of the 16
 * pixels two away: beside a boundary, or on a dark fringe, fewer are brighter. Chosen on two scans
 * with holes and two frames of a depth camera. */
#define REACH_RING 2
#define RING_MOST 13
#define DARKER 0.8f
#define DARKER_STAIR 0.7f	/* of stairs, the luma of the layout yuv */
#define DARKER_BY 2.0f	/* levels: on the lowest stairs a factor is less than what noise makes */
#define DARKER_THAN_FRINGE 0.8f	/* than the luma of the neighbours' fringes and stairs, in rgb */
#define WIDE (TILE + 2 * REACH_RING)
#define ROWS (2 * REACH_RING + 1)

/* Index i of n, mirrored at the ends; REACH_RING is added to it. */
static size_t
mirrored(size_t i, size_t n)
{
	size_t at = i < REACH_RING ? REACH_RING - i : i - REACH_RING;

	return at < n ? at : 2 * (n - 1) - at;
}

static void
read_luma(const struct growing *growing, size_t y, size_t x, size_t n, float *restrict luma)
{
	const struct reading *reading = growing->reading;
	float red[TILE], green[TILE];

	tile_load_samples(growing->in, reading->channel[2], y, x, n, luma);
	if (!reading->rgb)
		return;
	tile_load_samples(growing->in, reading->channel[0], y, x, n, red);
	tile_load_samples(growing->in, reading->channel[1], y, x, n, green);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		luma[i] = holodec_luma(red[i], green[i], luma[i]);
}

/* Pixels x .. x + n - 1 of row y, as luma, and REACH_RING more on each side; mirrored beyond the
 * picture's border. */
static void
load_luma(const struct growing *growing, size_t y, size_t x, size_t n, float *restrict luma)
{
	size_t w = growing->regions->w;

	read_luma(growing, y, x, n, luma + REACH_RING);
	for (size_t i = 0; i < REACH_RING; i++) {
		read_luma(growing, y, mirrored(x + i, w), 1, luma + i);
		read_luma(growing, y, mirrored(x + n + REACH_RING + i, w), 1,
		    luma + REACH_RING + n + i);
	}
}

/* Adds how many pixels of a row of the ring are brighter than `level`: all five, or the ends. */
static inline __attribute__((always_inline)) void
count_brighter(const float *restrict level, const float *restrict row, bool all,
    unsigned char *restrict brighter, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		int count = (level[i] < row[i]) + (level[i] < row[i + 4]);

		if (all)
			count += (level[i] < row[i + 1]) + (level[i] < row[i + 2]) +
			    (level[i] < row[i + 3]);
		brighter[i] = (unsigned char)(brighter[i] + count);
	}
}

/* Of n pixels of the middle row, the first of which has index REACH_RING: how many of those around
 * are brighter. */
static void
count_ring(const float *const row[ROWS], float darker, unsigned char *restrict brighter, size_t n)
{
	const float *restrict luma = row[REACH_RING] + REACH_RING;
	float level[TILE];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		level[i] = px_max(luma[i] / darker, luma[i] + DARKER_BY);
		brighter[i] = 0;
	}
	for (size_t k = 0; k < ROWS; k++)
		count_brighter(level, row[k], k == 0 || k == ROWS - 1, brighter, n);
}

/* The luma that a pixel of the neighbours' surface has: of the median of their turns; NaN where
 * all are background. */
static float
expected_luma(const struct growing *growing, const struct pixel *pixel)
{
	float turns[BITS_WAYS], median;
	size_t n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t at = growing_beside(growing, pixel, bits_way[way][0], bits_way[way][1]);

		if (at >= 0 && growing->state[at] != BACKGROUND)
			turns[n++] = growing->turns[at];
	}
	median = expected_median(turns, n);
	return px_isnan(median) ? PX_NAN : expected_levels(growing->reading, median).luma;
}

/* Of a pixel whose ring is brighter. */
static bool
is_hole(const struct growing *growing, size_t x, size_t y, float luma)
{
	struct pixel pixel = { .x = (int32_t)x, .y = (int32_t)y };

	if (growing->state[y * growing->regions->w + x] == BACKGROUND)
		return false;
	return !growing->reading->rgb ||
	    luma < DARKER_THAN_FRINGE * expected_luma(growing, &pixel);
}

/* Pixels x .. x + n - 1 of rows y0 .. y1 - 1. */
static void
find_in_columns(struct growing *growing, size_t x, size_t n, size_t y0, size_t y1)
{
	struct regions *regions = growing->regions;
	float darker = growing->reading->rgb ? DARKER : DARKER_STAIR;
	unsigned char brighter[TILE];
	float luma[ROWS][WIDE];
	const float *row[ROWS];
	size_t next = y0;

	/* row y + k - REACH_RING, mirrored, lies at [(y + k) % ROWS] */
	for (size_t y = y0; y < y1; y++) {
		for (; next < y + ROWS; next++)
			load_luma(growing, mirrored(next, regions->h), x, n, luma[next % ROWS]);
		for (size_t k = 0; k < ROWS; k++)
			row[k] = luma[(y + k) % ROWS];
		count_ring(row, darker, brighter, n);
		for (size_t i = 0; i < n; i++)
			if (brighter[i] >= RING_MOST &&
			    is_hole(growing, x + i, y, row[REACH_RING][REACH_RING + i]))
				regions->certainty[y * regions->w + x + i] = 0;
	}
}

static void
find_block(void *arg, size_t i)
{
	struct growing *growing = arg;
	const struct regions *regions = growing->regions;
	const struct region_block *block = &regions->block[i];
	size_t w = regions->w;

	if (w <= REACH_RING || regions->h <= REACH_RING)
		return;
	for (size_t x = 0; x < w; x += TILE)
		find_in_columns(growing, x, w - x < TILE ? w - x : TILE, block->y0, block->y1);
}

void
hole_find(struct run *run, struct growing *growing)
{
	run_for(run, growing->regions->blocks, find_block, growing);
}
