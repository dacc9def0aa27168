/*
 * The loops of fitshape over points: distances from a shape and their derivatives, sums for least
 * squares, weights, and searches for starts and balls.
 */
#include "fitshape.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"
#include "base/px.h"

/* ---- shapes ---- */

/* The vector q to x from the centre, or from the axis's nearest point; *along: where that is on the
 * axis. Returns its length. */
static inline __attribute__((always_inline)) double
arm(const struct shape *shape, const double x[3], double q[3], double *along)
{
	for (int i = 0; i < 3; i++)
		q[i] = x[i] - shape->centre[i];
	*along = 0;
	if (shape->kind == SHAPE_CYLINDER) {
		*along = vector3_dot(shape->axis, q);
		for (int i = 0; i < 3; i++)
			q[i] -= *along * shape->axis[i];
	}
	return sqrt(vector3_dot(q, q));
}

/* Positive outside of a sphere or cylinder, and on the side of a plane where its normal points. */
static inline double
shape_distance(const struct shape *shape, const double x[3])
{
	double q[3], along, length = arm(shape, x, q, &along);

	return shape->kind == SHAPE_PLANE ? vector3_dot(shape->axis, q) : length - shape->radius;
}

/* Unit normal of the shape's surface at x, outwards. */
static inline void
shape_normal(const struct shape *shape, const double x[3], double normal[3])
{
	double q[3], along, length = arm(shape, x, q, &along);

	for (int i = 0; i < 3; i++)
		normal[i] = shape->kind == SHAPE_PLANE ? shape->axis[i] :
		    length > 0 ? q[i] / length : 0;
}

/* The distance, and in J its derivatives by the unknowns. */
static inline __attribute__((always_inline)) double
derive(const struct shape_tangent *tangent, const double x[3], double J[SHAPE_UNKNOWNS])
{
	const struct shape *shape = &tangent->shape;
	double q[3], along, length = arm(shape, x, q, &along);
	double e[3];

	switch (shape->kind) {
	case SHAPE_PLANE:
		J[0] = vector3_dot(tangent->u, q) / tangent->reach;
		J[1] = vector3_dot(tangent->v, q) / tangent->reach;
		J[2] = -1;
		return vector3_dot(shape->axis, q);
	case SHAPE_SPHERE:
		for (int i = 0; i < 3; i++)
			J[i] = length > 0 ? -q[i] / length : 0;
		J[3] = -1;
		return length - shape->radius;
	case SHAPE_CYLINDER:
		break;
	}
	for (int i = 0; i < 3; i++)
		e[i] = length > 0 ? q[i] / length : 0;
	J[2] = -vector3_dot(tangent->u, e);
	J[3] = -vector3_dot(tangent->v, e);
	J[0] = along * J[2] / tangent->reach;
	J[1] = along * J[3] / tangent->reach;
	J[4] = -1;
	return length - shape->radius;
}

/* ---- clouds ---- */

static bool
in_box(const double v[6], const double x[3])
{
	for (int i = 0; i < 3; i++)
		if (x[i] < v[i] || x[i] > v[3 + i])
			return false;
	return true;
}

static int
add_point(const struct frame *frame, const struct cloud_channels *channels, size_t x, size_t y,
    struct cloud *cloud)
{
	bool plain = channels->x[0] == NO_CHANNEL;
	double point[3];

	point[0] = plain ? (double)x * channels->spacing[0] :
	    (double)frame_floats(frame, channels->x[0], y)[x];
	point[1] = plain ? (double)y * channels->spacing[1] :
	    (double)frame_floats(frame, channels->x[1], y)[x];
	point[2] = (double)frame_floats(frame, channels->x[2], y)[x];
	if (!isfinite(point[0]) || !isfinite(point[1]) || !isfinite(point[2]))
		return 0;
	if (cloud->sigma) {
		double sigma = (double)frame_floats(frame, channels->sigma, y)[x];

		if (isnan(sigma))
			return 0;
		if (!(sigma > 0) || isinf(sigma))
			return fail("sigma", "is %g at pixel %zu %zu: a standard deviation is more "
			    "than 0; --no-weights leaves them out", sigma, x, y);
		cloud->sigma[cloud->n] = sigma;
	}
	memcpy(cloud->x[cloud->n], point, sizeof(point));
	cloud->pixel[cloud->n++] = y * frame->head.w + x;
	return 0;
}

