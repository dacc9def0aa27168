/*
 * Organised points as seen by their camera: estimates the camera from points in rows and columns,
 * and projects points into it.
 */
#include "points/ordered_view.h"

#include <math.h>

#include "base/linear.h"
#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"
#include "image/statistics.h"

#define LENS_DEGREE 5
#define WELL_PX 0.5		/* a fit this good needs no other model */
#define OUTSIDE 1.3		/* of the range of s and t: a polynomial says nothing beyond */
#define TRIM_RMS 4		/* times the rms: points beyond take no part in the second fit */

static const double own_frame[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };

/* The terms of a polynomial of that degree; those of lower degrees come first. */
static size_t
terms_of(double s, double t, int degree, double *term)
{
	size_t n = 0;

	for (int d = 0; d <= degree; d++)
		for (int k = 0; k <= d; k++) {
			double v = 1;

			for (int i = 0; i < d - k; i++)
				v *= s;
			for (int i = 0; i < k; i++)
				v *= t;
			term[n++] = v;
		}
	return n;
}

static bool
ray(const struct ordered_camera *camera, const double X[3], double st[2])
{
	const double *P = camera->P;
	double w = P[8] * X[0] + P[9] * X[1] + P[10] * X[2] + P[11];

	st[0] = (P[0] * X[0] + P[1] * X[1] + P[2] * X[2] + P[3]) / w;
	st[1] = (P[4] * X[0] + P[5] * X[1] + P[6] * X[2] + P[7]) / w;
	st[0] = (st[0] - camera->middle[0]) / camera->scale[0];
	st[1] = (st[1] - camera->middle[1]) / camera->scale[1];
	return w * camera->side > 0 && fabs(st[0]) < OUTSIDE && fabs(st[1]) < OUTSIDE;
}

static bool
ordered_camera_project(const struct ordered_camera *camera, const double X[3], double uv[2])
{
	const double *a = camera->u, *b = camera->v;
	double st[2], s, t, t2, t3, t4, t5;

	if (!ray(camera, X, st))
		return false;
	s = st[0];
	t = st[1];
	t2 = t * t;
	t3 = t2 * t;
	t4 = t2 * t2;
	t5 = t4 * t;
	/* term 1; s t; s2 st t2; ... by powers of s */
#define POLYNOMIAL(c) ((((((c)[15] * s + (c)[10] + (c)[16] * t) * s + (c)[6] + (c)[11] * t + \
	(c)[17] * t2) * s + (c)[3] + (c)[7] * t + (c)[12] * t2 + (c)[18] * t3) * s + (c)[1] + \
	(c)[4] * t + (c)[8] * t2 + (c)[13] * t3 + (c)[19] * t4) * s + (c)[0] + (c)[2] * t + \
	(c)[5] * t2 + (c)[9] * t3 + (c)[14] * t4 + (c)[20] * t5)
	uv[0] = POLYNOMIAL(a);
	uv[1] = POLYNOMIAL(b);
	return true;
}

static double
off_px(const struct ordered_camera *camera, const double sample[5])
{
	double uv[2];

	return ordered_camera_project(camera, sample, uv) ?
	    hypot(uv[0] - sample[3], uv[1] - sample[4]) : INFINITY;
}

/* The range of s and t, and the side of P's plane that the points lie on; false where they lie on
 * both. */
static bool
find_range(const double (*sample)[5], size_t n, struct ordered_camera *camera)
{
	double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
	const double *P = camera->P;
	size_t ahead = 0;

	for (size_t i = 0; i < n; i++)
		ahead += P[8] * sample[i][0] + P[9] * sample[i][1] + P[10] * sample[i][2] + P[11] >
		    0;
	camera->side = 2 * ahead > n ? 1 : -1;
	if (ahead > n / 20 && ahead < n - n / 20)
		return false;
	for (size_t i = 0; i < n; i++) {
		double w = P[8] * sample[i][0] + P[9] * sample[i][1] + P[10] * sample[i][2] + P[11];

		for (size_t k = 0; k < 2 && w * camera->side > 0; k++) {
			double s = (P[4 * k] * sample[i][0] + P[4 * k + 1] * sample[i][1] +
			    P[4 * k + 2] * sample[i][2] + P[4 * k + 3]) / w;

			low[k] = fmin(low[k], s);
			high[k] = fmax(high[k], s);
		}
	}
	for (size_t k = 0; k < 2; k++) {
		camera->middle[k] = (low[k] + high[k]) / 2;
		camera->scale[k] = (high[k] - low[k]) / 2;
	}
	return camera->scale[0] > 0 && camera->scale[1] > 0;
}

