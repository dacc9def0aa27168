/*
 * Fits planes, spheres and cylinders to points: starts without a guess of the user's, least squares
 * of orthogonal distances (methods §11; Gauss-Newton with Levenberg's damping), robust weights, and
 * the errors of the result.
 */
#include "fitshape.h"

#include "image/statistics.h"
#include "run/run.h"

const char *const fit_names[] = { "plane", "sphere", "cylinder" };

/* ---- shapes and steps of their unknowns ---- */

/* How many numbers are fitted: 3 of a plane; 4 of a sphere, 5 of a cylinder, one less if fixed. */
static size_t
shape_unknowns(const struct shape *shape)
{
	static const size_t n[] = { 3, 4, 5 };

	return n[shape->kind] - (shape->fixed && shape->kind != SHAPE_PLANE);
}

void
tangent_at(const struct shape *shape, double reach, struct shape_tangent *tangent)
{
	const double *a = shape->axis;
	int least = 0;

	tangent->shape = *shape;
	tangent->reach = reach > 0 ? reach : 1;
	if (shape->kind == SHAPE_SPHERE)
		return;
	for (int i = 1; i < 3; i++)
		if (fabs(a[i]) < fabs(a[least]))
			least = i;
	for (int i = 0; i < 3; i++)
		tangent->u[i] = (i == least) - a[least] * a[i];
	vector3_normalise(tangent->u);
	vector3_cross(a, tangent->u, tangent->v);
}

/* The shape after a step of its unknowns. */
static void
shape_step(const struct shape_tangent *tangent, const double *step, struct shape *out)
{
	const double *u = tangent->u, *v = tangent->v;
	double along;

	*out = tangent->shape;
	if (out->kind == SHAPE_SPHERE) {
		for (int i = 0; i < 3; i++)
			out->centre[i] += step[i];
		out->radius += out->fixed ? 0 : step[3];
		return;
	}
	for (int i = 0; i < 3; i++)
		out->axis[i] += (u[i] * step[0] + v[i] * step[1]) / tangent->reach;
	vector3_normalise(out->axis);
	for (int i = 0; i < 3; i++)
		out->centre[i] += out->kind == SHAPE_PLANE ? tangent->shape.axis[i] * step[2] :
		    u[i] * step[2] + v[i] * step[3];
	if (out->kind == SHAPE_CYLINDER && !out->fixed)
		out->radius += step[4];
	along = vector3_dot(out->axis, out->centre);
	for (int i = 0; i < 3; i++)
		out->centre[i] = out->kind == SHAPE_PLANE ? along * out->axis[i] :
		    out->centre[i] - along * out->axis[i];
}

/* ---- least squares ---- */

#define MAX_STEPS 100
#define MAX_RADIUS 1e7		/* reaches */
#define SINGULAR 1e-15		/* of a column's squares */

/* Root mean square distance of the points from 0: the reach. */
static double
reach_of(const struct shape_points *points)
{
	double sum = 0;

	for (size_t i = 0; i < points->n; i++)
		sum += vector3_dot(points->x[i], points->x[i]);
	return points->n ? sqrt(sum / (double)points->n) : 0;
}

/* The normal equations, summed in a fixed order, whatever the number of threads. */
static void
sum_normals(const struct shape_points *points, const struct shape_tangent *tangent,
    struct shape_normals *out)
{
	size_t blocks = (points->n + BLOCK - 1) / BLOCK, n = shape_unknowns(&tangent->shape);
	struct summing summing = { points, tangent, must_alloc(blocks, sizeof(*out)), n };

	run_for(points->run, blocks, fitshape_rows()->sum_block, &summing);
	memset(out, 0, sizeof(*out));
	for (size_t b = 0; b < blocks; b++) {
		for (size_t i = 0; i < n * n; i++)
			out->a[i] += summing.block[b].a[i];
		for (size_t i = 0; i < n; i++)
			out->g[i] += summing.block[b].g[i];
		out->squares += summing.block[b].squares;
		out->weight += summing.block[b].weight;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			out->a[j * n + i] = out->a[i * n + j];
	free(summing.block);
}

/* A step of these normal equations, damped; false where they are singular. */
static bool
solve(const struct shape_normals *at, size_t n, double lambda, double *step)
{
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], scale[SHAPE_UNKNOWNS];

