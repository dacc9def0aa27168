/*
 * Saddle points and blobs to a fraction of a pixel: derivatives of Gaussians, their extrema, and
 * refinement by least squares.
 */
#include "feature/corner.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"
#include "feature/derivative_rows.h"
#include "feature/line.h"

size_t
derivatives_radius(double sigma)
{
	return (size_t)ceil(4 * sigma);
}

/* Solves the 3 x 3 system m a = b; m is overwritten. It is well conditioned here. */
static void
solve(double m[3][3], double b[3], double a[3])
{
	for (int i = 0; i < 3; i++) {
		for (int j = i + 1; j < 3; j++) {
			double f = m[j][i] / m[i][i];

			for (int k = i; k < 3; k++)
				m[j][k] -= f * m[i][k];
			b[j] -= f * b[i];
		}
	}
	for (int i = 2; i >= 0; i--) {
		double sum = b[i];

		for (int k = i + 1; k < 3; k++)
			sum -= m[i][k] * a[k];
		a[i] = sum / m[i][i];
	}
}

/* The first `conditions` moments of the weights about the offset become wanted[]: adds the Gaussian
 * times a polynomial, of which a kernel that is nearly right needs little. moment[]: the
 * Gaussian's. */
static void
set_moments(double *weight, const double *gaussian, const double moment[5], size_t radius,
    double offset, double sigma, const double wanted[3], int conditions)
{
	double matrix[3][3] = { { 0 } }, missing[3] = { 0 }, a[3];

	for (int i = 0; i < conditions; i++) {
		missing[i] = wanted[i];
		for (int k = 0; k < conditions; k++)
			matrix[i][k] = moment[i + k];
	}
	for (int i = conditions; i < 3; i++)
		matrix[i][i] = 1;
	for (size_t j = 0; j <= 2 * radius; j++) {
		double u = ((double)j - (double)radius - offset) / sigma;

		missing[0] -= weight[j];
		missing[1] -= weight[j] * u;
		missing[2] -= weight[j] * u * u;
	}
	for (int i = conditions; i < 3; i++)
		missing[i] = 0;
	solve(matrix, missing, a);
	for (size_t j = 0; j <= 2 * radius; j++) {
		double u = ((double)j - (double)radius - offset) / sigma;

		weight[j] += gaussian[j] * (a[0] + u * (a[1] + u * a[2]));
	}
}

void
derivative_weights(double sigma, size_t radius, double offset, double *const weight[3])
{
	const double wanted[3][3] =
	    { { 1, 0, 0 }, { 0, 1 / sigma, 0 }, { 0, 0, 2 / (sigma * sigma) } };
	double scale = 1 / (sigma * sqrt(2 * M_PI)), moment[5] = { 0 };
	double from = (-(double)radius - offset - 0.5) / sigma;
	double g_from = scale * exp(-from * from / 2), beyond_from = erfc(fabs(from) * M_SQRT1_2);

	for (size_t j = 0; j <= 2 * radius; j++) {
		double to = ((double)j - (double)radius - offset + 0.5) / sigma;
		double g_to = scale * exp(-to * to / 2), beyond_to = erfc(fabs(to) * M_SQRT1_2);
		double u = ((double)j - (double)radius - offset) / sigma, power;

		/* of the same sign both, so that little is lost in the difference */
		weight[0][j] = (from > 0 ? beyond_from - beyond_to :
		    to < 0 ? beyond_to - beyond_from : 2 - beyond_from - beyond_to) / 2;
		weight[1][j] = g_from - g_to;
		weight[2][j] = (g_from * from - g_to * to) / sigma;
		power = weight[0][j];
		for (int i = 0; i < 5; i++, power *= u)
			moment[i] += power;
		from = to;
		g_from = g_to;
		beyond_from = beyond_to;
	}
	set_moments(weight[1], weight[0], moment, radius, offset, sigma, wanted[1], 3);
	set_moments(weight[2], weight[0], moment, radius, offset, sigma, wanted[2], 3);
	set_moments(weight[0], weight[0], moment, radius, offset, sigma, wanted[0], 2);
}

