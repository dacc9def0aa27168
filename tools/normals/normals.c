/* Surface normals from coordinates, or from depth on a regular grid. */
#include "run/stage.h"
#include "normals.loops.h"

#include <float.h>
#include <string.h>

#include "normals.passes.h"
#include "run/passthrough.h"

struct parameters {
	struct numbers pixel_mm;
};

struct priv {
	struct passthrough passing;
	size_t channel[3];		/* x y z; of a depth map all the same */
	bool depth;
	float sign;			/* of what the products' sum is to be */
	float per_column, per_row;	/* depth map: 1 / distance of pixels */
	bool warned;
};

static const struct opt options[] = {
	{ 'p', "pixel", "X[,Y]", OPT_NUMBERS, offsetof(struct parameters, pixel_mm), NULL, FLT_MIN,
	  FLT_MAX, "mm", "distance of columns and rows of a depth map", NULL },
	{ 0 },
};

static void
clear(struct line *line, size_t i)
{
	line->x[i] = line->y[i] = line->z[i] = line->there[i] = 0;
}

/* Columns x0 - 1 to x0 + n of row y, missing where there is no such pixel. */
static void
get_line(const struct priv *priv, const struct frame *in, struct line *line, ptrdiff_t y, size_t x0,
    size_t n)
{
	size_t before = x0 > 0, after = x0 + n < in->head.w;
	size_t first = x0 - before, at = LEFT - before, m = before + n + after;
	const float *x, *yy, *z;

	if (y < 0 || y >= (ptrdiff_t)in->head.h) {
		memset(line, 0, sizeof(*line));
		return;
	}
	clear(line, LEFT - 1);
	clear(line, LEFT + n);
	z = frame_floats(in, priv->channel[2], (size_t)y) + first;
	line->whole = copy_whole(z, line->z + at, m);
	if (priv->depth) {
		if (!line->whole)
			clean_depth(z, line, at, m);
		return;
	}
	x = frame_floats(in, priv->channel[0], (size_t)y) + first;
	yy = frame_floats(in, priv->channel[1], (size_t)y) + first;
	line->whole = line->whole && copy_whole(x, line->x + at, m) &&
	    copy_whole(yy, line->y + at, m);
	if (!line->whole)
		clean_points(x, yy, z, line, at, m);
}

/* The squares between two lines of n pixels, of which the first is column x0. */
static void
get_squares(const struct priv *priv, struct line *upper, struct line *lower,
    struct squares *squares, size_t x0, size_t n, size_t w)
{
	float per_column = priv->per_column, per_row = priv->per_row;
	bool whole = upper->whole && lower->whole;

	if (!whole && upper->whole)
		set_there(upper, n);
	if (!whole && lower->whole)
		set_there(lower, n);
	if (priv->depth && whole)
		squares_of_depth(upper, lower, squares, n, true, per_column, per_row);
	else if (priv->depth)
		squares_of_depth(upper, lower, squares, n, false, per_column, per_row);
	else if (whole)
		squares_of_points(upper, lower, squares, n, true);
	else
		squares_of_points(upper, lower, squares, n, false);
	if (x0 == 0)
		clear_square(squares, 0);
	if (x0 + n == w)
		clear_square(squares, n);
}

/* A strip n <= TILE columns wide: each line and each row of squares is made once. */
static void
strip(const struct priv *priv, const struct frame *in, struct frame *out, size_t x0, size_t n,
    size_t y0, size_t y1)
{
	struct line line[2];
	struct squares squares[2];
	size_t c = priv->passing.n;
	float *normal[3];

	get_line(priv, in, &line[0], (ptrdiff_t)y0 - 1, x0, n);
	get_line(priv, in, &line[1], (ptrdiff_t)y0, x0, n);
	get_squares(priv, &line[0], &line[1], &squares[0], x0, n, in->head.w);
	for (size_t y = y0, k = 0; y < y1; y++, k = !k) {
		get_line(priv, in, &line[k], (ptrdiff_t)y + 1, x0, n);
		get_squares(priv, &line[!k], &line[k], &squares[!k], x0, n, in->head.w);
		for (size_t i = 0; i < 3; i++)
			normal[i] = frame_floats(out, c + i, y) + x0;
		if (line[!k].whole)
			unit_normals(&squares[k], &squares[!k], line[!k].there + LEFT,
			    normal[0], normal[1], normal[2], priv->sign, n, true);
		else
			unit_normals(&squares[k], &squares[!k], line[!k].there + LEFT,
			    normal[0], normal[1], normal[2], priv->sign, n, false);
	}
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w, strips = (w + TILE - 1) / TILE;
	size_t n = ((w + strips - 1) / strips + 15) / 16 * 16;	/* no narrow one at the end */

	for (size_t x = 0; x < w; x += n)
		strip(priv, in, out, x, w - x < n ? w - x : n, y0, y1);
	for (size_t y = y0; y < y1; y++)
		passthrough_row(&priv->passing, in, out, y);
}

static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct normals_block block = { (uint)priv->channel[0], (uint)priv->channel[1],
		(uint)priv->channel[2], priv->depth, (uint)priv->passing.n, priv->sign,
		priv->per_column, priv->per_row };

	return list_passes(passes, &block);
}

static const struct body body = { .rows = rows, .passes = passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (parameters->pixel_mm.n > 2)
		return fail_usage(
		    "--pixel", "must be one or two numbers, not %zu", parameters->pixel_mm.n);
	return 0;
}

/* Distances of a depth map's pixels: the option, else the head's, else 1. */
static void
plan_pixel(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *option = &parameters->pixel_mm;
	struct priv *priv = run->priv;
	double x = option->n ? option->v[0] : in->spacing[0];
	double y = option->n ? option->v[option->n - 1] : in->spacing[1];

	if (!(x > 0 && y > 0)) {
		if (!priv->warned)
			warn(NULL,
			    "the distance of pixels is not known, 1 is taken: say --pixel MM");
		priv->warned = true;
		x = y = 1;
	}
	priv->per_column = (float)(1 / x);
	priv->per_row = (float)(1 / y);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	static const char *const names[] = { "x", "y", "z" };
	const char *z_axis = meta_get(&in->meta, "z_axis");
	struct priv *priv = run->priv;

	if (z_axis && strcmp(z_axis, "away") && strcmp(z_axis, "towards"))
		return fail(NULL, "key z_axis must be away or towards, not '%.40s'", z_axis);
	priv->depth =
	    head_channel(in, "x") == NO_CHANNEL && head_channel(in, "depth") != NO_CHANNEL;
	priv->sign = (z_axis && !strcmp(z_axis, "towards")) == priv->depth ? 1 : -1;
	for (size_t i = 0; i < 3; i++)
		if (run_channel(run, in, priv->depth ? "depth" : names[i], &priv->channel[i]) < 0)
			return -1;
	if (priv->depth)
		plan_pixel(run, in);
	run->halo = 1;
	return passthrough_plan(run, &priv->passing, out, "", "nx ny nz", "nx ny nz");
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	passthrough_free(&priv->passing);
}

STAGE(normals) = {
	.name = "normals",
	.summary = "surface normals from coordinates or depth",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.end = end,
};