/* Moves the points to coordinates about their middle. */
static void
centre(struct cloud *cloud)
{
	double sum[3] = { 0 };

	for (size_t i = 0; i < cloud->n; i++)
		for (int k = 0; k < 3; k++)
			sum[k] += cloud->x[i][k];
	for (int k = 0; k < 3; k++)
		cloud->about[k] = cloud->n ? sum[k] / (double)cloud->n : 0;
	for (size_t i = 0; i < cloud->n; i++)
		for (int k = 0; k < 3; k++)
			cloud->x[i][k] -= cloud->about[k];
}

static int
take_points(const struct frame *frame, const struct cloud_channels *channels,
    const size_t rectangle[4], const double *box, struct cloud *cloud)
{
	size_t kept = 0;

	for (size_t y = rectangle[1]; y < rectangle[1] + rectangle[3]; y++)
		for (size_t x = rectangle[0]; x < rectangle[0] + rectangle[2]; x++) {
			if (add_point(frame, channels, x, y, cloud) < 0)
				return -1;
			if (box && cloud->n > kept && !in_box(box, cloud->x[kept]))
				cloud->n = kept;
			kept = cloud->n;
		}
	centre(cloud);
	return 0;
}

static void
copy_kept(const struct cloud *cloud, const unsigned char *drop, struct cloud *out)
{
	for (size_t i = 0; i < cloud->n; i++) {
		if (drop[i])
			continue;
		memcpy(out->x[out->n], cloud->x[i], sizeof(*out->x));
		out->pixel[out->n] = cloud->pixel[i];
		if (cloud->sigma)
			out->sigma[out->n] = cloud->sigma[i];
		out->n++;
	}
}

static bool
lies_left(const struct cloud *a, const struct cloud *b)
{
	for (int k = 0; k < 3; k++) {
		double ma = 0, mb = 0;

		for (size_t i = 0; i < a->n; i++)
			ma += a->x[i][k] / (double)a->n;
		for (size_t i = 0; i < b->n; i++)
			mb += b->x[i][k] / (double)b->n;
		if (ma != mb)
			return ma < mb;
	}
	return true;
}

/* ---- least squares ---- */

/* Sums points `first` to `end` - 1. Callers pass a constant n, so that n sums stay in registers. */
static inline __attribute__((always_inline)) void
sum_points(const struct summing *summing, size_t first, size_t end, enum shape_kind kind, size_t n,
    struct shape_normals *out)
{
	const struct shape_points *points = summing->points;
	struct shape_tangent tangent = *summing->tangent;
	struct shape_normals sum = { 0 };

	tangent.shape.kind = kind;
	for (size_t k = first; k < end; k++) {
		double J[SHAPE_UNKNOWNS], w = points->weight ? points->weight[k] : 1, d;

		if (w == 0)
			continue;
		d = derive(&tangent, points->x[k], J);
		for (size_t i = 0; i < n; i++) {
			sum.g[i] += w * J[i] * d;
			for (size_t j = 0; j <= i; j++)
				sum.a[i * n + j] += w * J[i] * J[j];
		}
		sum.squares += w * d * d;
		sum.weight += w;
	}
	*out = sum;
}

static void
sum_block(void *arg, size_t b)
{
	const struct summing *summing = arg;
	struct shape_normals *sum = &summing->block[b];
	size_t n = summing->unknowns, first = b * BLOCK, end = first + BLOCK;

	if (end > summing->points->n)
		end = summing->points->n;
	switch (summing->tangent->shape.kind) {
	case SHAPE_PLANE:
		sum_points(summing, first, end, SHAPE_PLANE, 3, sum);
		break;
	case SHAPE_SPHERE:
		if (n == 4)
			sum_points(summing, first, end, SHAPE_SPHERE, 4, sum);
		else
			sum_points(summing, first, end, SHAPE_SPHERE, 3, sum);
		break;
	case SHAPE_CYLINDER:
		if (n == 5)
			sum_points(summing, first, end, SHAPE_CYLINDER, 5, sum);
		else
			sum_points(summing, first, end, SHAPE_CYLINDER, 4, sum);
		break;
	}
}

/* Root mean square distance of the points from 0: the reach. */
static double
find_reach(const struct shape_points *points)
{
	double sum = 0;

	for (size_t i = 0; i < points->n; i++)
		sum += vector3_dot(points->x[i], points->x[i]);
	return points->n ? sqrt(sum / (double)points->n) : 0;
}

