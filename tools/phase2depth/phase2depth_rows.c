/*
 * The loops of phase2depth: depth above a reference plane, coordinates where the camera's rays meet
 * the projector's columns or rows, their standard deviations. Also the loops over whole frames: the
 * table of the camera's lens, the fit of c, jumps of wrapped phases, and the grid of the
 * calibration's variance. phase2depth.px.h has the formulas.
 */
#include "phase2depth.h"

#include <float.h>

#include "optics/camera_model.h"
#include "phase2depth.px.h"

#define TILE 512	/* pixels that are worked on together, as in phase2depth_rays.comp */

/* ---- depth above a reference plane ---- */

/* Callers give `wrapped` as a constant, here and below. */
static inline __attribute__((always_inline)) void
above_ref(const float *restrict phase, const float *restrict ref, float *restrict out, size_t w,
    bool wrapped)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		float d = phase2depth_above(phase[x], ref[x]);

		out[x] = wrapped ? phase2depth_half_turn(d) : d;
	}
}

static inline __attribute__((always_inline)) void
above_plane(const float *restrict phase, double a, double b, float *restrict out, int w,
    bool wrapped)
{
	CPU_SIMD
	for (int x = 0; x < w; x++)
		out[x] = wrapped ? phase2depth_half_turn_plane(phase[x], a + b * (double)x) :
		    phase2depth_above_plane(phase[x], a + b * (double)x);
}

/* The phase of row y above the reference. */
static void
above_reference(const struct depthfit *above, const struct frame *in, float *out, size_t y)
{
	const float *phase = frame_floats(in, above->phase, y);
	const float *ref = above->ref == NO_CHANNEL ? NULL : frame_floats(in, above->ref, y);
	double first = above->plane[0] + above->plane[2] * (double)y, rise = above->plane[1];
	size_t w = in->head.w;

	if (ref && above->wrapped)
		above_ref(phase, ref, out, w, true);
	else if (ref)
		above_ref(phase, ref, out, w, false);
	else if (above->wrapped)
		above_plane(phase, first, rise, out, (int)w, true);
	else
		above_plane(phase, first, rise, out, (int)w, false);
}

/* Coefficient k of n pixels of row y from x on; c: memory for one that is the same for all. */
static const float *
coefficients(const struct depthfit *above, const struct frame *in, size_t k, size_t x, size_t y,
    size_t n, float c[TILE])
{
	if (above->c_map[k] != NO_CHANNEL)
		return frame_floats(in, above->c_map[k], y) + x;
	for (size_t i = 0; i < n; i++)
		c[i] = (float)above->c[k];
	return c;
}

/* sum becomes (sum + c) d, NaN outside the limits. */
static void
horner(float *restrict sum, const float *restrict c, const float *restrict d, float least,
    float most, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sum[x] = phase2depth_within(phase2depth_horner(sum[x], c[x], d[x]), least, most);
}

/* z, n pixels of row y from x on: on entry the phase above the reference, on return the depth. */
static void
depth_piece(const struct phase2depth *priv, const struct frame *in, float *z, size_t x, size_t y,
    size_t n)
{
	const struct depthfit *above = &priv->above;
	float d[TILE], c[TILE];

	memcpy(d, z, n * sizeof(*d));
	memset(z, 0, n * sizeof(*z));
	for (size_t k = above->degree; k-- > 0;)
		horner(z, coefficients(above, in, k, x, y, n, c), d, k ? -FLT_MAX : priv->least,
		    k ? FLT_MAX : priv->most, n);
}

static void
depth_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	float *z = frame_floats(out, 0, y);

	above_reference(&priv->above, in, z, y);
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

/* Phase above the plane and depth in one loop. The plane rises alike per column in all rows. */
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

static void
depth_rows(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y0,
    size_t y1)
{
	if (is_plain(&priv->above))
		plain_rows(priv, in, out, y0, y1);
	else
		for (size_t y = y0; y < y1; y++)
			depth_row(priv, in, out, y);
}

/* ---- coordinates, where the camera's rays meet the projector's columns or rows ---- */

struct piece {			/* of a row of pixels */
	const float *phase;
	const int32_t *lens_x, *lens_y;		/* the camera's lens */
	float *x, *y, *z;
	double x0, y0;				/* normalised, of the first pixel */
	int n;
};

static _Alignas(64) const int32_t no_lens[TILE];

/* The piece of row y that begins at column x. */
static struct piece
piece_at(const struct triangulation *rays, size_t phase, const struct frame *in,
    const struct frame *out, size_t x, size_t y)
{
	const int32_t *lens = rays->lens ? rays->lens + y * rays->lens_stride + x : NULL;
	size_t w = in->head.w;

	return (struct piece){ frame_floats(in, phase, y) + x, lens ? lens : no_lens,
		lens ? lens + rays->h * rays->lens_stride : no_lens,
		frame_floats(out, 0, y) + x, frame_floats(out, 1, y) + x,
		frame_floats(out, 2, y) + x,
		rays->x0 + rays->x_per_row * (double)y + rays->x_per_column * (double)x,
		rays->y0 + rays->y_per_row * (double)y, (int)(w - x < TILE ? w - x : TILE) };
}

/* Undoing the projector's lens: the ray of each pixel in its picture, the place on it that Newton's
 * method has reached, and the coded coordinate without the lens, NaN where there is none. */
struct undoing {
	_Alignas(64) float slope[TILE], offset[TILE], p[TILE];
	double exact_slope[TILE], exact_offset[TILE], code[TILE];
};

/* The rays, and where the coded coordinates would be without a lens. */
static inline __attribute__((always_inline)) void
place_rays(const struct triangulation *t, const struct piece *piece,
    const struct phase2depth_lens lens, const struct phase2depth_exact_lens exact,
    struct undoing *undoing, bool plain)
{
	const float *restrict phase = piece->phase;
	const int32_t *restrict lens_x = piece->lens_x, *restrict lens_y = piece->lens_y;
	double *restrict exact_slope = undoing->exact_slope;
	double *restrict exact_offset = undoing->exact_offset;
	float *restrict slope = undoing->slope, *restrict offset = undoing->offset;
	float *restrict p = undoing->p;
	float px_per_rad = (float)t->px_per_rad, code0_px = (float)t->code0_px;
	double x0 = piece->x0, y0 = piece->y0, per_x = t->x_per_column;

