/*
 * Fringes in colour planes of half the resolution, as video and JPEG of 4:2:2 and 4:2:0 leave them
 * to the layout yuv: each of their samples is the mean of a block of 2 or 2 x 2 pixels, and at the
 * boundary some of these are background, which is black and turns the angle of the mean. Luma is
 * sharp and tells which: without them the mean is that of the surface alone, and a straight line
 * through the phases of the blocks around gives each pixel its own.
 */
#include "holodec.h"

#include <limits.h>

#include "holodec.px.h"

/* ---- samples, and marks around others ---- */

#define HALVING_STAIRS_LEAST 16	/* levels: luma of stairs that are clearly no background */
#define HALVING_ROWS 16		/* blocks' rows that a thread takes at a time */
#define UNTOLD 2	/* a pixel of which luma does not tell whether it is of the surface */
#define DOUBTFUL HALVED_DOUBTFUL

static inline int
halving_sample(const struct frame *frame, size_t c, size_t x, size_t y)
{
	return ((const unsigned char *)frame_row(frame, c, y))[x];
}

/* R + G of a pixel. */
static inline int
halving_both(const struct halving *halving, size_t x, size_t y)
{
	const size_t *channel = halving->reading->channel;

	return halving_sample(halving->in, channel[0], x, y) +
	    halving_sample(halving->in, channel[1], x, y);
}

/* 1 where a mark lies within `reach` columns. */
static void
widen_row(const unsigned char *restrict mark, unsigned char *restrict to, size_t w, size_t reach)
{
	memcpy(to, mark, w);
	for (size_t k = 1; k <= reach && k < w; k++) {
		CPU_SIMD
		for (size_t x = k; x < w; x++) {
			to[x] |= mark[x - k];
			to[x - k] |= mark[x];
		}
	}
}

/* Marks all within `reach` of a mark; memory: as many bytes. */
static void
halving_widen(unsigned char *mark, unsigned char *memory, size_t w, size_t h, size_t reach)
{
	for (size_t y = 0; y < h; y++)
		widen_row(mark + y * w, memory + y * w, w, reach);
	for (size_t y = 0; y < h; y++) {
		unsigned char *restrict to = mark + y * w;
		size_t v0 = y < reach ? 0 : y - reach, v1 = y + reach < h ? y + reach : h - 1;

		memset(to, 0, w);
		for (size_t v = v0; v <= v1; v++) {
			const unsigned char *restrict from = memory + v * w;

			CPU_SIMD
			for (size_t x = 0; x < w; x++)
				to[x] |= from[x];
		}
	}
}

/* The halved sample i of a row or column of n doubled ones, step bytes apart: what the two pixels
 * of the block say, each with the one beside it. */
static float
halve(const float *at, size_t i, size_t n, ptrdiff_t step)
{
	float left = at[0], before = i > 0 ? at[-step] : left, right, after;

	if (i + 1 >= n)
		return 1.5f * left - 0.5f * before;
	right = at[step];
	after = i + 2 < n ? at[2 * step] : right;
	return 0.25f * (3 * (left + right) - before - after);
}

/* The colour plane's sample of the block whose first pixel is (x, y). */
static float
halving_block_sample(const struct halving *halving, size_t c, size_t x, size_t y)
{
	const struct frame *in = halving->in;
	size_t w = in->head.w, h = in->head.h, x0 = x ? x - 1 : 0, y0 = y ? y - 1 : 0;
	float row[4], column[4];
	bool down = halving->high == 2;

	for (size_t v = down ? y0 : y; v < (down ? y + 3 : y + 1) && v < h; v++) {
		for (size_t u = x0; u < x + 3 && u < w; u++)
			row[u - x0] = (float)halving_sample(in, c, u, v);
		column[v - (down ? y0 : y)] = halve(row + (x - x0), x, w, 1);
	}
	return down ? halve(column + (y - y0), y, h, 1) : column[0];
}

/* The greatest luma of the 3 x 3 pixels around. */
static int
halving_brightest(const struct halving *halving, size_t x, size_t y)
{
	const struct frame *in = halving->in;
	size_t stair = halving->reading->channel[2];
	int brightest = 0;

	for (size_t v = y ? y - 1 : 0; v <= y + 1 && v < in->head.h; v++)
		for (size_t u = x ? x - 1 : 0; u <= x + 1 && u < in->head.w; u++) {
			int level = halving_sample(in, stair, u, v);

			brightest = level > brightest ? level : brightest;
		}
	return brightest;
}

/* ---- is colour halved? ---- */

