/* Surface normals from coordinates, or from depth on a regular grid. */
#include "stage.h"
#include "normals.px.h"

#include <float.h>
#include <string.h>

#include "passing.h"

#define TILE 256
#define SPAN (TILE + 16)	/* a column more on each side, whole vectors */

struct parameters {
	struct numbers pixel_mm;
};

struct priv {
	struct passing passing;
	size_t channel[3];		/* x y z; of a depth map all the same */
	bool depth;
	float sign;			/* -1 where z grows towards the viewer */
	float per_column, per_row;	/* depth map: 1 / distance of pixels */
	bool warned;
};

static const struct opt options[] = {
	{ 'p', "pixel", "X[,Y]", OPT_NUMBERS, offsetof(struct parameters, pixel_mm), NULL, FLT_MIN,
	  FLT_MAX, "mm", "distance of columns and rows of a depth map", NULL },
	{ 0 },
};

/* A piece of a row with a column more on each side; 0 where something is missing. */
struct line {
	float x[SPAN], y[SPAN], z[SPAN], there[SPAN];
};

/* Squares of four pixels between two lines: the products that A and D, and B and C, get. */
struct squares {
	float ad_x[SPAN], ad_y[SPAN], ad_z[SPAN], bc_x[SPAN], bc_y[SPAN], bc_z[SPAN];
};

static void
clean_points(const float *restrict x, const float *restrict y, const float *restrict z,
    struct line *restrict line, size_t at, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = normals_there(x[i]) && normals_there(y[i]) && normals_there(z[i]);

		line->x[at + i] = px_select(there, x[i], 0.0f);
		line->y[at + i] = px_select(there, y[i], 0.0f);
		line->z[at + i] = px_select(there, z[i], 0.0f);
		line->there[at + i] = px_select(there, 1.0f, 0.0f);
	}
}

static void
clean_depth(const float *restrict z, struct line *restrict line, size_t at, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = normals_there(z[i]);

		line->z[at + i] = px_select(there, z[i], 0.0f);
		line->there[at + i] = px_select(there, 1.0f, 0.0f);
	}
}

static void
squares_of_points(const struct line *restrict upper, const struct line *restrict lower,
    struct squares *restrict out, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		struct normals_vector h0 = { upper->x[i + 1] - upper->x[i],
			upper->y[i + 1] - upper->y[i], upper->z[i + 1] - upper->z[i] };
		struct normals_vector h1 = { lower->x[i + 1] - lower->x[i],
			lower->y[i + 1] - lower->y[i], lower->z[i + 1] - lower->z[i] };
		struct normals_vector v0 = { lower->x[i] - upper->x[i], lower->y[i] - upper->y[i],
			lower->z[i] - upper->z[i] };
		struct normals_vector v1 = { lower->x[i + 1] - upper->x[i + 1],
			lower->y[i + 1] - upper->y[i + 1], lower->z[i + 1] - upper->z[i + 1] };
		float ad = upper->there[i] * lower->there[i + 1];
		float bc = upper->there[i + 1] * lower->there[i];
		struct normals_vector sum_ad = normals_sum(
		    normals_product(v1, h0, ad * upper->there[i + 1]),
		    normals_product(v0, h1, ad * lower->there[i]));
		struct normals_vector sum_bc = normals_sum(
		    normals_product(v0, h0, bc * upper->there[i]),
		    normals_product(v1, h1, bc * lower->there[i + 1]));

		out->ad_x[i] = sum_ad.x;
		out->ad_y[i] = sum_ad.y;
		out->ad_z[i] = sum_ad.z;
		out->bc_x[i] = sum_bc.x;
		out->bc_y[i] = sum_bc.y;
		out->bc_z[i] = sum_bc.z;
	}
}

static void
squares_of_depth(const struct line *restrict upper, const struct line *restrict lower,
    struct squares *restrict out, size_t n, float per_column, float per_row)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		float h0 = (upper->z[i + 1] - upper->z[i]) * per_column;
		float h1 = (lower->z[i + 1] - lower->z[i]) * per_column;
		float v0 = (lower->z[i] - upper->z[i]) * per_row;
		float v1 = (lower->z[i + 1] - upper->z[i + 1]) * per_row;
		float ad = upper->there[i] * lower->there[i + 1];
		float bc = upper->there[i + 1] * lower->there[i];
		struct normals_vector sum_ad = normals_sum(
		    normals_of_slopes(v1, h0, ad * upper->there[i + 1]),
		    normals_of_slopes(v0, h1, ad * lower->there[i]));
		struct normals_vector sum_bc = normals_sum(
		    normals_of_slopes(v0, h0, bc * upper->there[i]),
		    normals_of_slopes(v1, h1, bc * lower->there[i + 1]));

		out->ad_x[i] = sum_ad.x;
		out->ad_y[i] = sum_ad.y;
		out->ad_z[i] = sum_ad.z;
		out->bc_x[i] = sum_bc.x;
		out->bc_y[i] = sum_bc.y;
		out->bc_z[i] = sum_bc.z;
	}
}