	CPU_SIMD
	for (int i = 0; i < piece->n; i++) {
		struct phase2depth_exact_ray exact_ray = phase2depth_ray_of(exact,
		    x0 + per_x * (double)i + (double)lens_x[i], y0 + (double)lens_y[i]);
		struct phase2depth_ray ray = phase2depth_rounded(exact_ray);

		exact_slope[i] = exact_ray.slope;
		exact_offset[i] = exact_ray.offset;
		slope[i] = ray.slope;
		offset[i] = ray.offset;
		p[i] = phase2depth_bare(lens, px_per_rad * phase[i] + code0_px, ray, plain);
	}
}

/* A loop of its own: in one with place_rays() every operation waits for the one before. */
static inline __attribute__((always_inline)) void
first_step(const struct piece *piece, const struct phase2depth_lens lens, struct undoing *undoing,
    bool plain)
{
	const float *restrict slope = undoing->slope, *restrict offset = undoing->offset;
	float *restrict p = undoing->p;

	CPU_SIMD
	for (int i = 0; i < piece->n; i++) {
		struct phase2depth_ray ray = { slope[i], offset[i] };

		p[i] = phase2depth_first_step(lens, ray, p[i], plain);
	}
}

/* A further step of all pixels. `again`: those that have settled (p is NaN) keep their result. True
 * while any has not. */
static inline __attribute__((always_inline)) bool
next_step(const struct triangulation *t, const struct piece *piece,
    const struct phase2depth_lens lens, const struct phase2depth_exact_lens exact,
    struct undoing *undoing, bool again, bool plain)
{
	const float *restrict phase = piece->phase;
	const float *restrict slope = undoing->slope, *restrict offset = undoing->offset;
	const double *restrict exact_slope = undoing->exact_slope;
	const double *restrict exact_offset = undoing->exact_offset;
	float *restrict p = undoing->p;
	double *restrict code = undoing->code;
	double px_per_rad = t->px_per_rad, code0_px = t->code0_px, lost = (double)PX_NAN;
	uint32_t unsettled = 0;

	#pragma omp simd reduction(|:unsettled)
	for (int i = 0; i < piece->n; i++) {
		struct phase2depth_ray ray = { slope[i], offset[i] };
		struct phase2depth_exact_ray exact_ray = { exact_slope[i], exact_offset[i] };
		struct phase2depth_step step = phase2depth_next(lens, exact, ray, exact_ray,
		    px_per_rad * (double)phase[i] + code0_px, p[i], plain);
		double undone = px_select(step.found, step.code, lost);

		code[i] = again && px_isnan(p[i]) ? code[i] : undone;
		p[i] = px_select(step.unsettled, step.p, PX_NAN);
		unsettled |= step.unsettled;
	}
	return unsettled;
}

static inline __attribute__((always_inline)) void
undo_lens(const struct triangulation *t, const struct piece *piece, struct undoing *undoing,
    bool plain)
{
	struct phase2depth_lens lens;
	struct phase2depth_exact_lens exact;
	bool unsettled;

	_Static_assert(sizeof(lens) == sizeof(t->lens_terms), "the same block of floats");
	_Static_assert(sizeof(exact) == sizeof(t->exact_terms), "the same block of doubles");
	memcpy(&lens, t->lens_terms, sizeof(lens));
	memcpy(&exact, t->exact_terms, sizeof(exact));
	place_rays(t, piece, lens, exact, undoing, plain);
	first_step(piece, lens, undoing, plain);
	unsettled = next_step(t, piece, lens, exact, undoing, false, plain);
	for (int i = 1; i < PHASE2DEPTH_STEPS && unsettled; i++)
		unsettled = next_step(t, piece, lens, exact, undoing, true, plain);
}

enum lenses { NO_LENS, CAMERA_LENS, PROJECTOR_LENS };	/* the last one: on either or both */

static inline __attribute__((always_inline)) void
shape_piece(const struct phase2depth *priv, const struct triangulation *rays,
    const struct piece *piece, const double *restrict code, enum lenses lenses)
{
	const float *restrict phase = piece->phase;
	const int32_t *restrict lens_x = piece->lens_x, *restrict lens_y = piece->lens_y;
	float *restrict out_x = piece->x, *restrict out_y = piece->y, *restrict out_z = piece->z;
	float least = priv->least, most = priv->most;
	double x0 = piece->x0, y0 = piece->y0;
	const struct triangulation t = *rays;

	CPU_SIMD
	for (int i = 0; i < piece->n; i++) {
		double ray_x = x0 + t.x_per_column * (double)i;
		double x = lenses == NO_LENS ? ray_x : ray_x + (double)lens_x[i];
		double y = lenses == NO_LENS ? y0 : y0 + (double)lens_y[i];
		double at = lenses == PROJECTOR_LENS ? code[i] :
		    t.px_per_rad * (double)phase[i] + t.code0_px;
		double b_w = PHASE2DEPTH_ALONG(t.b_w, 0, x, y);
		double s = phase2depth_distance(at, t.a_code, t.a_w,
		    PHASE2DEPTH_ALONG(t.b_code, 0, x, y), b_w);
		float depth = (float)s, depth_projector = (float)(t.a_w + s * b_w);
		bool lost = lenses != NO_LENS && lens_x[i] == PHASE2DEPTH_NO_RAY;
		bool valid = !px_isnan(phase[i]) && !lost && depth > 0.0f &&
		    depth_projector > 0.0f && depth >= least && depth <= most;

		out_x[i] = px_select(valid, PHASE2DEPTH_WORLD(t.R, t.T, 0, x, y, s), PX_NAN);
		out_y[i] = px_select(valid, PHASE2DEPTH_WORLD(t.R, t.T, 1, x, y, s), PX_NAN);
		out_z[i] = px_select(valid, PHASE2DEPTH_WORLD(t.R, t.T, 2, x, y, s), PX_NAN);
	}
}

