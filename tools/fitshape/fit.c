/* One subject: weights and least squares in turns, and the errors of what comes out. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"
#include "base/vector3.h"
#include "image/statistics.h"
#include "start.h"

#define ROUNDS 60
#define SETTLED 1e-11		/* of the points' reach */
#define GRAZING 0.1		/* least share of sigma that acts along the normal */
#define SIGMA_ROUNDS 20
#define SPREAD_LEAST 2
#define ROUNDING 1.2e-7	/* of a float, twice */

const char *const fit_names[] = { "plane", "sphere", "cylinder" };

struct fitting {
	struct run *run;
	const struct cloud *cloud;
	const struct fit_options *options;
	struct fit *fit;
	double *sd;		/* of each distance; NULL: not known */
	float *size;		/* for medians */
	struct shape_points points;
	double reach;
};

/* ---- weights ---- */

/* What sigma, along the ray or z, leaves along the shape's normal. */
static void
find_sds(struct fitting *fitting)
{
	const struct cloud *cloud = fitting->cloud;

	for (size_t i = 0; i < cloud->n; i++) {
		double normal[3], v[3], length, share = 1;

		shape_normal(&fitting->fit->shape, cloud->x[i], normal);
		for (int k = 0; k < 3; k++)
			v[k] = cloud->x[i][k] + cloud->about[k];
		length = sqrt(vector3_dot(v, v));
		if (cloud->along == ALONG_RAY && length > 0)
			share = fmax(fabs(vector3_dot(normal, v)) / length, GRAZING);
		else if (cloud->along == ALONG_Z)
			share = fmax(fabs(normal[2]), GRAZING);
		fitting->sd[i] = cloud->sigma[i] * share;
	}
}

/* Tukey's weight of a standardised distance, and what the covariance needs: its psi squared, and
 * the derivative of psi. */
static double
tukey(double r)
{
	double t = 1 - r * r / (FIT_TUKEY * FIT_TUKEY);

	return fabs(r) < FIT_TUKEY ? t * t : 0;
}

static double
tukey_slope(double r)
{
	double q = r * r / (FIT_TUKEY * FIT_TUKEY);

	return fabs(r) < FIT_TUKEY ? (1 - q) * (1 - 5 * q) : 0;
}

static void
find_distances(struct fitting *fitting)
{
	const struct cloud *cloud = fitting->cloud;

	for (size_t i = 0; i < cloud->n; i++)
		fitting->fit->distance[i] = shape_distance(&fitting->fit->shape, cloud->x[i]);
}

static double
standardised(const struct fitting *fitting, size_t i)
{
	return fitting->fit->distance[i] / (fitting->sd ? fitting->sd[i] : 1);
}

static void
find_scale(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	double rounding = 1e-14 * (fitting->reach + fabs(fit->shape.radius));

	for (size_t i = 0; i < fit->n; i++)
		fitting->size[i] = (float)fabs(standardised(fitting, i));
	fit->scale = fmax(1.4826 * start_median(fitting->size, fit->n), rounding);
}

static void
weigh(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;

	for (size_t i = 0; i < fit->n; i++) {
		double w = fitting->options->robust ?
		    tukey(standardised(fitting, i) / fit->scale) : 1;

		fit->weight[i] = fitting->sd ? w / (fitting->sd[i] * fitting->sd[i]) : w;
	}
}

/* ---- least squares ---- */

/* scatter: NaN where it is not known. */
static int
not_determined(const struct fitting *fitting, double scatter)
{
	static const char *const where[] = { "on a line", "on a circle or in a plane",
		"on a line, on a circle or in a plane" };
	enum shape_kind kind = fitting->fit->shape.kind;

	if (isnan(scatter))
		return fail(NULL, "the points do not determine a %s: they lie %s",
		    fit_names[kind], where[kind]);
	return fail(NULL, "the points do not determine a %s: within their scatter of %.2g they lie "
	    "%s", fit_names[kind], scatter, where[kind]);
}

static double
moved(const struct shape *a, const struct shape *b, double reach)
{
	double most = fabs(a->radius - b->radius);

	for (int i = 0; i < 3; i++) {
		most = fmax(most, fabs(a->centre[i] - b->centre[i]));
		most = fmax(most, reach * fabs(a->axis[i] - b->axis[i]));
	}
	return most;
}

static int
fit_once(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	int status = shape_fit(&fitting->points, &fit->shape);

	return status > 0 ? not_determined(fitting, (double)NAN) : status;
}

