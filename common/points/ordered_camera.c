#include "points/ordered_camera.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"

#define DEGREE 5
#define WELL_PX 0.5		/* a fit this good needs no other model */
#define OUTSIDE 1.3		/* of the range of s and t: a polynomial says nothing beyond */
#define TRIM 4			/* times the rms: points beyond take no part in the second fit */

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

bool
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

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* From the median, so that gross errors do not count; work holds n. */
static double
robust_rms(const double (*sample)[5], size_t n, const struct ordered_camera *camera, double *work)
{
	for (size_t i = 0; i < n; i++)
		work[i] = off_px(camera, sample[i]);
	qsort(work, n, sizeof(*work), compare_doubles);
	return work[n / 2] * 1.2;	/* of a Rayleigh distribution: rms over median */
}

static void
fit_rays(const double (*sample)[5], size_t n, struct ordered_camera *camera, double *work)
{
	camera->rms_px = INFINITY;
	if (!find_range(sample, n, camera))
		return;
	for (int degree = DEGREE; degree >= 1; degree -= 2) {
		if (!fit_polynomial(sample, n, degree, INFINITY, camera))
			continue;
		camera->rms_px = robust_rms(sample, n, camera, work);
		if (fit_polynomial(sample, n, degree, fmax(TRIM * camera->rms_px, 0.1), camera))
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

int
ordered_camera_fit(const double (*sample)[5], size_t n, struct ordered_camera *camera)
{
	struct ordered_camera other = { 0 };
	double W[12], deviation[3], *work = malloc(n * sizeof(*work));

	if (!work)
		return fail_memory();
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
	return 0;
}
