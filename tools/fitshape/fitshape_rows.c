/*
 * The loops of fitshape over points: distances from a shape and their derivatives, sums for least
 * squares, weights, and searches for starts and balls.
 */
#include "fitshape.h"

#include <string.h>

#include "base/fail.h"
#include "base/px.h"

/* ---- least squares ---- */

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

/* ---- errors that neighbours share ---- */

static void
add_scaled(double *restrict to, const double *restrict from, size_t n, double factor)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		to[i] += factor * from[i];
}

static void
blur(double *plane, size_t w, size_t h, const double *kernel, size_t reach, double *other)
{
	memset(other, 0, w * h * sizeof(*other));
	for (size_t y = 0; y < h; y++)
		for (size_t k = y < reach ? 0 : y - reach; k <= y + reach && k < h; k++)
			add_scaled(other + y * w, plane + k * w, w, kernel[k < y ? y - k : k - y]);
	memset(plane, 0, w * h * sizeof(*plane));
	for (size_t y = 0; y < h; y++)
		for (size_t d = 0; d <= reach && d < w; d++) {
			add_scaled(plane + y * w, other + y * w + d, w - d, kernel[d]);
			if (d)
				add_scaled(plane + y * w + d, other + y * w, w - d, kernel[d]);
		}
}

#define PAIRS_REACH 30		/* px: the pairs of larger windows are not looked at one by one */

/* Adds a point's share to the planes; where its window is not whole, pair by pair. */
static void
spread_pairs(const struct windows *windows, size_t i, const double share[SHAPE_UNKNOWNS])
{
	const double *kernel = windows->kernel, *valid = windows->plane;
	ptrdiff_t w = (ptrdiff_t)windows->cloud->w, h = (ptrdiff_t)windows->h;
	ptrdiff_t at = (ptrdiff_t)(windows->cloud->pixel[i] - windows->y0 * windows->cloud->w);
	ptrdiff_t x = at % w, y = at / w, right = x < w - 1 - x ? x : w - 1 - x;
	ptrdiff_t down = y < h - 1 - y ? y : h - 1 - y, reach = (ptrdiff_t)windows->reach;
	ptrdiff_t step[(2 * PAIRS_REACH + 1) * (PAIRS_REACH + 1)];
	double height[(2 * PAIRS_REACH + 1) * (PAIRS_REACH + 1)], V = 1;
	size_t n = 0;

	right = right < reach ? right : reach;
	down = down < reach ? down : reach;
	for (ptrdiff_t dy = 0; dy <= down; dy++)
		for (ptrdiff_t dx = dy ? -right : 1; dx <= right; dx++) {
			ptrdiff_t to = dy * w + dx;

			if (valid[at + to] == 0 || valid[at - to] == 0)
				continue;
			step[n] = to;
			height[n] = kernel[dy] * kernel[dx < 0 ? -dx : dx];
			V += 2 * height[n] * height[n];
			n++;
		}
	for (size_t k = 0; k < windows->fit->unknowns; k++) {
		double *to = windows->plane + (ptrdiff_t)(k + 1) * w * h + at;
		double own = share[k] / sqrt(V);

		*to += own;
		for (size_t p = 0; p < n; p++) {
			to[step[p]] += own * height[p];
			to[-step[p]] += own * height[p];
		}
	}
}

static void
spread(const struct windows *windows)
{
	const struct cloud *cloud = windows->cloud;
	size_t w = cloud->w, h = windows->h, size = w * h, reach = windows->reach;
	double *plane = windows->plane, *V = plane + (windows->fit->unknowns + 1) * size, whole = 1;
	double *other = plane + size, *squares = windows->kernel + reach + 1;

	for (size_t d = 1; d <= reach; d++)
		whole += 2 * squares[d];
	whole *= whole * (1 - 1e-9);
	for (size_t i = 0; i < size; i++)
		V[i] = plane[i] = cloud->valid[windows->y0 * w + i];
	blur(V, w, h, squares, reach, other);
	memset(other, 0, size * sizeof(*other));
	/* whole windows together, others point by point */
	for (int pairs = 0; pairs < 2; pairs++) {
		for (size_t i = 0; i < cloud->n; i++) {
			size_t at = cloud->pixel[i] - windows->y0 * w;
			bool by_pairs = V[at] < whole && reach <= PAIRS_REACH;
			double J[SHAPE_UNKNOWNS];

			if (by_pairs != pairs)
				continue;
			derive(&windows->fit->tangent, cloud->x[i], J);
			for (size_t k = 0; k < windows->fit->unknowns; k++) {
				J[k] *= windows->weight[i] * (windows->sd ? windows->sd[i] : 1);
				if (!pairs)
					plane[(k + 1) * size + at] = J[k] / sqrt(V[at]);
			}
			if (pairs)
				spread_pairs(windows, i, J);
		}
		for (size_t k = 1; k <= windows->fit->unknowns && !pairs; k++)
			blur(plane + k * size, w, h, windows->kernel, reach,
			    V + size);
	}
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
	return (double)numbers_median(distance, points->n);
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
#define ON_BALL_SHARE 0.01		/* of the radius: nearer points are on the sphere */
#define MAX_RADIUS_ERROR 0.05	/* of the radius */

static size_t
count_near(const struct search *search, const struct shape *ball)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n; i++)
		n += fabs(shape_distance(ball, search->cloud->x[search->index[i]])) <
		    ON_BALL_SHARE * ball->radius;
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

		struct shape around = { .kind = SHAPE_SPHERE, .radius = 1.2 * radius };

		memcpy(around.centre, seed, sizeof(around.centre));
		search->nears = 0;
		for (size_t i = 0; i < search->n; i++)
			if (shape_distance(&around, search->cloud->x[search->index[i]]) < 0)
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

const struct fitshape_rows AT_LEVEL(fitshape_rows) = {
	.sum_block = sum_block,
	.find_distances = find_distances,
	.find_sds = find_sds,
	.find_sizes = find_sizes,
	.find_weights = find_weights,
	.robust_weights = robust_weights,
	.spread = spread,
	.best_draw = best_draw,
	.best_directions = best_directions,
	.median_distance = median_distance,
	.rms_distance = rms_distance,
	.weigh_near = weigh_near,
	.best_ball = best_ball,
};