/* The polynomial to the pixels of points that are at most `limit` off now. */
static bool
fit_polynomial(const double (*sample)[5], size_t n, int degree, double limit,
    struct ordered_camera *camera)
{
	double a[ORDERED_VIEW_TERMS * ORDERED_VIEW_TERMS] = { 0 };
	double b[ORDERED_VIEW_TERMS * 2] = { 0 };
	size_t terms = 0;

	for (size_t i = 0; i < n; i++) {
		double st[2], term[ORDERED_VIEW_TERMS];

		if (!ray(camera, sample[i], st) ||
		    (limit < INFINITY && off_px(camera, sample[i]) > limit))
			continue;
		terms = terms_of(st[0], st[1], degree, term);
		for (size_t k = 0; k < terms; k++) {
			for (size_t l = 0; l <= k; l++)
				a[k * terms + l] += term[k] * term[l];
			b[2 * k] += term[k] * sample[i][3];
			b[2 * k + 1] += term[k] * sample[i][4];
		}
	}
	if (terms == 0 || !symmetric_factor(terms, a, 1e-10))
		return false;
	symmetric_solve(terms, a, b, 2);
	memset(camera->u, 0, sizeof(camera->u));
	memset(camera->v, 0, sizeof(camera->v));
	for (size_t k = 0; k < terms; k++) {
		camera->u[k] = b[2 * k];
		camera->v[k] = b[2 * k + 1];
	}
	return true;
}

/* From the median, so that gross errors do not count; work holds n. */
static double
robust_rms(const double (*sample)[5], size_t n, const struct ordered_camera *camera, double *work)
{
	for (size_t i = 0; i < n; i++)
		work[i] = off_px(camera, sample[i]);
	return statistics_ranked(work, n, n / 2) * 1.2;	/* Rayleigh: rms over median */
}

static void
fit_rays(const double (*sample)[5], size_t n, struct ordered_camera *camera, double *work)
{
	camera->rms_px = INFINITY;
	if (!find_range(sample, n, camera))
		return;
	for (int degree = LENS_DEGREE; degree >= 1; degree -= 2) {
		if (!fit_polynomial(sample, n, degree, INFINITY, camera))
			continue;
		camera->rms_px = robust_rms(sample, n, camera, work);
		if (fit_polynomial(sample, n, degree, fmax(TRIM_RMS * camera->rms_px, 0.1), camera))
			camera->rms_px = robust_rms(sample, n, camera, work);
		return;
	}
}

/* ---- other cameras than one in the origin ---- */

/* The principal axes of the points over their standard deviations, as a 3x4 matrix. */
static void
whiten(const double (*sample)[5], size_t n, double W[12], double deviation[3])
{
	double mean[3] = { 0 }, a[9] = { 0 }, vector[9];

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 3; k++)
			mean[k] += sample[i][k] / (double)n;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 9; k++)
			a[k] += (sample[i][k / 3] - mean[k / 3]) *
			    (sample[i][k % 3] - mean[k % 3]) / (double)n;
	symmetric_eigen(3, a, deviation, vector);
	for (size_t i = 0; i < 3; i++) {
		deviation[i] = sqrt(fmax(deviation[i], 0));
		W[4 * i + 3] = 0;
		for (size_t k = 0; k < 3; k++) {
			W[4 * i + k] = vector[3 * i + k] / fmax(deviation[i], 1e-9);
			W[4 * i + 3] -= W[4 * i + k] * mean[k];
		}
	}
}