int
derivative_kernels_init(struct derivative_kernels *k, double sigma, size_t radius)
{
	double full[3][2 * DERIVATIVES_RADIUS_MOST + 1];

	if (!(sigma >= DERIVATIVES_SIGMA_LEAST))
		return fail("sigma", "%g px is below %g px, too narrow for derivatives of pixels",
		    sigma, DERIVATIVES_SIGMA_LEAST);
	if (!radius)
		radius = sigma < DERIVATIVES_RADIUS_MOST ? derivatives_radius(sigma) :
		    DERIVATIVES_RADIUS_MOST + 1;
	if (radius > DERIVATIVES_RADIUS_MOST)
		return fail("sigma", "%g px needs a kernel of more than %d px on each side", sigma,
		    DERIVATIVES_RADIUS_MOST);
	if ((double)radius < 2 * sigma)
		return fail("sigma", "a kernel of %zu px on each side is too small for %g px",
		    radius, sigma);
	k->sigma = sigma;
	k->radius = radius;
	k->row = derivatives_row;
	derivative_weights(sigma, radius, 0, (double *const[3]){ full[0], full[1], full[2] });
	for (int order = 0; order < 3; order++) {
		for (size_t j = 0; j <= radius; j++)
			k->weight[order][j] = (float)full[order][radius + j];
	}
	return 0;
}

size_t
derivatives_work(const struct derivative_kernels *k, size_t w)
{
	return 3 * derivative_work_row(k, w);
}

void
derivatives_row(const struct derivative_kernels *k, const struct derivative_plane *in, size_t y,
    float *work, float *const out[DERIVATIVES])
{
	derivative_row(k, in, y, work, out);
}

/* n samples of row y from column x on, whole numbers both, the border's beyond it: in place, or in
 * room[n]. */
static const float *
derivative_window(const struct derivative_plane *in, double x, double y, size_t n, float *room)
{
	const float *row = in->v + in->stride * (size_t)fmin(fmax(y, 0), (double)(in->h - 1));

	if (x >= 0 && x + (double)n <= (double)in->w)
		return row + (size_t)x;
	for (size_t i = 0; i < n; i++)
		room[i] = row[(size_t)fmin(fmax(x + (double)i, 0), (double)(in->w - 1))];
	return room;
}

/* Sums of n samples by the three weights. */
static void
sum_row(const float *v, double *const weight[3], size_t n, double sum[3])
{
	const double *smooth = weight[0], *first = weight[1], *second = weight[2];
	double a = 0, b = 0, c = 0;

#pragma omp simd reduction(+ : a, b, c)
	for (size_t i = 0; i < n; i++) {
		a += (double)v[i] * smooth[i];
		b += (double)v[i] * first[i];
		c += (double)v[i] * second[i];
	}
	sum[0] = a;
	sum[1] = b;
	sum[2] = c;
}

void
derivatives_at(const struct derivative_kernels *k, const struct derivative_plane *in, double x,
    double y, struct derivatives *to)
{
	double weight[2][3][2 * DERIVATIVES_RADIUS_MOST + 3];
	float room[2 * DERIVATIVES_RADIUS_MOST + 3];
	double nearest[2] = { floor(x + 0.5), floor(y + 0.5) };
	/* one pixel more, so that neither side is cut shorter than in the middle of a pixel */
	size_t radius = k->radius + 1, n = 2 * radius + 1;

	for (int i = 0; i < 2; i++) {
		derivative_weights(k->sigma, radius, (i ? y : x) - nearest[i],
		    (double *const[3]){ weight[i][0], weight[i][1], weight[i][2] });
	}
	*to = (struct derivatives){ 0 };
	for (size_t j = 0; j < n; j++) {
		double sum[3];

		sum_row(derivative_window(in, nearest[0] - (double)radius,
			nearest[1] + (double)j - (double)radius, n, room),
		    (double *const[3]){ weight[0][0], weight[0][1], weight[0][2] }, n, sum);
		to->x += sum[1] * weight[1][0][j];
		to->y += sum[0] * weight[1][1][j];
		to->xx += sum[2] * weight[1][0][j];
		to->xy += sum[1] * weight[1][1][j];
		to->yy += sum[0] * weight[1][2][j];
	}
}

#define LONGEST 12.0 /* ratio of the second derivatives: longer ones are lines */
#define MAX_BLOB_STEPS 10
#define STEP_LAST 0.01 /* px: after a shorter one the place is found */
#define ONE_BLOB 1.5 /* sigma: nearer ones are the same */