/* ---- weights and figures of a fit ---- */

#define TUKEY 4.685		/* standard deviations: 95 % efficiency for normal noise */
#define GRAZING 0.1		/* least share of sigma that acts along the normal */

static void
find_distances(const struct fit *fit, const struct cloud *cloud)
{
	for (size_t i = 0; i < cloud->n; i++)
		fit->distance[i] = shape_distance(&fit->shape, cloud->x[i]);
}

static void
find_sds(const struct fit *fit, const struct cloud *cloud, double *sd)
{
	for (size_t i = 0; i < cloud->n; i++) {
		double normal[3], v[3], length, share = 1;

		shape_normal(&fit->shape, cloud->x[i], normal);
		for (int k = 0; k < 3; k++)
			v[k] = cloud->x[i][k] + cloud->about[k];
		length = sqrt(vector3_dot(v, v));
		if (cloud->along == ALONG_RAY && length > 0)
			share = fmax(fabs(vector3_dot(normal, v)) / length, GRAZING);
		else if (cloud->along == ALONG_Z)
			share = fmax(fabs(normal[2]), GRAZING);
		sd[i] = cloud->sigma[i] * share;
	}
}

/* Tukey's weight of a standardised distance. */
static double
tukey(double r)
{
	double t = 1 - r * r / (TUKEY * TUKEY);

	return fabs(r) < TUKEY ? t * t : 0;
}

/* The derivative of Tukey's psi, the weight times the distance. */
static double
tukey_slope(double r)
{
	double q = r * r / (TUKEY * TUKEY);

	return fabs(r) < TUKEY ? (1 - q) * (1 - 5 * q) : 0;
}

static double
standardised(const struct fit *fit, const double *sd, size_t i)
{
	return fit->distance[i] / (sd ? sd[i] : 1);
}

static void
find_sizes(const struct fit *fit, const double *sd, float *size)
{
	for (size_t i = 0; i < fit->n; i++)
		size[i] = (float)fabs(standardised(fit, sd, i));
}

static void
find_weights(const struct fit *fit, const double *sd, bool robust)
{
	for (size_t i = 0; i < fit->n; i++) {
		double w = robust ? tukey(standardised(fit, sd, i) / fit->scale) : 1;

		fit->weight[i] = sd ? w / (sd[i] * sd[i]) : w;
	}
}

static void
robust_weights(const struct fit *fit, const double *sds, bool squares, double *weight)
{
	for (size_t i = 0; i < fit->n; i++) {
		double sd = sds ? sds[i] : 1;
		double r = standardised(fit, sds, i), w = tukey(r / fit->scale);

		weight[i] = (squares ? w * w * r * r : tukey_slope(r / fit->scale)) / (sd * sd);
	}
}

static size_t
used_sizes(const struct fit *fit, double *equal, float *size)
{
	size_t used = 0;

	for (size_t i = 0; i < fit->n; i++) {
		equal[i] = fit->weight[i] > 0;
		if (fit->weight[i] > 0)
			size[used++] = (float)fabs(fit->distance[i]);
	}
	return used;
}

static void
find_statistics(struct fit *fit, const struct cloud *cloud, const double *sd, double *used)
{
	double squares = 0, sum = 0, chi_square = 0, low = INFINITY, high = -INFINITY;

	memset(fit->middle, 0, sizeof(fit->middle));
	for (size_t i = 0; i < fit->n; i++) {
		double d = fit->distance[i];

		if (!(fit->weight[i] > 0))
			continue;
		used[fit->used++] = d;
		low = d < low ? d : low;
		high = d > high ? d : high;
		squares += d * d;
		sum += d;
		chi_square += standardised(fit, sd, i) * standardised(fit, sd, i);
		for (int k = 0; k < 3; k++)
			fit->middle[k] += cloud->x[i][k];
	}
	for (int k = 0; k < 3; k++)
		fit->middle[k] /= (double)fit->used;
	fit->mean = sum / (double)fit->used;
	fit->rms = sqrt(squares / (double)fit->used);
	fit->sd = fit->used > fit->unknowns ? sqrt(squares / (double)(fit->used - fit->unknowns)) :
	    (double)NAN;
	fit->chi_square = sd ? chi_square : (double)NAN;
	fit->min = fit->used ? low : (double)NAN;
	fit->max = fit->used ? high : (double)NAN;
}

