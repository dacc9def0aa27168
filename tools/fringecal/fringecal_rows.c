/*
 * The loops of fringecal: over the pixels of phases, over those of the windows at a board's
 * corners, and over the points of a view.
 */
#include "fringecal.h"

/* ---- phases ---- */

/* Standard deviation of the phase at a pixel, or what is proportional to it. Texture is the mean
 * light A and the amplitude B together, or A alone, modulation B/A. */
static float
phase_sigma(const struct frame *frame, const struct noise_channels *noise, size_t x, size_t y)
{
	float modulation;

	if (noise->sigma != NO_CHANNEL)
		return frame_floats(frame, noise->sigma, y)[x];
	if (noise->amplitude != NO_CHANNEL)
		return 1 / frame_floats(frame, noise->amplitude, y)[x];
	modulation = frame_floats(frame, noise->modulation, y)[x];
	return (noise->mean_light ? 1 : 1 + modulation) /
	    (modulation * frame_floats(frame, noise->texture, y)[x]);
}

static void
phase_map_fill(const struct frame *frame, size_t phase, const struct noise_channels *noise,
    struct coordinate_map *map)
{
	double px_per_rad = map->period_px / (2 * M_PI);

	for (size_t y = 0; y < map->h; y++)
		for (size_t x = 0; x < map->w; x++) {
			size_t at = y * map->w + x;

			map->px[at] = (float)(px_per_rad * (double)frame_floats(frame, phase,
			    y)[x]);
			map->sigma[at] = (float)(px_per_rad * (double)phase_sigma(frame, noise, x,
			    y));
		}
}

/* ---- a quadratic in a window ---- */

#define LEAST_VALID 0.6		/* share of a window's pixels */
#define TERMS 6			/* of a quadratic: 1 x y x^2 x y y^2 */
#define ORDER_ROUNDS 4		/* of leaving out pixels of another fringe order */
#define BLUR_SQUARE 0.3		/* of a lens, in pixels squared; a little one, for weights alone */

struct window {
	const struct coordinate_map *map;
	size_t x0, y0, x1, y1;		/* from x0 to before x1 */
	size_t whole;			/* pixels of it, were it not cut by the picture */
	double corner[2], scale;	/* terms are of (pixel - corner) / scale */
	double offset_px;		/* taken off coordinates, so that sums keep their digits */
	double gradient[2];		/* of the coordinate, of the last fit; zeros: none yet */
};

struct quadratic {
	double a[TERMS];
	double variance;		/* of a[0], where sigma is right */
	double chi;			/* rms of residual / sigma */
	size_t used;
};

static void
quadratic_terms(const struct window *w, size_t x, size_t y, double t[TERMS])
{
	double dx = ((double)x - w->corner[0]) / w->scale;
	double dy = ((double)y - w->corner[1]) / w->scale;

	t[0] = 1;
	t[1] = dx;
	t[2] = dy;
	t[3] = dx * dx;
	t[4] = dx * dy;
	t[5] = dy * dy;
}

static double
quadratic_value(const struct quadratic *q, const double t[TERMS])
{
	double sum = 0;

	for (size_t i = 0; i < TERMS; i++)
		sum += q->a[i] * t[i];
	return sum;
}

/* The derivative of ln sigma along one axis, `step` being the distance of pixels along it, `place`
 * the pixel's place on it and `last` the last one's. */
static double
log_slope(const float *sigma, size_t at, size_t place, size_t last, size_t step)
{
	size_t a = place > 0 ? at - step : at, b = place < last ? at + step : at;
	double ratio = (double)sigma[b] / (double)sigma[a];

	return b > a && ratio > 0 && isfinite(ratio) ?
	    log(ratio) / (place > 0 && place < last ? 2 : 1) : 0;
}

/*
 * Pixel (x, y) of the window's map; false where it is invalid. At the edge between black and white
 * the lens mixes the two, and what a pixel sees is moved towards the white by
 * blur^2 grad ln(amplitude): an error that sigma does not know.
 */
static bool
window_sample(const struct window *w, size_t x, size_t y, double *px, double *variance)
{
	const struct coordinate_map *map = w->map;
	size_t at = y * map->w + x;
	double sigma = (double)map->sigma[at], moved;

	*px = (double)map->px[at] - w->offset_px;
	if (!isfinite(*px) || !(sigma > 0) || !isfinite(sigma))
		return false;
	moved = log_slope(map->sigma, at, x, map->w - 1, 1) * w->gradient[0] +
	    log_slope(map->sigma, at, y, map->h - 1, map->w) * w->gradient[1];
	moved *= BLUR_SQUARE;
	*variance = sigma * sigma + moved * moved;
	return true;
}

/* Solves A a = b, A symmetric (its lower half is used and overwritten); the variance is element
 * (0, 0) of the inverse, the square of the first column of L^-1. False where A is singular. */
