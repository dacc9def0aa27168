/*
 * The loops of splatxyz, which spreads points of several cameras over one grid (methods
 * §14; Karpinsky 2013, ch. 9; Rusinkiewicz and Levoy 2000; Curless and Levoy 1996 for weights that
 * end softly). Each point is projected onto the grid and gets the plane that its neighbours in the
 * camera's picture put through it. A strip of the grid then takes the points that reach it: each is
 * spread over the cells next to it, at the depth that its plane has there, and a cell's sums are
 * divided by its weights. Where surfaces lie more than a jump apart the nearest one counts.
 */
#include "splatxyz.h"

#include "base/px.h"
#include "optics/camera_model.h"

/* ---- points to places on the grid, and cells to points ---- */

#define FOLD 1.5		/* times the widest radius: beyond it a lens may fold back */

static void
project_ortho(const struct splat_grid *grid, const struct pose *pose, const float *restrict x,
    const float *restrict y, const float *restrict z, size_t n, float *restrict u,
    float *restrict v, float *restrict d)
{
	const double a = 1 / grid->pixel_mm, *T = pose->T;
	double R[9], t0 = a * (T[0] - grid->corner_mm[0]), t1 = a * (T[1] - grid->corner_mm[1]);
	const double t2 = T[2];

	for (size_t i = 0; i < 9; i++)
		R[i] = (i < 6 ? a : 1) * pose->R[i];
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_D X = (double)x[i], Y = (double)y[i], Z = (double)z[i];

		u[i] = (float)(R[0] * X + R[1] * Y + R[2] * Z + t0);
		v[i] = (float)(R[3] * X + R[4] * Y + R[5] * Z + t1);
		d[i] = (float)(R[6] * X + R[7] * Y + R[8] * Z + t2);
	}
}

static inline __attribute__((always_inline)) void
project_picture(const struct splat_grid *grid, const struct pose *pose, const float *restrict x,
    const float *restrict y, const float *restrict z, size_t n, float *restrict u,
    float *restrict v, float *restrict d, bool distorted)
{
	const double *R = pose->R, *T = pose->T, *K = grid->projector.K;
	const double *lens = grid->projector.distortion;
	double fx = K[0] / grid->bin[0], skew = K[1] / grid->bin[0], fy = K[4] / grid->bin[1];
	double cx = (K[2] + 0.5) / grid->bin[0] - 0.5, cy = (K[5] + 0.5) / grid->bin[1] - 0.5;
	double most = FOLD * FOLD * grid->widest;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_D X = (double)x[i], Y = (double)y[i], Z = (double)z[i];
		PX_D depth = R[6] * X + R[7] * Y + R[8] * Z + T[2];
		PX_D xn = (R[0] * X + R[1] * Y + R[2] * Z + T[0]) / depth;
		PX_D yn = (R[3] * X + R[4] * Y + R[5] * Z + T[1]) / depth;
		PX_D xd = xn, yd = yn;
		bool there = (depth > 0) & (!distorted | (xn * xn + yn * yn <= most));

		if (distorted)
			lens_distort(lens, xn, yn, &xd, &yd);
		u[i] = there ? (float)(fx * xd + skew * yd + cx) : PX_NAN;
		v[i] = there ? (float)(fy * yd + cy) : PX_NAN;
		d[i] = there ? (float)depth : PX_NAN;
	}
}

static void
splat_grid_project(const struct splat_grid *grid, const struct pose *pose, const float *x,
    const float *y, const float *z, size_t n, float *column, float *row, float *depth)
{
	if (grid->ortho)
		project_ortho(grid, pose, x, y, z, n, column, row, depth);
	else if (grid->projector.distorted)
		project_picture(grid, pose, x, y, z, n, column, row, depth, true);
	else
		project_picture(grid, pose, x, y, z, n, column, row, depth, false);
}

static void
splat_grid_point(const struct splat_grid *grid, size_t column, size_t row, float depth, float *x,
    float *y)
{
	if (grid->ortho) {
		*x = (float)(grid->corner_mm[0] + (double)column * grid->pixel_mm);
		*y = (float)(grid->corner_mm[1] + (double)row * grid->pixel_mm);
	} else {
		*x = grid->ray[0][row * grid->w + column] * depth;
		*y = grid->ray[1][row * grid->w + column] * depth;
	}
}

/* A row of cells: NaN where there is no depth. */
static void
splat_grid_points(const struct splat_grid *grid, size_t row, const float *restrict depth,
    float *restrict x, float *restrict y)
{
	const double left = grid->corner_mm[0], pixel = grid->pixel_mm;
	const float top = (float)(grid->corner_mm[1] + (double)row * pixel);
	const float *restrict rx = grid->ray[0] + row * grid->w, *restrict ry = grid->ray[1] +
	    row * grid->w;
	const int w = (int)grid->w;

	if (grid->ortho) {
		CPU_SIMD
		for (int i = 0; i < w; i++) {
			x[i] = px_isnan(depth[i]) ? PX_NAN : (float)(left + (double)i * pixel);
			y[i] = px_isnan(depth[i]) ? PX_NAN : top;
		}
		return;
	}
	CPU_SIMD
	for (int i = 0; i < w; i++) {
		x[i] = rx[i] * depth[i];
		y[i] = ry[i] * depth[i];
	}
}

/* The distance of a cell over its depth. */
static float
splat_grid_slant(const struct splat_grid *grid, size_t column, size_t row)
{
	size_t cell = row * grid->w + column;
	float x, y;

	if (grid->ortho)
		return 1;
	x = grid->ray[0][cell];
	y = grid->ray[1][cell];
	return sqrtf(1 + x * x + y * y);
}

/* ---- one camera's points: places, planes and weights ---- */

#define SPLAT_NEAR 1.5f	/* cells between points up to which a footprint is 2 x 2 cells */

static inline size_t
splat_view_at(const struct splat_view *view, size_t y)
{
	return (y + 1) * view->stride + 16;
}