/* Variances of the points that count along their three axes, which are the rows of `vector`. */
static void
find_moments(const struct fit *fit, const struct cloud *cloud, size_t used, double value[3],
    double vector[9])
{
	double a[9] = { 0 }, mean[3] = { 0 };

	for (size_t i = 0; i < fit->n; i++)
		for (int k = 0; k < 9 && fit->weight[i] > 0; k++) {
			a[k] += cloud->x[i][k / 3] * cloud->x[i][k % 3];
			mean[k % 3] += cloud->x[i][k % 3] / 3;
		}
	for (int k = 0; k < 9; k++)
		a[k] = (a[k] - mean[k / 3] * mean[k % 3] / (double)used) / (double)used;
	symmetric_eigen(3, a, value, vector);
}

static void
find_extent(struct fit *fit, const struct cloud *cloud)
{
	const struct shape *shape = &fit->shape;
	double mean[3] = { 0 }, length, least = 1, low = INFINITY, high = -INFINITY;

	fit->extent_deg = fit->length = (double)NAN;
	if (shape->kind == SHAPE_PLANE)
		return;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < fit->n; i++) {
			double normal[3], along, cosine;

			if (!(fit->weight[i] > 0))
				continue;
			shape_normal(shape, cloud->x[i], normal);
			for (int k = 0; k < 3 && !pass; k++)
				mean[k] += normal[k];
			cosine = vector3_dot(normal, mean);
			if (pass)
				least = cosine < least ? cosine : least;
			along = vector3_dot(shape->axis, cloud->x[i]);
			low = along < low ? along : low;
			high = along > high ? along : high;
		}
		length = sqrt(vector3_dot(mean, mean));
		for (int k = 0; k < 3 && length > 0; k++)
			mean[k] /= length;
	}
	fit->extent_deg = acos(fmax(least, -1)) * DEGREES;
	fit->length = shape->kind == SHAPE_CYLINDER ? high - low : (double)NAN;
}

/* ---- starts ---- */

#define DRAWS 1000		/* threes or fours of points */
#define DIRECTIONS 600		/* of a cylinder's axis, over half a sphere: 6 degrees apart */
#define CIRCLES 25		/* threes of each direction */
#define FIT_SALT 0x5ba9e5u
#define BALL_SALT 0xba11ba7u

/* A random number below n. */
static size_t
drawn(size_t draw, unsigned which, uint salt, size_t n)
{
	uint hash = px_hash(px_hash((uint)draw * 4 + which) ^ salt);

	return (size_t)(((uint64_t)hash * n) >> 32);
}

static double
median_distance(const struct shape_points *points, const struct shape *shape)
{
	float distance[FITTED_POINTS];

	for (size_t i = 0; i < points->n; i++)
		distance[i] = (float)fabs(shape_distance(shape, points->x[i]));
	return median_of(distance, points->n);
}

static double
rms_distance(const struct shape_points *points, const struct shape *shape)
{
	double squares = 0, d;

	for (size_t i = 0; i < points->n; i++) {
		d = shape_distance(shape, points->x[i]);
		squares += d * d;
	}
	return sqrt(squares / (double)points->n);
}

static int
start_plane(const struct shape_points *points, struct shape *shape)
{
	double a[9] = { 0 }, mean[3] = { 0 }, value[3], vector[9], n = (double)points->n;

	for (size_t i = 0; i < points->n; i++)
		for (int k = 0; k < 3; k++)
			mean[k] += points->x[i][k] / n;
	for (size_t i = 0; i < points->n; i++)
		for (int k = 0; k < 9; k++)
			a[k] += (points->x[i][k / 3] - mean[k / 3]) *
			    (points->x[i][k % 3] - mean[k % 3]);
	symmetric_eigen(3, a, value, vector);
	memcpy(shape->axis, vector + 6, sizeof(shape->axis));
	for (int i = 0; i < 3; i++)
		shape->centre[i] = vector3_dot(mean, shape->axis) * shape->axis[i];
	return 0;
}

static bool
plane_through(const double *const p[3], struct shape *shape)
{
	double a[3], b[3], length, reach = 0;

	for (int i = 0; i < 3; i++) {
		a[i] = p[1][i] - p[0][i];
		b[i] = p[2][i] - p[0][i];
		reach += a[i] * a[i] + b[i] * b[i];
	}
	vector3_cross(a, b, shape->axis);
	length = sqrt(vector3_dot(shape->axis, shape->axis));
	if (!(length > 1e-4 * reach))
		return false;
	for (int i = 0; i < 3; i++)
		shape->axis[i] /= length;
	for (int i = 0; i < 3; i++)
		shape->centre[i] = vector3_dot(p[0], shape->axis) * shape->axis[i];
	return true;
}