#define LINE_STEP 16		/* one row or column of 16 is looked at */
#define ROUNDING_LEVELS 4	/* the third difference of doubled samples, at most */
#define EDGE_LEVELS 16			/* of other samples, beside an edge, at least */

/* Samples doubled by weights of 3/4 and 1/4 have a third difference of rounding only, from an odd
 * pixel to the third one after it. */
static bool
is_doubled_plane(const struct frame *frame, size_t c, bool down)
{
	size_t n = down ? frame->head.h : frame->head.w;
	size_t lines = down ? frame->head.w : frame->head.h;
	bool edges = false;

	for (size_t line = 0; line < lines; line += LINE_STEP)
		for (size_t i = 0; i + 3 < n; i++) {
			int v[4], off;

			for (size_t k = 0; k < 4; k++)
				v[k] = down ? halving_sample(frame, c, line, i + k)
					    : halving_sample(frame, c, i + k, line);
			off = abs(v[3] - v[0] - 3 * (v[2] - v[1]));
			if (i % 2 == 1 && off > ROUNDING_LEVELS)
				return false;
			edges |= off > EDGE_LEVELS;
		}
	return edges;
}

/* ---- all blocks that are marked, on all threads ---- */

struct block_job {
	struct halving *halving;
	const unsigned char *mark;
	void (*fn)(struct halving *, size_t i, size_t j);	/* column and row of a block */
};

static void
block_rows(void *arg, size_t part)
{
	const struct block_job *job = arg;
	const size_t w = job->halving->w, h = job->halving->h;

	for (size_t j = part * HALVING_ROWS; j < (part + 1) * HALVING_ROWS && j < h; j++)
		for (size_t i = 0; i < w; i++)
			if (!job->mark || job->mark[j * w + i])
				job->fn(job->halving, i, j);
}

/* mark: of each block; NULL: all. */
static void
for_blocks(struct run *run, struct halving *halving, const unsigned char *mark,
    void (*fn)(struct halving *, size_t i, size_t j))
{
	struct block_job job = { halving, mark, fn };

	run_for(run, (halving->h + HALVING_ROWS - 1) / HALVING_ROWS, block_rows, &job);
}

/* ---- which pixels are surface, by luma ---- */

#define BLACK_REACH 2		/* pixels around black ones where luma is asked */
#define UNLIT_LEVELS 4			/* levels: luma that may be none */

static void
find_black_row(struct halving *halving, size_t y, unsigned char *restrict black)
{
	const size_t *channel = halving->reading->channel;
	const unsigned char *restrict sine = frame_row(halving->in, channel[0], y);
	const unsigned char *restrict cosine = frame_row(halving->in, channel[1], y);
	const unsigned char *restrict luma = frame_row(halving->in, channel[2], y);

	CPU_SIMD
	for (size_t x = 0; x < halving->in->head.w; x++)
		black[x] = (sine[x] + cosine[x] < HOLO_BLACK) | (luma[x] < UNLIT_LEVELS);
}

/* Near black pixels: is luma nearer to that of the surface around than to black? On the lowest
 * stairs luma does not tell. A pixel that is as dark as black may be of the lowest stair, beside
 * one of the next: a composite stair is a whole height below the next, as far as a surface that is
 * clearly no background is above black; its colour is not black. */
static unsigned char
is_surface(const struct halving *halving, size_t x, size_t y)
{
	const struct reading *reading = halving->reading;
	int brightest = halving_brightest(halving, x, y), both = halving_both(halving, x, y);

	if (brightest < HALVING_STAIRS_LEAST)
		return both < HOLO_BLACK ? 0 : UNTOLD;
	if (5 * halving_sample(halving->in, reading->channel[2], x, y) >= 3 * brightest)
		return 1;
	return reading->half_step > 0 && 2 * (float)brightest < 3 * reading->code.height &&
	    both >= HOLO_BLACK ? UNTOLD : 0;
}

static void
surface_rows(void *arg, size_t i)
{
	struct halving *halving = arg;
	size_t w = halving->in->head.w, y0 = i * HALVING_ROWS, y1 = y0 + HALVING_ROWS;

	for (size_t y = y0; y < y1 && y < halving->in->head.h; y++)
		for (size_t x = 0; x < w; x++)
			halving->surface[y * w + x] =
			    halving->near[y * w + x] ? is_surface(halving, x, y) : 1;
}

/*
 * ---- which pixels are surface, by fringes ----
 *
 * Boundaries of the lowest stairs, where luma does not tell the surface from black: a block's
 * fringes are weaker by the share of its pixels that are background.
 */

