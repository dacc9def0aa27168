#include "dark.h"

#include "base/cpu_level.h"
#include "halved.h"
#include "holo/bits.h"
#include "holodec.px.h"

/* R + G of a surface are 74.7 and more, its luma (R, G and B being coded so) 29 and more: what is
 * darker is mixed with background. Luma has the full resolution; where it is that of the stairs
 * alone, R + G must do, and beside background be no less than that of the darkest phase. */
#define DARK 64.0f
#define DARK_BESIDE 76.0f
#define DARK_LUMA 34.0f
#define DARKEST_LUMA 27.0f
/* Beside background: where R + G is low, too; and of the brightest luma beside, which is as far
 * as JPEG carries it. */
#define LOW 70.0f
#define LOW_LUMA 43.0f
#define CARRIED 0.34f

float
dark_sample(const struct frame *frame, size_t channel, const struct pixel *pixel)
{
	const void *row = frame_row(frame, channel, (size_t)pixel->y);

	if (frame->head.type == SAMPLE_UCHAR)
		return (float)((const unsigned char *)row)[pixel->x];
	return holodec_level(((const float *)row)[pixel->x]);
}

float
dark_level(const struct growing *growing, size_t c, const struct pixel *pixel)
{
	return dark_sample(growing->in, growing->reading->channel[c], pixel);
}

float
dark_luma(const struct growing *growing, const struct pixel *pixel)
{
	float stair = dark_level(growing, 2, pixel);

	return growing->reading->rgb ? holodec_luma(dark_level(growing, 0, pixel),
					   dark_level(growing, 1, pixel), stair)
				     : stair;
}

static bool
is_beside_background(const struct growing *growing, const struct pixel *pixel)
{
	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t at = growing_beside(growing, pixel, bits_way[way][0], bits_way[way][1]);

		if (at >= 0 && growing->state[at] == BACKGROUND)
			return true;
	}
	return false;
}

/* Of the eight neighbours. */
static float
brightest(const struct growing *growing, const struct pixel *pixel)
{
	float most = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		struct pixel near = { .x = pixel->x + bits_way[way][0],
			.y = pixel->y + bits_way[way][1] };

		if (growing_beside(growing, &near, 0, 0) >= 0)
			most = px_max(most, dark_luma(growing, &near));
	}
	return most;
}

/* So dark that it may be background. */
bool
dark_is(const struct growing *growing, const struct pixel *pixel)
{
	float both = dark_level(growing, 0, pixel) + dark_level(growing, 1, pixel), luma;

	if (growing->surface && growing->surface[pixel->at] == HALVED_DOUBTFUL)
		return true;
	if (!growing->reading->rgb)
		return both < DARK ||
		    (both < DARK_BESIDE && is_beside_background(growing, pixel));
	luma = dark_luma(growing, pixel);
	if (luma < DARKEST_LUMA || (luma < DARK_LUMA && both < DARK))
		return true;
	return luma < CARRIED * 255 && is_beside_background(growing, pixel) &&
	    (luma < DARK_LUMA || (both < LOW && luma < LOW_LUMA) ||
		luma < CARRIED * brightest(growing, pixel));
}

static void
note_luma(const float *restrict red, const float *restrict green, const float *restrict blue,
    unsigned char *restrict mark, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		mark[i] |= holodec_luma(red[i], green[i], blue[i]) < DARKEST_LUMA;
}

static void
note_both(const float *restrict sine, const float *restrict cosine, unsigned char *restrict mark,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		mark[i] |= sine[i] + cosine[i] < DARK;
}

static void
note_piece(const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n,
    unsigned char *mark)
{
	float level[3][TILE];

	for (size_t c = 0; c < 3; c++)
		tile_load_samples(in, reading->channel[c], y, x, n, level[c]);
	if (reading->rgb)
		note_luma(level[0], level[1], level[2], mark + x, n);
	else
		note_both(level[0], level[1], mark + x, n);
}

void
dark_note(const struct reading *reading, const struct frame *in, size_t y, unsigned char *mark)
{
	size_t w = in->head.w, h = in->head.h;

	if (y < REACH || y + REACH >= h || w <= 2 * REACH) {
		for (size_t x = 0; x < w; x += TILE)
			note_piece(reading, in, y, x, w - x < TILE ? w - x : TILE, mark);
		return;
	}
	note_piece(reading, in, y, 0, REACH, mark);
	note_piece(reading, in, y, w - REACH, REACH, mark);
}
