/*
 * Surface normals from coordinates, or from depth on a regular grid: options, plan, and the pass of
 * the device. normals_rows.c has the loops of the processor, normals.px.h the formulas.
 */
#include "normals.h"

#include <float.h>

#include "image/annotate.h"
#include "run/passes.h"
#include "normals.block.h"

BODY_ROWS(normals, compute)

/* struct body's `passes`: one pass. */
static int
normals_passes(struct run *run, struct passes *passes)
{
	const struct normals *normals = run->priv;
	const struct normals_block block = { (uint)normals->channel[0], (uint)normals->channel[1],
		(uint)normals->channel[2], normals->depth, (uint)normals->first,
		normals->sign, normals->per_column, normals->per_row };
	struct pass pass = { PASS_OF(normals, block), PASS_FOURS };

	passes_read(passes, block.x);
	passes_read(passes, block.y);
	passes_read(passes, block.z);
	passes_add(passes, &pass);
	return 0;
}

struct parameters {
	struct numbers pixel_mm;
};

static const struct opt options[] = {
	{ 'p', "pixel", "X[,Y]", OPT_NUMBERS, offsetof(struct parameters, pixel_mm), NULL, FLT_MIN,
	  FLT_MAX, "mm", "distance of columns and rows of a depth map", NULL },
	{ 0 },
};

static const struct body body = { .rows = normals_compute, .passes = normals_passes };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

/* Sets the distances of a depth map's pixels: the option's, else the head's, else 1. */
static void
plan_pixel(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *option = &parameters->pixel_mm;
	struct normals *normals = run->priv;
	double x = option->n ? option->v[0] : in->spacing[0];
	double y = option->n ? option->v[option->n - 1] : in->spacing[1];

	if (!normals->warned)
		normals->warned = pixel_option_differs(option, in);
	if (!(x > 0 && y > 0)) {
		if (!normals->warned)
			warn(NULL,
			    "the distance of pixels is not known, 1 is taken: say --pixel MM");
		normals->warned = true;
		x = y = 1;
	}
	normals->per_column = (float)(1 / x);
	normals->per_row = (float)(1 / y);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	static const char *const names[] = { "x", "y", "z" };
	const struct parameters *parameters = run->parameters;
	const char *z_axis = meta_get(&in->meta, "z_axis");
	struct normals *normals = run->priv;

	if (z_axis && strcmp(z_axis, "away") && strcmp(z_axis, "towards"))
		return fail(NULL, "key z_axis must be away or towards, not '%.40s'", z_axis);
	normals->depth =
	    head_channel(in, "x") == NO_CHANNEL && head_channel(in, "depth") != NO_CHANNEL;
	normals->sign = (z_axis && !strcmp(z_axis, "towards")) == normals->depth ? 1 : -1;
	for (size_t i = 0; i < 3; i++)
		if (run_channel(run, in, normals->depth ? "depth" : names[i],
		    &normals->channel[i]) < 0)
			return -1;
	if (normals->depth)
		plan_pixel(run, in);
	else if (parameters->pixel_mm.n && !normals->warned) {
		warn(NULL, "--pixel is not used: x and y say where pixels are");
		normals->warned = true;
	}
	run->halo = 1;
	if (run_pass_others(run, out, "", "nx ny nz", "nx ny nz") < 0)
		return -1;
	normals->first = out->c - 3;
	return 0;
}

const struct stage stage_normals = {
	.name = "normals",
	.summary = "surface normals from coordinates or depth",
	.options = options,
	STAGE_MEMORY(normals),
	.traits = STAGE_UNITS | STAGE_CONCURRENT,
	.example = { "normals", "depth", "normals" },
	.init = init,
	.plan = plan,
};
