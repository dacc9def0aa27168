#include "shape_row.h"

#include <string.h>

#include "base/cpu_level.h"
#include "phase2depth.px.h"

#define TILE 512	/* pixels that are worked on together, as in phase2depth_rays.comp */

struct piece {			/* of a row of pixels */
	const float *phase;
	const int32_t *lens_x, *lens_y;		/* the camera's lens */
	float *x, *y, *z;
	double x0, y0;				/* normalised, of the first pixel */
	int n;
};

/* Of the projector's lens: the ray of each pixel in its picture, the place on it that Newton's
 * method has reached, and the coded coordinate without the lens, NaN where there is none. */
struct undoing {
	_Alignas(64) float slope[TILE], offset[TILE], p[TILE];
	double exact_slope[TILE], exact_offset[TILE], code[TILE];
};

/* The rays, and where the coded coordinates were without a lens. */
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

/* A further step of all pixels; behind the first of these, those that have settled (p is NaN) keep
 * what they have. True if any has to go on. */
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

#pragma omp simd reduction(| : unsettled)
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

static _Alignas(64) const int32_t no_lens[TILE];

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

void
shape_row(const struct phase2depth *priv, const struct frame *in, struct frame *out, size_t y)
{
	const struct triangulation scaled = in_units_of_table(&priv->rays), *rays = &scaled;
	struct undoing undoing;
	const int32_t *lens = rays->lens ? rays->lens + y * rays->lens_stride : NULL;
	double x0 = rays->x0 + rays->x_per_row * (double)y;
	double y0 = rays->y0 + rays->y_per_row * (double)y;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		struct piece piece = { frame_floats(in, priv->phase, y) + x,
			lens ? lens + x : no_lens,
			lens ? lens + rays->h * rays->lens_stride + x : no_lens,
			frame_floats(out, 0, y) + x, frame_floats(out, 1, y) + x,
			frame_floats(out, 2, y) + x, x0 + rays->x_per_column * (double)x, y0,
			(int)(w - x < TILE ? w - x : TILE) };

		if (rays->distorted && rays->plain)
			undo_lens(rays, &piece, &undoing, true);
		else if (rays->distorted)
			undo_lens(rays, &piece, &undoing, false);
		if (rays->distorted)
			shape_piece(priv, rays, &piece, undoing.code, PROJECTOR_LENS);
		else if (lens)
			shape_piece(priv, rays, &piece, NULL, CAMERA_LENS);
		else
			shape_piece(priv, rays, &piece, NULL, NO_LENS);
	}
}