/* The first two columns of a row-major matrix that rays (x, y, 1) are multiplied by. */
static void
scale_columns(double *m, size_t rows, double by)
{
	for (size_t i = 0; i < rows; i++) {
		m[3 * i] *= by;
		m[3 * i + 1] *= by;
	}
}

/* The same with x and y of rays in units of the camera's table: a power of two changes no bit of
 * the points, and no pixel needs a product for it. */
static struct triangulation
in_units_of_table(const struct triangulation *rays)
{
	struct triangulation t = *rays;
	double unit = t.lens_unit;

	scale_columns(t.b_code, 1, unit);
	scale_columns(t.b_w, 1, unit);
	scale_columns(t.R, 3, unit);
	scale_columns(t.exact_terms + 15, 3, unit);
	t.x0 /= unit;
	t.x_per_column /= unit;
	t.x_per_row /= unit;
	t.y0 /= unit;
	t.y_per_row /= unit;
	return t;
}

/* x y z of row y, the output's first three channels. */
static void
shape_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	const struct triangulation scaled = in_units_of_table(&priv->rays), *rays = &scaled;
	struct undoing undoing;

	for (size_t x = 0; x < in->head.w; x += TILE) {
		struct piece piece = piece_at(rays, priv->phase, in, out, x, y);

		if (rays->distorted && rays->plain)
			undo_lens(rays, &piece, &undoing, true);
		else if (rays->distorted)
			undo_lens(rays, &piece, &undoing, false);
		if (rays->distorted)
			shape_piece(priv, rays, &piece, undoing.code, PROJECTOR_LENS);
		else if (rays->lens)
			shape_piece(priv, rays, &piece, NULL, CAMERA_LENS);
		else
			shape_piece(priv, rays, &piece, NULL, NO_LENS);
	}
}

/* ---- standard deviation of depth, or of coordinates along the ray, from the phase's ---- */

/* slope becomes slope d + k c. */
static void
add_power(float *restrict slope, const float *restrict c, const float *restrict d, float power,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		slope[i] = phase2depth_slope(slope[i], c[i], d[i], power);
}

static void
scale_sigma(const float *restrict slope, const float *restrict sigma, const float *restrict ref,
    const float *restrict depth, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = px_select(px_isnan(depth[i]), PX_NAN,
		    phase2depth_sigma(slope[i], sigma[i], ref[i]));
}

static const float no_sigma[TILE];

static void
sigma_plane_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	const struct depthfit *above = &priv->above;
	const float *ref = priv->ref_sigma == NO_CHANNEL ? NULL :
	    frame_floats(in, priv->ref_sigma, y);
	float *sigma = frame_floats(out, 1, y), slope[TILE], c[TILE];

	above_reference(above, in, sigma, y);
	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		memset(slope, 0, sizeof(slope));
		for (size_t k = above->degree; k-- > 0;)
			add_power(slope, coefficients(above, in, k, x, y, n, c), sigma + x,
			    (float)(k + 1), n);
		scale_sigma(slope, frame_floats(in, priv->sigma, y) + x, ref ? ref + x : no_sigma,
		    frame_floats(out, 0, y) + x, sigma + x, n);
	}
}