#define BRIGHTNESS_REACH 2	/* pixels around, where no block tells */
#define LIT_SHARE 0.55f		/* of the greatest R + G there: a pixel of the surface */
#define CLEAR_SHARE 0.8f		/* likewise beside black ones: no background */
#define SAME_BLOCKS 0.35f	/* turns between blocks of one surface, at most */
#define SURER 0.25f		/* pixels of a block: their number is rounded down rather than up */
#define OFF_CIRCLE 10.0f	/* levels that a block without background is off at most */
#define LIT_BLOCK_BOTH 60.0f		/* R + G of such a block, at least */
#define STAIR_STEP 0.1f		/* turns: a block's pixels lie after the stair's step */

static bool
is_untold(const struct halving *halving, size_t x, size_t y)
{
	return x < halving->in->head.w && y < halving->in->head.h &&
	    halving->surface[y * halving->in->head.w + x] == UNTOLD;
}

/* Marks a block that has untold pixels. */
static void
mark_block(struct halving *halving, size_t i, size_t j)
{
	unsigned char *mark = &halving->untold[j * halving->w + i];

	for (size_t y = j * halving->high; y < (j + 1) * halving->high; y++)
		for (size_t x = i * halving->wide; x < (i + 1) * halving->wide; x++)
			*mark |= is_untold(halving, x, y);
}

/* A block's samples; n: is it of the surface alone? */
static void
read_untold_block(struct halving *halving, size_t i, size_t j)
{
	struct block *block = &halving->block[j * halving->w + i];
	float level[2];

	for (int c = 0; c < 2; c++) {
		block->level[c] = halving_block_sample(halving, halving->reading->channel[c],
		    i * halving->wide, j * halving->high);
		level[c] = block->level[c] - 127.5f;
	}
	block->rest = holo_rest(level[0], level[1]);
	block->n = block->level[0] + block->level[1] >= LIT_BLOCK_BOTH &&
	    holodec_off_circle(level[0], level[1]) <= OFF_CIRCLE;
}

static const struct block *
whole_block(const struct halving *halving, size_t i, size_t j)
{
	bool inside = i < halving->w && j < halving->h;

	return inside && halving->block[j * halving->w + i].n
	    ? &halving->block[j * halving->w + i]
	    : NULL;
}

/* The phase of the block as the blocks around carry it on, each by a straight line from two, in
 * turns; NaN where there are none. */
static float
carried_rest(const struct halving *halving, size_t i, size_t j)
{
	float sine = 0, cosine = 0;
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		size_t dx = (size_t)bits_way[way][0], dy = (size_t)bits_way[way][1];
		const struct block *near = whole_block(halving, i + dx, j + dy), *far;
		float step, rest;

		far = whole_block(halving, i + 2 * dx, j + 2 * dy);
		if (!near || !far)
			continue;
		step = near->rest - far->rest;
		step -= px_round(step);
		if (px_abs(step) > SAME_BLOCKS)
			continue;
		rest = near->rest + step;
		rest -= px_floor(rest);
		sine += holo_sine_level(rest) - 127.5f;
		cosine += holo_cosine_level(rest) - 127.5f;
		n++;
	}
	return n ? holo_rest(sine, cosine) : PX_NAN;
}

/* How many of a block's pixels are of the surface, by its fringes' strength; not whole. */
static float
count_surface(const struct block *block, float rest, size_t pixels)
{
	float sine = holo_sine_level(rest), cosine = holo_cosine_level(rest);

	return (float)pixels * (block->level[0] * sine + block->level[1] * cosine) /
	    (sine * sine + cosine * cosine);
}

/* The least and the greatest R + G around a pixel; outside of the picture is black. A background of
 * one row or column at the border has no colour of its own, so that R + G does not tell a pixel
 * there. */
struct brightness {
	int least, most;
	bool border;
};

static struct brightness
around(const struct halving *halving, size_t x, size_t y)
{
	const struct frame *in = halving->in;
	bool border = x == 0 || y == 0 || x + 1 == in->head.w || y + 1 == in->head.h;
	struct brightness both = { .least = border ? 0 : 2 * UCHAR_MAX, .border = border };
	size_t x0 = x < BRIGHTNESS_REACH ? 0 : x - BRIGHTNESS_REACH;
	size_t y0 = y < BRIGHTNESS_REACH ? 0 : y - BRIGHTNESS_REACH;

	for (size_t v = y0; v <= y + BRIGHTNESS_REACH && v < in->head.h; v++)
		for (size_t u = x0; u <= x + BRIGHTNESS_REACH && u < in->head.w; u++) {
			int level = halving_both(halving, u, v);

			both.least = level < both.least ? level : both.least;
			both.most = level > both.most ? level : both.most;
		}
	return both;
}