#define RAYS_LEAST 12
#define RAYS_MOST 96
#define ARC 1.5           /* px of edge for each ray: nearer ones share their noise */
#define STEP 0.25         /* px, along rays */
#define EDGE_NEAR 1.5     /* px from the edge: levels are read from there */
#define EDGE_FAR 3.0      /* to there */
#define SLOPE_OVER 1.0    /* px: the steepest place is that of the largest difference over it */
#define STEEP 0.6         /* of the largest difference: an edge */
#define SAMPLES_MOST 2048 /* of a ray */
#define OUTLIER 4.0       /* of the median distance from the ellipse */
#define RAYS_SHARE 0.6    /* of the rays must be on the ellipse */

void
blobs_free(struct blobs *blobs)
{
	free(blobs->blob);
	*blobs = (struct blobs){ 0 };
}

/* ---- finding blobs ---- */

/* Moves to the extremum. False where that is no blob. */
static bool
refine_blob(
    const struct derivative_plane *in, const struct derivative_kernels *k, struct blob *blob)
{
	double x = blob->x, y = blob->y;

	for (int i = 0; i < MAX_BLOB_STEPS; i++) {
		struct derivatives d;
		double det, mean, root, step[2];

		derivatives_at(k, in, x, y, &d);
		det = d.xx * d.yy - d.xy * d.xy;
		mean = 0.5 * (d.xx + d.yy);
		root = hypot(0.5 * (d.xx - d.yy), d.xy);
		if (!(det > 0) || !(fabs(mean) + root < LONGEST * (fabs(mean) - root)))
			return false;
		step[0] = (d.xy * d.y - d.yy * d.x) / det;
		step[1] = (d.xy * d.x - d.xx * d.y) / det;
		x += step[0];
		y += step[1];
		if (!(hypot(x - blob->x, y - blob->y) <= ONE_BLOB * k->sigma))
			return false;
		blob->strength = k->sigma * k->sigma * sqrt(det);
		if (hypot(step[0], step[1]) < STEP_LAST)
			break;
	}
	blob->x = x;
	blob->y = y;
	return true;
}

static bool
is_new_blob(const struct blobs *blobs, const struct blob *blob, double least)
{
	for (size_t i = 0; i < blobs->n; i++)
		if (hypot(blob->x - blobs->blob[i].x, blob->y - blobs->blob[i].y) < least)
			return false;
	return true;
}

int
blobs_find(const struct derivative_plane *in, const struct derivative_kernels *k, bool bright,
    size_t most, double least, struct blobs *blobs)
{
	struct peaks peaks;

	*blobs = (struct blobs){ 0 };
	if (peaks_find(in, k, bright ? PEAK_BRIGHT : PEAK_DARK, least, &peaks) < 0)
		return -1;
	blobs->blob = calloc(most, sizeof(*blobs->blob));
	for (size_t i = 0; blobs->blob && i < peaks.n && i < 2 * most && blobs->n < most; i++) {
		struct blob blob = { .x = peaks.peak[i].x, .y = peaks.peak[i].y };

		if (refine_blob(in, k, &blob) && is_new_blob(blobs, &blob, ONE_BLOB * k->sigma))
			blobs->blob[blobs->n++] = blob;
	}
	free(peaks.peak);
	return blobs->blob ? 0 : fail_memory();
}

/* ---- the edge ---- */

static double
read_inside(const struct derivative_plane *in, double x, double y)
{
	size_t i, j;
	double a, b;
	const float *above, *under;

	if (!(x >= 0 && y >= 0 && x < (double)in->w - 1 && y < (double)in->h - 1))
		return NAN;
	i = (size_t)x;
	j = (size_t)y;
	a = x - (double)i;
	b = y - (double)j;
	above = in->v + j * in->stride;
	under = above + in->stride;
	return (1 - b) * ((1 - a) * (double)above[i] + a * (double)above[i + 1]) +
	    b * ((1 - a) * (double)under[i] + a * (double)under[i + 1]);
}

/* The mean of a ray's samples from r0 to r1 px, as far as it has them. */
static double
mean_of(const double *ray, int n, double r0, double r1)
{
	int first = (int)fmax(ceil(r0 / STEP), 0), last = (int)fmin(floor(r1 / STEP), n - 1);
	double sum = 0;

	if (last < first)
		return ray[0];
	for (int k = first; k <= last; k++)
		sum += ray[k];
	return sum / (last - first + 1);
}