static void
sigma_piece(const struct triangulation *rays, const struct piece *piece,
    const float *restrict sigma, float *restrict out)
{
	const int32_t *restrict lens_x = piece->lens_x, *restrict lens_y = piece->lens_y;
	const float *restrict px = piece->x, *restrict py = piece->y, *restrict pz = piece->z;
	const struct triangulation t = *rays;
	double x0 = piece->x0, y0 = piece->y0;
	struct phase2depth_lens lens;
	struct phase2depth_exact_lens exact;

	memcpy(&lens, t.lens_terms, sizeof(lens));
	memcpy(&exact, t.exact_terms, sizeof(exact));
	CPU_SIMD
	for (int i = 0; i < piece->n; i++) {
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

/* Row y of channel sigma; depth, or x y z, is complete. */
static void
depth_sigma_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	if (!priv->calibrated) {
		sigma_plane_row(priv, in, out, y);
		return;
	}
	for (size_t x = 0; x < in->head.w; x += TILE) {
		struct piece piece = piece_at(&priv->rays, priv->phase, in, out, x, y);

		sigma_piece(&priv->rays, &piece, frame_floats(in, priv->sigma, y) + x,
		    frame_floats(out, 3, y) + x);
	}
}

struct cell_row {
	const float *c, *next;		/* the polynomials at both ends of the cell */
	const float *x, *y, *z;
	float *out, per_step;
};

static void
calib_sigma_cell(const struct calib_sigma *sigma, const struct triangulation *rays,
    const struct cell_row *row, int n)
{
	const float *restrict px = row->x, *restrict py = row->y, *restrict pz = row->z;
	float *restrict out = row->out, per_step = row->per_step;
	float c[CALIB_SIGMA_TERMS], next[CALIB_SIGMA_TERMS];
	const struct triangulation t = *rays;
	double middle_mm = sigma->middle_mm, per_mm = sigma->per_mm;
	float offset_mm2 = (float)sigma->offset_mm2;

	memcpy(c, row->c, sizeof(c));
	memcpy(next, row->next, sizeof(next));
	CPU_SIMD
	for (int i = 0; i < n; i++) {
		double s = PHASE2DEPTH_AHEAD(t.R, t.T, px[i], py[i], pz[i]);
		float at = (float)((s - middle_mm) * per_mm), part = (float)i * per_step;
		float v = phase2depth_between(c[CALIB_SIGMA_TERMS - 1],
		    next[CALIB_SIGMA_TERMS - 1], part);

		for (int k = CALIB_SIGMA_TERMS - 1; k-- > 0;)
			v = phase2depth_power(v, at, phase2depth_between(c[k], next[k], part));
		out[i] = px_select(px_isnan(px[i]), PX_NAN,
		    phase2depth_deviation(v, at, offset_mm2));
	}
}

/* Row y of channel sigma_calib, n points; NaN where there is none, and where the grid has no
 * ray. */
static void
calib_sigma_row(const struct calib_sigma *sigma, const struct triangulation *t,
    const float *const xyz[3], float *out, size_t n, size_t y)
{
	const size_t terms = CALIB_SIGMA_TERMS * sigma->columns, step = sigma->step_px;
	const float *above = sigma->table + terms * (y / step), *below = above + terms;
	const float per_step = 1.0f / (float)step, part = (float)(y % step) * per_step;
	float c[CALIB_SIGMA_TERMS * (CALIB_SIGMA_CELLS + 2)];

	for (size_t i = 0; i < terms; i++)
		c[i] = phase2depth_between(above[i], below[i], part);
	for (size_t x = 0; x < n; x += step) {
		const float *left = c + CALIB_SIGMA_TERMS * (x / step);
		struct cell_row row = { left, left + CALIB_SIGMA_TERMS, xyz[0] + x, xyz[1] + x,
			xyz[2] + x, out + x, per_step };

		calib_sigma_cell(sigma, t, &row, (int)(n - x < step ? n - x : step));
	}
}

/* ---- wrapped phases: jumps of a whole turn (methods §8) ---- */

#define HALF_TURN_SMOOTH 3	/* pixels on each side of a jump that must be smooth */
#define HALF_TURN_ALIKE 0.785f	/* rad between neighbours at most, an eighth of a turn */
#define HALF_TURN_JUMP 4.712f	/* rad at least, three quarters of a turn */

/* Is the pixel at d a whole turn from the one before it, and are both in smooth surroundings? */
static inline bool
half_turn_is_jump(const float *d, ptrdiff_t step)
{
	bool smooth = true;

	for (ptrdiff_t i = 1; i < HALF_TURN_SMOOTH; i++)
		smooth &= px_both(fabsf(d[-i * step] - d[-(i + 1) * step]) < HALF_TURN_ALIKE,
		    fabsf(d[i * step] - d[(i - 1) * step]) < HALF_TURN_ALIKE);
	return px_both(smooth, fabsf(d[0] - d[-step]) > HALF_TURN_JUMP);
}

static void
widen(struct half_turn_range *range, const float *v, size_t n)
{
	float low = range->low, high = range->high;

	for (size_t x = 0; x < n; x++) {
		low = v[x] < low ? v[x] : low;
		high = v[x] > high ? v[x] : high;
	}
	*range = (struct half_turn_range){ low, high };
}

/* Counts valid pairs of each pixel of n and the one `step` before it, and from first to last
 * jumps. */
static void
count_pairs(const float *d, size_t n, ptrdiff_t step, size_t first, size_t last,
    struct half_turn_band *result)
{
	size_t jumps = 0, pairs = 0;

	for (size_t x = 0; x < n; x++)
		pairs += px_both(!px_isnan(d[x]), !px_isnan(d[(ptrdiff_t)x - step]));
	for (size_t x = first; x < last; x++)
		jumps += half_turn_is_jump(d + x, step);
	result->pairs += pairs;
	result->jumps += jumps;
}

static void
count_jumps(void *arg, size_t i)
{
	const struct half_turn_job *job = arg;
	const struct frame *in = job->frame;
	struct half_turn_band *result = &job->band[i];
	size_t w = in->head.w, h = in->head.h, y0 = i * HALF_TURN_BAND,
	       y1 = y0 + HALF_TURN_BAND < h ? y0 + HALF_TURN_BAND : h;
	const size_t reach = HALF_TURN_SMOOTH;
	size_t top = y0 < reach ? 0 : y0 - reach, end = y1 + reach < h ? y1 + reach : h;
	float *d = must_alloc((end - top) * w, sizeof(*d));

	*result = (struct half_turn_band){ .phase = NO_RANGE, .ref = NO_RANGE };
	for (size_t y = top; y < end; y++)
		above_reference(job->above, in, d + (y - top) * w, y);
	for (size_t y = y0; y < y1; y++) {
		const float *row = d + (y - top) * w;
		bool inside = y >= reach && y + reach <= h;

		widen(&result->phase, frame_floats(in, job->above->phase, y), w);
		if (job->above->ref != NO_CHANNEL)
			widen(&result->ref, frame_floats(in, job->above->ref, y), w);
		count_pairs(row + 1, w - 1, 1, reach - 1, w > 2 * reach ? w - reach : 0, result);
		if (y > 0)
			count_pairs(row, w, (ptrdiff_t)w, 0, inside ? w : 0, result);
	}
	free(d);
}

/*
 * Which pixels of a frame with jumps may be whole turns off? A part is pixels whose neighbours
 * differ by less than HALF_TURN_ALIKE. Jumps link parts to a group. Of a group the part in which
 * the reference itself is seen, as an area on it, is right; if that is none or several, the group
 * contends. All other parts are marked, and specks of a few pixels next to them.
 */

#define SPECK 25		/* pixels; parts of noise have fewer, and jumps do not link them */
#define ON_REFERENCE 0.35f	/* rad from it at most */
#define SHARE_ON 0.2		/* of a part on the reference, at least: a slope from half a turn
				 * below to half a turn above it has 0.11 */
#define TIMES_ON 2		/* times as many pixels on it as any other part of the group */

/* Union-find: the first pixel of the set that pixel i is in. */
static size_t
first_of(size_t *of, size_t i)
{
	while (of[i] != i)
		i = of[i] = of[of[i]];
	return i;
}

static void
join_sets(size_t *of, size_t a, size_t b)
{
	a = first_of(of, a);
	b = first_of(of, b);
	of[a > b ? a : b] = a > b ? b : a;
}

static void
join_neighbours(struct half_turn_parts *parts, size_t at, size_t before)
{
	if (fabsf(parts->d[at] - parts->d[before]) < HALF_TURN_ALIKE)
		join_sets(parts->part, at, before);
}

static void
cut_parts(struct half_turn_parts *parts)
{
	for (size_t y = 0; y < parts->h; y++)
		for (size_t x = 0; x < parts->w; x++) {
			size_t at = y * parts->w + x;

			if (x > 0)
				join_neighbours(parts, at, at - 1);
			if (y > 0)
				join_neighbours(parts, at, at - parts->w);
		}
	for (size_t i = 0; i < parts->w * parts->h; i++) {
		size_t part = first_of(parts->part, i);

		parts->size[part]++;
		parts->on[part] += fabsf(parts->d[i]) < ON_REFERENCE;
	}
}

static void
link_parts(struct half_turn_parts *parts, size_t at, size_t step)
{
	size_t a = first_of(parts->part, at), b = first_of(parts->part, at - step);

	if (parts->size[a] < SPECK || parts->size[b] < SPECK ||
	    !half_turn_is_jump(parts->d + at, (ptrdiff_t)step))
		return;
	join_sets(parts->group, a, b);
	parts->jumps[a] = parts->jumps[b] = 1;
}

static void
find_groups(struct half_turn_parts *parts)
{
	size_t w = parts->w, h = parts->h, reach = HALF_TURN_SMOOTH;

	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++) {
			if (x >= reach && x + reach <= w)
				link_parts(parts, y * w + x, 1);
			if (y >= reach && y + reach <= h)
				link_parts(parts, y * w + x, w);
		}
}

