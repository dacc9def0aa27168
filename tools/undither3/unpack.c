#include "unpack.h"

#include "base/cpu_level.h"

int
unpack_check(const struct priv *priv, const struct frame *in)
{
	unsigned allowed =
	    priv->keys.texture_bits == 1 && priv->keys.pack == DITHER_MSB ? 0xf0 : 0xe0;

	for (size_t y = 0; y < in->head.h; y++) {
		const unsigned char *row = frame_row(in, 0, y);

		for (size_t x = 0; x < in->head.w; x++) {
			bool bad = priv->keys.pack == DITHER_PLANAR
			    ? row[x] > 1 && row[x] != 255 : (row[x] & ~allowed) != 0;

			if (bad)
				return fail(NULL, "the picture has not three bits a pixel, packed "
				    "as %s: pixel (%zu, %zu) is %d; has a lossy format been at it?",
				    dither_packs[priv->keys.pack], x, y, row[x]);
		}
	}
	return 0;
}

void
unpack_row(const struct priv *priv, const struct frame *in, size_t c, size_t y, size_t x, size_t n,
    float *restrict out)
{
	const unsigned char *restrict row = frame_row(in, 0, y);
	int value = (int)DITHER_BIT(c);

	row += x;
	if (priv->keys.pack == DITHER_PLANAR) {
		row += c * priv->w;
		value = 0xff;
	} else if (priv->keys.pack == DITHER_RGB && c == 3) {
		row = (unsigned char *)frame_row(in, 1, y) + x;
		value = 0x80;
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = row[i] & value ? 1.0f : 0.0f;
}