/* Points of a segment, ready to be splatted. */
struct splat_points {
	const float *u, *v, *d;		/* the view's */
	float gx[SPLAT_SEGMENT], gy[SPLAT_SEGMENT];	/* mm of depth per cell */
	float su[SPLAT_SEGMENT], sv[SPLAT_SEGMENT];	/* cells from point to point, 1 .. REACH */
	float taper[SPLAT_SEGMENT];	/* of the weight: 1 but for the edges of a surface */
	float weight[SPLAT_SEGMENT];	/* not > 0: the point does not count_points */
	float noise[SPLAT_SEGMENT];	/* weight times the variance of the depth at a cell */
};

#define FACING 1e-3f	/* square cells: points whose neighbours span less have no plane */
#define OBLIQUE 0.5f	/* of sigma, at least, since slopes have errors, too */

/* Counts the points of a segment that lie outside; finds the rows of all. */
static uint32_t
survey_segment(const float *restrict u, const float *restrict v, const struct splat_grid *grid,
    size_t n, struct splat_span *span)
{
	const float right = (float)grid->w - 0.5f, below = (float)grid->h - 0.5f;
	float low = INFINITY, high = -INFINITY;
	uint32_t lost = 0;

	_Pragma("omp simd reduction(min:low) reduction(max:high) reduction(+:lost)")
	for (size_t i = 0; i < n; i++) {
		float r = v[i];
		bool inside = (u[i] >= -0.5f) & (u[i] < right) & (r >= -0.5f) & (r < below);

		low = r < low ? r : low;
		high = r > high ? r : high;
		lost += !inside;
	}
	*span = (struct splat_span){ low, high, 1 };
	return lost;
}

static uint32_t
count_points(const float *restrict x, const float *restrict y, const float *restrict z, size_t n)
{
	uint32_t points = 0;

	_Pragma("omp simd reduction(+:points)")
	for (size_t i = 0; i < n; i++)
		points += (x[i] == x[i]) & (y[i] == y[i]) & (z[i] == z[i]);
	return points;
}

/* The view of a row of all views' points, and its row there. */
static size_t
find_view(const struct splat *splat, size_t *row)
{
	size_t k = 0;

	while (*row >= splat->view[k].h)
		*row -= splat->view[k++].h;
	return k;
}

/* A row of points: u v d, span, points, lost. */
static void
project(void *arg, size_t y)
{
	const struct splat_job *job = arg;
	const struct splat_grid *grid = &job->splat->grid;
	const size_t k = find_view(job->splat, &y);
	const struct splat_source *source = &job->source[k];
	struct splat_view *view = &job->splat->view[k];
	const float *x3[3];
	size_t at = splat_view_at(view, y);
	uint32_t outside = 0;

	for (size_t i = 0; i < 3; i++)
		x3[i] = frame_floats(source->frame, source->xyz[i], y);
	splat_grid_project(grid, &source->pose, x3[0], x3[1], x3[2], view->w, view->u + at,
	    view->v + at, view->d + at);
	for (size_t s = 0; s < view->segments; s++) {
		size_t x0 = s * SPLAT_SEGMENT;
		size_t n = view->w - x0 < SPLAT_SEGMENT ? view->w - x0 : SPLAT_SEGMENT;

		outside += survey_segment(view->u + at + x0, view->v + at + x0, grid, n,
		    &view->span[y * view->segments + s]);
	}
	view->points[y] = count_points(x3[0], x3[1], x3[2], view->w);
	/* `outside` counts pixels without a point, too */
	view->lost[y] = outside - ((uint32_t)view->w - view->points[y]);
}

/* Sets the reach of the spans of a row of points; all rows are projected. */
static void
find_reach(void *arg, size_t y)
{
	const struct splat_job *job = arg;
	const size_t k = find_view(job->splat, &y);
	struct splat_view *view = &job->splat->view[k];

	for (size_t s = 0; s < view->segments; s++) {
		size_t x0 = s * SPLAT_SEGMENT;
		size_t n = view->w - x0 < SPLAT_SEGMENT ? view->w - x0 : SPLAT_SEGMENT;
		const float *restrict here = view->v + splat_view_at(view, y) + x0;
		const float *restrict above = here - view->stride, *below = here + view->stride;
		float most = 0;

		_Pragma("omp simd reduction(max:most)")
		for (size_t i = 0; i < n; i++) {
			float a = px_abs(here[i] - above[i]), b = px_abs(below[i] - here[i]);
			float c = px_abs(here[i] - here[i - 1]), d = px_abs(here[i + 1] - here[i]);

			most = a > most ? a : most;
			most = b > most ? b : most;
			most = c > most ? c : most;
			most = d > most ? d : most;
		}
		view->span[y * view->segments + s].reach = most > SPLAT_NEAR ? SPLAT_REACH : 1;
	}
}

struct view_places {
	const float *restrict u, *restrict v, *restrict d;
};

static struct view_places
place_of(const struct splat_view *view, size_t at)
{
	return (struct view_places){ view->u + at, view->v + at, view->d + at };
}

static inline __attribute__((always_inline)) bool
is_neighbour(float u, float v, float d, float jump)
{
	return (px_abs(u) <= 2 * SPLAT_REACH) & (px_abs(v) <= 2 * SPLAT_REACH) &
	    (px_abs(d) <= jump);
}

/* The change from a point to the next one of its row (or column): the mean of both sides, or that
 * of the only neighbour on the same surface. */
#define STEP(next, last)							\
	PX_F fu = next.u[i] - u0, fv = next.v[i] - v0, fd = next.d[i] - d0;	\
	PX_F bu = u0 - last.u[i], bv = v0 - last.v[i], bd = d0 - last.d[i];	\
	bool f = is_neighbour(fu, fv, fd, jump), b = is_neighbour(bu, bv, bd, jump);	\
	PX_F share = f & b ? 0.5f : 1.0f

#define EDGE 0.0625f	/* of the weight, for a point at the edge of its surface */
#define ASIDE 3		/* points on each side in a row whose slopes are averaged */

