/* Absolute phase to depth over a reference plane, or to coordinates through a calibration. */
#include "stage.h"
#include "phase2depth.px.h"

#include <float.h>
#include <string.h>

#include "depthfit.h"
#include "passing.h"
#include "triangulate.h"

struct parameters {
	const char *ref, *c_map, *calib;
	struct numbers ref_plane, c, fit_c;
	long degree;
	double min_depth, max_depth;
	struct triangulation_options view;
};

struct priv {
	struct passing passing;		/* channels that go through behind the result */
	float least, most;		/* limits of depth */
	struct depthfit above;		/* the reference: phase above it, and c */
	struct calib calib;
	struct triangulation rays;
	struct phase2depth_lens lens;	/* the projector's */
	size_t phase;
};

#define AT(field) offsetof(struct parameters, field)

static const char *const ref_words[] = { "ideal", NULL };
static const char *const axes[] = { "x", "y", NULL };

static const struct opt options[] = {
	{ 'r', "ref", "FILE", OPT_FRAME, AT(ref), NULL, 0, 0, NULL,
	  "absolute phase of the reference plane, or ideal: a plane by formula", ref_words },
	{ 0, "ref-plane", "A,B,C", OPT_NUMBERS, AT(ref_plane), NULL, 0, 0, "rad",
	  "the ideal plane's phase a + b x + c y at full-frame pixels (key ref_plane_rad)", NULL },
	{ 'c', "c", "C1[,C2...]", OPT_NUMBERS, AT(c), NULL, 0, 0, "mm/rad",
	  "depth per phase above the reference, and its powers (key c_mm_per_rad)", NULL },
	{ 0, "c-map", "FILE", OPT_FRAME, AT(c_map), NULL, 0, 0, NULL,
	  "c1, c2, ... for each pixel, as --fit-c writes them", NULL },
	{ 0, "fit-c", "Z1,Z2,...", OPT_NUMBERS, AT(fit_c), NULL, 0, 0, "mm",
	  "find c from one measurement at each of these depths", NULL },
	{ 0, "degree", "N", OPT_INTEGER, AT(degree), "1", 1, POLYFIT_MOST, NULL,
	  "powers that --fit-c finds coefficients of", NULL },
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "camera and projector calibration: x y z instead of depth", NULL },
	{ 'p', "period", "PX", OPT_NUMBER, AT(view.period_px), NULL, FLT_MIN, FLT_MAX, "px",
	  "fringe period on the projector that the phase counts in (key period_px)", NULL },
	{ 'a', "axis", "WORD", OPT_WORD, AT(view.axis), NULL, 0, 0, NULL,
	  "phase gives projector columns (x) or rows (y) (key axis)", axes },
	{ 0, "centered", NULL, OPT_FLAG, AT(view.centered), NULL, 0, 0, NULL,
	  "the phase is 0 in the projector's middle, not in its first column", NULL },
	{ 0, "projector", "W,H", OPT_NUMBERS, AT(view.projector), NULL, 1, 65536, "px",
	  "size of the projector, for --centered (key projector_px)", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(view.origin), NULL, 0, 0, "px",
	  "first pixel on the camera's full frame (key origin_px)", NULL },
	{ 0, "min-depth", "Z", OPT_NUMBER, AT(min_depth), NULL, 0, 0, "mm", "nearer is invalid", NULL },
	{ 0, "max-depth", "Z", OPT_NUMBER, AT(max_depth), NULL, 0, 0, "mm", "farther is invalid", NULL },
	{ 0 },
};

/* ---- over a reference plane ---- */

static void
above_ref(const float *restrict phase, const float *restrict ref, float *restrict out, size_t w)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = phase2depth_above(phase[x], ref[x]);
}

static void
above_plane(const float *restrict phase, double a, double b, float *restrict out, int w)
{
	ROWS_SIMD
	for (int x = 0; x < w; x++)
		out[x] = phase2depth_above_plane(phase[x], a + b * (double)x);
}

static void
above_row(const struct depthfit *above, const struct frame *in, float *out, size_t y)
{
	const float *phase = frame_floats(in, above->phase, y);

	if (above->ref == NO_CHANNEL)
		above_plane(phase, above->plane[0] + above->plane[2] * (double)y, above->plane[1], out,
		    (int)in->head.w);
	else
		above_ref(phase, frame_floats(in, above->ref, y), out, in->head.w);
}

static void
limit_row(float *restrict z, float least, float most, size_t w)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++) {
		float v = z[x];

		z[x] = !px_isnan(v) && v >= least && v <= most ? v : PX_NAN;
	}
}

static void
scale_row(float *restrict z, float c, size_t w)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++)
		z[x] = phase2depth_horner(0.0f, c, z[x]);
}

/* sum becomes (sum + c) d. */
static void
horner_row(float *restrict sum, float c, const float *restrict d, size_t w)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++)
		sum[x] = phase2depth_horner(sum[x], c, d[x]);
}