static bool
solve_quadratic(double A[TERMS * TERMS], const double b[TERMS], struct quadratic *q)
{
	double e[TERMS];

	if (!symmetric_factor(TERMS, A, 1e-10))
		return false;
	q->variance = 0;
	for (size_t i = 0; i < TERMS; i++) {
		e[i] = i == 0;
		for (size_t k = 0; k < i; k++)
			e[i] -= A[TERMS * i + k] * e[k];
		e[i] /= A[TERMS * i + i];
		q->variance += e[i] * e[i];
	}
	memcpy(q->a, b, sizeof(q->a));
	symmetric_solve(TERMS, A, q->a, 1);
	return true;
}

/* Least squares over the valid pixels that lie within `most` of the last fit (NULL: all). */
static bool
fit_window(const struct window *w, const struct quadratic *last, double most, struct quadratic *q)
{
	double A[TERMS * TERMS] = { 0 }, b[TERMS] = { 0 }, px, variance, t[TERMS];

	q->used = 0;
	for (size_t y = w->y0; y < w->y1; y++)
		for (size_t x = w->x0; x < w->x1; x++) {
			double weight;

			quadratic_terms(w, x, y, t);
			if (!window_sample(w, x, y, &px, &variance) ||
			    (last && fabs(px - quadratic_value(last, t)) > most))
				continue;
			weight = 1 / variance;
			q->used++;
			for (size_t i = 0; i < TERMS; i++) {
				b[i] += weight * t[i] * px;
				for (size_t j = 0; j <= i; j++)
					A[TERMS * i + j] += weight * t[i] * t[j];
			}
		}
	return q->used > TERMS && solve_quadratic(A, b, q);
}

/* Sets chi, and adds to the ripple unless it is NULL. */
static void
window_residuals(const struct window *w, struct quadratic *q, double most,
    struct projector_ripple *ripple)
{
	double sum = 0, px, variance, t[TERMS];

	for (size_t y = w->y0; y < w->y1; y++)
		for (size_t x = w->x0; x < w->x1; x++) {
			double turn, r, weight;

			quadratic_terms(w, x, y, t);
			if (!window_sample(w, x, y, &px, &variance))
				continue;
			r = px - quadratic_value(q, t);
			if (fabs(r) > most)
				continue;
			weight = 1 / variance;
			sum += weight * r * r;
			if (!ripple)
				continue;
			turn = 2 * M_PI * (quadratic_value(q, t) + w->offset_px) /
			    w->map->period_px;
			for (int k = 0; k < PROJECTOR_HARMONICS; k++) {
				ripple->re[k] += weight * r * cos((k + 1) * turn);
				ripple->im[k] += weight * r * sin((k + 1) * turn);
			}
			ripple->square += weight * r * r;
			ripple->predicted += w->map->absolute;
			ripple->weight += weight;
		}
	q->chi = sqrt(sum / (double)(q->used - TERMS));
}

/* A pixel of a wrong fringe order is off by a period: after the first fit, and after each one that
 * moved, what is off by half of one is left out. The least that is ever taken for a wrong order. */
static bool
fit_orders(struct window *w, struct quadratic *q, double *most)
{
	struct quadratic next;
	size_t used = 0;

	*most = w->map->period_px / 2;
	if (!fit_window(w, NULL, 0, q))
		return false;
	for (int round = 0; round < ORDER_ROUNDS && used != q->used; round++) {
		used = q->used;
		w->gradient[0] = q->a[1] / w->scale;
		w->gradient[1] = q->a[2] / w->scale;
		if (!fit_window(w, q, *most, &next))
			return false;
		*q = next;
	}
	return true;
}

/* The window about a corner, cut by the picture; false where the corner lies outside, or the window
 * is too small for a fit. */
static bool
place_window(struct window *w, const struct coordinate_map *map, const double corner[2],
    size_t half)
{
	size_t x, y;

	if (half < 2 || !(corner[0] >= -0.5 && corner[0] < (double)map->w - 0.5) ||
	    !(corner[1] >= -0.5 && corner[1] < (double)map->h - 0.5))
		return false;
	x = (size_t)round(corner[0]);
	y = (size_t)round(corner[1]);
	w->map = map;
	w->x0 = x > half ? x - half : 0;
	w->y0 = y > half ? y - half : 0;
	w->x1 = map->w - x > half ? x + half + 1 : map->w;
	w->y1 = map->h - y > half ? y + half + 1 : map->h;
	w->whole = (2 * half + 1) * (2 * half + 1);
	w->corner[0] = corner[0];
	w->corner[1] = corner[1];
	w->scale = (double)half;
	w->offset_px = isfinite(map->px[y * map->w + x]) ? (double)map->px[y * map->w + x] : 0;
	return true;
}