	for (size_t i = 0; i < n; i++) {
		scale[i] = at->a[i * n + i] > 0 ? sqrt(at->a[i * n + i]) : 1;
		step[i] = -at->g[i] / scale[i];
	}
	for (size_t i = 0; i < n * n; i++)
		a[i] = at->a[i] / (scale[i / n] * scale[i % n]);
	for (size_t i = 0; i < n; i++)
		a[i * n + i] += lambda;
	if (!symmetric_factor(n, a, SINGULAR))
		return false;
	symmetric_solve(n, a, step, 1);
	for (size_t i = 0; i < n; i++)
		step[i] /= scale[i];
	return true;
}

bool
shape_fit(const struct shape_points *points, struct shape *shape)
{
	size_t n = shape_unknowns(shape);
	double reach = reach_of(points), lambda = 0;
	struct shape_tangent tangent;
	struct shape_normals at, next;

	tangent_at(shape, reach, &tangent);
	sum_normals(points, &tangent, &at);
	for (int i = 0; i < MAX_STEPS; i++) {
		double step[SHAPE_UNKNOWNS], size = 0;
		struct shape tried;

		if (!solve(&at, n, lambda, step)) {
			if (lambda > 0)
				return false;
			lambda = 1e-9;
			continue;
		}
		for (size_t k = 0; k < n; k++)
			size = fmax(size, fabs(step[k]));
		shape_step(&tangent, step, &tried);
		if (fabs(tried.radius) > MAX_RADIUS * reach || !isfinite(size))
			return false;
		tangent_at(&tried, reach, &tangent);
		sum_normals(points, &tangent, &next);
		if (next.squares <= at.squares || size < 1e-12 * reach) {
			*shape = tried;
			at = next;
			if (size < 1e-13 * reach)
				break;
			lambda = lambda < 1e-8 ? 0 : lambda / 10;
			continue;
		}
		/* rounding prevents smaller squares */
		if (size < 1e-9 * (reach + fabs(shape->radius)) &&
		    next.squares <= at.squares * (1 + 1e-9))
			break;
		tangent_at(shape, reach, &tangent);
		lambda = lambda > 0 ? lambda * 10 : 1e-6;
		if (lambda > 1e12)
			break;
	}
	return true;
}

/* ---- starts: shapes near the points, without a guess of the user's ---- */

#define SEARCHED_POINTS 500	/* of all points: more would change little */

/* Copies up to `most` points, evenly among all; chosen_free(). */
static void
choose(const struct shape_points *points, size_t most, struct shape_points *out)
{
	double (*x)[3];

	*out = (struct shape_points){ .n = points->n < most ? points->n : most };
	x = must_alloc(out->n, sizeof(*x));
	for (size_t i = 0; i < out->n; i++)
		memcpy(x[i], points->x[(size_t)((double)i / (double)out->n * (double)points->n)],
		    sizeof(*x));
	out->x = x;
}

static void
chosen_free(struct shape_points *points)
{
	free((void *)(uintptr_t)points->x);
}

/* Fits a cylinder; if robust, to the points within 2.5 standard deviations (1.4826 medians). */
static bool
fit_near(const struct shape_points *all, bool robust, struct shape *shape)
{
	struct shape_points points = *all;
	double *weight = must_alloc(all->n, sizeof(*weight));
	bool fitted = true;

	points.weight = robust ? weight : NULL;
	for (int round = 0; round < (robust ? 5 : 1) && fitted; round++) {
		double limit = 2.5 * 1.4826 * fitshape_rows()->median_distance(all, shape);

		fitshape_rows()->weigh_near(all, shape, limit, weight);
		fitted = shape_fit(&points, shape);
	}
	free(weight);
	return fitted;
}