/* Least squares of |x|^2 = 2 c x + k, in the unit `reach`. */
static int
start_sphere(const struct shape_points *points, struct shape *shape)
{
	double reach = find_reach(points), a[16] = { 0 }, b[4] = { 0 }, squares;

	for (size_t i = 0; i < points->n; i++) {
		double row[4] = { 0, 0, 0, 1 };

		for (int k = 0; k < 3; k++)
			row[k] = 2 * points->x[i][k] / reach;
		squares = vector3_dot(row, row) / 4;
		for (int k = 0; k < 16; k++)
			a[k] += row[k / 4] * row[k % 4];
		for (int k = 0; k < 4; k++)
			b[k] += row[k] * squares;
	}
	if (!symmetric_factor(4, a, 1e-13))
		return 1;
	symmetric_solve(4, a, b, 1);
	for (int i = 0; i < 3; i++)
		shape->centre[i] = reach * b[i];
	if (!shape->fixed)
		shape->radius = reach * sqrt(fmax(b[3] + vector3_dot(b, b), 1e-12));
	return 0;
}

/* The sphere through four points. False: there is none. */
static bool
sphere_through(const double *const p[4], struct shape *shape)
{
	double e[3][3], n[3][3], h[3], volume, reach = 0, q[3];

	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 3; i++)
			e[k][i] = p[k + 1][i] - p[0][i];
		h[k] = vector3_dot(e[k], e[k]) / 2;
		reach = fmax(reach, sqrt(2 * h[k]));
	}
	for (int k = 0; k < 3; k++)
		vector3_cross(e[(k + 1) % 3], e[(k + 2) % 3], n[k]);
	volume = vector3_dot(e[0], n[0]);
	if (!(fabs(volume) > 1e-7 * reach * reach * reach))
		return false;
	for (int i = 0; i < 3; i++) {
		q[i] = (h[0] * n[0][i] + h[1] * n[1][i] + h[2] * n[2][i]) / volume;
		shape->centre[i] = p[0][i] + q[i];
	}
	shape->radius = shape->fixed ? shape->radius : sqrt(vector3_dot(q, q));
	return true;
}

static int
start_linear(const struct shape_points *points, struct shape *shape)
{
	return shape->kind == SHAPE_PLANE ? start_plane(points, shape) :
	    start_sphere(points, shape);
}

/* Puts the axis at a, b along the tangent's directions. */
static void
place(const struct shape_tangent *tangent, double a, double b, struct shape *shape)
{
	for (int i = 0; i < 3; i++)
		shape->centre[i] = a * tangent->u[i] + b * tangent->v[i];
}

/* Least squares of (x - c)^2 - r^2 across an axis. */
static bool
fit_circle(const struct shape_points *points, double reach, struct shape *shape)
{
	struct shape_tangent tangent;
	double a[9] = { 0 }, b[3] = { 0 };

	tangent_at(shape, reach, &tangent);
	for (size_t i = 0; i < points->n; i++) {
		double p = vector3_dot(points->x[i], tangent.u) / reach;
		double q = vector3_dot(points->x[i], tangent.v) / reach;
		double row[3] = { 2 * p, 2 * q, 1 };

		for (int k = 0; k < 9; k++)
			a[k] += row[k / 3] * row[k % 3];
		for (int k = 0; k < 3; k++)
			b[k] += row[k] * (p * p + q * q);
	}
	if (!symmetric_factor(3, a, 1e-10))
		return false;
	symmetric_solve(3, a, b, 1);
	place(&tangent, reach * b[0], reach * b[1], shape);
	if (!shape->fixed)
		shape->radius = reach * sqrt(fmax(b[2] + b[0] * b[0] + b[1] * b[1], 1e-12));
	return true;
}

/* The circle across the axis through three points. */
static bool
circle_through(const struct shape_points *points, size_t draw, const struct shape_tangent *tangent,
    struct shape *shape)
{
	double p[3], q[3], a, b, area, c[2];

