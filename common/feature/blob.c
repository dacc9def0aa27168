#include "feature/blob.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "feature/linear_solve.h"
#include "feature/peaks.h"

#define LONGEST 12.0 /* ratio of the second derivatives: longer ones are lines */
#define STEPS_MOST 10
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

/* ---- finding ---- */

/* Moves to the extremum. False where that is no blob. */
static bool
refine(const struct derivative_plane *in, const struct derivative_kernels *k, struct blob *blob)
{
	double x = blob->x, y = blob->y;

	for (int i = 0; i < STEPS_MOST; i++) {
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
is_new(const struct blobs *blobs, const struct blob *blob, double least)
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

		if (refine(in, k, &blob) && is_new(blobs, &blob, ONE_BLOB * k->sigma))
			blobs->blob[blobs->n++] = blob;
	}
	free(peaks.peak);
	return blobs->blob ? 0 : fail_memory();
}

/* ---- the edge ---- */

static double
read_bilinear(const struct derivative_plane *in, double x, double y)
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
		ray[k] = read_bilinear(
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