/* The direct linear transform: P to centred pixels, of whitened points. */
static void
fit_projection(const double (*sample)[5], size_t n, const double W[12], double P[12])
{
	double a[144] = { 0 }, value[12], vector[144], middle[2] = { 0 }, scale = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 2; k++)
			middle[k] += sample[i][3 + k] / (double)n;
	for (size_t i = 0; i < n; i++)
		scale += hypot(sample[i][3] - middle[0], sample[i][4] - middle[1]) / (double)n;
	for (size_t i = 0; i < n; i++)
		for (size_t axis = 0; axis < 2; axis++) {
			double uv = (sample[i][3 + axis] - middle[axis]) / scale, row[12] = { 0 };

			for (size_t k = 0; k < 4; k++) {
				double v = k == 3 ? 1 : W[4 * k] * sample[i][0] + W[4 * k + 1] *
				    sample[i][1] + W[4 * k + 2] * sample[i][2] + W[4 * k + 3];

				row[4 * axis + k] = v;
				row[8 + k] = -uv * v;
			}
			for (size_t k = 0; k < 144; k++)
				a[k] += row[k / 12] * row[k % 12];
		}
	symmetric_eigen(12, a, value, vector);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 4; k++) {
			const double *row = vector + 132 + 4 * i;

			P[4 * i + k] = row[0] * W[k] + row[1] * W[4 + k] + row[2] * W[8 + k] +
			    (k == 3 ? row[3] : 0);
		}
}

static void
take_better(const struct ordered_camera *other, struct ordered_camera *camera)
{
	if (other->rms_px < camera->rms_px)
		*camera = *other;
}

void
ordered_camera_fit(const double (*sample)[5], size_t n, struct ordered_camera *camera)
{
	struct ordered_camera other = { 0 };
	double W[12], deviation[3], *work = must_alloc(n, sizeof(*work));

	*camera = (struct ordered_camera){ 0 };
	memcpy(camera->P, own_frame, sizeof(own_frame));
	fit_rays(sample, n, camera, work);
	if (camera->rms_px > WELL_PX) {
		whiten(sample, n, W, deviation);
		fit_projection(sample, n, W, other.P);
		fit_rays(sample, n, &other, work);
		take_better(&other, camera);
	}
	if (camera->rms_px > WELL_PX) {
		/* of a flat surface, where no centre can be told: along its normal */
		memcpy(other.P, W, 8 * sizeof(*W));
		memcpy(other.P + 8, (double[4]){ 0, 0, 0, 1 }, 4 * sizeof(*W));
		fit_rays(sample, n, &other, work);
		take_better(&other, camera);
	}
	free(work);
}

#define POINTS_LEAST 1000
#define CAMERA_POINTS 3000	/* points that the camera is fitted to, about */
#define CAMERA_POINTS_LEAST 100
#define NOISE_POINTS 30000	/* points that noise and pitch are taken from, about */
#define OFF_PX 1.0		/* rms beyond which no pinhole saw the points */
#define HALF_WINDOW 2		/* of the window that a normal is fitted in */
#define GRAZING 0.15		/* cosine of ray and normal below which a normal is an edge's */

struct making {
	const struct frame *frame;
	size_t x[3];
	struct ordered_view *view;
	float *sums;			/* per pixel: sum and slope along the row of x y z */
};

static void
copy_row(void *arg, size_t y)
{
	const struct making *making = arg;
	struct ordered_view *view = making->view;
	const float *v[3];

	for (size_t k = 0; k < 3; k++)
		v[k] = frame_floats(making->frame, making->x[k], y);
	for (size_t x = 0; x < view->w; x++) {
		struct ordered_pixel *pixel = &view->pixel[y * view->w + x];
		bool valid = isfinite(v[0][x]) && isfinite(v[1][x]) && isfinite(v[2][x]);

		for (size_t k = 0; k < 3; k++) {
			pixel->point[k] = valid ? v[k][x] : PX_NAN;
			pixel->normal[k] = pixel->mean[k] = PX_NAN;
		}
	}
}

/* Sums along the row, of 5 points: NaN where one of them is missing. */
static void
sum_row(void *arg, size_t y)
{
	const struct making *making = arg;
	const struct ordered_pixel *pixel = making->view->pixel + y * making->view->w;
	float *sums = making->sums + 6 * y * making->view->w;

	for (size_t x = HALF_WINDOW; x + HALF_WINDOW < making->view->w; x++)
		for (size_t k = 0; k < 3; k++) {
			float middle = pixel[x].point[k];
			float a = pixel[x - 2].point[k] - middle;
			float b = pixel[x - 1].point[k] - middle;
			float c = pixel[x + 1].point[k] - middle;
			float d = pixel[x + 2].point[k] - middle;

			sums[6 * x + k] = a + b + c + d;	/* about the middle */
			sums[6 * x + 3 + k] = 2 * (d - a) + c - b;
		}
}

