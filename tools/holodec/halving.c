/* Samples of a picture whose colour has half the resolution, and marks around others. */
#include "halving.h"

#include <string.h>

#include "base/cpu_level.h"

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

void
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

float
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

int
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