/* The part of each group that has most pixels on the reference, and how many the next one has. */
static void
find_nearest(struct half_turn_parts *parts)
{
	size_t n = parts->w * parts->h;

	for (size_t i = 0; i < n; i++)
		parts->nearest[i] = n;
	for (size_t i = 0; i < n; i++) {
		size_t group = first_of(parts->group, i), *nearest = &parts->nearest[group];

		if (!parts->jumps[i])
			continue;
		parts->all[group] += parts->size[i];
		if (*nearest == n || parts->on[i] > parts->on[*nearest]) {
			parts->second[group] = *nearest == n ? 0 : parts->on[*nearest];
			*nearest = i;
		} else if (parts->on[i] > parts->second[group]) {
			parts->second[group] = parts->on[i];
		}
	}
}

/* Is the reference itself seen in one part of a group, and in no other one? */
static bool
is_told(const struct half_turn_parts *parts, size_t group)
{
	size_t nearest = parts->nearest[group];
	size_t on = nearest < parts->w * parts->h ? parts->on[nearest] : 0;

	return on >= SPECK && (double)on >= SHARE_ON * (double)parts->size[nearest] &&
	    on >= TIMES_ON * parts->second[group];
}

/* Is a pixel of a speck a whole turn from a neighbour that belongs to a surface with jumps? */
static void
find_speck(struct half_turn_parts *parts, size_t at, size_t beside)
{
	size_t own = first_of(parts->part, at), other = first_of(parts->part, beside);

	parts->speck[own] |= parts->size[own] < SPECK && parts->jumps[other] &&
	    fabsf(parts->d[at] - parts->d[beside]) > HALF_TURN_JUMP;
}

static void
find_specks(struct half_turn_parts *parts)
{
	for (size_t y = 0; y < parts->h; y++)
		for (size_t x = 0; x < parts->w; x++) {
			size_t at = y * parts->w + x;

			if (x > 0) {
				find_speck(parts, at, at - 1);
				find_speck(parts, at - 1, at);
			}
			if (y > 0) {
				find_speck(parts, at, at - parts->w);
				find_speck(parts, at - parts->w, at);
			}
		}
}

static void
find_parts(const struct frame *in, const struct depthfit *above, struct half_turn_parts *memory,
    unsigned char *beyond)
{
	struct half_turn_parts parts = *memory;	/* a copy: stores to the lists may not alias it */
	size_t n = parts.w * parts.h;

	for (size_t i = 0; i < n; i++)
		parts.part[i] = parts.group[i] = i;
	for (size_t y = 0; y < parts.h; y++)
		above_reference(above, in, parts.d + y * parts.w, y);
	cut_parts(&parts);
	find_groups(&parts);
	find_nearest(&parts);
	for (size_t i = 0; i < n; i++)
		if (parts.all[i] > 0 && !is_told(&parts, i))
			parts.contending += parts.all[i];
	find_specks(&parts);
	for (size_t i = 0; i < n; i++) {
		size_t part = first_of(parts.part, i);

		beyond[i] = parts.speck[part] || (parts.jumps[part] &&
		    parts.nearest[first_of(parts.group, part)] != part);
		parts.marked += beyond[i];
	}
	*memory = parts;
}

/* Row y of the depth: NaN where it may be whole turns off. */
static void
half_turn_row(const struct half_turn_jumps *jumps, float *depth, size_t w, size_t y)
{
	const unsigned char *beyond = jumps->beyond ? jumps->beyond + y * w : NULL;

	for (size_t x = 0; beyond && x < w; x++)
		depth[x] = beyond[x] ? PX_NAN : depth[x];
}

/* ---- the fit of c: z = c1 d + c2 d^2 + ... to samples of each pixel ---- */

static void
polyfit_add(struct polyfit *fit, double d, double z)
{
	double power = d;

	for (size_t k = 1; k <= 2 * POLYFIT_MOST; k++, power *= d) {
		if (k <= POLYFIT_MOST)
			fit->with_z[k] += z * power;
		fit->moment[k] += power;
	}
	fit->zz += z * z;
	fit->n++;
}

static void
polyfit_join(struct polyfit *fit, const struct polyfit *more)
{
	for (size_t k = 1; k <= 2 * POLYFIT_MOST; k++)
		fit->moment[k] += more->moment[k];
	for (size_t k = 1; k <= POLYFIT_MOST; k++)
		fit->with_z[k] += more->with_z[k];
	fit->zz += more->zz;
	fit->n += more->n;
}

/* Normal equations by Cholesky, d in units of its root mean square: powers up to the eighth would
 * otherwise differ by too many orders of magnitude. */
