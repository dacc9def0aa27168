#include "shape_row.h"

#include <string.h>

#include "base/cpu_level.h"
#include "phase2depth.px.h"
#include "strong_lens.h"

#define TILE 512	/* pixels that are worked on together, as in phase2depth_rays.comp */

struct piece {			/* of a row of pixels */
	const float *phase, *lens_x, *lens_y;	/* the camera's lens */
	float *shift;				/* what the projector's lens adds */
	float *x, *y, *z;
	double x0, y0;				/* normalised, of the first pixel */
	int n;
};

static inline __attribute__((always_inline)) void
undo_lens_piece(const struct phase2depth *priv, const struct piece *piece, bool plain)
{
	const float *restrict phase = piece->phase, *restrict lens_x = piece->lens_x;
	const float *restrict lens_y = piece->lens_y;
	float *restrict shift = piece->shift;
	struct phase2depth_lens lens;
	double px_per_rad = priv->rays.px_per_rad, code0_px = priv->rays.code0_px;
	float x0 = (float)piece->x0, y0 = (float)piece->y0, per_x = (float)priv->rays.x_per_column;

	_Static_assert(sizeof(lens) == sizeof(priv->rays.lens_terms), "the same block of floats");
	memcpy(&lens, priv->rays.lens_terms, sizeof(lens));
	CPU_SIMD
	for (int i = 0; i < piece->n; i++)
		shift[i] = phase2depth_undo_lens(lens, px_per_rad * (double)phase[i] + code0_px,
		    x0 + per_x * (float)i + lens_x[i], y0 + lens_y[i], plain);
}

/* bare: neither has a lens. */
static inline __attribute__((always_inline)) void
shape_piece(const struct phase2depth *priv, const struct piece *piece, bool bare)
{
	const float *restrict phase = piece->phase, *restrict shift = piece->shift;
	const float *restrict lens_x = piece->lens_x, *restrict lens_y = piece->lens_y;
	float *restrict out_x = piece->x, *restrict out_y = piece->y, *restrict out_z = piece->z;
	float least = priv->least, most = priv->most;
	double x0 = piece->x0, y0 = piece->y0;
	const struct triangulation t = priv->rays;

	CPU_SIMD
	for (int i = 0; i < piece->n; i++) {
		double ray_x = x0 + t.x_per_column * (double)i;
		double x = bare ? ray_x : ray_x + (double)lens_x[i];
		double y = bare ? y0 : y0 + (double)lens_y[i];
		double seen = t.px_per_rad * (double)phase[i] + t.code0_px;
		double code = bare ? seen : seen - (double)shift[i];
		double b_w = PHASE2DEPTH_ALONG(t.b_w, 0, x, y);
		double s = phase2depth_distance(code, t.a_code, t.a_w,
		    PHASE2DEPTH_ALONG(t.b_code, 0, x, y), b_w);
		float depth = (float)s, depth_projector = (float)(t.a_w + s * b_w);
		bool lost = !bare && (px_isnan(lens_x[i]) || px_isnan(shift[i]));
		bool valid = !px_isnan(phase[i]) && !lost && depth > 0.0f &&
		    depth_projector > 0.0f && depth >= least && depth <= most;

		out_x[i] = px_select(valid, PHASE2DEPTH_WORLD(t.R, t.T, 0, x, y, s), PX_NAN);
		out_y[i] = px_select(valid, PHASE2DEPTH_WORLD(t.R, t.T, 1, x, y, s), PX_NAN);
		out_z[i] = px_select(valid, PHASE2DEPTH_WORLD(t.R, t.T, 2, x, y, s), PX_NAN);
	}
}

static const float no_lens[TILE];

void
shape_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	const struct triangulation *rays = &priv->rays;
	float shift[TILE] = { 0 };
	const float *lens = rays->lens ? rays->lens + y * rays->lens_stride : NULL;
	double x0 = rays->x0 + rays->x_per_row * (double)y;
	double y0 = rays->y0 + rays->y_per_row * (double)y;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		struct piece piece = { frame_floats(in, priv->phase, y) + x,
			lens ? lens + x : no_lens,
			lens ? lens + rays->h * rays->lens_stride + x : no_lens, shift,
			frame_floats(out, 0, y) + x, frame_floats(out, 1, y) + x,
			frame_floats(out, 2, y) + x, x0 + rays->x_per_column * (double)x, y0,
			(int)(w - x < TILE ? w - x : TILE) };

		if (rays->distorted && rays->strong)
			strong_lens_undo(rays, piece.phase, piece.x0, piece.y0, piece.lens_x,
			    piece.lens_y, shift, piece.n);
		else if (rays->distorted && rays->plain)
			undo_lens_piece(priv, &piece, true);
		else if (rays->distorted)
			undo_lens_piece(priv, &piece, false);
		if (!lens && !rays->distorted)
			shape_piece(priv, &piece, true);
		else
			shape_piece(priv, &piece, false);
	}
}
