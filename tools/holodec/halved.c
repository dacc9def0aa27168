/* Luma's boundary and colour of half the resolution, brought together: halved.h says how. */
#include "halved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "halving.h"
#include "holodec.px.h"
#include "unlit.h"

#define STEP 16			/* one row or column of so many is looked at */
#define ROUNDING 4		/* levels: the third difference of doubled samples, at most */
#define EDGE 16			/* of other samples, beside an edge, at least */
#define NEAR 2			/* pixels around black ones where luma is asked */
#define UNLIT 4			/* levels: luma that may be none */
#define SAME 0.35f		/* turns between blocks of one surface, at most */
#define RIDGE 1.0f		/* px^2: keeps the slope of a single neighbour finite */

/* ---- is colour halved? ---- */

/* The third difference from pixel i on, along a row or a column. */
static int
third_difference(const struct frame *frame, size_t c, bool down, size_t line, size_t i)
{
	int v[4];

	for (size_t k = 0; k < 4; k++)
		v[k] = down ? halving_sample(frame, c, line, i + k)
			    : halving_sample(frame, c, i + k, line);
	return abs(v[3] - v[0] - 3 * (v[2] - v[1]));
}

/* Samples doubled by weights of 3/4 and 1/4 have no third difference from an odd pixel to the third
 * behind it but that of rounding. */
static bool
is_doubled(const struct frame *frame, size_t c, bool down)
{
	size_t n = down ? frame->head.h : frame->head.w, lines = down ? frame->head.w :
	    frame->head.h;
	bool edges = false;

	for (size_t line = 0; line < lines; line += STEP)
		for (size_t i = 0; i + 3 < n; i++) {
			int off = third_difference(frame, c, down, line, i);

			if (i % 2 == 1 && off > ROUNDING)
				return false;
			edges |= off > EDGE;
		}
	return edges;
}

/* ---- which pixels are surface ---- */

static void
find_black(struct halving *halving, size_t y, unsigned char *restrict black)
{
	const size_t *channel = halving->reading->channel;
	const unsigned char *restrict sine = frame_row(halving->in, channel[0], y);
	const unsigned char *restrict cosine = frame_row(halving->in, channel[1], y);
	const unsigned char *restrict luma = frame_row(halving->in, channel[2], y);

	CPU_SIMD
	for (size_t x = 0; x < halving->in->head.w; x++)
		black[x] = (sine[x] + cosine[x] < HOLO_BLACK) | (luma[x] < UNLIT);
}

/* May a pixel that is as dark as black be of the lowest stair, beside one of the next? A composite
 * stair is a whole height below that one, as far as a surface that is clearly no background is
 * above black; colour is not black there. */
static bool
may_be_lowest(const struct halving *halving, size_t x, size_t y, int brightest)
{
	const struct reading *reading = halving->reading;

	return reading->half_step > 0 && 2 * (float)brightest < 3 * reading->code.height &&
	    halving_both(halving, x, y) >= HOLO_BLACK;
}

/* Near black pixels: is luma nearer to that of the surface around than to black? Of the lowest
 * stairs it does not say that. */
static unsigned char
is_surface(const struct halving *halving, size_t x, size_t y)
{
	int brightest = halving_brightest(halving, x, y);

	if (brightest < HALVING_STAIRS_LEAST)
		return halving_both(halving, x, y) < HOLO_BLACK ? 0 : UNTOLD;
	if (5 * halving_sample(halving->in, halving->reading->channel[2], x, y) >= 3 * brightest)
		return 1;
	return may_be_lowest(halving, x, y, brightest) ? UNTOLD : 0;
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

/* ---- blocks ---- */

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

	block->rest = holo_rest(whole * halving_block_sample(halving, channel[0], x, y) - 127.5f,
	    whole * halving_block_sample(halving, channel[1], x, y) - 127.5f);
}

static void
count_rows(void *arg, size_t i)
{
	struct halving *halving = arg;

	for (size_t j = i * HALVING_ROWS; j < (i + 1) * HALVING_ROWS && j < halving->h; j++)
		for (size_t k = 0; k < halving->w; k++)
			count_block(halving, k, j);
}

static void
read_rows(void *arg, size_t i)
{
	struct halving *halving = arg;

	for (size_t j = i * HALVING_ROWS; j < (i + 1) * HALVING_ROWS && j < halving->h; j++)
		for (size_t k = 0; k < halving->w; k++)
			if (halving->mixed[j * halving->w + k] &&
			    halving->block[j * halving->w + k].n)
				read_block(halving, k, j);
}