/* What a pixel becomes that is of the surface by its fringes' strength: dark fringes are as weak as
 * those of a block that is background in part, where their phase is not known well. */
static unsigned char
surface_of(const struct halving *halving, size_t x, size_t y)
{
	struct brightness both = around(halving, x, y);

	return both.border ||
		(both.least < HOLO_BLACK &&
		    (float)halving_both(halving, x, y) < CLEAR_SHARE * (float)both.most)
	    ? DOUBTFUL
	    : 1;
}

/* The brightest `left` of a block's untold pixels become surface. */
static void
share_out(struct halving *halving, size_t i, size_t j, int left)
{
	size_t w = halving->in->head.w, wide = halving->wide, pixels = wide * halving->high;

	for (size_t round = 0; round < pixels; round++, left--) {
		size_t bright_x = 0, bright_y = 0;
		int most = -1;

		for (size_t part = 0; part < pixels; part++) {
			size_t x = i * wide + part % wide, y = j * halving->high + part / wide;
			int level = is_untold(halving, x, y) ? halving_both(halving, x, y) : -1;

			if (level <= most)
				continue;
			most = level;
			bright_x = x;
			bright_y = y;
		}
		if (most >= 0)
			halving->surface[bright_y * w + bright_x] =
			    left > 0 ? surface_of(halving, bright_x, bright_y) : 0;
	}
}

/* The stair's step from the lowest to the next one lies where turns are whole: a pixel of a block
 * before it may be of the lowest stair, after it luma tells. */
static bool
is_black(const struct halving *halving, size_t x, size_t y, float rest)
{
	return rest > STAIR_STEP && rest < 0.5f &&
	    halving_brightest(halving, x, y) >= HALVING_STAIRS_LEAST;
}

static void
tell_block(struct halving *halving, size_t i, size_t j)
{
	size_t w = halving->in->head.w, h = halving->in->head.h;
	float rest = carried_rest(halving, i, j);
	int known = 0, untold = 0, of = 0;

	for (size_t y = j * halving->high; y < (j + 1) * halving->high && y < h; y++)
		for (size_t x = i * halving->wide; x < (i + 1) * halving->wide && x < w; x++) {
			unsigned char *surface = &halving->surface[y * w + x];

			/* Where no block tells: doubled R + G is more than half of that of the
			 * surface around on the surface's side of a boundary, less on the other. */
			if (*surface == UNTOLD && px_isnan(rest))
				*surface = (float)halving_both(halving, x, y) >=
					LIT_SHARE * (float)around(halving, x, y).most
				    ? surface_of(halving, x, y) : 0;
			else if (*surface == UNTOLD && is_black(halving, x, y, rest))
				*surface = 0;
			known += *surface == 1 || *surface == DOUBTFUL;
			untold += *surface == UNTOLD;
			of++;
		}
	if (untold)
		share_out(halving, i, j,
		    (int)px_round(count_surface(&halving->block[j * halving->w + i], rest,
				      (size_t)of) - SURER) - known);
}

/* Makes UNTOLD pixels those of the surface, 1, or of the background, 0. */
static void
unlit_tell(struct run *run, struct halving *halving)
{
	for_blocks(run, halving, NULL, mark_block);
	halving_widen(halving->untold, halving->near, halving->w, halving->h, 2);
	for_blocks(run, halving, halving->untold, read_untold_block);
	for_blocks(run, halving, halving->untold, tell_block);
}

/* ---- blocks: mean phases of the surface, and slopes through them ---- */

#define RIDGE 1.0f		/* px^2: keeps the slope of a single neighbour finite */

/* Pixels of the surface, and their centre. */
static void
count_block(struct halving *halving, size_t i, size_t j)
{
	size_t w = halving->in->head.w, x0 = i * halving->wide, y0 = j * halving->high;
	struct block *block = &halving->block[j * halving->w + i];
	float x_sum = 0, y_sum = 0;

	*block = (struct block){ 0 };
	for (size_t y = y0; y < y0 + halving->high && y < halving->in->head.h; y++)
		for (size_t x = x0; x < x0 + halving->wide && x < w; x++) {
			bool inside = halving->surface[y * w + x];

			block->of++;
			block->n += inside;
			x_sum += inside ? (float)x : 0;
			y_sum += inside ? (float)y : 0;
		}
	halving->mixed[j * halving->w + i] = block->n < block->of;
	if (block->n) {
		block->x = x_sum / (float)block->n;
		block->y = y_sum / (float)block->n;
	}
}