/* The unit normal of two directions; false where they are one. */
static bool
unit_normal(const double a[3], const double b[3], float n[3])
{
	double v[3], length;

	vector3_cross(a, b, v);
	length = vector3_dot(v, v);
	if (!(length > 0))
		return false;
	for (size_t k = 0; k < 3; k++)
		n[k] = (float)(v[k] / sqrt(length));
	return true;
}

/* The slopes of a plane's least squares fit in 5 x 5 points. */
static void
normal_row(void *arg, size_t y)
{
	const struct making *making = arg;
	struct ordered_view *view = making->view;
	size_t w = view->w;

	if (y < HALF_WINDOW || y + HALF_WINDOW >= view->h)
		return;
	for (size_t x = HALF_WINDOW; x + HALF_WINDOW < w; x++) {
		struct ordered_pixel *pixel = view->pixel + y * w + x;
		double along[3], down[3];
		float n[3], mean[3];

		for (size_t k = 0; k < 3; k++) {
			const float *s = making->sums + 6 * (y * w + x) + k;
			const ptrdiff_t row = (ptrdiff_t)(6 * w);
			double p[4], sum = s[0];

			along[k] = (double)s[3 - 2 * row] + s[3 - row] + s[3] + s[3 + row] +
			    s[3 + 2 * row];
			/* sums are about the middle of their own row */
			for (ptrdiff_t j = 0; j < 4; j++) {
				ptrdiff_t at = j < 2 ? j - 2 : j - 1;

				p[j] = s[at * row] + 5.0 * ((double)
				    pixel[at * (ptrdiff_t)w].point[k] - pixel->point[k]);
			}
			for (size_t j = 0; j < 4; j++)
				sum += p[j];
			down[k] = 2 * (p[3] - p[0]) + p[2] - p[1];
			mean[k] = (float)(pixel->point[k] + sum / 25);
		}
		if (!unit_normal(along, down, n) || isnan(n[0]))
			continue;
		memcpy(pixel->normal, n, sizeof(n));
		memcpy(pixel->mean, mean, sizeof(mean));
	}
}

/* ---- camera ---- */

/* False: no pinhole saw enough points in this order. */
static bool
fit_camera(struct ordered_view *view)
{
	size_t step = (size_t)fmax(1, sqrt((double)view->points / CAMERA_POINTS)), n = 0;
	double (*sample)[5] = must_alloc(view->w / step + 1,
	    (view->h / step + 1) * sizeof(*sample));

	for (size_t y = step / 2; y < view->h; y += step)
		for (size_t x = step / 2; x < view->w; x += step) {
			const float *p = view->pixel[y * view->w + x].point;

			if (isnan(p[0]))
				continue;
			memcpy(sample[n++], (double[5]){ p[0], p[1], p[2], (double)x, (double)y },
			    sizeof(*sample));
		}
	if (n >= CAMERA_POINTS_LEAST)
		ordered_camera_fit((const double (*)[5])sample, n, &view->camera);
	free(sample);
	return n >= CAMERA_POINTS_LEAST && view->camera.rms_px <= OFF_PX;
}

/* Normals next to square to their ray are those of steps between two surfaces. */
static void
drop_edges_row(void *arg, size_t y)
{
	const struct making *making = arg;
	struct ordered_view *view = making->view;
	const double *P = view->camera.P;

	for (size_t x = 0; x < view->w; x++) {
		struct ordered_pixel *pixel = &view->pixel[y * view->w + x];
		double w = P[11], ray[3], dot = 0, st[2] = { P[3], P[7] }, a[3], b[3];

		if (isnan(pixel->normal[0]))
			continue;
		for (size_t k = 0; k < 3; k++) {
			w += P[8 + k] * pixel->point[k];
			st[0] += P[k] * pixel->point[k];
			st[1] += P[4 + k] * pixel->point[k];
		}
		/* s and t stay along the ray: it is square to both of their gradients */
		for (size_t k = 0; k < 3; k++) {
			a[k] = P[k] - st[0] / w * P[8 + k];
			b[k] = P[4 + k] - st[1] / w * P[8 + k];
		}
		vector3_cross(a, b, ray);
		for (size_t k = 0; k < 3; k++)
			dot += ray[k] * pixel->normal[k];
		if (!(fabs(dot) > GRAZING * sqrt(vector3_dot(ray, ray))))
			pixel->normal[0] = pixel->normal[1] = pixel->normal[2] = PX_NAN;
	}
}

