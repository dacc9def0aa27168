#include "smooth.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/px.h"
#include "dark.h"
#include "halved.h"
#include "mixing.h"
#include "revote.h"

#define STEP 0.2f	/* turns from pixel to pixel; more is no smooth surface */

/* Of each pixel: is it, or one of its neighbours, not smooth? */
static unsigned char *
rough_of(const struct regions *regions)
{
	return regions->state + regions->w * regions->h;
}

static void
turns_block(void *arg, size_t i)
{
	const struct regions *regions = arg;
	size_t first = regions->block[i].y0 * regions->w, end = regions->block[i].y1 * regions->w;
	const float *restrict order = regions->order, *restrict rest = regions->rest;
	float *restrict turns = regions->turns;

	CPU_SIMD
	for (size_t k = first; k < end; k++)
		turns[k] = order[k] + rest[k];
}

static void
note_doubtful(const unsigned char *restrict surface, unsigned char *restrict rough, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		rough[x] |= surface[x] == HALVED_DOUBTFUL;
}

/* 1 where a pixel is background or jumps against one of a row of others. */
static void
note_jumps(const float *restrict here, const float *restrict there, unsigned char *restrict rough,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		rough[x] |= !(px_abs(there[x] - here[x]) <= STEP);
}

static void
jumps_block(void *arg, size_t i)
{
	const struct growing *growing = arg;
	const struct regions *regions = growing->regions;
	const struct region_block *block = &regions->block[i];
	size_t w = regions->w, h = regions->h;

	for (size_t y = block->y0; y < block->y1; y++) {
		const float *here = regions->turns + y * w;
		unsigned char *rough = rough_of(regions) + y * w;

		memset(rough, 0, w);
		note_jumps(here, here, rough, w);	/* the background itself */
		if (growing->surface)
			note_doubtful(growing->surface + y * w, rough, w);
		dark_note(growing->reading, growing->in, y, rough);
		for (size_t v = y ? y - 1 : 0; v <= y + 1 && v < h; v++) {
			const float *row = regions->turns + v * w;

			note_jumps(here, row, rough, w);
			note_jumps(here + 1, row, rough + 1, w - 1);
			note_jumps(here, row + 1, rough, w - 1);
		}
	}
}

/* A pixel is trusted where all around it is smooth. */
static void
trust_row(const struct regions *regions, size_t y)
{
	size_t w = regions->w, h = regions->h;
	size_t v0 = y < REACH ? 0 : y - REACH, v1 = y + REACH < h ? y + REACH : h - 1;
	const float *restrict turns = regions->turns + y * w;
	unsigned char *restrict state = regions->state + y * w;
	unsigned char *restrict down = regions->class + y / BLOCK_ROWS * w;

	for (size_t x = 0; x < w; x++) {
		down[x] = 0;
		state[x] = 0;
	}
	for (size_t v = v0; v <= v1; v++) {
		const unsigned char *restrict rough = rough_of(regions) + v * w;

		CPU_SIMD
		for (size_t x = 0; x < w; x++)
			down[x] |= rough[x];
	}
	for (size_t k = 0; k <= REACH && k < w; k++) {
		CPU_SIMD
		for (size_t x = k; x < w; x++) {
			state[x] |= down[x - k];
			state[x - k] |= down[x];
		}
	}
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		state[x] = px_isnan(turns[x]) ? BACKGROUND : state[x] ? WAITING : TRUSTED;
}

static void
trust_block(void *arg, size_t i)
{
	const struct regions *regions = arg;
	const struct region_block *block = &regions->block[i];

	for (size_t y = block->y0; y < block->y1; y++)
		trust_row(regions, y);
}

void
smooth_find(struct run *run, struct growing *growing)
{
	struct regions *regions = growing->regions;

	run_for(run, regions->blocks, turns_block, regions);
	mixing_find(growing);
	revote(growing);
	run_for(run, regions->blocks, jumps_block, growing);
	run_for(run, regions->blocks, trust_block, regions);
}