/* Fits cylinders from the best directions, and takes the best of them. */
static bool
fit_kept(const struct shape_points *all, bool robust, struct shape *kept, struct shape *best)
{
	struct shape_points points;
	double least = INFINITY, now;

	choose(all, FITTED_POINTS, &points);
	for (size_t i = 0; i < CYLINDERS; i++) {
		if (!(kept[i].radius > 0) || !fit_near(&points, robust, &kept[i]))
			continue;
		now = robust ? fitshape_rows()->median_distance(&points, &kept[i]) :
		    fitshape_rows()->rms_distance(&points, &kept[i]);
		if (now < least) {
			least = now;
			*best = kept[i];
		}
	}
	chosen_free(&points);
	return least < INFINITY;
}

static bool
start_cylinder(const struct shape_points *all, bool robust, struct shape *shape)
{
	struct shape kept[CYLINDERS] = { { 0 } };
	struct shape_points points;

	choose(all, robust ? SEARCHED_POINTS / 2 : SEARCHED_POINTS, &points);
	fitshape_rows()->best_directions(&points, robust, reach_of(all), shape, kept);
	chosen_free(&points);
	return fit_kept(all, robust, kept, shape);
}

/* The plane of the two largest principal axes. */
static void
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
}

/* Least squares of |x|^2 = 2 c x + k, in the unit `reach`. */
static bool
start_sphere(const struct shape_points *points, struct shape *shape)
{
	double reach = reach_of(points), a[16] = { 0 }, b[4] = { 0 }, squares;

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
		return false;
	symmetric_solve(4, a, b, 1);
	for (int i = 0; i < 3; i++)
		shape->centre[i] = reach * b[i];
	if (!shape->fixed)
		shape->radius = reach * sqrt(fmax(b[3] + vector3_dot(b, b), 1e-12));
	return true;
}

/*
 * Plainly: from all points, by linear equations. Robustly: the shape through a few points that has
 * the least median distance (methods §11). A cylinder: the best among axes in all directions. False
 * where the points give none.
 */
static bool
start(const struct shape_points *all, bool robust, struct shape *shape)
{
	struct shape_points points;
	double least;

	if (shape->kind == SHAPE_CYLINDER)
		return start_cylinder(all, robust, shape);
	if (!robust && shape->kind == SHAPE_SPHERE)
		return start_sphere(all, shape);
	if (!robust) {
		start_plane(all, shape);
		return true;
	}
	choose(all, SEARCHED_POINTS, &points);
	least = fitshape_rows()->best_draw(all, &points, shape);
	chosen_free(&points);
	return least < INFINITY;
}

/* ---- fits: weights and least squares in turns ---- */

#define MAX_REWEIGHTS 60
#define MIN_MOVE 1e-11		/* of the points' reach: a shape that moves less is at rest */
#define SIGMA_ROUNDS 20		/* after which standard deviations stay as they are */
#define MIN_SPREAD 2		/* scatters: less does not determine a shape */
#define ROUNDING 1.2e-7		/* of a float, twice */

struct fitting {
	const struct cloud *cloud;
	const struct fit_options *options;
	struct fit *fit;
	double *sd;		/* of each distance; NULL: not known */
	float *size;		/* for medians */
	struct shape_points points;
	double reach;
};

/* Fails; scatter: NaN where it is not known. */
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

/* How far the shape has moved, within the points' reach. */
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
reweight(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	bool robust = fitting->options->robust;

	for (int i = 0; i < MAX_REWEIGHTS; i++) {
		struct shape last = fit->shape;

		fitshape_rows()->find_distances(fit, fitting->cloud);
		if (fitting->sd && i < SIGMA_ROUNDS)
			fitshape_rows()->find_sds(fit, fitting->cloud, fitting->sd);
		if (robust) {
			double rounding = 1e-14 * (fitting->reach + fabs(fit->shape.radius));

			fitshape_rows()->find_sizes(fit, fitting->sd, fitting->size);
			fit->scale = fmax(1.4826 * (double)numbers_median(fitting->size, fit->n),
			    rounding);
		}
		fitshape_rows()->find_weights(fit, fitting->sd, robust);
		if (!shape_fit(&fitting->points, &fit->shape))
			return not_determined(fitting, (double)NAN);
		if ((!robust && !fitting->sd) ||
		    moved(&last, &fit->shape, fitting->reach) < MIN_MOVE * fitting->reach)
			break;
	}
	return 0;
}