/* ---- noise and pitch ---- */

static void
measure(struct ordered_view *view)
{
	size_t step = (size_t)fmax(1, sqrt((double)view->points / NOISE_POINTS)), n = 0;
	size_t most = (view->w / step + 1) * (view->h / step + 1);
	float *bend = must_alloc(most, sizeof(*bend)), *pitch = must_alloc(most, sizeof(*pitch));

	for (size_t y = step / 2; y < view->h; y += step)
		for (size_t x = HALF_WINDOW + step / 2; x + HALF_WINDOW < view->w; x += step) {
			const struct ordered_pixel *pixel = &view->pixel[y * view->w + x];
			double sum = 0, square = 0;

			if (isnan(pixel->normal[0]))
				continue;
			/* the third difference: curvature is not in it */
			for (size_t k = 0; k < 3; k++) {
				double d = pixel[2].point[k] - 3.0 * pixel[1].point[k] +
				    3.0 * pixel[0].point[k] - pixel[-1].point[k];

				sum += d * pixel->normal[k];
				square += pow((double)pixel[2].point[k] - pixel[-2].point[k], 2);
			}
			bend[n] = (float)fabs(sum);
			pitch[n++] = (float)(sqrt(square) / 4);
		}
	view->noise = 1.4826 * numbers_median(bend, n) / sqrt(20);
	view->pitch = numbers_median(pitch, n);
	free(bend);
	free(pitch);
}

bool
ordered_view_make(struct run *run, const struct frame *frame, struct ordered_view *view)
{
	struct making making = { .frame = frame, .view = view };
	bool made;

	*view = (struct ordered_view){ .w = frame->head.w, .h = frame->head.h };
	if (head_is_table(&frame->head) || view->h <= 2 * HALF_WINDOW || view->w <= 2 * HALF_WINDOW)
		return false;
	head_xyz(&frame->head, making.x);
	view->pixel = must_alloc(view->w * view->h, sizeof(*view->pixel));
	making.sums = must_alloc(6 * view->w * view->h, sizeof(*making.sums));
	run_for(run, view->h, copy_row, &making);
	for (size_t i = 0; i < view->w * view->h; i++)
		view->points += isnan(view->pixel[i].point[0]) ? 0 : 1;
	made = view->points >= POINTS_LEAST && fit_camera(view);
	if (made) {
		run_for(run, view->h, sum_row, &making);
		run_for(run, view->h, normal_row, &making);
		run_for(run, view->h, drop_edges_row, &making);
		measure(view);
	}
	free(making.sums);
	if (!made)
		ordered_view_free(view);
	return made;
}

bool
ordered_view_project(const struct ordered_view *view, const double X[3], double uv[2])
{
	return ordered_camera_project(&view->camera, X, uv) && uv[0] >= 0 && uv[1] >= 0 &&
	    uv[0] <= (double)view->w - 1 && uv[1] <= (double)view->h - 1;
}

bool
ordered_view_surface(const struct ordered_view *view, const double uv[2], double X[3])
{
	size_t x = (size_t)uv[0], y = (size_t)uv[1];
	size_t right = x + 1 < view->w, down = y + 1 < view->h ? view->w : 0;
	const struct ordered_pixel *at = view->pixel + y * view->w + x;
	double fx = uv[0] - (double)x, fy = uv[1] - (double)y;

	for (size_t k = 0; k < 3; k++)
		X[k] = (1 - fy) * ((1 - fx) * at[0].point[k] + fx * at[right].point[k]) +
		    fy * ((1 - fx) * at[down].point[k] + fx * at[down + right].point[k]);
	return !isnan(X[0]);
}

void
ordered_view_free(struct ordered_view *view)
{
	free(view->pixel);
	*view = (struct ordered_view){ 0 };
}
