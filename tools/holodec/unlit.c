#include "unlit.h"

#include <limits.h>
#include <string.h>

#include "holo/bits.h"
#include "holodec.px.h"

#define NEAR 2			/* pixels around, where no block tells */
#define LIT 0.55f		/* of the greatest R + G there: a pixel of the surface */
#define CLEAR 0.8f		/* likewise beside black ones: no background */
#define SURER 0.25f		/* pixels of a block: rounded down by so much more than up */
#define OFF_CIRCLE 10.0f	/* levels that a block without background is off at most */
#define FAINTEST 60.0f		/* R + G of such a block, at least */
#define STEP 0.1f		/* turns: a block's pixels lie behind the stair's step */
#define SAME 0.35f		/* turns between blocks of one surface, at most */

static bool
is_untold(const struct halving *halving, size_t x, size_t y)
{
	return x < halving->in->head.w && y < halving->in->head.h &&
	    halving->surface[y * halving->in->head.w + x] == UNTOLD;
}

/* Marks the blocks that have untold pixels. */
static void
mark_rows(void *arg, size_t i)
{
	struct halving *halving = arg;
	size_t w = halving->in->head.w, y0 = i * HALVING_ROWS * halving->high;
	size_t y1 = y0 + HALVING_ROWS * halving->high;

	for (size_t y = y0; y < y1 && y < halving->in->head.h; y++) {
		const unsigned char *row = halving->surface + y * w, *next = row;

		while ((next = memchr(next, UNTOLD, w - (size_t)(next - row))) != NULL) {
			size_t x = (size_t)(next++ - row);

			halving->untold[y / halving->high * halving->w + x / halving->wide] = 1;
		}
	}
}

/* A block's samples; n: is it of the surface alone? */
static void
read_rows(void *arg, size_t i)
{
	struct halving *halving = arg;
	const size_t *channel = halving->reading->channel;

	for (size_t j = i * HALVING_ROWS; j < (i + 1) * HALVING_ROWS && j < halving->h; j++)
		for (size_t k = 0; k < halving->w; k++) {
			struct block *block = &halving->block[j * halving->w + k];
			size_t x = k * halving->wide, y = j * halving->high;

			if (!halving->untold[j * halving->w + k])
				continue;
			for (int c = 0; c < 2; c++)
				block->level[c] =
				    halving_block_sample(halving, channel[c], x, y);
			block->rest =
			    holo_rest(block->level[0] - 127.5f, block->level[1] - 127.5f);
			block->n = block->level[0] + block->level[1] >= FAINTEST &&
			    holodec_off_circle(block->level[0] - 127.5f,
				block->level[1] - 127.5f) <= OFF_CIRCLE;
		}
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
		if (px_abs(step) > SAME)
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
 * one row or column at the border has no colour of its own, so that the pixel at the border is not
 * told by R + G. */
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

	for (size_t v = y < NEAR ? 0 : y - NEAR; v <= y + NEAR && v < in->head.h; v++)
		for (size_t u = x < NEAR ? 0 : x - NEAR; u <= x + NEAR && u < in->head.w; u++) {
			int level = halving_both(halving, u, v);

			both.least = level < both.least ? level : both.least;
			both.most = level > both.most ? level : both.most;
		}
	return both;
}

/* Where no block tells: doubled R + G is more than half of that of the surface around on the
 * surface's side of a boundary, and less on the other. */
static bool
is_lit(const struct halving *halving, size_t x, size_t y)
{
	return (float)halving_both(halving, x, y) >= LIT * (float)around(halving, x, y).most;
}

/* What a pixel is that the fringes' strength makes one of the surface: dark fringes are as weak as
 * those of a block that is background in part, where their phase is not known well. */
static unsigned char
surface_of(const struct halving *halving, size_t x, size_t y)
{
	struct brightness both = around(halving, x, y);

	return both.border ||
		(both.least < HOLO_BLACK &&
		    (float)halving_both(halving, x, y) < CLEAR * (float)both.most)
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
 * before it may be of the lowest stair, behind it luma tells. */
static bool
is_black(const struct halving *halving, size_t x, size_t y, float rest)
{
	return rest > STEP && rest < 0.5f &&
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

			if (*surface == UNTOLD && px_isnan(rest))
				*surface =
				    is_lit(halving, x, y) ? surface_of(halving, x, y) : 0;
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

static void
tell_rows(void *arg, size_t i)
{
	struct halving *halving = arg;

	for (size_t j = i * HALVING_ROWS; j < (i + 1) * HALVING_ROWS && j < halving->h; j++)
		for (size_t k = 0; k < halving->w; k++)
			if (halving->untold[j * halving->w + k])
				tell_block(halving, k, j);
}

void
unlit_tell(struct run *run, struct halving *halving)
{
	size_t rows = (halving->h + HALVING_ROWS - 1) / HALVING_ROWS;

	run_for(run, rows, mark_rows, halving);
	halving_widen(halving->untold, halving->near, halving->w, halving->h, 2);
	run_for(run, rows, read_rows, halving);
	run_for(run, rows, tell_rows, halving);
}