/* The first steep place of a ray, the circle's edge: its neighbours' are further out. -1: none. */
static int
first_edge(const double *ray, int n)
{
	int over = (int)(SLOPE_OVER / STEP);
	double most = 0, here = 0;
	int best = -1;

	for (int k = over; k < n; k++)
		most = fmax(most, fabs(ray[k] - ray[k - over]));
	for (int k = over; k < n; k++) {
		double slope = fabs(ray[k] - ray[k - over]);

		if (slope > here && slope > STEEP * most) {
			here = slope;
			best = k;
		} else if (best >= 0 && k > best + over) {
			break;
		}
	}
	return best;
}

/* Where a ray from the centre crosses the edge, px; NaN: nowhere. */
static double
find_edge(const struct derivative_plane *in, const struct blob *blob, double angle, double reach)
{
	int n = (int)fmin(reach / STEP, SAMPLES_MOST), over = (int)(SLOPE_OVER / STEP), steepest;
	double ray[SAMPLES_MOST], near, level;

	for (int k = 0; k < n; k++) {
		ray[k] = read_inside(
		    in, blob->x + k * STEP * cos(angle), blob->y + k * STEP * sin(angle));
		if (isnan(ray[k])) /* the border: what lies before it may do */
			n = k;
	}
	steepest = first_edge(ray, n);
	if (steepest < 0)
		return NAN;
	near = (steepest - 0.5 * over) * STEP;
	level = 0.5 *
	    (mean_of(ray, n, near - EDGE_FAR, near - EDGE_NEAR) +
		mean_of(ray, n, near + EDGE_NEAR, near + EDGE_FAR));
	for (int away = 0; away <= 2 * over; away++)
		for (int side = -1; side <= 1; side += 2) {
			int k = (int)(near / STEP) + side * away;

			if (k < 0 || k + 1 >= n || (ray[k] > level) == (ray[k + 1] > level))
				continue;
			return (k + (level - ray[k]) / (ray[k + 1] - ray[k])) * STEP;
		}
	return NAN;
}

/* ---- the ellipse ---- */

/* The conic q0 x^2 + q1 xy + q2 y^2 + q3 x + q4 y = 1, and at a point its distance (first order).
 */
static double
distance(const double q[5], const double p[2])
{
	double x = p[0], y = p[1];
	double f = q[0] * x * x + q[1] * x * y + q[2] * y * y + q[3] * x + q[4] * y - 1;

	return f / hypot(2 * q[0] * x + q[1] * y + q[3], q[1] * x + 2 * q[2] * y + q[4]);
}

/* Least squares of the distances: each equation over its gradient at the last solution. */
static bool
fit(const double (*p)[2], const bool *used, int n, double q[5])
{
	bool known = false;

	for (int round = 0; round < 4; round++) {
		double a[5][6] = { { 0 } };

		for (int k = 0; k < n; k++) {
			double x = p[k][0], y = p[k][1], w = 1;
			double row[6] = { x * x, x * y, y * y, x, y, 1 };

			if (!used[k])
				continue;
			if (known) {
				double gx = 2 * q[0] * x + q[1] * y + q[3];
				double gy = q[1] * x + 2 * q[2] * y + q[4];

				w = 1 / (gx * gx + gy * gy);
			}
			for (int i = 0; i < 5; i++)
				for (int c = 0; c < 6; c++)
					a[i][c] += w * row[i] * row[c];
		}
		if (!linear_solve(a[0], 5))
			return false;
		for (int i = 0; i < 5; i++)
			q[i] = a[i][5];
		known = true;
	}
	return 4 * q[0] * q[2] - q[1] * q[1] > 0;
}