static void
read_block(struct halving *halving, size_t i, size_t j)
{
	const size_t *channel = halving->reading->channel;
	size_t x = i * halving->wide, y = j * halving->high;
	struct block *block = &halving->block[j * halving->w + i];
	float whole = (float)block->of / (float)block->n;

	if (block->n == 0)
		return;
	block->rest = holo_rest(whole * halving_block_sample(halving, channel[0], x, y) - 127.5f,
	    whole * halving_block_sample(halving, channel[1], x, y) - 127.5f);
}

struct slope {
	float x, y;
};

/* The slope of the phase at a block, by least squares over the blocks around it that are of the
 * same surface; *mixed: one of them, or itself, has background. */
static struct slope
find_slope(const struct halving *halving, size_t i, size_t j, bool *mixed)
{
	const struct block *here = &halving->block[j * halving->w + i];
	float xx = RIDGE, xy = 0, yy = RIDGE, xt = 0, yt = 0, over;

	*mixed = here->n < here->of;
	if (!here->n)
		return (struct slope){ 0 };
	for (size_t v = j ? j - 1 : 0; v <= j + 1 && v < halving->h; v++)
		for (size_t u = i ? i - 1 : 0; u <= i + 1 && u < halving->w; u++) {
			const struct block *there = &halving->block[v * halving->w + u];
			float away = there->rest - here->rest, x = there->x - here->x;
			float y = there->y - here->y, weight = (float)there->n;

			*mixed |= there->n < there->of;
			away -= px_round(away);
			if (!there->n || px_abs(away) > SAME_BLOCKS)
				continue;
			xx += weight * x * x;
			xy += weight * x * y;
			yy += weight * y * y;
			xt += weight * x * away;
			yt += weight * y * away;
		}
	over = 1 / (xx * yy - xy * xy);		/* at least RIDGE^2 is below */
	return (struct slope){ (xt * yy - yt * xy) * over, (yt * xx - xt * xy) * over };
}

/* Its pixels get these fringes, or are black. */
static void
mend_block(struct halving *halving, size_t i, size_t j)
{
	const struct block *block = &halving->block[j * halving->w + i];
	const size_t *channel = halving->reading->channel;
	size_t w = halving->in->head.w, h = halving->in->head.h;
	struct slope slope;
	bool mixed;

	slope = find_slope(halving, i, j, &mixed);
	for (size_t y = j * halving->high; mixed && y < (j + 1) * halving->high && y < h; y++)
		for (size_t x = i * halving->wide; x < (i + 1) * halving->wide && x < w; x++) {
			bool inside = halving->surface[y * w + x];
			unsigned char *sample[3];
			float rest = block->rest + slope.x * ((float)x - block->x) +
			    slope.y * ((float)y - block->y);

			for (int c = 0; c < 3; c++)
				sample[c] =
				    (unsigned char *)frame_row(halving->out, channel[c], y) + x;
			rest -= px_floor(rest);
			*sample[0] = !inside ? 0
			    : (unsigned char)(int)holo_round(holo_sine_level(rest));
			*sample[1] = !inside ? 0
			    : (unsigned char)(int)holo_round(holo_cosine_level(rest));
			*sample[2] = inside ? *sample[2] : 0;
		}
}

/* ---- the picture ---- */

static void
halving_find(const struct reading *reading, const struct frame *in, struct halving *halving)
{
	*halving = (struct halving){ .reading = reading, .in = in };
	if (!is_doubled_plane(in, reading->channel[0], false))
		return;
	halving->wide = 2;
	halving->high = is_doubled_plane(in, reading->channel[0], true) ? 2 : 1;
	halving->w = (in->head.w + 1) / 2;
	halving->h = (in->head.h + halving->high - 1) / halving->high;
}

static void
halving_mend(struct run *run, struct halving *halving)
{
	const struct frame *in = halving->in;

	for (size_t c = 0; c < in->head.c; c++)
		for (size_t y = 0; y < in->head.h; y++)
			memcpy(frame_row(halving->out, c, y), frame_row(in, c, y), in->head.w);
	for (size_t y = 0; y < in->head.h; y++)
		find_black_row(halving, y, halving->near + y * in->head.w);
	halving_widen(halving->near, halving->surface, in->head.w, in->head.h, BLACK_REACH);
	run_for(run, (in->head.h + HALVING_ROWS - 1) / HALVING_ROWS, surface_rows, halving);
	unlit_tell(run, halving);
	for_blocks(run, halving, NULL, count_block);
	halving_widen(halving->mixed, halving->near, halving->w, halving->h, 2);
	for_blocks(run, halving, halving->mixed, read_block);
	for_blocks(run, halving, halving->mixed, mend_block);
}

const struct halved_rows AT_LEVEL(halved_rows) = {
	.find = halving_find,
	.mend = halving_mend,
};
