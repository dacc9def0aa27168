#include "planes.h"

#include <string.h>

#include "base/cpu_level.h"
#include "dither3.px.h"

/* ---- levels as shares of full scale ---- */

static void
share_bytes(const unsigned char *restrict in, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = dither3_share((float)(int)in[i]);
}

static void
share_floats(const float *restrict in, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = dither3_share(in[i]);
}

void
planes_shares(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *out)
{
	if (in->head.type == SAMPLE_UCHAR)
		share_bytes((const unsigned char *)frame_row(in, c, y) + x, out, n);
	else
		share_floats((const float *)frame_row(in, c, y) + x, out, n);
}

void
planes_find_black(const float *restrict sine, const float *restrict cosine,
    unsigned char *restrict black, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		black[i] = dither3_black(sine[i], cosine[i]);
}

void
planes_to_circle(float *restrict sine, float *restrict cosine,
    const unsigned char *restrict black, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F s = sine[i], c = cosine[i];

		sine[i] = px_select(black[i], s, dither3_to_circle(s, c));
		cosine[i] = px_select(black[i], c, dither3_to_circle(c, s));
	}
}

void
planes_one_to_circle(float *restrict share, const float *restrict other,
    const unsigned char *restrict black, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		share[i] = px_select(black[i], share[i], dither3_to_circle(share[i], other[i]));
}

/* ---- ordered dithering ---- */

void
planes_compare(const float *restrict share, const float *restrict threshold,
    unsigned char *restrict bit, size_t n)
{
	/* tile by tile, as thresholds of i % DITHER_TILE would be taken one by one */
	for (; n > 0; n -= n < DITHER_TILE ? n : DITHER_TILE) {
		size_t columns = n < DITHER_TILE ? n : DITHER_TILE;

		CPU_SIMD
		for (size_t i = 0; i < columns; i++)
			bit[i] = share[i] >= threshold[i];
		share += columns;
		bit += columns;
	}
}

void
planes_blacken(const unsigned char *restrict black, unsigned char *restrict bit, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		bit[i] &= (unsigned char)(black[i] - 1);
}

void
planes_bits(const struct priv *priv, const struct frame *in, size_t planes, size_t y, size_t x,
    size_t n, float share[][PIECE], unsigned char black[PIECE], unsigned char bits[][PIECE])
{
	for (size_t c = 0; c < planes; c++)
		if (priv->channel[c] != NO_CHANNEL)
			planes_shares(in, priv->channel[c], y, x, n, share[c]);
	planes_find_black(share[0], share[1], black, n);
	if (priv->to_circle)
		planes_to_circle(share[0], share[1], black, n);
	for (size_t c = 0; c < planes; c++)
		if (priv->channel[c] != NO_CHANNEL)
			planes_compare(share[c], priv->threshold[c] + y % DITHER_TILE * DITHER_TILE,
			    bits[c], n);
	for (size_t c = 0; c < 3; c++)
		planes_blacken(black, bits[c], n);
}

/* ---- packing ---- */

static void
pack_bits(const unsigned char *restrict bit, unsigned char *restrict out, size_t n, int value)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)(out[i] | bit[i] * value);
}

static void
pack_levels(const float *restrict share, unsigned char *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)(int)dither3_level(share[i]);
}

void
planes_pack(const unsigned char *const bit[4], const struct dither_keys *keys, struct frame *out,
    size_t y, size_t x, size_t n, size_t w)
{
	size_t planes = keys->texture_bits == 1 ? 4 : 3;
	unsigned char *first = (unsigned char *)frame_row(out, 0, y) + x;

	if (keys->pack == DITHER_PLANAR) {
		for (size_t c = 0; c < planes; c++)
			pack_bits(bit[c], first + c * w, n, 1);
		return;
	}
	for (size_t c = 0; c < 3; c++)
		pack_bits(bit[c], first, n, DITHER_BIT(c));
	if (planes == 4 && keys->pack == DITHER_MSB)
		pack_bits(bit[3], first, n, DITHER_BIT(3));
	if (planes == 4 && keys->pack == DITHER_RGB)
		pack_bits(bit[3], (unsigned char *)frame_row(out, 1, y) + x, n, 255);
}

void
planes_pass_texture(const struct priv *priv, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n)
{
	float share[PIECE] __attribute__((aligned(64)));

	if (priv->keys.texture_bits != 8)
		return;
	planes_shares(in, priv->channel[3], y, x, n, share);
	pack_levels(share, (unsigned char *)frame_row(out, 1, y) + x, n);
}

void
planes_clear_row(struct frame *out, size_t y)
{
	for (size_t c = 0; c < out->head.c; c++)
		memset(frame_row(out, c, y), 0, out->head.w);
}