/* Fixes signs: a plane's normal points towards the camera, an axis's largest part is positive. */
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
	fitshape_rows()->find_distances(fitting->fit, fitting->cloud);
}

/* ---- figures of a fit ---- */

static void
find_statistics(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	double squares = 0, sum = 0, chi_square = 0, low = INFINITY, high = -INFINITY;
	double *used = must_alloc(fit->n, sizeof(*used));

	memset(fit->middle, 0, sizeof(fit->middle));
	for (size_t i = 0; i < fit->n; i++) {
		double d = fit->distance[i], deviations = d / (fitting->sd ? fitting->sd[i] : 1);

		if (!(fit->weight[i] > 0))
			continue;
		used[fit->used++] = d;
		low = d < low ? d : low;
		high = d > high ? d : high;
		squares += d * d;
		sum += d;
		chi_square += deviations * deviations;
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
}

/*
 * ---- errors that neighbours share ----
 *
 * The error of pixel p behind a filter is its sigma times sum_q w(p - q) e(q) / sqrt(V(p)): e is
 * white noise of the valid pixels q, w a Gaussian window, and V(p) the sum of w^2 over the pixels
 * that the window has. At borders and holes these are pairs of pixels on both sides of p, as gauss
 * takes them. So the sums J' W e have the covariance M = sum_q H_i H_j, where H_i(q) is the sum
 * over p of w(p - q) / sqrt(V) times weight, sigma and J_i, and the unknowns have A^-1 M A^-1.
 * Independent errors have M = A.
 */

#define WINDOW_REACH 3		/* standard deviations of the window: gauss has no more */

/* M, behind a window. weight: 1/sigma^2 of the points that count, else 0. */
static void
window_sums(const struct fitting *fitting, const double *weight, double *m)
{
	const struct cloud *cloud = fitting->cloud;
	const struct fit *fit = fitting->fit;
	size_t n = fit->unknowns, w = cloud->w, reach = (size_t)(WINDOW_REACH * cloud->window_px);
	size_t first = cloud->pixel[0] / w, end = cloud->pixel[cloud->n - 1] / w + reach + 1;
	struct windows windows = { .fit = fit, .cloud = cloud, .weight = weight,
		.sd = fitting->sd, .y0 = first < reach ? 0 : first - reach, .reach = reach };
	size_t size;

	windows.h = (end < cloud->h ? end : cloud->h) - windows.y0;
	windows.kernel = must_alloc(2 * (reach + 1), sizeof(*windows.kernel));
	size = w * windows.h;
	windows.plane = must_alloc(size, (n + 3) * sizeof(*windows.plane));
	for (size_t d = 0; d <= reach; d++) {
		double t = (double)d / cloud->window_px;

		windows.kernel[d] = exp(-t * t / 2);
		windows.kernel[reach + 1 + d] = exp(-t * t);
	}
	fitshape_rows()->spread(&windows);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			const double *hi = windows.plane + (i + 1) * size;
			const double *hj = windows.plane + (j + 1) * size, *valid = windows.plane;
			double sum = 0;

			for (size_t k = 0; k < size; k++)
				sum += valid[k] * hi[k] * hj[k];
			m[i * n + j] = m[j * n + i] = sum;
		}
	free(windows.plane);
	free(windows.kernel);
}

/* J' W J at the solution. */
static void
sums(struct fitting *fitting, const double *weight, double *a)
{
	struct shape_points points = fitting->points;
	struct shape_normals sum;

	points.weight = weight;
	sum_normals(&points, &fitting->fit->tangent, &sum);
	memcpy(a, sum.a, sizeof(sum.a));
}

/* out = a^-1 m a^-1 of symmetric n x n matrices, of which a^-1 is given. */
static void
sandwich(size_t n, const double *inverse, const double *m, double *out)
{
	for (size_t i = 0; i < n * n; i++) {
		out[i] = 0;
		for (size_t k = 0; k < n * n; k++)
			out[i] += inverse[i / n * n + k / n] * m[k] * inverse[k % n * n + i % n];
	}
}