/* The planes of a segment and of ASIDE points more on each side, each by its own neighbours. */
struct planes {
	float gx[SPLAT_SEGMENT + 2 * ASIDE], gy[SPLAT_SEGMENT + 2 * ASIDE];	/* 0: none */
	float su[SPLAT_SEGMENT + 2 * ASIDE], sv[SPLAT_SEGMENT + 2 * ASIDE];
	float taper[SPLAT_SEGMENT + 2 * ASIDE];	/* 1, or less at an edge above or below */
};

/* The planes of n points from `at` on. */
static void
find_planes(const struct splat_view *view, size_t at, size_t n, struct planes *to)
{
	const struct view_places here = place_of(view, at);
	const struct view_places left = place_of(view, at - 1), right = place_of(view, at + 1);
	const struct view_places above = place_of(view, at - view->stride);
	const struct view_places below = place_of(view, at + view->stride);
	const float jump = view->jump;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u0 = here.u[i], v0 = here.v[i], d0 = here.d[i];
		PX_F iu, iv, id, ju, jv, jd, area, gx, gy, su, sv;
		bool along, across, plane;

		{
			STEP(right, left);
			iu = share * ((f ? fu : 0.0f) + (b ? bu : 0.0f));
			iv = share * ((f ? fv : 0.0f) + (b ? bv : 0.0f));
			id = share * ((f ? fd : 0.0f) + (b ? bd : 0.0f));
			along = f | b;
		}
		{
			STEP(below, above);
			ju = share * ((f ? fu : 0.0f) + (b ? bu : 0.0f));
			jv = share * ((f ? fv : 0.0f) + (b ? bv : 0.0f));
			jd = share * ((f ? fd : 0.0f) + (b ? bd : 0.0f));
			across = f | b;
			to->taper[i] = f & b ? 1.0f : EDGE;
		}
		su = px_max(px_abs(iu), px_abs(ju));
		sv = px_max(px_abs(iv), px_abs(jv));
		/* where one side is not known, the depth does not change across the other */
		{
			PX_F au = along ? iu : jv, av = along ? iv : -ju, ad = along ? id : 0.0f;

			ju = across ? ju : -iv;
			jv = across ? jv : iu;
			jd = across ? jd : 0.0f;
			iu = au;
			iv = av;
			id = ad;
		}
		area = iu * jv - ju * iv;
		plane = px_abs(area) > FACING;
		gx = (id * jv - jd * iv) / (plane ? area : 1.0f);
		gy = (iu * jd - ju * id) / (plane ? area : 1.0f);
		/* a footprint whose depth changes by more than a jump is no plane either */
		plane = plane & (px_abs(gx) + px_abs(gy) <= jump);
		to->gx[i] = plane ? gx : 0.0f;
		to->gy[i] = plane ? gy : 0.0f;
		to->su[i] = px_min(px_max(su, 1.0f), SPLAT_REACH);
		to->sv[i] = px_min(px_max(sv, 1.0f), SPLAT_REACH);
	}
}

/*
 * Averages each slope with those on both sides, as far as the surface continues. Points lie on all
 * sides of a cell's centre, so that equal slopes cancel, while the noise of single ones does not:
 * for cells as wide as the points lie apart, averaged slopes add 9 % to the variance, single ones
 * 95 %.
 *
 * The weight falls off towards the edge of a surface, where pixels see two surfaces, and where
 * another camera's points continue without this one's (Curless and Levoy 1996).
 */
static void
smooth_planes(const struct splat_view *view, size_t at, size_t n, const struct planes *from,
    struct splat_points *to)
{
	const float *restrict d = view->d + at;
	const float *restrict gx = from->gx + ASIDE, *restrict gy = from->gy + ASIDE;
	const float *restrict taper = from->taper + ASIDE;
	const float jump = view->jump;
	float links[SPLAT_SEGMENT + 2 * ASIDE], *link = links + ASIDE;

	/* 1: the surface continues to the next point, else 0 */
	CPU_SIMD
	for (long i = -ASIDE; i < (long)n + ASIDE - 1; i++)
		link[i] = px_abs(d[i] - d[i + 1]) <= jump ? 1.0f : 0.0f;
	CPU_SIMD
	for (long i = 0; i < (long)n; i++) {
		PX_F l1 = link[i - 1], l2 = l1 * link[i - 2], l3 = l2 * link[i - 3];
		PX_F r1 = link[i], r2 = r1 * link[i + 1], r3 = r2 * link[i + 2];
		PX_F within, many = 1.0f + l1 + l2 + l3 + r1 + r2 + r3;

		to->gx[i] = (gx[i] + l1 * gx[i - 1] + l2 * gx[i - 2] + l3 * gx[i - 3] +
		    r1 * gx[i + 1] + r2 * gx[i + 2] + r3 * gx[i + 3]) / many;
		to->gy[i] = (gy[i] + l1 * gy[i - 1] + l2 * gy[i - 2] + l3 * gy[i - 3] +
		    r1 * gy[i + 1] + r2 * gy[i + 2] + r3 * gy[i + 3]) / many;
		/* a quarter at the edge, a half next to it; squared, as weights are */
		within = px_max(many - (float)ASIDE, 1.0f) / (float)(ASIDE + 1);
		to->taper[i] = within * within * taper[i];
	}
	memcpy(to->su, from->su + ASIDE, n * sizeof(*to->su));
	memcpy(to->sv, from->sv + ASIDE, n * sizeof(*to->sv));
	to->u = view->u + at;
	to->v = view->v + at;
	to->d = d;
}

/* The standard deviation of the depth at a cell. sigma is that of the point along its ray; an error
 * there moves the point across the grid, too. */
