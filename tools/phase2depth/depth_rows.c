#include "depth_rows.h"

#include <float.h>
#include <string.h>

#include "base/cpu_level.h"
#include "phase2depth.px.h"

#define TILE 512		/* pixels that are worked on together */

static void
above_ref(const float *restrict phase, const float *restrict ref, float *restrict out, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = phase2depth_above(phase[x], ref[x]);
}

static void
above_plane(const float *restrict phase, double a, double b, float *restrict out, int w)
{
	CPU_SIMD
	for (int x = 0; x < w; x++)
		out[x] = phase2depth_above_plane(phase[x], a + b * (double)x);
}

static void
half_turns_ref(const float *restrict phase, const float *restrict ref, float *restrict out,
    size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = phase2depth_half_turn(phase2depth_above(phase[x], ref[x]));
}

static void
half_turns_plane(const float *restrict phase, double a, double b, float *restrict out, int w)
{
	CPU_SIMD
	for (int x = 0; x < w; x++)
		out[x] = phase2depth_half_turn_plane(phase[x], a + b * (double)x);
}

void
depth_rows_above(const struct depthfit *above, const struct frame *in, float *out, size_t y)
{
	const float *phase = frame_floats(in, above->phase, y);

	if (above->ref == NO_CHANNEL)
		(above->wrapped ? half_turns_plane : above_plane)(phase,
		    above->plane[0] + above->plane[2] * (double)y, above->plane[1], out,
		    (int)in->head.w);
	else
		(above->wrapped ? half_turns_ref : above_ref)(phase,
		    frame_floats(in, above->ref, y), out, in->head.w);
}

/* sum becomes (sum + c) d, within limits. */
static void
horner(float *restrict sum, const float *restrict c, const float *restrict d, float least,
    float most, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sum[x] = phase2depth_within(phase2depth_horner(sum[x], c[x], d[x]), least, most);
}

/* The depth of n pixels of row y from x on, whose phase above the reference z holds on entry. */
static void
depth_piece(const struct phase2depth *priv, const struct frame *in, float *z, size_t x, size_t y,
    size_t n)
{
	const struct depthfit *above = &priv->above;
	float d[TILE], c[TILE];

	memcpy(d, z, n * sizeof(*d));
	memset(z, 0, n * sizeof(*z));
	for (size_t k = above->degree; k-- > 0;) {
		size_t map = above->c_map[k];

		for (size_t i = 0; i < n && map == NO_CHANNEL; i++)
			c[i] = (float)above->c[k];
		horner(z, map == NO_CHANNEL ? c : frame_floats(in, map, y) + x, d,
		    k ? -FLT_MAX : priv->least, k ? FLT_MAX : priv->most, n);
	}
}

static void
depth_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	float *z = frame_floats(out, 0, y);

	depth_rows_above(&priv->above, in, z, y);
	for (size_t x = 0, w = in->head.w; x < w; x += TILE)
		depth_piece(priv, in, z + x, x, y, w - x < TILE ? w - x : TILE);
}

/* The usual case, an ideal plane and one coefficient for all pixels. */
static bool
is_plain(const struct depthfit *above)
{
	return !above->wrapped && above->ref == NO_CHANNEL && above->degree == 1 &&
	    above->c_map[0] == NO_CHANNEL;
}

static void
plain_piece(const float *restrict phase, double row, const double *restrict column, float c,
    float least, float most, float *restrict z, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		z[i] = phase2depth_plain(phase[i], row + column[i], c, least, most);
}

/* All of it in one go; what the plane rises from column to column is the same in all rows. */
static void
plain_rows(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y0,
    size_t y1)
{
	const struct depthfit *above = &priv->above;
	double column[TILE];

	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		for (int i = 0; i < (int)n; i++)
			column[i] = above->plane[1] * (double)((int)x + i);
		for (size_t y = y0; y < y1; y++) {
			frame_write_soon(out, 0, y + 2, x, n);
			plain_piece(frame_floats(in, above->phase, y) + x,
			    above->plane[0] + above->plane[2] * (double)y, column,
			    (float)above->c[0], priv->least, priv->most,
			    frame_floats(out, 0, y) + x, n);
		}
	}
}

void
depth_rows(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y0,
    size_t y1)
{
	if (is_plain(&priv->above))
		plain_rows(priv, in, out, y0, y1);
	else
		for (size_t y = y0; y < y1; y++)
			depth_row(priv, in, out, y);
}