/* Huber's: A^-1 B A^-1 with A of the slopes of psi, B of its squares; for independent errors. */
static int
robust_covariance(struct fitting *fitting, double *weight)
{
	struct fit *fit = fitting->fit;
	size_t n = fit->unknowns;
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], b[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS];

	for (int k = 0; k < 2; k++) {
		fitshape_rows()->robust_weights(fit, fitting->sd, k, weight);
		sums(fitting, weight, k ? b : a);
	}
	if (!symmetric_invert(n, a))
		return not_determined(fitting, (double)NAN);
	sandwich(n, a, b, fit->cov);
	for (size_t i = 0; i < n * n; i++)
		fit->cov[i] *= (double)fit->used / (double)(fit->used - n);
	return 0;
}

/* Fills cov, shared, and what is expected of chi square: its points less the trace of A^-1 M. */
static int
find_covariance(struct fitting *fitting)
{
	const struct cloud *cloud = fitting->cloud;
	struct fit *fit = fitting->fit;
	bool robust = fitting->options->robust;
	size_t n = fit->unknowns;
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], m[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS];
	double g[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], used = (double)fit->used, trace = 0;
	double variance = fitting->sd ? 1 : fit->sd * fit->sd;
	double *weight = must_alloc(fit->n, sizeof(*weight));
	int status = 0;

	fit->shared = cloud->w ? 1 : cloud->shared;
	for (size_t i = 0; i < fit->n; i++)
		weight[i] = !(fit->weight[i] > 0) ? 0 :
		    fitting->sd ? 1 / (fitting->sd[i] * fitting->sd[i]) : 1;
	sums(fitting, weight, a);
	for (size_t i = 0; i < n * n; i++)
		m[i] = fit->shared * a[i];
	if (cloud->valid) {
		window_sums(fitting, weight, m);
		/* of the unknown that moves all distances alike, if the radius is not given */
		fit->shared = m[n * n - 1] / a[n * n - 1];
	}
	if (!symmetric_invert(n, a))
		status = not_determined(fitting, (double)NAN);
	sandwich(n, a, m, g);
	for (size_t i = 0; i < n * n; i++) {
		trace += a[i] * m[i];
		fit->cov[i] = fit->used > n ? variance * g[i] : (double)NAN;
	}
	if (status == 0 && robust && fit->used > n) {
		status = robust_covariance(fitting, weight);
		for (size_t i = 0; i < n * n; i++)
			fit->cov[i] *= sqrt(g[i / n * (n + 1)] / a[i / n * (n + 1)] *
			    g[i % n * (n + 1)] / a[i % n * (n + 1)]);
	}
	free(weight);
	fit->chi_square_expected = used - trace;
	/* of correlations exp(-d^2/4s^2) the sum of the squares is half their sum */
	fit->chi_square_sd = sqrt(2 * fmax(used * (fit->shared + 1) / 2 - trace, 0));
	/* so near 0 the estimate is none: too few points are independent */
	if (fit->shared > 1 && fit->chi_square_expected < used / 2)
		fit->chi_square_expected = fit->chi_square_sd = (double)NAN;
	return status;
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

/* Does a plane fit the points better than a sphere or cylinder whose radius is free, and which
 * therefore has every plane as a limit? */
static bool
is_plane(const struct fitting *fitting, size_t used)
{
	const struct fit *fit = fitting->fit;
	double value[3], vector[9];

	if (fit->shape.kind == SHAPE_PLANE || fit->shape.fixed)
		return false;
	find_moments(fit, fitting->cloud, used, value, vector);
	return sqrt(fmax(value[2], 0)) < fit->rms;
}

/*
 * Is a ring about a cylinder so short that its axis could tilt? By the derivatives, the sd of the
 * tilt t is s sqrt(2/N) / h, with h the rms height of the ring. But a tilted ring reaches t r
 * farther along the axis: where t r is not small compared with h, the derivatives see the height of
 * their own error. For h^2 = 2 r s sqrt(2/N) the sd is right within 15 %. Where a ring is cut
 * obliquely, its ellipse shows the tilt, and h only shows to which side it leans.
 */