static void
find_sigma(const struct splat_grid *grid, const struct splat_source *source,
    const float *restrict sigma, size_t n, const struct splat_points *to, float *restrict out)
{
	const double *K = grid->projector.K, *eye = source->eye;
	const float pixel = (float)grid->pixel_mm;
	const float fx = (float)(K[0] / grid->bin[0]), fy = (float)(K[4] / grid->bin[1]);
	const float cx = (float)((K[2] + 0.5) / grid->bin[0] - 0.5);
	const float cy = (float)((K[5] + 0.5) / grid->bin[1] - 0.5);
	const float x0 = (float)grid->corner_mm[0], y0 = (float)grid->corner_mm[1];
	const float e0 = (float)eye[0], e1 = (float)eye[1], e2 = (float)eye[2];
	const bool ortho = grid->ortho, known = !isnan(eye[0]);

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = to->u[i], v = to->v[i], d = to->d[i];
		PX_F xn = ortho ? 0.0f : (u - cx) / fx, yn = ortho ? 0.0f : (v - cy) / fy;
		PX_F rx = (ortho ? x0 + pixel * u : xn * d) - e0;
		PX_F ry = (ortho ? y0 + pixel * v : yn * d) - e1, rz = d - e2;
		PX_F cells_x = ortho ? 1.0f / pixel : fx / d;
		PX_F cells_y = ortho ? 1.0f / pixel : fy / d;
		PX_F change = rz - to->gx[i] * cells_x * (rx - xn * rz) -
		    to->gy[i] * cells_y * (ry - yn * rz);
		PX_F along = change / __builtin_sqrtf(rx * rx + ry * ry + rz * rz);

		out[i] = sigma[i] * (known ? px_max(px_abs(along), OBLIQUE) : 1.0f);
	}
}

static void
find_weights(const struct splat_grid *grid, const struct splat_source *source, size_t x0, size_t y,
    size_t n, struct splat_points *to)
{
	float sigma[SPLAT_SEGMENT], one[SPLAT_SEGMENT];
	const float *weight = one;
	bool by_sigma = source->weight == source->sigma;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		one[i] = 1;
	if (source->weight != NO_CHANNEL && !by_sigma)
		weight = frame_floats(source->frame, source->weight, y) + x0;
	if (source->sigma == NO_CHANNEL) {
		for (size_t i = 0; i < n; i++) {
			to->weight[i] = weight[i] * to->taper[i];
			to->noise[i] = 0;
		}
		return;
	}
	find_sigma(grid, source, (const float *)frame_floats(source->frame, source->sigma, y) + x0,
	    n, to, sigma);
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F variance = sigma[i] * sigma[i];
		bool good = variance > PX_LEAST;

		to->weight[i] = to->taper[i] *
		    (by_sigma ? (good ? 1.0f / variance : PX_NAN) : weight[i]);
		to->noise[i] = to->weight[i] * variance;
	}
}

/*
 * ---- footprints ----
 *
 * The cells of a strip that the points of a segment claim and fill: the 2 x 2 cells around a point
 * where points lie close together, found for many points at a time; else all that lie between a
 * point and its neighbours.
 */

typedef int32_t masks __attribute__((vector_size(16)));

/* Cells by which the own cells of neighbours overlap on each side, since noise moves points and the
 * camera's rows lie askew. With half of SPLAT_NEAR it is less than a cell. */
#define SPLAT_OVERLAP 0.2f

/* Rows of the grid. In the memory of a strip cell (column, row) is number (row - y0 + 1) pitch +
 * column + 1: a margin of one cell takes what falls outside. */
struct strip_rows {
	size_t w, y0, y1, pitch;
};

/*
 * Finds the points with cells of the strip in their footprints, and the first cell of each. Near
 * points are kept in the order 0, 16, 32, ..., 1, 17, ...: the cells of neighbours overlap in part,
 * and a processor that reads such a cell waits until it has been written.
 */
static void
find_cells(const struct splat_points *points, size_t n, const struct strip_rows *rows,
    struct splat_block *block)
{
	const float above = (float)rows->y0, below = (float)rows->y1 - 1;
	const float right = (float)rows->w - 1;
	const int32_t pitch = (int32_t)rows->pitch, y0 = (int32_t)rows->y0;
	const size_t stride = (n + 7) / 8;
	uint8_t keep[SPLAT_SEGMENT], far[SPLAT_SEGMENT], any_far = 0;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = points->u[i], v = points->v[i], su = points->su[i], sv = points->sv[i];
		bool near = (su <= SPLAT_NEAR) & (sv <= SPLAT_NEAR);
		PX_F a = near ? 1.0f : su, b = near ? 1.0f : sv;
		bool in = (v + b > above) & (v - b < below) & (u + a > 0.0f) & (u - a < right) &
		    (points->weight[i] > 0.0f);
		/* points that are not kept must stay within int32_t */
		PX_F column = in ? px_floor(u) : 0.0f, row = in ? px_floor(v) : 0.0f;

		keep[i] = in & near;
		far[i] = in & !near;
		block->cell[i] = ((int32_t)row - y0 + 1) * pitch + (int32_t)column + 1;
	}
	_Pragma("omp simd reduction(|:any_far)")
	for (size_t i = 0; i < n; i++)
		any_far |= far[i];
	block->near = 0;
	for (size_t j = 0; j < stride; j++)
		for (size_t i = j; i < n; i += stride) {
			block->kept[block->near] = (uint8_t)i;
			block->near += keep[i];
		}
	block->n = block->near;
	for (size_t i = 0; i < n && any_far; i++)
		if (far[i])
			block->kept[block->n++] = (uint8_t)i;
}