static int
compare(const void *a, const void *b)
{
	const double *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

/* Leaves out the points far off the ellipse; the rms of the others, or NaN where they are too few.
 */
static double
judge(const double (*p)[2], bool *used, int n, int rays, const double q[5])
{
	double off[RAYS_MOST], sorted[RAYS_MOST], most, sum = 0;
	int left = 0;

	for (int k = 0; k < n; k++)
		off[k] = sorted[k] = fabs(distance(q, p[k]));
	qsort(sorted, (size_t)n, sizeof(*sorted), compare);
	most = OUTLIER * sorted[n / 2];
	for (int k = 0; k < n; k++) {
		used[k] = off[k] <= most;
		left += used[k];
		sum += used[k] ? off[k] * off[k] : 0;
	}
	/* five numbers were fitted */
	return left >= RAYS_SHARE * rays && left > 6 ? sqrt(sum / (left - 5)) : NAN;
}

bool
blob_measure(const struct derivative_plane *in, double reach, struct blob *blob, double *sd)
{
	double p[RAYS_MOST][2], q[5], rms, det, x, y, radius = find_edge(in, blob, 0, reach);
	bool used[RAYS_MOST];
	int rays, n = 0;

	if (isnan(radius))
		radius = reach / 2;
	rays = (int)fmin(fmax(2 * M_PI * radius / ARC, RAYS_LEAST), RAYS_MOST);
	for (int k = 0; k < rays; k++) {
		double angle = 2 * M_PI * k / rays, r = find_edge(in, blob, angle, reach);

		if (isnan(r))
			continue;
		/* in radii: sums of powers stay near 1 */
		p[n][0] = r * cos(angle) / radius;
		p[n][1] = r * sin(angle) / radius;
		used[n++] = true;
	}
	if (n < RAYS_SHARE * rays || n <= 6 || !fit((const double(*)[2])p, used, n, q) ||
	    isnan(judge((const double(*)[2])p, used, n, rays, q)) ||
	    !fit((const double(*)[2])p, used, n, q))
		return false;
	rms = judge((const double(*)[2])p, used, n, rays, q);
	det = 4 * q[0] * q[2] - q[1] * q[1];
	x = (q[1] * q[4] - 2 * q[2] * q[3]) / det;
	y = (q[1] * q[3] - 2 * q[0] * q[4]) / det;
	if (isnan(rms) || !(hypot(x, y) < 1))
		return false;
	blob->x += x * radius;
	blob->y += y * radius;
	*sd = rms * radius * sqrt(2.0 / n);
	return true;
}

#define MAX_CORNER_STEPS 20
#define ENOUGH 1e-3 /* px: a step below it is the last; what is left is its square */
#define ENOUGH_TO_FIND 0.05
#define RING 32         /* places on the ring that angles are read from */
#define RING_RADIUS 2.0 /* sigma */
#define ONE_SADDLE 1.5  /* sigma: nearer ones are the same */

void
saddles_free(struct saddles *saddles)
{
	free(saddles->saddle);
	*saddles = (struct saddles){ 0 };
}

/* False where it is none. */
static bool
describe(const struct derivatives *d, double sigma, struct saddle *saddle)
{
	double det = d->xx * d->yy - d->xy * d->xy;
	double mean = 0.5 * (d->xx + d->yy), half = 0.5 * (d->xx - d->yy);
	double root = hypot(half, d->xy), low = mean - root, high = mean + root;

	if (!(det < 0) || !(high > 0) || !(low < 0))
		return false;
	saddle->strength = sigma * sigma * sqrt(-det);
	saddle->light = 0.5 * atan2(d->xy, half);
	if (saddle->light < 0)
		saddle->light += M_PI;
	saddle->open = M_PI / 4;
	return true;
}

/* saddle_refine() to the step that is enough. */
static bool
refine_corner(const struct derivative_plane *in, const struct derivative_kernels *k, double reach,
    double enough, struct saddle *saddle)
{
	struct saddle at = *saddle;

	for (int i = 0; i < MAX_CORNER_STEPS; i++) {
		struct derivatives d;
		double det, step[2], length;

		derivatives_at(k, in, at.x, at.y, &d);
		if (!describe(&d, k->sigma, &at))
			return false;
		det = d.xx * d.yy - d.xy * d.xy;
		step[0] = (d.xy * d.y - d.yy * d.x) / det;
		step[1] = (d.xy * d.x - d.xx * d.y) / det;
		length = hypot(step[0], step[1]);
		/* the image is no parabola: no step beyond its curvature's reach */
		if (length > k->sigma) {
			step[0] *= k->sigma / length;
			step[1] *= k->sigma / length;
		}
		at.x += step[0];
		at.y += step[1];
		if (!(hypot(at.x - saddle->x, at.y - saddle->y) <= reach))
			return false;
		if (length < enough) {
			*saddle = at;
			return true;
		}
	}
	return false;
}

bool
saddle_refine(const struct derivative_plane *in, const struct derivative_kernels *k, double reach,
    struct saddle *saddle)
{
	return refine_corner(in, k, reach, ENOUGH, saddle);
}

/* ---- finding saddles ---- */

static bool
is_new_saddle(const struct saddles *saddles, const struct saddle *saddle, double least)
{
	for (size_t i = 0; i < saddles->n; i++)
		if (hypot(saddle->x - saddles->saddle[i].x, saddle->y - saddles->saddle[i].y) <
		    least)
			return false;
	return true;
}

static double
read_bilinear(const struct derivative_plane *in, double x, double y)
{
	double column = fmin(fmax(x, 0), (double)(in->w - 1)),
	       row = fmin(fmax(y, 0), (double)(in->h - 1));
	size_t i = (size_t)column, j = (size_t)row;
	size_t right = i + 1 < in->w ? i + 1 : i, below = j + 1 < in->h ? j + 1 : j;
	const float *above = in->v + j * in->stride, *under = in->v + below * in->stride;
	double a = column - (double)i, b = row - (double)j;

	return (1 - b) * ((1 - a) * (double)above[i] + a * (double)above[right]) +
	    b * ((1 - a) * (double)under[i] + a * (double)under[right]);
}

/*
 * What H cannot tell, whose eigenvalues are opposite whatever the angle of the edges: from the
 * values on a ring about the saddle. Two bright quarters of half angle a have the harmonics 4/(pi
 * m) sin(m a) for even m and none for odd m, so that the fourth over the second is cos 2a. False
 * where the odd ones are as strong: that is no meeting of four quarters.
 */
static bool
measure_open(const struct derivative_plane *in, double radius, struct saddle *saddle)
{
	double harmonic[5][2] = { { 0 } }, odd, c2;

	for (int k = 0; k < RING; k++) {
		double angle = 2 * M_PI * k / RING;
		double v = read_bilinear(in, saddle->x + radius * cos(saddle->light + angle),
		    saddle->y + radius * sin(saddle->light + angle));

		for (int m = 1; m <= 4; m++) {
			harmonic[m][0] += v * cos(m * angle);
			harmonic[m][1] += v * sin(m * angle);
		}
	}
	odd = hypot(hypot(harmonic[1][0], harmonic[1][1]), hypot(harmonic[3][0], harmonic[3][1]));
	c2 = harmonic[2][0];
	if (!(c2 > odd))
		return false;
	saddle->open = 0.5 * acos(fmin(fmax(harmonic[4][0] / c2, -0.95), 0.95));
	return true;
}

/* The strongest of the peaks that are saddles. */
static int
take_peaks(const struct derivative_plane *in, const struct derivative_kernels *k,
    const struct peaks *peaks, size_t most, struct saddles *saddles)
{
	saddles->saddle = calloc(most, sizeof(*saddles->saddle));
	if (!saddles->saddle)
		return fail_memory();
	for (size_t i = 0; i < peaks->n && i < 2 * most && saddles->n < most; i++) {
		struct saddle saddle = { .x = peaks->peak[i].x, .y = peaks->peak[i].y };

		if (refine_corner(in, k, ONE_SADDLE * k->sigma, ENOUGH_TO_FIND, &saddle) &&
		    measure_open(in, RING_RADIUS * k->sigma, &saddle) &&
		    is_new_saddle(saddles, &saddle, ONE_SADDLE * k->sigma))
			saddles->saddle[saddles->n++] = saddle;
	}
	return 0;
}

int
saddles_find(const struct derivative_plane *in, const struct derivative_kernels *k, size_t most,
    double least, struct saddles *saddles)
{
	struct peaks peaks;
	int status;

	*saddles = (struct saddles){ 0 };
	if (peaks_find(in, k, PEAK_SADDLE, least, &peaks) < 0)
		return -1;
	status = take_peaks(in, k, &peaks, most, saddles);
	free(peaks.peak);
	if (status < 0)
		saddles_free(saddles);
	return status;
}

/* ---- uncertainty of a saddle ---- */

#define PROBE_SIGMA 1.0 /* px: of the smoothing that places of no pixel are read with */
#define PROBE_RADIUS 5
#define PROBE_SIDE (2 * PROBE_RADIUS + 1)
#define PROBES_SIDE 8 /* on each side of the saddle, at least */
#define PROBES_LINE (4 * PROBES_SIDE + 1)
#define PROBE_REACH 4 /* sigma: the kernels' own */
#define PROBE_SPAN (2 * DERIVATIVES_RADIUS_MOST + PROBE_SIDE)

/* Places that have one fraction of a pixel in common, `step` px from each other, -side to side
 * along x and along y about the middle one. */
struct probes {
	double at[2]; /* the middle one, px */
	int step, side;
	double weight[2][PROBE_SIDE]; /* of pixels about a place, along x and along y */
};

static void
probes_init(struct probes *probes, double x, double y, int step, int side)
{
	*probes = (struct probes){ .at = { x, y }, .step = step, .side = side };
	for (int i = 0; i < 2; i++) {
		double unused[2][PROBE_SIDE], at = probes->at[i];

		derivative_weights(PROBE_SIGMA, PROBE_RADIUS, at - floor(at + 0.5),
		    (double *const[3]){ probes->weight[i], unused[0], unused[1] });
	}
}

/* The smoothed image at the places of line j: value[i + side]. */
static void
probes_read(const struct probes *probes, const struct derivative_plane *in, int j, double *value)
{
	size_t n = (size_t)(2 * probes->side * probes->step + PROBE_SIDE);
	double column = floor(probes->at[0] + 0.5) - probes->side * probes->step - PROBE_RADIUS;
	double row = floor(probes->at[1] + 0.5) + j * probes->step - PROBE_RADIUS;
	double sum[PROBE_SPAN] = { 0 };
	float room[PROBE_SPAN];

	for (int k = 0; k < PROBE_SIDE; k++) {
		const float *v = derivative_window(in, column, row + k, n, room);
		double weight = probes->weight[1][k];

		for (size_t i = 0; i < n; i++)
			sum[i] += weight * (double)v[i];
	}
	for (int i = 0; i <= 2 * probes->side; i++) {
		value[i] = 0;
		for (int k = 0; k < PROBE_SIDE; k++)
			value[i] += probes->weight[0][k] * sum[i * probes->step + k];
	}
}

/*
 * Variance of a pixel's noise, from differences of places that a half turn about the saddle takes
 * to each other: pixels on one side.
 */
static double
pixel_variance(const struct derivative_plane *in, double reach, const struct saddle *saddle)
{
	double near[2] = { floor(saddle->x + 0.5), floor(saddle->y + 0.5) }, sum = 0, n = 0;
	int step = (int)fmax(1, floor(reach / PROBES_SIDE)), side = (int)(reach / step);
	struct probes here, turned;

	probes_init(&here, near[0], near[1], step, side);
	probes_init(&turned, 2 * saddle->x - near[0], 2 * saddle->y - near[1], step, side);
	for (int j = 0; j <= side; j++) {
		double a[PROBES_LINE], b[PROBES_LINE];

		probes_read(&here, in, j, a);
		probes_read(&turned, in, -j, b);
		for (int i = j ? -side : 1; i <= side; i++) {
			double off = a[side + i] - b[side - i];

			if (hypot(i, j) * step > reach)
				continue;
			sum += off * off;
			n++;
		}
	}
	/* white noise of variance 1, smoothed, has 1/(4 pi PROBE_SIGMA^2); a difference twice that
	 */
	return 2 * M_PI * PROBE_SIGMA * PROBE_SIGMA * sum / n;
}

double
saddle_sigma(const struct derivative_plane *in, const struct derivative_kernels *k,
    const struct saddle *saddle)
{
	double reach = fmin(PROBE_REACH * k->sigma, DERIVATIVES_RADIUS_MOST);
	double variance = pixel_variance(in, reach, saddle), s2 = k->sigma * k->sigma;
	struct derivatives d;
	double det, inverse;

	derivatives_at(k, in, saddle->x, saddle->y, &d);
	det = d.xx * d.yy - d.xy * d.xy;
	/* white noise gives both parts of the gradient a variance of 1/(8 pi sigma^4) of its own */
	inverse = (d.xx * d.xx + d.yy * d.yy + 2 * d.xy * d.xy) / (det * det);
	return sqrt(variance / (8 * M_PI * s2 * s2) * inverse / 2);
}