static int
reweight(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	bool robust = fitting->options->robust;

	for (int i = 0; i < ROUNDS; i++) {
		struct shape last = fit->shape;

		find_distances(fitting);
		if (fitting->sd && i < SIGMA_ROUNDS)
			find_sds(fitting);
		if (robust)
			find_scale(fitting);
		weigh(fitting);
		if (fit_once(fitting) < 0)
			return -1;
		if ((!robust && !fitting->sd) ||
		    moved(&last, &fit->shape, fitting->reach) < SETTLED * fitting->reach)
			break;
	}
	return 0;
}

/* Signs that stay: a plane's normal towards the camera, an axis's largest part positive. */
static void
orient(struct fitting *fitting)
{
	struct shape *shape = &fitting->fit->shape;
	double *a = shape->axis, sign = a[2] != 0 ? a[2] : a[1] != 0 ? a[1] : a[0];
	int most = 0;

	for (int i = 1; i < 3; i++)
		if (fabs(a[i]) > fabs(a[most]))
			most = i;
	if (shape->kind == SHAPE_CYLINDER)
		sign = a[most];
	else if (!fitting->options->towards)
		sign = -sign;
	for (int i = 0; i < 3 && sign < 0; i++)
		a[i] = -a[i];
	find_distances(fitting);
}

/* ---- figures ---- */

static int
find_statistics(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	double squares = 0, sum = 0, *used = calloc(fit->n + 1, sizeof(*used)), chi_square = 0;
	double low = INFINITY, high = -INFINITY;

	if (!used)
		return fail_memory();
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
		chi_square += standardised(fitting, i) * standardised(fitting, i);
		for (int k = 0; k < 3; k++)
			fit->middle[k] += fitting->cloud->x[i][k];
	}
	for (int k = 0; k < 3; k++)
		fit->middle[k] /= (double)fit->used;
	fit->mean = sum / (double)fit->used;
	fit->rms = sqrt(squares / (double)fit->used);
	fit->sd = fit->used > fit->unknowns ? sqrt(squares / (double)(fit->used - fit->unknowns)) :
	    (double)NAN;
	fit->chi_square = fitting->sd ? chi_square : (double)NAN;
	fit->min = fit->used ? low : (double)NAN;
	fit->max = fit->used ? high : (double)NAN;
	fit->interval[0] = statistics_quantile(used, fit->used, 0.025);
	fit->interval[1] = statistics_quantile(used, fit->used, 0.975);
	free(used);
	return 0;
}

/* J' W J at the solution. 0, or -1 after fail(). */
static int
sums(struct fitting *fitting, const double *weight, double *a)
{
	struct shape_points points = fitting->points;
	struct shape_normals sum;

	points.weight = weight;
	if (shape_normals(&points, &fitting->fit->tangent, &sum) < 0)
		return -1;
	memcpy(a, sum.a, sizeof(sum.a));
	return 0;
}

/* Huber's: A^-1 B A^-1 with A of the slopes of psi, B of its squares. */
static int
robust_covariance(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	size_t n = fit->unknowns;
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], b[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS];
	double *weight = calloc(fit->n + 1, sizeof(*weight)), correction;
	int status = 0;

	if (!weight)
		return fail_memory();
	for (int k = 0; k < 2 && status == 0; k++) {
		for (size_t i = 0; i < fit->n; i++) {
			double sd = fitting->sd ? fitting->sd[i] : 1;
			double r = standardised(fitting, i), w = tukey(r / fit->scale);

			weight[i] = (k ? w * w * r * r : tukey_slope(r / fit->scale)) / (sd * sd);
		}
		status = sums(fitting, weight, k ? b : a);
	}
	free(weight);
	if (status < 0)
		return -1;
	if (!symmetric_invert(n, a))
		return not_determined(fitting, (double)NAN);
	correction = (double)fit->used / (double)(fit->used - n);
	for (size_t i = 0; i < n * n; i++) {
		fit->cov[i] = 0;
		for (size_t k = 0; k < n * n; k++)
			fit->cov[i] += correction * a[i / n * n + k / n] * b[k] *
			    a[k % n * n + i % n];
	}
	return 0;
}

static int
find_covariance(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	size_t n = fit->unknowns;
	double variance = fitting->sd ? 1 : fit->sd * fit->sd;

	if (fit->used <= n) {
		for (size_t i = 0; i < n * n; i++)
			fit->cov[i] = (double)NAN;
		return 0;
	}
	if (fitting->options->robust)
		return robust_covariance(fitting);
	if (sums(fitting, fit->weight, fit->cov) < 0)
		return -1;
	if (!symmetric_invert(n, fit->cov))
		return not_determined(fitting, (double)NAN);
	for (size_t i = 0; i < n * n; i++)
		fit->cov[i] *= variance;
	return 0;
}