/* The 2 x 2 cells around each point: its depth there by its plane, and its bilinear weight. */
static void
find_fours(const struct splat_points *points, size_t n, float (*restrict depth)[4],
    float (*restrict weight)[4], float (*restrict claim)[4])
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = points->u[i], v = points->v[i], d = points->d[i], w = points->weight[i];
		PX_F x0 = px_floor(u) - u, y0 = px_floor(v) - v, x1 = x0 + 1, y1 = y0 + 1;
		PX_F a0 = px_abs(x0), a1 = px_abs(x1), b0 = px_abs(y0), b1 = px_abs(y1);
		PX_F left = d + points->gx[i] * x0, right = d + points->gx[i] * x1;
		PX_F above = points->gy[i] * y0, below = points->gy[i] * y1;
		PX_F own_x = 0.5f * points->su[i] + SPLAT_OVERLAP;
		PX_F own_y = 0.5f * points->sv[i] + SPLAT_OVERLAP;
		bool in_x0 = a0 <= own_x, in_x1 = a1 <= own_x;
		bool in_y0 = b0 <= own_y, in_y1 = b1 <= own_y;

		depth[i][0] = left + above;
		depth[i][1] = right + above;
		depth[i][2] = left + below;
		depth[i][3] = right + below;
		weight[i][0] = (1 - a0) * (1 - b0) * w;
		weight[i][1] = (1 - a1) * (1 - b0) * w;
		weight[i][2] = (1 - a0) * (1 - b1) * w;
		weight[i][3] = (1 - a1) * (1 - b1) * w;
		claim[i][0] = in_x0 & in_y0 ? left + above : INFINITY;
		claim[i][1] = in_x1 & in_y0 ? right + above : INFINITY;
		claim[i][2] = in_x0 & in_y1 ? left + below : INFINITY;
		claim[i][3] = in_x1 & in_y1 ? right + below : INFINITY;
	}
}

/* Independent errors add up by their squares, those that neighbours share by themselves. */
static void
find_noise(const struct splat_points *points, size_t n, bool smoothed, float (*restrict noise)[4])
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = points->u[i], v = points->v[i], own = points->noise[i];
		PX_F x = px_floor(u) - u, y = px_floor(v) - v;
		PX_F a0 = smoothed ? 1.0f : 1 - px_abs(x), a1 = smoothed ? 1.0f : 1 - px_abs(x + 1);
		PX_F b0 = smoothed ? 1.0f : 1 - px_abs(y), b1 = smoothed ? 1.0f : 1 - px_abs(y + 1);

		noise[i][0] = a0 * b0 * own;
		noise[i][1] = a1 * b0 * own;
		noise[i][2] = a0 * b1 * own;
		noise[i][3] = a1 * b1 * own;
	}
}

/* The points of n that reach the rows, and their footprints. claim: the depth of a point at those
 * of the 2 x 2 cells that are its own, INFINITY at the others. */
static void
find_footprints(const struct splat_points *points, size_t n, const struct splat_source *source,
    const struct strip_rows *rows, struct splat_block *block, lanes claim[SPLAT_SEGMENT])
{
	find_cells(points, n, rows, block);
	block->noisy = source->sigma != NO_CHANNEL;
	if (block->near && block->noisy)
		find_noise(points, n, source->smoothed, (float (*)[4])block->noise);
	if (block->near)
		find_fours(points, n, (float (*)[4])block->depth, (float (*)[4])block->weight,
		    (float (*)[4])claim);
	for (size_t k = block->near; k < block->n; k++) {
		size_t i = block->kept[k];

		block->far[k - block->near] = (struct splat_far){ points->u[i], points->v[i],
			points->d[i], points->gx[i], points->gy[i], points->su[i], points->sv[i],
			points->weight[i], points->noise[i], source->smoothed };
	}
}

/* ---- a strip: rows of the grid that one thread fills, from the points that reach them ---- */

/* A cell sums, besides weight and depth: noise, the weight of the attributes, the attributes. */
enum { LANE_NOISE, LANE_ATTRIBUTE, LANES_FIRST };

/* Memory for strips of this width and these lanes. */
static void
fit_scratch(struct splat_scratch *scratch, size_t cells, size_t vectors)
{
	if (scratch->sum && scratch->cells == cells && scratch->vectors == vectors)
		return;
	free_all(scratch->nearest, scratch->sum, scratch->more);
	scratch->nearest = must_alloc(cells, sizeof(*scratch->nearest));
	scratch->sum = must_alloc(cells, sizeof(*scratch->sum));
	scratch->more = must_aligned(cells, (vectors + 1) * sizeof(lanes));
	scratch->cells = cells;
	scratch->vectors = vectors;
}

/* An unused block of the scratch. */
static struct splat_block *
next_block(struct splat_scratch *scratch)
{
	if (scratch->blocks == scratch->room) {
		size_t room = 2 * scratch->room + 64;

		scratch->block = must_resize(scratch->block, room, sizeof(*scratch->block));
		memset(scratch->block + scratch->room, 0,
		    (room - scratch->room) * sizeof(*scratch->block));
		scratch->room = room;
	}
	if (!scratch->block[scratch->blocks])
		scratch->block[scratch->blocks] = must_aligned(1, sizeof(struct splat_block));
	return scratch->block[scratch->blocks++];
}

struct strip {
	const struct splat *splat;
	const struct splat_source *source;
	struct splat_scratch *scratch;
	struct frame *out;
	struct strip_rows rows;
	size_t attributes;
};

static bool
reaches(const struct strip *strip, const struct splat_span *span)
{
	return span->high + span->reach > (float)strip->rows.y0 &&
	    span->low - span->reach < (float)strip->rows.y1;
}

/* The columns and rows, first and last, that a point claims or fills. */
struct window {
	long left, right, top, bottom;
};

static struct window
window_around(const struct strip *strip, float u, float v, float a, float b)
{
	struct window window = { (long)ceilf(u - a), (long)floorf(u + a), (long)ceilf(v - b),
		(long)floorf(v + b) };
	long w = (long)strip->splat->grid.w, y0 = (long)strip->rows.y0, y1 = (long)strip->rows.y1;

	window.left = window.left < 0 ? 0 : window.left;
	window.right = window.right >= w ? w - 1 : window.right;
	window.top = window.top < y0 ? y0 : window.top;
	window.bottom = window.bottom >= y1 ? y1 - 1 : window.bottom;
	return window;
}

static size_t
cell_of(const struct strip *strip, long x, long y)
{
	return (size_t)(y - (long)strip->rows.y0 + 1) * strip->rows.pitch + (size_t)(x + 1);
}

