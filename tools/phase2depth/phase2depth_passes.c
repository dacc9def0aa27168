/* phase2depth on the device: one pass, above a measured plane, an ideal one, or by rays. */
#include "phase2depth.h"

#include <string.h>

#include "phase2depth.px.h"
#include "phase2depth.block.h"
#include "run/passes.h"
#include "run/stage.h"

_Static_assert(PHASE2DEPTH_POWERS == DEPTHFIT_COEFFICIENTS, "as many in the shader");

static void
pack_plane(struct passes *passes, const struct phase2depth *priv,
    struct phase2depth_plane_block *block)
{
	const struct depthfit *above = &priv->above;

	block->phase = (uint)above->phase;
	block->degree = (uint)above->degree;
	block->wrapped = above->wrapped;
	block->least = priv->least;
	block->most = priv->most;
	block->has_sigma = priv->sigma != NO_CHANNEL;
	block->has_ref_sigma = priv->ref_sigma != NO_CHANNEL;
	block->sigma = (uint)priv->sigma;
	block->ref_sigma = (uint)priv->ref_sigma;
	if (block->has_sigma)
		passes_read(passes, priv->sigma);
	if (block->has_sigma && block->has_ref_sigma)
		passes_read(passes, priv->ref_sigma);
	passes_read(passes, above->phase);
	for (size_t k = 0; k < above->degree; k++) {
		block->c[k] = (float)above->c[k];
		block->mapped[k] = above->c_map[k] != NO_CHANNEL;
		block->map[k] = (uint)above->c_map[k];
		if (block->mapped[k])
			passes_read(passes, above->c_map[k]);
	}
}

static int
list_plane(struct passes *passes, const struct phase2depth *priv)
{
	const struct depthfit *above = &priv->above;
	struct phase2depth_ideal_block ideal = { above->plane[0], above->plane[1],
		above->plane[2], { 0 } };
	struct phase2depth_plane_block plane = { 0 };
	struct pass pass = { PASS_FOURS };

	if (above->ref != NO_CHANNEL) {
		pack_plane(passes, priv, &plane);
		plane.ref = (uint)above->ref;
		passes_read(passes, above->ref);
		pass.shader = SHADER(phase2depth);
		passes_exact(passes);		/* no doubles, no division */
		pass.block = &plane;
		pass.bytes = sizeof(plane);
	} else {
		if (!passes_float64(passes))
			return passes_refuse(passes, "the device has no doubles");
		pack_plane(passes, priv, &ideal.depth);
		pass.shader = SHADER(phase2depth_ideal);
		pass.block = &ideal;
		pass.bytes = sizeof(ideal);
	}
	return passes_add(passes, &pass);
}

static int
list_rays(struct passes *passes, const struct phase2depth *priv)
{
	const struct triangulation *t = &priv->rays;
	struct phase2depth_rays_block block = { .a_code = t->a_code, .a_w = t->a_w,
		.px_per_rad = t->px_per_rad, .code0_px = t->code0_px, .x0 = t->x0,
		.x_per_column = t->x_per_column, .x_per_row = t->x_per_row, .y0 = t->y0,
		.y_per_row = t->y_per_row, .least = priv->least, .most = priv->most,
		.phase = (uint)priv->phase, .distorted = t->distorted, .plain = t->plain,
		.lens_unit = t->lens_unit, .lens = t->lens != NULL,
		.lens_stride = (uint)t->lens_stride,
		.lens_rows = (uint)t->h, .has_sigma = priv->sigma != NO_CHANNEL,
		.sigma = (uint)priv->sigma };
	struct pass pass = { .shader = SHADER(phase2depth_rays), .block = &block,
		.bytes = sizeof(block), PASS_FOURS };

	if (!passes_float64(passes))
		return passes_refuse(passes, "the device has no doubles");
	memcpy(block.b_code, t->b_code, sizeof(block.b_code));
	memcpy(block.b_w, t->b_w, sizeof(block.b_w));
	memcpy(block.R, t->R, sizeof(block.R));
	memcpy(block.T, t->T, sizeof(block.T));
	memcpy(&block.terms, t->lens_terms, sizeof(block.terms));
	memcpy(&block.exact_terms, t->exact_terms, sizeof(block.exact_terms));
	if (priv->calib_sigma.of.kind >= 0) {
		block.has_calib = 1;
		block.calib_table = t->lens != NULL;	/* the lens's is the one before */
		block.calib_columns = (uint)priv->calib_sigma.columns;
		block.calib_step_px = (uint)priv->calib_sigma.step_px;
		block.calib_middle_mm = priv->calib_sigma.middle_mm;
		block.calib_per_mm = priv->calib_sigma.per_mm;
		block.calib_offset_mm2 = (float)priv->calib_sigma.offset_mm2;
	}
	passes_read(passes, priv->phase);
	if (block.has_sigma)
		passes_read(passes, priv->sigma);
	if (t->lens && passes_constant(passes, t->lens,
	    2 * t->h * t->lens_stride * sizeof(*t->lens)) < 0)
		return -1;
	if (block.has_calib && passes_constant(passes, priv->calib_sigma.table,
	    CALIB_SIGMA_TERMS * priv->calib_sigma.columns * priv->calib_sigma.rows *
	    sizeof(float)) < 0)
		return -1;
	return passes_add(passes, &pass);
}

int
phase2depth_passes(struct run *run, struct passes *passes)
{
	struct phase2depth *priv = run->priv;

	if (priv->jumps.beyond)
		return passes_refuse(passes, "jumps of a turn are the processor's");
	priv->on_device = true;
	return priv->calibrated ? list_rays(passes, priv) : list_plane(passes, priv);
}