/* Variances of the points that count along their three axes, which are the rows of `vector`. */
static void
find_moments(const struct fitting *fitting, size_t used, double value[3], double vector[9])
{
	const struct fit *fit = fitting->fit;
	double a[9] = { 0 }, mean[3] = { 0 };

	for (size_t i = 0; i < fit->n; i++)
		for (int k = 0; k < 9 && fit->weight[i] > 0; k++) {
			a[k] += fitting->cloud->x[i][k / 3] * fitting->cloud->x[i][k % 3];
			mean[k % 3] += fitting->cloud->x[i][k % 3] / 3;
		}
	for (int k = 0; k < 9; k++)
		a[k] = (a[k] - mean[k / 3] * mean[k % 3] / (double)used) / (double)used;
	symmetric_eigen(3, a, value, vector);
}

/* Does a plane fit the points better than a sphere or cylinder whose radius is free, and which
 * therefore has every plane as a limit? */
static bool
is_plane(const struct fitting *fitting, size_t used)
{
	const struct fit *fit = fitting->fit;
	double value[3], vector[9];

	if (fit->shape.kind == SHAPE_PLANE || fit->shape.fixed)
		return false;
	find_moments(fitting, used, value, vector);
	return sqrt(fmax(value[2], 0)) < fit->rms;
}

/*
 * A ring about a cylinder, which is so short that its axis could tilt: the tilt t that fits has an
 * sd of s sqrt(2/N) / h by the derivatives, h being the ring's rms height, but a ring that is
 * tilted reaches t r farther along the axis, so that where t r is not small beside h the
 * derivatives see the height of their own error. Of h^2 = 2 r s sqrt(2/N) the sd is right within
 * 15 %. Where a ring is cut obliquely its tilt is seen in the ellipse, and h only says to which
 * side it leans.
 */
static bool
is_short_ring(const struct fitting *fitting, size_t used, double scatter)
{
	const struct fit *fit = fitting->fit;
	double value[3], vector[9], across, h;

	find_moments(fitting, used, value, vector);
	h = sqrt(fmax(value[2], 0));
	across = fabs(vector3_dot(&vector[6], fit->shape.axis));
	return (across > 0.5 && h < SPREAD_LEAST * scatter) ||
	    (across > 0.95 && h * h < 2 * fit->shape.radius * scatter * sqrt(2 / (double)used));
}

/*
 * How well the points determine the shape: with derivatives that have no unit (tilts times the size
 * of the shape) the root of the smallest eigenvalue of mean J J', times that size, is how far the
 * points lie from where any other shape of the kind fits as well. Scatter alone makes it as large
 * as the standard deviation of the distances, which is taken from their median: points that are
 * wrong make no difference; so does the rounding of coordinates to float.
 */
static int
check_determined(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	const double *about = fitting->cloud->about;
	size_t n = fit->unknowns, used = 0;
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], value[SHAPE_UNKNOWNS];
	double vector[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], size, scatter, *equal;
	int status;

	equal = calloc(fit->n + 1, sizeof(*equal));
	if (!equal)
		return fail_memory();
	for (size_t i = 0; i < fit->n; i++) {
		equal[i] = fit->weight[i] > 0;
		if (fit->weight[i] > 0)
			fitting->size[used++] = (float)fabs(fit->distance[i]);
	}
	scatter = fmax(1.4826 * start_median(fitting->size, used),
	    ROUNDING * (sqrt(vector3_dot(about, about)) + fitting->reach));
	size = fit->shape.kind == SHAPE_PLANE ? fitting->reach : fit->shape.radius;
	shape_tangent(&fit->shape, size, &fit->tangent);
	status = sums(fitting, equal, a);
	free(equal);
	if (status < 0)
		return -1;
	symmetric_eigen(n, a, value, vector);
	fit->spread = sqrt(fmax(value[n - 1], 0) / (double)used) * size / scatter;
	if (fit->spread < SPREAD_LEAST || is_plane(fitting, used) ||
	    (fit->shape.kind == SHAPE_CYLINDER && is_short_ring(fitting, used, scatter)))
		return not_determined(fitting, scatter);
	return 0;
}

/* How much of a sphere or cylinder the points see, and the cylinder's length. */
static void
find_extent(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
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
			shape_normal(shape, fitting->cloud->x[i], normal);
			for (int k = 0; k < 3 && !pass; k++)
				mean[k] += normal[k];
			cosine = vector3_dot(normal, mean);
			if (pass)
				least = cosine < least ? cosine : least;
			along = vector3_dot(shape->axis, fitting->cloud->x[i]);
			low = along < low ? along : low;
			high = along > high ? along : high;
		}
		length = sqrt(vector3_dot(mean, mean));
		for (int k = 0; k < 3 && length > 0; k++)
			mean[k] /= length;
	}
	fit->extent_deg = acos(fmax(least, -1)) * 57.29577951308232;
	fit->length = shape->kind == SHAPE_CYLINDER ? high - low : (double)NAN;
}