/* A point's own cells: those up to about half way to its neighbours. */
static void
claim_far(const struct strip *strip, const struct splat_far *far)
{
	struct window window = window_around(strip, far->u, far->v, 0.5f * far->su + SPLAT_OVERLAP,
	    0.5f * far->sv + SPLAT_OVERLAP);

	for (long y = window.top; y <= window.bottom; y++)
		for (long x = window.left; x <= window.right; x++) {
			float *nearest = strip->scratch->nearest + cell_of(strip, x, y);
			float depth = far->d + far->gx * ((float)x - far->u) +
			    far->gy * ((float)y - far->v);

			*nearest = depth < *nearest ? depth : *nearest;
		}
}

/* Two cells of a row and the two below them are moved as two doubles. */
typedef double pairs __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) lanes
load_four(const float *upper, const float *lower)
{
	double pair[2];

	memcpy(&pair[0], upper, 2 * sizeof(float));
	memcpy(&pair[1], lower, 2 * sizeof(float));
	return (lanes)(pairs){ pair[0], pair[1] };
}

static inline __attribute__((always_inline)) void
store_four(float *upper, float *lower, lanes four)
{
	pairs both = (pairs)four;
	double pair[2] = { both[0], both[1] };

	memcpy(upper, &pair[0], 2 * sizeof(float));
	memcpy(lower, &pair[1], 2 * sizeof(float));
}

static void
claim_near(const struct strip *strip, const struct splat_block *block, const lanes *claim)
{
	const size_t near = block->near, pitch = strip->rows.pitch;
	float *const first = strip->scratch->nearest;

	for (size_t k = 0; k < near; k++) {
		size_t i = block->kept[k];
		float *upper = first + block->cell[i], *lower = upper + pitch;
		lanes nearest = load_four(upper, lower);
		masks own = claim[i] < nearest;

		store_four(upper, lower,
		    (lanes)((own & (masks)claim[i]) | (~own & (masks)nearest)));
	}
}

static void
turn_normals(const struct splat_source *source, struct splat_block *block, size_t n)
{
	const double *R = source->pose.R;
	const float *const *from = block->attribute + source->normal;

	for (size_t i = 0; i < n; i++) {
		double v[3] = { (double)from[0][i], (double)from[1][i], (double)from[2][i] };
		bool known = !isnan(v[0] + v[1] + v[2]);

		/* 0 does not change a mean; a sum of zeros has no direction */
		for (size_t k = 0; k < 3; k++)
			block->normal[k][i] = known ? (float)(R[3 * k] * v[0] +
			    R[3 * k + 1] * v[1] + R[3 * k + 2] * v[2]) : 0;
	}
	for (size_t k = 0; k < 3; k++)
		block->attribute[source->normal + k] = block->normal[k];
}

/* Points x0 .. x0 + n - 1 of row y of view k, n <= SPLAT_SEGMENT; all rows are projected. */
static void
gather_segment(const struct strip *strip, size_t k, size_t x0, size_t y, size_t n)
{
	const struct splat *splat = strip->splat;
	const struct splat_source *source = &strip->source[k];
	struct splat_block *block = next_block(strip->scratch);
	size_t at = splat_view_at(&splat->view[k], y) + x0;
	struct splat_points points;
	struct planes planes;
	lanes claim[SPLAT_SEGMENT];

	find_planes(&splat->view[k], at - ASIDE, n + 2 * ASIDE, &planes);
	smooth_planes(&splat->view[k], at, n, &planes, &points);
	find_weights(&splat->grid, source, x0, y, n, &points);
	find_footprints(&points, n, source, &strip->rows, block, claim);
	claim_near(strip, block, claim);
	for (size_t i = block->near; i < block->n; i++)
		claim_far(strip, &block->far[i - block->near]);
	for (size_t c = 0; c < source->attributes; c++)
		block->attribute[c] =
		    (const float *)frame_floats(source->frame, source->attribute[c], y) + x0;
	if (source->normal != NO_CHANNEL)
		turn_normals(source, block, n);
}

static void
gather_points(const struct strip *strip)
{
	strip->scratch->blocks = 0;
	for (size_t k = 0; k < strip->splat->views; k++) {
		const struct splat_view *view = &strip->splat->view[k];

		for (size_t s = 0; s < view->segments * view->h; s++) {
			size_t x0 = s % view->segments * SPLAT_SEGMENT;

			if (reaches(strip, &view->span[s]))
				gather_segment(strip, k, x0, s / view->segments,
				    view->w - x0 < SPLAT_SEGMENT ? view->w - x0 : SPLAT_SEGMENT);
		}
	}
}

static inline __attribute__((always_inline)) float
attribute_of(const struct strip *strip, const struct splat_block *block, size_t c, size_t i)
{
	return c < strip->attributes ? block->attribute[c][i] : 0;
}

/* A point's attributes, by lanes. Where one is missing, all but normals are 0. */
static inline __attribute__((always_inline)) void
read_attributes(const struct strip *strip, const struct splat_block *block, size_t i, lanes *more,
    size_t vectors)
{
	masks good = { -1, -1, -1, -1 };
	float all;

	more[0] = (lanes){ 0, 0, attribute_of(strip, block, 0, i),
		attribute_of(strip, block, 1, i) };
	good &= more[0] == more[0];
	for (size_t k = 1; k < vectors; k++) {
		size_t c = 4 * k - LANES_FIRST;

		more[k] = (lanes){ attribute_of(strip, block, c, i),
			attribute_of(strip, block, c + 1, i), attribute_of(strip, block, c + 2, i),
			attribute_of(strip, block, c + 3, i) };
		good &= more[k] == more[k];
	}
	all = good[0] & good[1] & good[2] & good[3] ? 1 : 0;
	for (size_t c = 0; c < strip->attributes && all == 0; c++) {
		size_t normal = strip->source->normal;

		if (normal == NO_CHANNEL || c < normal || c > normal + 2)
			more[(c + LANES_FIRST) / 4][(c + LANES_FIRST) % 4] = 0;
	}
	more[0][LANE_ATTRIBUTE] = all;
}