static bool
polyfit_solve(const struct polyfit *fit, size_t degree, double *c)
{
	double scale = sqrt(fit->moment[2] / (double)fit->n), l[POLYFIT_MOST][POLYFIT_MOST];

	if (fit->n < degree || !(scale > 0))
		return false;
	for (size_t i = 0; i < degree; i++) {
		c[i] = fit->with_z[i + 1] / pow(scale, (double)(i + 1));
		for (size_t j = 0; j <= i; j++) {
			double sum = fit->moment[i + j + 2] / pow(scale, (double)(i + j + 2));

			for (size_t k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			if (i == j && !(sum > 1e-12 * (double)fit->n))
				return false;
			l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
		}
		for (size_t k = 0; k < i; k++)
			c[i] -= l[i][k] * c[k];
		c[i] /= l[i][i];
	}
	for (size_t i = degree; i-- > 0;) {
		for (size_t k = i + 1; k < degree; k++)
			c[i] -= l[k][i] * c[k];
		c[i] /= l[i][i];
	}
	for (size_t i = 0; i < degree; i++)
		c[i] /= pow(scale, (double)(i + 1));
	return true;
}

static void
fit_pixel(const struct fit_job *job, const float *d, size_t x, size_t y)
{
	size_t w = job->out->head.w;
	struct polyfit fit = { 0 };
	double c[POLYFIT_MOST];
	bool known;

	for (size_t i = 0; i < job->above->steps; i++)
		if (isfinite(d[i * w + x]))
			polyfit_add(&fit, d[i * w + x], job->z_mm[i]);
	polyfit_join(&job->row[y], &fit);
	known = polyfit_solve(&fit, job->degree, c);
	for (size_t k = 0; k < job->degree; k++)
		frame_floats(job->out, k, y)[x] = known ? (float)c[k] : NAN;
}

static void
fit_row(void *arg, size_t y)
{
	struct fit_job *job = arg;
	size_t w = job->out->head.w;
	float *d = must_alloc(job->above->steps * w, sizeof(*d));

	for (size_t i = 0; i < job->above->steps; i++)
		above_reference(job->above, job->above->step[i], d + i * w, y);
	for (size_t x = 0; x < w; x++)
		fit_pixel(job, d, x, y);
	free(d);
}

/* ---- the table of the camera's lens ---- */

#define RAYS_TILE 128		/* pixels that are worked on together */
#define RAYS_STEPS 12		/* of Newton's method, at most */

/* Pixels of a row: where the lens shows them, and where they would be without it. left: the squared
 * error; 0 for those that have settled, NaN for those that Newton's method does not improve. */
struct rays_tile {
	double aim_x[RAYS_TILE], aim_y, x[RAYS_TILE], y[RAYS_TILE], left[RAYS_TILE];
	size_t n;
};

/* A pixel after a step. */
struct stepped {
	double x, y, left;
};

/* A step of Newton's method, unless the pixel has settled. It squares the error, times a factor of
 * the lens's curvature: from 1e-8 on the result needs no test. */
static inline struct stepped
step_pixel(const double lens[14], double aim_x, double aim_y, double x, double y, double left)
{
	double at[2], j[4], ex, ey, squares, det;
	bool nearer, settles;

	lens_derivatives(lens, x, y, at, j);
	ex = at[0] - aim_x;
	ey = at[1] - aim_y;
	squares = ex * ex + ey * ey;
	det = j[0] * j[3] - j[1] * j[2];
	nearer = (det > 0) & (squares < left);
	settles = squares <= 1e-16 * (aim_x * aim_x + aim_y * aim_y);
	if (!(left > 0))
		return (struct stepped){ x, y, left };
	if (!nearer)
		return (struct stepped){ x, y, NAN };
	return (struct stepped){ x - (j[3] * ex - j[1] * ey) / det,
		y - (j[0] * ey - j[2] * ex) / det, settles ? 0 : squares };
}

/* A step of all pixels; true while any has not settled. */
static bool
step_tile(const double terms[14], struct rays_tile *tile)
{
	const double *restrict aim_x = tile->aim_x, aim_y = tile->aim_y;
	double *restrict x = tile->x, *restrict y = tile->y, *restrict left = tile->left;
	double lens[14];
	uint64_t more = 0;
	int n = (int)tile->n;

	memcpy(lens, terms, sizeof(lens));
	#pragma omp simd reduction(|:more)
	for (int i = 0; i < n; i++) {
		struct stepped to = step_pixel(lens, aim_x[i], aim_y, x[i], y[i], left[i]);

		x[i] = to.x;
		y[i] = to.y;
		left[i] = to.left;
		more |= to.left > 0;
	}
	return more;
}

/* The shift in the table's unit. */
static int32_t
to_unit(struct rays_job *job, double shift)
{
	long v = lrint(shift * job->per_unit);

	if (v >= -INT32_MAX && v <= INT32_MAX)
		return (int32_t)v;
	atomic_store_explicit(&job->beyond, true, memory_order_relaxed);
	return PHASE2DEPTH_NO_RAY;
}

/* pinhole_undistort() does those that have not settled, or lie beyond the lens's fold. */
static void
store_rays(struct rays_job *job, const struct rays_tile *tile, size_t x, size_t y)
{
	const struct triangulation *t = job->t;
	int32_t *dx = t->lens + y * t->lens_stride + x, *dy = dx + t->h * t->lens_stride;

	for (size_t i = 0; i < tile->n; i++) {
		double uv[2] = { t->origin_px[0] + ((double)(x + i) + 0.5) * t->bin[0] - 0.5,
			t->origin_px[1] + ((double)y + 0.5) * t->bin[1] - 0.5 };
		double xy[2] = { tile->x[i], tile->y[i] };
		bool known = (tile->left[i] == 0 && pinhole_within_fold(job->camera, xy)) ||
		    pinhole_undistort(job->camera, uv, xy);

		dx[i] = known ? to_unit(job, xy[0] - tile->aim_x[i]) : PHASE2DEPTH_NO_RAY;
		dy[i] = known ? to_unit(job, xy[1] - tile->aim_y) : PHASE2DEPTH_NO_RAY;
	}
}

static void
fill_rays(void *arg, size_t y)
{
	struct rays_job *job = arg;
	const struct triangulation *t = job->t;
	double x0 = t->x0 + t->x_per_row * (double)y;
	struct rays_tile tile = { .aim_y = t->y0 + t->y_per_row * (double)y };

	for (size_t x = 0; x < t->w; x += RAYS_TILE) {
		bool more = true;

		tile.n = t->w - x < RAYS_TILE ? t->w - x : RAYS_TILE;
		for (size_t i = 0; i < tile.n; i++) {
			tile.x[i] = tile.aim_x[i] = x0 + t->x_per_column * (double)(x + i);
			tile.y[i] = tile.aim_y;
			tile.left[i] = INFINITY;
		}
		for (int i = 0; i < RAYS_STEPS && more; i++)
			more = step_tile(job->camera->distortion, &tile);
		store_rays(job, &tile, x, y);
	}
}

/* ---- the calibration's variance: how a point moves when the parameters change ---- */

/* The place of a parameter among those that matter. */
static size_t
place_of(const struct point_variance *at, size_t parameter)
{
	size_t i = 0;

	while (at->parameter[i] != parameter)
		i++;
	return i;
}

/* The derivatives of a device's pixel at X, r: 0 u, 1 v: by X, and J by all parameters. False
 * behind the device. */
static bool
pixel_row(const struct point_variance *at, const struct rig_device *device, const double X[3],
    size_t r, double by_X[3], double *J)
{
	double x[3], by_x[6], by_intrinsics[2 * PINHOLE_INTRINSICS];
	size_t first = place_of(at, device->intrinsics);

	memset(J, 0, at->n * sizeof(*J));
	pinhole_from_world(&device->pinhole, X, x);
	if (!(x[2] > 0))
		return false;
	pinhole_derivatives(&device->pinhole, x, by_x, by_intrinsics);
	for (size_t k = 0; k < device->count; k++)
		J[first + k] = by_intrinsics[PINHOLE_INTRINSICS * r + k];
	for (size_t j = 0; j < 3; j++) {
		by_X[j] = 0;
		for (size_t k = 0; k < 3; k++)
			by_X[j] += by_x[3 * r + k] * device->pinhole.R[3 * k + j];
	}
	if (device->pose != SIZE_MAX) {
		double turn[9];

		first = place_of(at, device->pose);
		rotation_derivative(device->pinhole.R, X, turn);
		for (size_t j = 0; j < 3; j++) {
			J[first + 3 + j] = by_x[3 * r + j];
			for (size_t k = 0; k < 3; k++)
				J[first + j] += by_x[3 * r + k] * turn[3 * k + j];
		}
	}
	return true;
}

/*
 * J, 3 x n: how the point X moves with the parameters when it stays at its pixel u, v of the camera
 * and at its projector column (or row). With the derivatives F of those three dX = -(dF/dX)^-1 dF.
 * F: room for 3 x n.
 */
static bool
point_rows(const struct point_variance *at, const double X[3], double *F, double *J)
{
	double by_X[3][3], inverse[3], det;
	size_t n = at->n;

	memset(J, 0, 3 * n * sizeof(*J));
	for (size_t r = 0; r < 3; r++)
		if (!pixel_row(at, r < 2 ? &at->rig.camera : &at->rig.projector, X,
		    r < 2 ? r : at->along_y, by_X[r], F + r * n))
			return false;
	for (size_t r = 0; r < 3; r++) {
		const double *a = by_X[(r + 1) % 3], *b = by_X[(r + 2) % 3];

		for (size_t i = 0; i < 3; i++)
			inverse[i] = a[(i + 1) % 3] * b[(i + 2) % 3] -
			    a[(i + 2) % 3] * b[(i + 1) % 3];
		det = by_X[r][0] * inverse[0] + by_X[r][1] * inverse[1] + by_X[r][2] * inverse[2];
		if (!(fabs(det) > 0))
			return false;
		for (size_t i = 0; i < 3; i++)
			for (size_t k = 0; k < n; k++)
				J[i * n + k] -= inverse[i] / det * F[r * n + k];
	}
	return true;
}

/* Adds how the parameters move the frame of a device, in which X is wanted, rotated back into the
 * first device's frame. */
static void
add_frame(const struct point_variance *at, const double X[3], double *J)
{
	const struct rig_device *frame = &at->rig.frame;
	double turn[9];
	size_t first, n = at->n;

	if (frame->pose == SIZE_MAX)
		return;
	first = place_of(at, frame->pose);
	rotation_derivative(frame->pinhole.R, X, turn);
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			J[i * n + first + 3 + j] += frame->pinhole.R[3 * j + i];
			for (size_t k = 0; k < 3; k++)
				J[i * n + first + j] += frame->pinhole.R[3 * k + i] *
				    turn[3 * k + j];
		}
}