/* ---- all ---- */

static int
check_points(const struct fitting *fitting)
{
	const struct fit *fit = fitting->fit;

	if (fit->n == 0)
		return fail(NULL, "no point: all are NaN");
	if (fit->n < fit->unknowns)
		return fail(NULL, "%zu point%s: a %s of %zu unknowns needs %zu", fit->n,
		    fit->n == 1 ? "" : "s", fit_names[fit->shape.kind], fit->unknowns,
		    fit->unknowns);
	return 0;
}

static int
run_fit(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	int status;

	fitting->reach = shape_reach(&fitting->points);
	status = fitting->options->robust ? start_robust(&fitting->points, &fit->shape) :
	    start_all(&fitting->points, &fit->shape);
	if (status != 0)
		return status > 0 ? not_determined(fitting, (double)NAN) : -1;
	fitting->points.weight = fit->weight;
	if (reweight(fitting) < 0)
		return -1;
	orient(fitting);
	if (find_statistics(fitting) < 0)
		return -1;
	if (fit->used < fit->unknowns)
		return not_determined(fitting, (double)NAN);
	if (check_determined(fitting) < 0)
		return -1;
	shape_tangent(&fit->shape, fitting->reach, &fit->tangent);
	if (find_covariance(fitting) < 0)
		return -1;
	find_extent(fitting);
	return 0;
}

int
fit_shape(struct run *run, const struct cloud *cloud, const struct shape *shape,
    const struct fit_options *options, struct fit *fit)
{
	struct fitting fitting = { .run = run, .cloud = cloud, .options = options, .fit = fit };
	int status = 0;

	*fit = (struct fit){ .shape = *shape, .n = cloud->n, .scale = (double)NAN };
	fit->unknowns = shape_unknowns(shape);
	if (check_points(&fitting) < 0)
		return -1;
	fit->distance = calloc(cloud->n, sizeof(*fit->distance));
	fit->weight = calloc(cloud->n, sizeof(*fit->weight));
	fitting.size = calloc(cloud->n, sizeof(*fitting.size));
	fitting.sd = cloud->sigma ? calloc(cloud->n, sizeof(*fitting.sd)) : NULL;
	if (!fit->distance || !fit->weight || !fitting.size || (cloud->sigma && !fitting.sd))
		status = fail_memory();
	fitting.points = (struct shape_points){ run, (const double (*)[3])cloud->x, NULL,
		cloud->n };
	if (status == 0)
		status = run_fit(&fitting);
	free(fitting.size);
	free(fitting.sd);
	return status;
}

void
fit_free(struct fit *fit)
{
	free(fit->distance);
	free(fit->weight);
	*fit = (struct fit){ 0 };
}

/* The larger eigenvalue of the 2 x 2 block of cov from unknown k, as a standard deviation. */
static double
larger(const struct fit *fit, size_t k)
{
	size_t n = fit->unknowns;
	const double *cov = &fit->cov[k * n + k];
	double a = cov[0], b = cov[n + 1], c = cov[1];

	return sqrt((a + b) / 2 + sqrt((a - b) * (a - b) / 4 + c * c));
}

double
fit_sd_centre(const struct fit *fit, double each[3])
{
	size_t n = fit->unknowns, first = fit->shape.kind == SHAPE_SPHERE ? 0 : 2;

	for (size_t i = 0; i < 3; i++)
		each[i] = fit->shape.kind == SHAPE_SPHERE ? sqrt(fit->cov[i * n + i]) : (double)NAN;
	return fit->shape.kind == SHAPE_CYLINDER ? larger(fit, first) :
	    sqrt(fit->cov[first * n + first]);
}

double
fit_sd_axis(const struct fit *fit)
{
	return fit->shape.kind == SHAPE_SPHERE ? (double)NAN : larger(fit, 0) / fit->tangent.reach;
}

double
fit_sd_radius(const struct fit *fit)
{
	size_t n = fit->unknowns;

	return fit->shape.kind == SHAPE_PLANE || fit->shape.fixed ? (double)NAN :
	    sqrt(fit->cov[n * n - 1]);
}

void
fit_centre(const struct cloud *cloud, const struct fit *fit, double centre[3])
{
	const struct shape *shape = &fit->shape;
	double q[3], along;

	for (int i = 0; i < 3; i++)
		q[i] = fit->middle[i] - shape->centre[i];
	along = vector3_dot(q, shape->axis);
	for (int i = 0; i < 3; i++)
		centre[i] = cloud->about[i] + (shape->kind == SHAPE_SPHERE ? shape->centre[i] :
		    shape->kind == SHAPE_CYLINDER ? shape->centre[i] + along * shape->axis[i] :
		    fit->middle[i] - along * shape->axis[i]);
}
