#include "smooth.h"

#include <string.h>

#include "base/cpu_level.h"
#include "undither3.px.h"
#include "unpack.h"

#define ROWS_AROUND (2 * SMOOTH_REACH + 1)

void
smooth_line(const float *restrict in, float *restrict out, size_t step, size_t n,
    const float *restrict kernel)
{
	const float *a = in - 3 * step, *b = in - 2 * step, *c = in - step;
	const float *d = in + step, *e = in + 2 * step, *f = in + 3 * step;
	float far = kernel[0], middle = kernel[1], near = kernel[2], centre = kernel[3];

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = undither3_smooth(in[i], a[i], b[i], c[i], d[i], e[i], f[i], far, middle,
		    near, centre);
}

/* Sums along the rows around the one that is being made, of n columns from x on. */
struct smoothing {
	const struct priv *priv;
	const struct frame *in;
	size_t plane, x, n;
	float along[ROWS_AROUND][SPAN];	/* row y at [(y + SMOOTH_REACH) % ROWS_AROUND] */
};

/* Sums along row y; outside of the image there is nothing. */
static void
smooth_along(struct smoothing *smoothing, ptrdiff_t y)
{
	const struct priv *priv = smoothing->priv;
	size_t x = smoothing->x, n = smoothing->n, behind = priv->w - x - n;
	size_t left = x < SMOOTH_REACH ? x : SMOOTH_REACH;
	size_t right = behind < SMOOTH_REACH ? behind : SMOOTH_REACH;
	float *out = smoothing->along[(y + SMOOTH_REACH) % ROWS_AROUND];
	float bit[SPAN + 2 * SMOOTH_REACH] = { 0 };

	if (y < 0 || y >= (ptrdiff_t)priv->h) {
		memset(out, 0, sizeof(smoothing->along[0]));
		return;
	}
	unpack_row(priv, smoothing->in, smoothing->plane, (size_t)y, x - left, left + n + right,
	    bit + SMOOTH_REACH - left);
	smooth_line(bit + SMOOTH_REACH, out, 1, n, priv->smooth);
}

/* Levels of row y from what lies around it. */
static void
smooth_down(const struct smoothing *smoothing, size_t y, float *restrict out)
{
	const float *restrict row[ROWS_AROUND], *kernel = smoothing->priv->smooth;
	float far = kernel[0], middle = kernel[1], near = kernel[2], centre = kernel[3];

	for (size_t k = 0; k < ROWS_AROUND; k++)
		row[k] = smoothing->along[(y + k) % ROWS_AROUND];
	CPU_SIMD
	for (size_t i = 0; i < smoothing->n; i++)
		out[i] = 255.0f * undither3_smooth(row[3][i], row[0][i], row[1][i], row[2][i],
		    row[4][i], row[5][i], row[6][i], far, middle, near, centre);
}

void
smooth_rows(const struct priv *priv, const struct frame *in, size_t plane, struct frame *out,
    size_t c, size_t y0, size_t y1)
{
	struct smoothing smoothing = { .priv = priv, .in = in, .plane = plane };

	for (size_t x = 0; x < priv->w; x += SPAN) {
		smoothing.x = x;
		smoothing.n = priv->w - x < SPAN ? priv->w - x : SPAN;
		for (ptrdiff_t y = (ptrdiff_t)y0 - SMOOTH_REACH;
		     y < (ptrdiff_t)y0 + SMOOTH_REACH; y++)
			smooth_along(&smoothing, y);
		for (size_t y = y0; y < y1; y++) {
			smooth_along(&smoothing, (ptrdiff_t)y + SMOOTH_REACH);
			smooth_down(&smoothing, y, frame_floats(out, c, y) + x);
		}
	}
}

void
smooth_texture(const struct priv *priv, const struct frame *in, struct frame *out, size_t y0,
    size_t y1)
{
	if (priv->keys.texture_bits == 1)
		smooth_rows(priv, in, 3, out, 3, y0, y1);
	for (size_t y = y0; priv->keys.texture_bits == 8 && y < y1; y++) {
		const unsigned char *row = frame_row(in, 1, y);

		for (size_t x = 0; x < priv->w; x++)
			frame_floats(out, 3, y)[x] = (float)row[x];
	}
}