/* The variance of all three coordinates of X, which is in the first device's frame; NaN where there
 * is no such point. scratch: 6 n numbers. */
static double
point_variance(const struct point_variance *at, const double X[3], double *scratch)
{
	size_t n = at->n;
	double M[3][6], *J = scratch + 3 * n, sum = 0;

	if (!point_rows(at, X, scratch, J))
		return NAN;
	if (at->kind == POINT_VARIANCE_PLACE)
		add_frame(at, X, J);
	else
		rotation_motions(X, at->middle, M);
	for (size_t i = 0; i < 3; i++) {
		double *row = J + i * n;

		for (size_t m = 0; at->kind == POINT_VARIANCE_SHAPE && m < 6; m++)
			for (size_t k = 0; k < n; k++)
				row[k] -= M[i][m] * at->motion[m * n + k];
		for (size_t a = 0; a < n; a++) {
			double column = 0;

			for (size_t b = 0; b < a; b++)
				column += at->C[a * n + b] * row[b];
			sum += row[a] * (2 * column + at->C[a * n + a] * row[a]);
		}
	}
	return fmax(0, sum);
}

/* Where on -1 .. 1 the variance is computed: Chebyshev's points. */
static double
node(size_t k)
{
	return cos(M_PI * ((double)k + 0.5) / CALIB_SIGMA_TERMS);
}

