#include "depth_sigma.h"

#include <string.h>

#include "base/cpu_level.h"
#include "depth_rows.h"
#include "phase2depth.px.h"

#define TILE 512		/* pixels that are worked on together */

void
depth_sigma_plan(const struct frame_head *in, struct phase2depth *priv)
{
	bool measured = !priv->calibrated && priv->above.ref != NO_CHANNEL;

	priv->sigma = head_channel(in, "sigma");
	priv->ref_sigma = measured ? head_channel(in, "ref.sigma") : NO_CHANNEL;
	if (priv->sigma != NO_CHANNEL && measured && priv->ref_sigma == NO_CHANNEL &&
	    !priv->warned_ref_sigma)
		warn("--ref", "has no channel sigma: that of the depth is the input's share "
		    "alone");
	priv->warned_ref_sigma |= measured;
}

/* ---- depth above a plane: slope becomes slope d + k c ---- */

static void
add_power(float *restrict slope, const float *restrict c, const float *restrict d, float power,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		slope[i] = phase2depth_slope(slope[i], c[i], d[i], power);
}

static void
scale(const float *restrict slope, const float *restrict sigma, const float *restrict ref,
    const float *restrict depth, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = px_select(px_isnan(depth[i]), PX_NAN,
		    phase2depth_sigma(slope[i], sigma[i], ref[i]));
}

static const float none[TILE];

static void
plane_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	const struct depthfit *above = &priv->above;
	const float *ref = priv->ref_sigma == NO_CHANNEL ? NULL :
	    frame_floats(in, priv->ref_sigma, y);
	float *sigma = frame_floats(out, 1, y), slope[TILE], c[TILE];

	depth_rows_above(above, in, sigma, y);
	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		memset(slope, 0, sizeof(slope));
		for (size_t k = above->degree; k-- > 0;) {
			size_t map = above->c_map[k];

			for (size_t i = 0; i < n && map == NO_CHANNEL; i++)
				c[i] = (float)above->c[k];
			add_power(slope, map == NO_CHANNEL ? c : frame_floats(in, map, y) + x,
			    sigma + x, (float)(k + 1), n);
		}
		scale(slope, frame_floats(in, priv->sigma, y) + x, ref ? ref + x : none,
		    frame_floats(out, 0, y) + x, sigma + x, n);
	}
}

/* ---- along the ray ---- */

static const int32_t no_lens[TILE];

struct ray_row {
	const float *sigma, *x, *y, *z;
	const int32_t *lens_x, *lens_y;
	float *out;
	double x0, y0;
};

static void
rays(const struct triangulation *rays, const struct ray_row *row, int n)
{
	const int32_t *restrict lens_x = row->lens_x, *restrict lens_y = row->lens_y;
	const float *restrict sigma = row->sigma;
	const float *restrict px = row->x, *restrict py = row->y, *restrict pz = row->z;
	float *restrict out = row->out;
	const struct triangulation t = *rays;
	double x0 = row->x0, y0 = row->y0;
	struct phase2depth_lens lens;
	struct phase2depth_exact_lens exact;

	memcpy(&lens, t.lens_terms, sizeof(lens));
	memcpy(&exact, t.exact_terms, sizeof(exact));
	CPU_SIMD
	for (int i = 0; i < n; i++) {
		double ray_x = x0 + t.x_per_column * (double)i;
		double x = phase2depth_unbent(ray_x, lens_x[i], t.lens_unit);
		double y = phase2depth_unbent(y0, lens_y[i], t.lens_unit);
		double s = PHASE2DEPTH_AHEAD(t.R, t.T, px[i], py[i], pz[i]);
		double b_w = PHASE2DEPTH_ALONG(t.b_w, 0, x, y);
		double b_code = PHASE2DEPTH_ALONG(t.b_code, 0, x, y);
		double per_code = phase2depth_per_code(s, t.a_code, t.a_w, b_code, b_w);
		double code = phase2depth_code(s, t.a_code, t.a_w, b_code, b_w);
		struct phase2depth_ray ray = phase2depth_rounded(phase2depth_ray_of(exact, x, y));
		float undone = t.distorted ? phase2depth_undone(lens, code, ray, t.plain) : 1.0f;
		float length = px_sqrt((float)(x * x + y * y + 1.0));
		float per_rad = (float)(t.px_per_rad * per_code) * length * undone;

		out[i] = px_select(px_isnan(px[i]), PX_NAN,
		    phase2depth_sigma(per_rad, sigma[i], 0.0f));
	}
}

static void
ray_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	const struct triangulation *t = &priv->rays;
	const int32_t *lens = t->lens ? t->lens + y * t->lens_stride : NULL;
	double x0 = t->x0 + t->x_per_row * (double)y, y0 = t->y0 + t->y_per_row * (double)y;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		struct ray_row row = { frame_floats(in, priv->sigma, y) + x,
			frame_floats(out, 0, y) + x, frame_floats(out, 1, y) + x,
			frame_floats(out, 2, y) + x, lens ? lens + x : no_lens,
			lens ? lens + t->h * t->lens_stride + x : no_lens,
			frame_floats(out, 3, y) + x,
			x0 + t->x_per_column * (double)x, y0 };

		rays(t, &row, (int)(w - x < TILE ? w - x : TILE));
	}
}

void
depth_sigma_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	if (priv->calibrated)
		ray_row(priv, in, out, y);
	else
		plane_row(priv, in, out, y);
}