	for (unsigned k = 0; k < 3; k++) {
		const double *x = points->x[drawn(draw, k, FIT_SALT, points->n)];

		p[k] = vector3_dot(x, tangent->u) - (k ? p[0] : 0);
		q[k] = vector3_dot(x, tangent->v) - (k ? q[0] : 0);
	}
	a = (p[1] * p[1] + q[1] * q[1]) / 2;
	b = (p[2] * p[2] + q[2] * q[2]) / 2;
	area = p[1] * q[2] - p[2] * q[1];
	if (!(fabs(area) > 1e-4 * (a + b)))
		return false;
	c[0] = (a * q[2] - b * q[1]) / area;
	c[1] = (b * p[1] - a * p[2]) / area;
	place(tangent, p[0] + c[0], q[0] + c[1], shape);
	if (!shape->fixed)
		shape->radius = sqrt(c[0] * c[0] + c[1] * c[1]);
	return true;
}

static double
best_circle(const struct shape_points *points, double reach, size_t which, struct shape *shape)
{
	struct shape tried = *shape;
	struct shape_tangent tangent;
	double least = INFINITY, now;

	tangent_at(shape, reach, &tangent);
	for (size_t i = 0; i < CIRCLES; i++) {
		if (!circle_through(points, which * CIRCLES + i, &tangent, &tried))
			continue;
		now = median_distance(points, &tried);
		if (now < least) {
			least = now;
			*shape = tried;
		}
	}
	return least;
}

/* Direction i of DIRECTIONS over half a sphere, evenly: a spiral of the golden angle. */
static void
direction(size_t i, double axis[3])
{
	double z = ((double)i + 0.5) / DIRECTIONS, angle = (double)i * 2.399963229728653;

	axis[0] = sqrt(1 - z * z) * cos(angle);
	axis[1] = sqrt(1 - z * z) * sin(angle);
	axis[2] = z;
}

static void
best_directions(const struct shape_points *points, bool robust, double reach,
    const struct shape *shape, struct shape kept[CYLINDERS])
{
	double cost[CYLINDERS];

	for (size_t k = 0; k < CYLINDERS; k++)
		cost[k] = INFINITY;
	for (size_t i = 0; i < DIRECTIONS; i++) {
		struct shape tried = *shape;
		double now = INFINITY;

		direction(i, tried.axis);
		if (robust)
			now = best_circle(points, reach, i, &tried);
		else if (fit_circle(points, reach, &tried))
			now = rms_distance(points, &tried);
		for (size_t k = 0; k < CYLINDERS; k++)
			if (now < cost[k]) {
				memmove(&cost[k + 1], &cost[k],
				    (CYLINDERS - k - 1) * sizeof(*cost));
				memmove(&kept[k + 1], &kept[k],
				    (CYLINDERS - k - 1) * sizeof(*kept));
				cost[k] = now;
				kept[k] = tried;
				break;
			}
	}
}

static double
best_draw(const struct shape_points *all, const struct shape_points *points, struct shape *shape)
{
	struct shape tried = *shape;
	double least = INFINITY, now;

	for (size_t i = 0; i < DRAWS; i++) {
		const double *p[4];

		for (unsigned k = 0; k < 4; k++)
			p[k] = all->x[drawn(i, k, FIT_SALT, all->n)];
		if (shape->kind == SHAPE_PLANE ? !plane_through(p, &tried) :
		    !sphere_through(p, &tried))
			continue;
		now = median_distance(points, &tried);
		if (now < least) {
			least = now;
			*shape = tried;
		}
	}
	return least;
}

static void
weigh_near(const struct shape_points *points, const struct shape *shape, double limit,
    double *weight)
{
	for (size_t i = 0; i < points->n; i++)
		weight[i] = fabs(shape_distance(shape, points->x[i])) <= limit;
}

/* ---- balls ---- */

#define SEEDS 1500		/* points whose neighbours are drawn from */
#define SEED_DRAWS 8		/* fours of each */
#define NEAR 0.01		/* of the radius: nearer points are on the sphere */
#define MAX_RADIUS_ERROR 0.05	/* of the radius */

static double
distance(const double a[3], const double b[3])
{
	double d[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };

	return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static size_t
count_near(const struct search *search, const struct shape *ball)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n; i++)
		n += fabs(distance(search->cloud->x[search->index[i]], ball->centre) -
		    ball->radius) < NEAR * ball->radius;
	return n;
}