/* The polynomial through the values at the nodes: Newton's differences, then powers. */
static void
polynomial(double v[CALIB_SIGMA_TERMS], float c[CALIB_SIGMA_TERMS])
{
	double sum[CALIB_SIGMA_TERMS + 1] = { 0 };

	for (size_t order = 1; order < CALIB_SIGMA_TERMS; order++)
		for (size_t k = CALIB_SIGMA_TERMS - 1; k >= order; k--)
			v[k] = (v[k] - v[k - 1]) / (node(k) - node(k - order));
	for (size_t k = CALIB_SIGMA_TERMS; k-- > 0;) {	/* sum (t - node) + v */
		for (size_t i = CALIB_SIGMA_TERMS; i > 0; i--)
			sum[i] = sum[i - 1] - node(k) * sum[i];
		sum[0] = v[k] - node(k) * sum[0];
	}
	for (size_t i = 0; i < CALIB_SIGMA_TERMS; i++)
		c[i] = (float)sum[i];
}

static void
grid_row(void *arg, size_t row)
{
	const struct calib_sigma_job *job = arg;
	const struct calib_sigma *sigma = job->sigma;
	const struct pinhole *camera = &sigma->of.rig.camera.pinhole;
	double *scratch = job->scratch + 6 * sigma->of.n * row;

	for (size_t column = 0; column < sigma->columns; column++) {
		const double x = (double)(column * sigma->step_px);
		const double y = (double)(row * sigma->step_px);
		const double uv[2] = { sigma->origin_px[0] + (x + 0.5) * sigma->bin[0] - 0.5,
			sigma->origin_px[1] + (y + 0.5) * sigma->bin[1] - 0.5 };
		double v[CALIB_SIGMA_TERMS], xy[2], X[3];
		bool known = pinhole_undistort(camera, uv, xy);

		for (size_t k = 0; k < CALIB_SIGMA_TERMS; k++) {
			const double s = sigma->middle_mm + node(k) / sigma->per_mm;

			pinhole_to_world(camera, (const double[3]){ s * xy[0], s * xy[1], s }, X);
			v[k] = known ? log(point_variance(&sigma->of, X, scratch) +
			    sigma->offset_mm2) : NAN;
		}
		polynomial(v, sigma->table +
		    CALIB_SIGMA_TERMS * (sigma->columns * row + column));
	}
}

/* ---- is the reference the input itself? ---- */

/* Flags are those of all frames: no more pixels are compared once one differs. */
static void
compare_reference(const struct depthfit *fit, const struct frame *in, struct depthfit_same *same,
    size_t y0, size_t y1)
{
	bool differs = __atomic_load_n(&same->differs, __ATOMIC_RELAXED), equal = false;

	for (size_t y = y0; fit->ref != NO_CHANNEL && y < y1; y++) {
		const float *phase = frame_floats(in, fit->phase, y);
		const float *ref = frame_floats(in, fit->ref, y);

		for (size_t x = 0; x < in->head.w && !differs; x++) {
			equal |= phase[x] == ref[x];
			differs |= phase[x] < ref[x] || phase[x] > ref[x];
		}
	}
	if (equal)
		__atomic_store_n(&same->equal, true, __ATOMIC_RELAXED);
	if (differs)
		__atomic_store_n(&same->differs, true, __ATOMIC_RELAXED);
}

/*
 * ---- rows ----
 *
 * Why a pixel is NaN. depth:
 * - the phase, that of the reference (above_reference()), or a c of --c-map (horner()) is missing;
 * - depth lies outside --min-depth and --max-depth (horner(), plain_piece());
 * - of wrapped phases the pixel may be whole turns off (half_turn_row()).
 * x, y and z, together, in shape_piece():
 * - the phase is missing;
 * - the camera's lens shows no ray there, beyond its fold (fill_rays(): PHASE2DEPTH_NO_RAY);
 * - the projector's lens cannot be undone there: Newton's method finds no place within 0.1 px, or
 *   one beyond the lens's fold (next_step());
 * - the point lies behind the camera or the projector, or outside the limits of depth.
 * sigma: depth or the point is NaN, or a sigma of the input or the reference is missing
 * (scale_sigma(), sigma_piece()). sigma_calib: the point is NaN, or farther from the volume of the
 * calibration's board than half its depth, or next to a pixel without a ray (calib_sigma_row()).
 */

static void
phase2depth_compute(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *)
{
	struct phase2depth *priv = run->priv;

	if (!priv->calibrated) {
		depth_rows(priv, in, out, y0, y1);
		for (size_t y = y0; y < y1; y++)
			half_turn_row(&priv->jumps, frame_floats(out, 0, y), in->head.w, y);
		compare_reference(&priv->above, in, priv->same, y0, y1);
	}
	for (size_t y = y0; y < y1; y++) {
		const float *const xyz[3] = { frame_floats(out, 0, y),
			priv->calibrated ? frame_floats(out, 1, y) : NULL,
			priv->calibrated ? frame_floats(out, 2, y) : NULL };

		if (priv->calibrated)
			shape_row(priv, in, out, y);
		if (priv->sigma != NO_CHANNEL)
			depth_sigma_row(priv, in, out, y);
		if (priv->calib_sigma.of.kind >= 0)
			calib_sigma_row(&priv->calib_sigma, &priv->rays, xyz, frame_floats(out,
			    priv->sigma == NO_CHANNEL ? 3 : 4, y), in->head.w, y);
	}
}

const struct phase2depth_rows AT_LEVEL(phase2depth_rows) = {
	.compute = phase2depth_compute,
	.fill_rays = fill_rays,
	.compare = compare_reference,
	.fit_row = fit_row,
	.polyfit_join = polyfit_join,
	.polyfit_solve = polyfit_solve,
	.count_jumps = count_jumps,
	.find_parts = find_parts,
	.point_rows = point_rows,
	.point_variance = point_variance,
	.grid_row = grid_row,
};