static inline __attribute__((always_inline)) void
add_more(lanes *sum, float weight, float noise, const lanes *more, size_t vectors)
{
	sum[0] += weight * (more[0] + (lanes){ noise, 0, 0, 0 });
	for (size_t k = 1; k < vectors; k++)
		sum[k] += weight * more[k];
}

/* Adds weight and depth to two neighbouring cells. */
static inline __attribute__((always_inline)) void
add_two(float (*sum)[2], lanes two)
{
	lanes old;

	memcpy(&old, sum, sizeof(old));
	old += two;
	memcpy(sum, &old, sizeof(old));
}

/* A strip's memory, for near points: in registers. */
struct cells {
	const float *nearest;
	float (*sum)[2];
	lanes *more;
	size_t pitch;
	float jump;
};

/* Adds a point to the 2 x 2 cells around it. */
static inline __attribute__((always_inline)) void
spread_near(struct cells cells, const struct splat_block *block, size_t i, const lanes *more,
    size_t vectors)
{
	size_t cell = (size_t)block->cell[i];
	const float *upper = cells.nearest + cell;
	float (*sum)[2] = cells.sum + cell;
	lanes *one = cells.more + cell * vectors, *below = one + cells.pitch * vectors;
	lanes beyond = block->depth[i] - load_four(upper, upper + cells.pitch);
	masks same = (lanes)((masks)beyond & INT32_MAX) <= cells.jump;	/* |beyond| */
	lanes weight = (lanes)(same & (masks)block->weight[i]), noise = { 0 };

	beyond = weight * (lanes)(same & (masks)beyond);
	add_two(sum, __builtin_shufflevector(weight, beyond, 0, 4, 1, 5));
	add_two(sum + cells.pitch, __builtin_shufflevector(weight, beyond, 2, 6, 3, 7));
	if (vectors == 0)
		return;
	if (block->noisy)
		noise = block->noise[i];
	add_more(one, weight[0], noise[0], more, vectors);
	add_more(one + vectors, weight[1], noise[1], more, vectors);
	add_more(below, weight[2], noise[2], more, vectors);
	add_more(below + vectors, weight[3], noise[3], more, vectors);
}

/* Adds a point to all cells between it and its neighbours. */
static void
spread_far(const struct strip *strip, const struct splat_far *far, const lanes *more,
    size_t vectors)
{
	float u = far->u, v = far->v, su = far->su, sv = far->sv;
	struct window window = window_around(strip, u, v, su, sv);

	for (long r = window.top; r <= window.bottom; r++)
		for (long c = window.left; c <= window.right; c++) {
			size_t cell = cell_of(strip, c, r);
			float x = (float)c - u, y = (float)r - v;
			float share = px_max((1 - px_abs(x) / su) * (1 - px_abs(y) / sv), 0.0f);
			float weight = share * far->weight;
			float beyond = far->d + far->gx * x + far->gy * y -
			    strip->scratch->nearest[cell];

			if (!(px_abs(beyond) <= strip->splat->jump))
				continue;
			strip->scratch->sum[cell][0] += weight;
			strip->scratch->sum[cell][1] += weight * beyond;
			if (vectors)
				add_more(strip->scratch->more + cell * vectors, weight,
				    (far->smoothed ? 1 : share) * far->noise, more, vectors);
		}
}

static inline __attribute__((always_inline)) void
spread_block(const struct strip *strip, const struct splat_block *block, size_t vectors)
{
	const struct splat_scratch *scratch = strip->scratch;
	const struct cells cells = { scratch->nearest, scratch->sum, scratch->more,
		strip->rows.pitch, strip->splat->jump };
	const size_t near = block->near;
	lanes more[SPLAT_ATTRIBUTES / 4 + 1];

	for (size_t k = 0; k < near; k++) {
		if (vectors)
			read_attributes(strip, block, block->kept[k], more, vectors);
		spread_near(cells, block, block->kept[k], more, vectors);
	}
	for (size_t k = block->near; k < block->n; k++) {
		if (vectors)
			read_attributes(strip, block, block->kept[k], more, vectors);
		spread_far(strip, &block->far[k - block->near], more, vectors);
	}
}

static void
spread_points(const struct strip *strip)
{
	for (size_t b = 0; b < strip->scratch->blocks; b++) {
		const struct splat_block *block = strip->scratch->block[b];

		switch (strip->scratch->vectors) {
		case 0:
			spread_block(strip, block, 0);
			break;
		case 1:
			spread_block(strip, block, 1);
			break;
		case 2:
			spread_block(strip, block, 2);
			break;
		default:
			spread_block(strip, block, strip->scratch->vectors);
		}
	}
}

/* The attributes of a cell: means, and unit normals. */
static void
finish_attributes(const struct strip *strip, const lanes *more, size_t x, size_t y)
{
	const struct splat_source *source = strip->source;
	const float *value = (const float *)more + LANES_FIRST;
	size_t c = strip->splat->keeps_sigma ? 4 : 3, normal = source->normal;
	float length = 0;

	for (size_t i = 0; i < 3 && normal != NO_CHANNEL; i++)
		length += value[normal + i] * value[normal + i];
	length = sqrtf(length);
	for (size_t k = 0; k < source->attributes; k++) {
		bool along = normal != NO_CHANNEL && k >= normal && k < normal + 3;
		float by = along ? length : more[0][LANE_ATTRIBUTE];

		frame_floats(strip->out, c + k, y)[x] = by > 0 ? value[k] / by : PX_NAN;
	}
}

static void
finish_depth(const float (*restrict sum)[2], const float *restrict nearest, size_t w,
    float *restrict z, unsigned char *restrict claimed)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		bool there = sum[x][0] > 0;

		claimed[x] = there;
		z[x] = there ? nearest[x] + sum[x][1] / sum[x][0] : PX_NAN;
	}
}