/* ---- pixels ---- */

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
			if (!there->n || px_abs(away) > SAME)
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

/* A pixel of these fringes, or a black one. */
static void
put_pixel(const struct halving *halving, size_t x, size_t y, const float level[2])
{
	bool inside = halving->surface[y * halving->in->head.w + x];

	for (int c = 0; c < 3; c++) {
		unsigned char *row = frame_row(halving->out, halving->reading->channel[c], y);

		row[x] = !inside ? 0 : c < 2 ? (unsigned char)(int)level[c] : row[x];
	}
}

static void
mend_block(struct halving *halving, size_t i, size_t j)
{
	const struct block *block = &halving->block[j * halving->w + i];
	size_t w = halving->in->head.w, h = halving->in->head.h;
	struct slope slope;
	bool mixed;

	slope = find_slope(halving, i, j, &mixed);
	for (size_t y = j * halving->high; mixed && y < (j + 1) * halving->high && y < h; y++)
		for (size_t x = i * halving->wide; x < (i + 1) * halving->wide && x < w; x++) {
			float rest = block->rest + slope.x * ((float)x - block->x) +
			    slope.y * ((float)y - block->y);
			float level[2];

			rest -= px_floor(rest);
			level[0] = holo_round(holo_sine_level(rest));
			level[1] = holo_round(holo_cosine_level(rest));
			put_pixel(halving, x, y, level);
		}
}

static void
mend_rows(void *arg, size_t i)
{
	struct halving *halving = arg;

	for (size_t j = i * HALVING_ROWS; j < (i + 1) * HALVING_ROWS && j < halving->h; j++)
		for (size_t k = 0; k < halving->w; k++)
			if (halving->mixed[j * halving->w + k])
				mend_block(halving, k, j);
}

/* ---- the picture ---- */

static void
copy_picture(const struct frame *in, struct frame *out)
{
	for (size_t c = 0; c < in->head.c; c++)
		for (size_t y = 0; y < in->head.h; y++)
			memcpy(frame_row(out, c, y), frame_row(in, c, y), in->head.w);
}

static int
mend(struct run *run, struct halving *halving)
{
	const struct frame *in = halving->in;
	size_t pixels = in->head.w * in->head.h;

	halving->near = malloc(pixels);
	halving->surface = malloc(pixels);
	halving->mixed = malloc(halving->w * halving->h);
	halving->untold = calloc(halving->w, halving->h);
	halving->block = calloc(halving->w * halving->h, sizeof(*halving->block));
	if (!halving->near || !halving->surface || !halving->mixed ||
	    !halving->untold || !halving->block)
		return fail_memory();
	if (frame_new(&in->head, &halving->out) < 0)
		return -1;
	copy_picture(in, halving->out);
	for (size_t y = 0; y < in->head.h; y++)
		find_black(halving, y, halving->near + y * in->head.w);
	halving_widen(halving->near, halving->surface, in->head.w, in->head.h, NEAR);
	run_for(run, (in->head.h + HALVING_ROWS - 1) / HALVING_ROWS, surface_rows, halving);
	unlit_tell(run, halving);
	run_for(run, (halving->h + HALVING_ROWS - 1) / HALVING_ROWS, count_rows, halving);
	halving_widen(halving->mixed, halving->near, halving->w, halving->h, 2);
	run_for(run, (halving->h + HALVING_ROWS - 1) / HALVING_ROWS, read_rows, halving);
	run_for(run, (halving->h + HALVING_ROWS - 1) / HALVING_ROWS, mend_rows, halving);
	return 0;
}

int
halved_mend(struct run *run, const struct reading *reading, const struct frame *in,
    struct halved *out)
{
	struct halving halving = { .reading = reading, .in = in };
	int status;

	*out = (struct halved){ 0 };
	if (in->head.type != SAMPLE_UCHAR || !is_doubled(in, reading->channel[0], false))
		return 0;
	halving.wide = 2;
	halving.high = is_doubled(in, reading->channel[0], true) ? 2 : 1;
	halving.w = (in->head.w + 1) / 2;
	halving.h = (in->head.h + halving.high - 1) / halving.high;
	status = mend(run, &halving);
	free(halving.near);
	free(halving.mixed);
	free(halving.untold);
	free(halving.block);
	*out = (struct halved){ halving.out, halving.surface };
	if (status < 0)
		halved_free(out);
	return status;
}

void
halved_free(struct halved *halved)
{
	frame_free(halved->picture);
	free(halved->surface);
	*halved = (struct halved){ 0 };
}