static void
horner_map_row(float *restrict sum, const float *restrict c, const float *restrict d, size_t w)
{
	ROWS_SIMD
	for (size_t x = 0; x < w; x++)
		sum[x] = phase2depth_horner(sum[x], c[x], d[x]);
}

#define TILE 512

/* The row's depth from its phase above the reference, which z holds on entry. */
static void
depth_row(const struct depthfit *above, const struct frame *in, float *z, size_t y, size_t w)
{
	float d[TILE] __attribute__((aligned(64)));

	if (above->degree == 1 && above->c_map[0] == NO_CHANNEL) {
		scale_row(z, (float)above->c[0], w);
		return;
	}
	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		memcpy(d, z + x, n * sizeof(*d));
		memset(z + x, 0, n * sizeof(*z));
		for (size_t k = above->degree; k-- > 0;)
			if (above->c_map[k] == NO_CHANNEL)
				horner_row(z + x, (float)above->c[k], d, n);
			else
				horner_map_row(z + x, frame_floats(in, above->c_map[k], y) + x, d, n);
	}
}

static void
rows_over_reference(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w;

	for (size_t y = y0; y < y1; y++) {
		float *z = frame_floats(out, 0, y);

		above_row(&priv->above, in, z, y);
		depth_row(&priv->above, in, z, y, w);
		limit_row(z, priv->least, priv->most, w);
		passing_row(&priv->passing, in, out, y);
	}
}

static int
plan_over_reference(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (depthfit_reference(run, in, parameters->ref, &parameters->ref_plane, &parameters->view.origin,
	    &priv->above) < 0)
		return -1;
	if (parameters->fit_c.n)
		return 0;
	if (depthfit_coefficients(run, in, &parameters->c, parameters->c_map, &priv->above) < 0)
		return -1;
	return meta_set(&out->meta, "length_unit", "mm");
}

/* ---- through a calibration ---- */

/* What is the same for a row of pixels. */
struct row {
	const struct triangulation *rays;
	struct phase2depth_lens lens;
	double x0, y0;
	float least, most;
};

/* The coded coordinate without what the projector's lens adds: b is the ray, normalised. */
static inline double
undo_lens(const struct row *row, double code, double x, double y)
{
	const struct triangulation *t = row->rays;
	const double *a = t->n_a;
	double b0 = t->n_b[0][0] * x + t->n_b[0][1] * y + t->n_b[0][2];
	double b1 = t->n_b[1][0] * x + t->n_b[1][1] * y + t->n_b[1][2];
	double b2 = t->n_b[2][0] * x + t->n_b[2][1] * y + t->n_b[2][2];
	double one = 1 / (a[2] * b0 - a[0] * b2);	/* the ray as the projector sees it: a line */
	double slope = (a[2] * b1 - a[1] * b2) * one, offset = (a[1] * b0 - a[0] * b1) * one;

	return code - (double)phase2depth_undo_lens(&row->lens, (float)(code - t->center_px),
	    (float)slope, (float)offset);
}

static inline __attribute__((always_inline)) void
shape_row(const struct row *row, const float *restrict phase, const float *restrict lens_x,
    const float *restrict lens_y, float *restrict out_x, float *restrict out_y,
    float *restrict out_z, int w, bool camera_lens, bool projector_lens)
{
	const struct triangulation t = *row->rays;

	ROWS_SIMD
	for (int i = 0; i < w; i++) {
		double x = row->x0 + t.x_per_column * (double)i, y = row->y0, code, s, qx, qy;
		double b_code, b_w;
		float depth, w_projector;
		bool valid;

		if (camera_lens) {
			x += (double)lens_x[i];
			y += (double)lens_y[i];
		}
		code = t.px_per_rad * (double)phase[i] + t.code0_px;
		if (projector_lens)
			code = undo_lens(row, code, x, y);
		b_code = t.b_code[0] * x + t.b_code[1] * y + t.b_code[2];
		b_w = t.b_w[0] * x + t.b_w[1] * y + t.b_w[2];
		s = phase2depth_distance(code, t.a_code, t.a_w, b_code, b_w);
		qx = s * x;
		qy = s * y;
		depth = (float)s;
		w_projector = (float)(t.a_w + s * b_w);
		valid = !px_isnan(phase[i]) && !px_isnan(depth) && depth > 0.0f && w_projector > 0.0f && depth >= row->least &&
		    depth <= row->most;
		out_x[i] = px_select(valid, (float)(t.R[0] * qx + t.R[1] * qy + t.R[2] * s + t.T[0]),
		    PX_NAN);
		out_y[i] = px_select(valid, (float)(t.R[3] * qx + t.R[4] * qy + t.R[5] * s + t.T[1]),
		    PX_NAN);
		out_z[i] = px_select(valid, (float)(t.R[6] * qx + t.R[7] * qy + t.R[8] * s + t.T[2]),
		    PX_NAN);
	}
}