static void
choose(struct search *search)
{
	const struct cloud *cloud = search->cloud;
	size_t left = 0, seen = 0;

	for (size_t i = 0; i < cloud->n; i++)
		left += !search->taken[i];
	search->n = 0;
	for (size_t i = 0; i < cloud->n && search->n < BALL_POINTS; i++)
		if (!search->taken[i] &&
		    (double)seen++ * BALL_POINTS >= (double)search->n * (double)left)
			search->index[search->n++] = i;
}

static size_t
best_ball(struct search *search, double radius, struct shape *best)
{
	struct shape ball = { .kind = SHAPE_SPHERE };
	size_t most = 0, now;

	choose(search);
	for (size_t s = 0; s < SEEDS && search->n > 4; s++) {
		const double *seed =
		    search->cloud->x[search->index[drawn(s, 0, BALL_SALT, search->n)]];

		search->nears = 0;
		for (size_t i = 0; i < search->n; i++)
			if (distance(search->cloud->x[search->index[i]], seed) < 1.2 * radius)
				search->near[search->nears++] = search->index[i];
		for (size_t k = 0; k < SEED_DRAWS && search->nears > 4; k++) {
			const double *p[4] = { seed };

			for (unsigned i = 1; i < 4; i++)
				p[i] = search->cloud->x[search->near[drawn(s * SEED_DRAWS + k, i,
				    BALL_SALT, search->nears)]];
			if (!sphere_through(p, &ball) ||
			    fabs(ball.radius / radius - 1) > MAX_RADIUS_ERROR)
				continue;
			now = count_near(search, &ball);
			if (now > most) {
				most = now;
				*best = ball;
			}
		}
	}
	return most;
}

static void
weigh_ball(const struct search *search, const struct shape *ball, double share, double *weight)
{
	for (size_t i = 0; i < search->cloud->n; i++)
		weight[i] = !search->taken[i] &&
		    fabs(shape_distance(ball, search->cloud->x[i])) < share * ball->radius;
}

static size_t
ball_sizes(const struct cloud *cloud, const struct shape *ball, const double *weight, float *size)
{
	size_t n = 0;

	for (size_t i = 0; i < cloud->n; i++)
		if (weight[i] > 0)
			size[n++] = (float)fabs(shape_distance(ball, cloud->x[i]));
	return n;
}

static void
take_ball(const struct cloud *cloud, const struct shape *ball, double shell, unsigned char *taken,
    unsigned char *drop)
{
	for (size_t i = 0; i < cloud->n; i++) {
		double d = shape_distance(ball, cloud->x[i]);

		drop[i] = taken[i] || fabs(d) > shell;
		taken[i] |= d < BALL_SHELL * ball->radius;
	}
}

/* ---- faces ---- */

static void
add_scatter(const struct cloud *cloud, const double *weight, bool equal, double middle[3],
    double a[9])
{
	double sum = 0;

	memset(middle, 0, 3 * sizeof(*middle));
	for (size_t i = 0; i < cloud->n; i++) {
		double w = equal ? weight[i] > 0 : weight[i];

		sum += w;
		for (int k = 0; k < 3; k++)
			middle[k] += w * cloud->x[i][k];
	}
	for (int k = 0; k < 3; k++)
		middle[k] /= sum;
	for (size_t i = 0; i < cloud->n; i++) {
		double w = equal ? weight[i] > 0 : weight[i], q[3];

		for (int k = 0; k < 3; k++)
			q[k] = cloud->x[i][k] - middle[k];
		for (int k = 0; k < 9; k++)
			a[k] += w * q[k / 3] * q[k % 3];
	}
}

const struct fitshape_rows AT_LEVEL(fitshape_rows) = {
	.take_points = take_points, .copy_kept = copy_kept, .lies_left = lies_left,
	.sum_block = sum_block, .reach = find_reach, .find_distances = find_distances,
	.find_sds = find_sds, .find_sizes = find_sizes, .find_weights = find_weights,
	.robust_weights = robust_weights, .used_sizes = used_sizes,
	.find_statistics = find_statistics, .find_moments = find_moments,
	.find_extent = find_extent, .median_distance = median_distance,
	.rms_distance = rms_distance, .start_linear = start_linear, .best_draw = best_draw,
	.best_directions = best_directions, .weigh_near = weigh_near, .best_ball = best_ball,
	.weigh_ball = weigh_ball, .ball_sizes = ball_sizes, .take_ball = take_ball,
	.add_scatter = add_scatter,
};