static enum projector_point_fault
projector_point_fit(const struct coordinate_map *map, const double corner[2], size_t half,
    size_t axis, struct projector_point *out)
{
	struct window w = { 0 };
	struct quadratic q;
	double most;

	if (!place_window(&w, map, corner, half))
		return PROJECTOR_POINT_OUTSIDE;
	if (!fit_orders(&w, &q, &most) ||
	    (double)q.used < LEAST_VALID * (double)w.whole)
		return PROJECTOR_POINT_INVALID;
	window_residuals(&w, &q, most, NULL);
	out->uv[axis] = q.a[0] + w.offset_px;
	out->gradient[axis][0] = q.a[1] / w.scale;
	out->gradient[axis][1] = q.a[2] / w.scale;
	out->sigma[axis] = sqrt(q.variance);
	out->residual[axis] = q.chi;
	return PROJECTOR_POINT_GOOD;
}

static void
projector_ripple_add(const struct coordinate_map *map, const double corner[2], size_t half,
    struct projector_ripple *ripple)
{
	struct window w = { 0 };
	struct quadratic q;
	double most;

	if (place_window(&w, map, corner, half) && fit_orders(&w, &q, &most))
		window_residuals(&w, &q, most, ripple);
}

/* ---- residuals of a view ---- */

/* The row vector g by the pose's three angles at X, and by X. */
static void
by_pose(const struct posed *posed, const double g[3], const double *X, double angle[3],
    double by_X[3])
{
	for (size_t k = 0; k < 3; k++) {
		angle[k] = by_X[k] = 0;
		for (size_t i = 0; i < 3; i++) {
			by_X[k] += g[i] * posed->R[3 * i + k];
			for (size_t j = 0; j < 3; j++)
				angle[k] += g[i] * posed->by[9 * i + 3 * j + k] * X[j];
		}
	}
}

struct row {		/* where the derivatives of a row go */
	const struct residuals *r;
	int *state;
	double *value;
	size_t n;
	double weight;
};

static void
put(struct row *row, size_t parameter, double derivative)
{
	long state = row->r->state[parameter];

	if (state < 0)
		return;
	row->state[row->n] = (int)state;
	row->value[row->n++] = derivative * row->weight * row->r->scale[state];
}

static void
put_row(struct row *row, const struct calib_view *view, const struct view_memory *m, size_t k,
    size_t c)
{
	const struct calib_problem *problem = row->r->problem;
	const struct calib_device *of = &problem->device[view->device];
	size_t n = calib_intrinsics_count(of->model), at;
	const double *intrinsics = m->by_intrinsics + (2 * k + c) * n;
	double g[3], angle[3], by_first[3], by_board[3];

	at = calib_parameter_intrinsics(problem, view->device);
	for (size_t i = 0; i < n; i++)
		put(row, at + i, intrinsics[i] + (i == 0 && of->square ? intrinsics[1] : 0));
	memcpy(g, m->by_point[k][c], sizeof(g));
	by_pose(&m->of_device, g, m->first[k], angle, by_first);
	if (view->device) {
		at = calib_parameter_pose(problem, view->device);
		for (size_t i = 0; i < 3; i++)
			put(row, at + i, angle[i]);
		for (size_t i = 0; i < 3; i++)
			put(row, at + 3 + i, g[i]);
	}
	by_pose(&m->of_board, by_first, m->board[k], angle, by_board);
	if (problem->warp) {
		const struct calib_point *point = &problem->point[view->first + k];
		const double unit[2][2] = { { 1, 0 }, { 0, 1 } };
		double X[3];

		for (size_t b = 0; b < 2; b++) {
			calib_board_point(&problem->board, unit[b], point->i, point->j, X);
			put(row, row->r->shared - 2 + b, by_board[2] * X[2]);
		}
	}
	at = row->r->shared + 6 * view->pose;
	for (size_t i = 0; i < 3; i++)
		put(row, at + i, angle[i]);
	for (size_t i = 0; i < 3; i++)
		put(row, at + 3 + i, by_first[i]);
}

static size_t
residual_rows(const struct residuals *r, const struct calib_view *view, const struct view_memory *m,
    size_t at, double *x, int *begin, int *state, double *value)
{
	for (size_t k = 0; k < view->n; k++)
		for (size_t c = 0; c < 2; c++) {
			size_t i = 2 * (view->first + k) + c;
			const struct calib_point *point = &r->problem->point[view->first + k];
			struct row row = { r, state + at, value + at, 0, r->weight[i] };

			x[i] = r->weight[i] * (m->pixel[k][c] - (c ? point->v : point->u));
			if (!begin)
				continue;
			begin[i] = (int)at;
			put_row(&row, view, m, k, c);
			at += row.n;
		}
	return at;
}

/* ---- uncertainty ---- */

static double
jacobian_variance(const double *C, size_t n, const double *row)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double column = 0;

		for (size_t j = 0; j < n; j++)
			column += C[i * n + j] * row[j];
		sum += row[i] * column;
	}
	return fmax(0, sum);
}

const struct fringecal_rows AT_LEVEL(fringecal_rows) = {
	.projector_point_fit = projector_point_fit,
	.projector_ripple_add = projector_ripple_add,
	.phase_map_fill = phase_map_fill,
	.residual_rows = residual_rows,
	.jacobian_variance = jacobian_variance,
};