static void
shape_row_of(const struct row *row, const float *phase, const float *lens_x, const float *lens_y,
    float *x, float *y, float *z, int w)
{
	if (lens_x && row->rays->distorted)
		shape_row(row, phase, lens_x, lens_y, x, y, z, w, true, true);
	else if (lens_x)
		shape_row(row, phase, lens_x, lens_y, x, y, z, w, true, false);
	else if (row->rays->distorted)
		shape_row(row, phase, phase, phase, x, y, z, w, false, true);
	else
		shape_row(row, phase, phase, phase, x, y, z, w, false, false);
}

static void
rows_calibrated(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1)
{
	const struct priv *priv = run->priv;
	const struct triangulation *rays = &priv->rays;
	struct row row = { rays, priv->lens, 0, 0, priv->least, priv->most };

	for (size_t y = y0; y < y1; y++) {
		const float *lens = rays->lens ? rays->lens + y * rays->lens_stride : NULL;

		row.x0 = rays->x0 + rays->x_per_row * (double)y;
		row.y0 = rays->y0 + rays->y_per_row * (double)y;
		shape_row_of(&row, frame_floats(in, priv->phase, y), lens,
		    lens ? lens + rays->h * rays->lens_stride : NULL, frame_floats(out, 0, y),
		    frame_floats(out, 1, y), frame_floats(out, 2, y), (int)in->head.w);
		passing_row(&priv->passing, in, out, y);
	}
}

static int
plan_calibrated(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct triangulation *t = &priv->rays;

	if (run_channel(run, in, "absphase", &priv->phase) < 0 ||
	    triangulation_plan(run, t, &priv->calib, &parameters->view, in, out) < 0)
		return -1;
	priv->lens = (struct phase2depth_lens){ t->k[0], t->k[1], t->k[2], t->k[3], t->k[4], t->k[5],
		t->p[0], t->p[1], t->s[0], t->s[1], t->s[2], t->s[3], (float)t->focal_px,
		(float)t->skew_px };
	return 0;
}

/* ---- all ---- */

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	int status = parameters->calib ? plan_calibrated(run, in, out) : plan_over_reference(run, in, out);

	return status < 0 ? -1 : passing_plan(&priv->passing, out, parameters->calib ? "x y z" : "depth",
	    "absphase residual depth x y z");
}

static int
fit_flow(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	return depthfit_take(run, in, &parameters->fit_c, (size_t)parameters->degree, above_row,
	    &priv->above);
}

static const struct body over_reference = { .rows = rows_over_reference };
static const struct body calibrated = { .rows = rows_calibrated };
static const struct body fit = { .flow = fit_flow };

/* What cannot be meant together. */
static int
check_options(const struct parameters *p)
{
	bool reference = p->ref || p->ref_plane.n;

	if (!p->calib && !reference)
		return fail_usage(NULL, "say --ref FILE, --ref ideal or --calib FILE");
	if (p->calib && (reference || p->c.n || p->c_map || p->fit_c.n))
		return fail_usage(NULL, "--calib needs no reference: leave out --ref and c");
	if (p->ref && strcmp(p->ref, "ideal") && p->ref_plane.n)
		return fail_usage(NULL, "--ref-plane is the ideal plane: it cannot go with --ref FILE");
	if (p->ref_plane.n && p->ref_plane.n != 3)
		return fail_usage("--ref-plane", "must be three numbers, not %zu", p->ref_plane.n);
	if (!!p->c.n + !!p->c_map + !!p->fit_c.n > 1)
		return fail_usage(NULL, "--c, --c-map and --fit-c exclude one another");
	if (p->c.n > DEPTHFIT_COEFFICIENTS)
		return fail_usage("--c", "at most %d coefficients, not %zu", DEPTHFIT_COEFFICIENTS, p->c.n);
	if (p->fit_c.n && p->fit_c.n < (size_t)p->degree)
		return fail_usage("--fit-c", "needs at least %ld depths for --degree %ld, not %zu",
		    p->degree, p->degree, p->fit_c.n);
	if (p->view.origin.n && p->view.origin.n != 2)
		return fail_usage("--origin", "must be two numbers, not %zu", p->view.origin.n);
	if (p->view.projector.n && p->view.projector.n != 2)
		return fail_usage("--projector", "must be two numbers, not %zu", p->view.projector.n);
	return 0;
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (check_options(parameters) < 0)
		return -1;
	priv->least = isnan(parameters->min_depth) ? -FLT_MAX : (float)parameters->min_depth;
	priv->most = isnan(parameters->max_depth) ? FLT_MAX : (float)parameters->max_depth;
	run->body = parameters->calib ? &calibrated : parameters->fit_c.n ? &fit : &over_reference;
	return parameters->calib ? calib_load(parameters->calib, &priv->calib) : 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	passing_free(&priv->passing);
	depthfit_free(&priv->above);
	triangulation_free(&priv->rays);
}

STAGE(phase2depth) = {
	.name = "phase2depth",
	.summary = "absolute phase to depth over a plane, or to calibrated coordinates",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.agree = AGREE_RELATIVE,
	.tolerance = 1e-6,
	.init = init,
	.plan = plan,
	.end = end,
};