static bool
is_short_ring(const struct fitting *fitting, size_t used, double scatter)
{
	const struct fit *fit = fitting->fit;
	double value[3], vector[9], across, h;

	find_moments(fit, fitting->cloud, used, value, vector);
	h = sqrt(fmax(value[2], 0));
	across = fabs(vector3_dot(&vector[6], fit->shape.axis));
	return (across > 0.5 && h < MIN_SPREAD * scatter) ||
	    (across > 0.95 && h * h < 2 * fit->shape.radius * scatter * sqrt(2 / (double)used));
}

/*
 * Do the points determine the shape? With derivatives that have no unit (tilts times the size of
 * the shape), the root of the smallest eigenvalue of mean J J', times that size, is how far the
 * points are from where another shape of the kind fits as well. Scatter alone makes it as large as
 * the standard deviation of the distances, which is taken from their median, so that wrong points
 * do not matter. So does the rounding of coordinates to float.
 */
static int
check_determined(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;
	const double *about = fitting->cloud->about;
	size_t n = fit->unknowns, used = 0;
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], value[SHAPE_UNKNOWNS];
	double vector[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], size, scatter;
	double *equal = must_alloc(fit->n, sizeof(*equal));

	for (size_t i = 0; i < fit->n; i++) {
		equal[i] = fit->weight[i] > 0;
		if (fit->weight[i] > 0)
			fitting->size[used++] = (float)fabs(fit->distance[i]);
	}
	scatter = fmax(1.4826 * (double)numbers_median(fitting->size, used),
	    ROUNDING * (sqrt(vector3_dot(about, about)) + fitting->reach));
	size = fit->shape.kind == SHAPE_PLANE ? fitting->reach : fit->shape.radius;
	tangent_at(&fit->shape, size, &fit->tangent);
	sums(fitting, equal, a);
	free(equal);
	symmetric_eigen(n, a, value, vector);
	fit->spread = sqrt(fmax(value[n - 1], 0) / (double)used) * size / scatter;
	if (fit->spread < MIN_SPREAD || is_plane(fitting, used) ||
	    (fit->shape.kind == SHAPE_CYLINDER && is_short_ring(fitting, used, scatter)))
		return not_determined(fitting, scatter);
	return 0;
}

/* Fills fit->extent_deg and fit->length. */
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

static int
run_fit(struct fitting *fitting)
{
	struct fit *fit = fitting->fit;

	fitting->reach = reach_of(&fitting->points);
	if (!start(&fitting->points, fitting->options->robust, &fit->shape))
		return not_determined(fitting, (double)NAN);
	fitting->points.weight = fit->weight;
	if (reweight(fitting) < 0)
		return -1;
	orient(fitting);
	find_statistics(fitting);
	if (fit->used < fit->unknowns)
		return not_determined(fitting, (double)NAN);
	if (check_determined(fitting) < 0)
		return -1;
	tangent_at(&fit->shape, fitting->reach, &fit->tangent);
	if (find_covariance(fitting) < 0)
		return -1;
	find_extent(fit, fitting->cloud);
	return 0;
}

int
fit_shape(struct run *run, const struct cloud *cloud, const struct shape *shape,
    const struct fit_options *options, struct fit *fit)
{
	struct fitting fitting = { .cloud = cloud, .options = options, .fit = fit };
	int status;

	*fit = (struct fit){ .shape = *shape, .n = cloud->n, .scale = (double)NAN };
	fit->unknowns = shape_unknowns(shape);
	if (fit->n == 0)
		return fail(NULL, "no point: all are NaN");
	if (fit->n < fit->unknowns)
		return fail(NULL, "%zu point%s: a %s of %zu unknowns needs %zu", fit->n,
		    fit->n == 1 ? "" : "s", fit_names[shape->kind], fit->unknowns,
		    fit->unknowns);
	fit->distance = must_alloc(cloud->n, sizeof(*fit->distance));
	fit->weight = must_alloc(cloud->n, sizeof(*fit->weight));
	fitting.size = must_alloc(cloud->n, sizeof(*fitting.size));
	fitting.sd = cloud->sigma ? must_alloc(cloud->n, sizeof(*fitting.sd)) : NULL;
	fitting.points = (struct shape_points){ run, (const double (*)[3])cloud->x, NULL,
		cloud->n };
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