/* Pixels of a line between the squares above and below it. */
static void
unit_normals(const struct squares *restrict above, const struct squares *restrict below,
    const float *restrict there, float *restrict nx, float *restrict ny, float *restrict nz,
    float sign, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		struct normals_vector upper = { above->ad_x[i] + above->bc_x[i + 1],
			above->ad_y[i] + above->bc_y[i + 1], above->ad_z[i] + above->bc_z[i + 1] };
		struct normals_vector lower = { below->bc_x[i] + below->ad_x[i + 1],
			below->bc_y[i] + below->ad_y[i + 1], below->bc_z[i] + below->ad_z[i + 1] };
		struct normals_vector normal =
		    normals_unit(normals_sum(upper, lower), there[i + 1], sign);

		nx[i] = normal.x;
		ny[i] = normal.y;
		nz[i] = normal.z;
	}
}

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
	size_t w = in->head.w, from = x0 ? x0 - 1 : 0, end = x0 + n + 1 < w ? x0 + n + 1 : w;
	size_t at = x0 ? 0 : 1;
	const float *x, *yy, *z;

	if (y < 0 || y >= (ptrdiff_t)in->head.h) {
		memset(line, 0, sizeof(*line));
		return;
	}
	clear(line, 0);
	clear(line, n + 1);
	z = frame_floats(in, priv->channel[2], (size_t)y) + from;
	if (priv->depth) {
		clean_depth(z, line, at, end - from);
		return;
	}
	x = frame_floats(in, priv->channel[0], (size_t)y) + from;
	yy = frame_floats(in, priv->channel[1], (size_t)y) + from;
	clean_points(x, yy, z, line, at, end - from);
}

static void
get_squares(const struct priv *priv, const struct line *upper, const struct line *lower,
    struct squares *squares, size_t n)
{
	if (priv->depth)
		squares_of_depth(upper, lower, squares, n + 1, priv->per_column, priv->per_row);
	else
		squares_of_points(upper, lower, squares, n + 1);
}

/* A strip n <= TILE columns wide: each line and each row of squares is made once. */
static void
strip(const struct priv *priv, const struct frame *in, struct frame *out, size_t x0, size_t n,
    size_t y0, size_t y1)
{
	struct line line[2];
	struct squares squares[2];
	size_t c = priv->passing.n;

	get_line(priv, in, &line[0], (ptrdiff_t)y0 - 1, x0, n);
	get_line(priv, in, &line[1], (ptrdiff_t)y0, x0, n);
	get_squares(priv, &line[0], &line[1], &squares[0], n);
	for (size_t y = y0, k = 0; y < y1; y++, k = !k) {
		get_line(priv, in, &line[k], (ptrdiff_t)y + 1, x0, n);
		get_squares(priv, &line[!k], &line[k], &squares[!k], n);
		unit_normals(&squares[k], &squares[!k], line[!k].there,
		    frame_floats(out, c, y) + x0, frame_floats(out, c + 1, y) + x0,
		    frame_floats(out, c + 2, y) + x0, priv->sign, n);
	}
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w;

	for (size_t x = 0; x < w; x += TILE)
		strip(priv, in, out, x, w - x < TILE ? w - x : TILE, y0, y1);
	for (size_t y = y0; y < y1; y++)
		passing_row(&priv->passing, in, out, y);
}

static const struct body body = { .rows = rows };

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
	priv->sign = z_axis && !strcmp(z_axis, "towards") ? -1 : 1;
	priv->depth =
	    head_channel(in, "x") == NO_CHANNEL && head_channel(in, "depth") != NO_CHANNEL;
	for (size_t i = 0; i < 3; i++)
		if (run_channel(run, in, priv->depth ? "depth" : names[i], &priv->channel[i]) < 0)
			return -1;
	if (priv->depth)
		plan_pixel(run, in);
	run->halo = 1;
	return passing_plan(run, &priv->passing, out, "", "nx ny nz", "nx ny nz");
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	passing_free(&priv->passing);
}

STAGE(normals) = {
	.name = "normals",
	.summary = "surface normals from coordinates or depth",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.agree = AGREE_ABSOLUTE,
	.tolerance = 1e-6,
	.init = init,
	.plan = plan,
	.end = end,
};
