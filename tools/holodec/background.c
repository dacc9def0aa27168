#include "background.h"

#include "base/cpu_level.h"
#include "holodec.px.h"

#define WIDEST (TILE + 2 * BACKGROUND_REACH_MOST)

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

void
background_drop(const struct reading *reading, size_t reach, const struct frame *in,
    struct frame *out, size_t z, size_t x, size_t n, size_t y0, size_t y1)
{
	size_t h = in->head.h, behind = in->head.w - x - n;
	size_t left = x < reach ? x : reach, right = behind < reach ? behind : reach;
	size_t next = y0 < reach ? 0 : y0 - reach;
	float sine[WIDEST], cosine[WIDEST];
	int32_t last[WIDEST]; /* row with background above that behind y + reach */
	unsigned char black[WIDEST];

	for (size_t i = 0; i < WIDEST; i++)
		last[i] = INT32_MIN;
	for (size_t y = y0; y < y1; y++) {
		for (; next <= y + reach && next < h; next++) {
			tile_load_samples(in, reading->channel[0], next, x - left, left + n + right,
			    sine);
			tile_load_samples(in, reading->channel[1], next, x - left, left + n + right,
			    cosine);
			note_black(sine, cosine, last + reach - left, (int32_t)next,
			    left + n + right);
		}
		find_late(last, (int32_t)y - (int32_t)reach, black, n + 2 * reach);
		drop_marked(black, reach, frame_floats(out, z, y) + x, n);
	}
}