static void
finish_row(const struct strip *strip, size_t y)
{
	const struct splat *splat = strip->splat;
	const struct splat_scratch *scratch = strip->scratch;
	size_t row = (y - strip->rows.y0 + 1) * strip->rows.pitch + 1, w = splat->grid.w;
	size_t vectors = scratch->vectors;
	unsigned char *claimed = splat->claimed + y * w;
	float *z = frame_floats(strip->out, 2, y);

	finish_depth((const float (*)[2])scratch->sum + row, scratch->nearest + row, w, z, claimed);
	splat_grid_points(&splat->grid, y, z, frame_floats(strip->out, 0, y),
	    frame_floats(strip->out, 1, y));
	for (size_t x = 0; x < w && vectors; x++) {
		const lanes *more = scratch->more + (row + x) * vectors;

		if (splat->keeps_sigma)
			frame_floats(strip->out, 3, y)[x] = claimed[x] ?
			    sqrtf(more[0][LANE_NOISE]) / scratch->sum[row + x][0] *
			    splat_grid_slant(&splat->grid, x, y) : PX_NAN;
		finish_attributes(strip, more, x, y);
	}
}

static void
splat_strip_fill(const struct splat *splat, const struct splat_source *source,
    struct splat_scratch *scratch, struct frame *out, size_t y0, size_t y1)
{
	size_t attributes = source->attributes, w = splat->grid.w, pitch = w + 2;
	size_t vectors = attributes || splat->keeps_sigma ? (attributes + LANES_FIRST + 3) / 4 : 0;
	const struct strip strip = { splat, source, scratch, out, { w, y0, y1, pitch },
		attributes };

	fit_scratch(scratch, pitch * (STRIP_ROWS + 2), vectors);
	for (size_t i = 0; i < scratch->cells; i++)
		scratch->nearest[i] = INFINITY;
	memset(scratch->sum, 0, scratch->cells * sizeof(*scratch->sum));
	memset(scratch->more, 0, scratch->cells * vectors * sizeof(lanes));
	gather_points(&strip);
	spread_points(&strip);
	for (size_t y = y0; y < y1; y++)
		finish_row(&strip, y);
}

/* ---- holes of one cell ---- */

/* The pairs of neighbours, left and right or above and below, around a hole of one cell: they
 * belong to one surface and have points of their own. Returns the number of cells; cell: columns
 * and rows. */
static size_t
find_around(const struct splat *splat, const struct frame *out, size_t x, size_t y,
    size_t cell[4][2])
{
	const size_t w = splat->grid.w, h = splat->grid.h;
	size_t n = 0;

	for (size_t k = 0; k < 2; k++) {
		size_t dx = k == 0, dy = k == 1;
		float a, b;

		if (x < dx || y < dy || x + dx >= w || y + dy >= h ||
		    !splat->claimed[(y - dy) * w + x - dx] ||
		    !splat->claimed[(y + dy) * w + x + dx])
			continue;
		a = frame_floats(out, 2, y - dy)[x - dx];
		b = frame_floats(out, 2, y + dy)[x + dx];
		if (!(px_abs(a - b) <= splat->jump))
			continue;
		cell[n][0] = x - dx;
		cell[n++][1] = y - dy;
		cell[n][0] = x + dx;
		cell[n++][1] = y + dy;
	}
	return n;
}

/* Keeps the nearer pair where two lie on different surfaces. */
static size_t
choose_nearer(const struct splat *splat, const struct frame *out, size_t cell[4][2], size_t n)
{
	float a, b;

	if (n < 4)
		return n;
	a = frame_floats(out, 2, cell[0][1])[cell[0][0]];
	b = frame_floats(out, 2, cell[2][1])[cell[2][0]];
	if (px_abs(a - b) <= splat->jump)
		return n;
	if (b < a)
		memcpy(cell[0], cell[2], 2 * sizeof(*cell));
	return 2;
}

static void
close_cell(const struct splat *splat, const struct splat_source *source, struct frame *out,
    size_t x, size_t y)
{
	size_t cell[4][2], n = find_around(splat, out, x, y, cell), first = 3;
	float *pz = frame_floats(out, 2, y);

	n = choose_nearer(splat, out, cell, n);
	if (n == 0)
		return;
	for (size_t c = 2; c < out->head.c; c++) {
		bool is_sigma = c == 3 && splat->keeps_sigma;
		float sum = 0;

		for (size_t i = 0; i < n; i++) {
			float value = frame_floats(out, c, cell[i][1])[cell[i][0]];

			sum += is_sigma ? value * value : value;
		}
		frame_floats(out, c, y)[x] = (is_sigma ? sqrtf(sum) : sum) / (float)n;
	}
	splat_grid_point(&splat->grid, x, y, pz[x], frame_floats(out, 0, y) + x,
	    frame_floats(out, 1, y) + x);
	first += splat->keeps_sigma;
	if (source->normal != NO_CHANNEL) {
		float *normal[3], length = 0;

		for (size_t i = 0; i < 3; i++) {
			normal[i] = frame_floats(out, first + source->normal + i, y) + x;
			length += *normal[i] * *normal[i];
		}
		for (size_t i = 0; i < 3; i++)
			*normal[i] = length > 0 ? *normal[i] / sqrtf(length) : PX_NAN;
	}
}

static void
close_holes(void *arg, size_t y)
{
	const struct splat_job *job = arg;
	const struct splat *splat = job->splat;
	const unsigned char *row = splat->claimed + y * splat->grid.w, *end = row + splat->grid.w;

	for (const unsigned char *hole = row; (hole = memchr(hole, 0, (size_t)(end - hole)));
	    hole++)
		close_cell(splat, job->source, job->out, (size_t)(hole - row), y);
}

const struct splatxyz_rows AT_LEVEL(splatxyz_rows) = {
	.grid_project = splat_grid_project,
	.grid_point = splat_grid_point,
	.project = project,
	.find_reach = find_reach,
	.close_holes = close_holes,
	.strip_fill = splat_strip_fill,
};
