/*
 * Saddle points and blobs to a fraction of a pixel: derivatives of Gaussians, their extrema, and
 * refinement by least squares.
 */
#include "feature/corner.h"

#include <math.h>

#include "base/linear.h"
#include "base/process.h"
#include "feature/derivative_rows.h"
#include "image/statistics.h"

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

/* ---- pixels where the Hessian's determinant is larger than around them ---- */

struct peak {
	float strength; /* of det H, positive */
	uint32_t x, y;
};

struct peaks {
	size_t n, room;
	struct peak *peak; /* strongest first */
};

/* Strongest first; equal ones from the top left. */
static int
compare_peaks(const void *a, const void *b)
{
	const struct peak *p = a, *q = b;

	if (p->strength != q->strength)
		return p->strength > q->strength ? -1 : 1;
	if (p->y != q->y)
		return p->y < q->y ? -1 : 1;
	return p->x < q->x ? -1 : p->x > q->x;
}

/* Peaks of the middle one of three rows. */
static void
find_peaks(const float *const row[3], size_t w, size_t y, struct peaks *peaks)
{
	for (size_t x = 1; x + 1 < w; x++) {
		float v = row[1][x];

		if (!(v > 0) || !(v > row[1][x - 1]) || !(v >= row[1][x + 1]))
			continue;
		if (!(v > row[0][x - 1] && v > row[0][x] && v > row[0][x + 1] &&
		    v >= row[2][x - 1] && v >= row[2][x] && v >= row[2][x + 1]))
			continue;
		if (peaks->n == peaks->room) {
			peaks->room = peaks->room ? 2 * peaks->room : 1024;
			peaks->peak = must_resize(peaks->peak, peaks->room, sizeof(*peaks->peak));
		}
		peaks->peak[peaks->n++] = (struct peak){ v, (uint32_t)x, (uint32_t)y };
	}
}

static void
respond(const float *const restrict d[DERIVATIVES], size_t w, enum feature_kind kind,
    float *restrict out)
{
	const float *restrict xx = d[DERIVATIVE_XX], *restrict xy = d[DERIVATIVE_XY];
	const float *restrict yy = d[DERIVATIVE_YY];
	float sign = kind == FEATURE_DARK ? 1.0f : -1.0f;

	if (kind == FEATURE_SADDLE) {
		for (size_t x = 0; x < w; x++)
			out[x] = xy[x] * xy[x] - xx[x] * yy[x];
		return;
	}
	for (size_t x = 0; x < w; x++) {
		float det = xx[x] * yy[x] - xy[x] * xy[x];

		out[x] = sign * (xx[x] + yy[x]) > 0 ? det : 0;
	}
}

static void
all_peaks(const struct derivative_plane *in, const struct derivative_kernels *k,
    enum feature_kind kind, float *memory, size_t length, struct peaks *peaks)
{
	float *second[DERIVATIVES] = { [DERIVATIVE_XX] = memory,
		[DERIVATIVE_XY] = memory + length,
		[DERIVATIVE_YY] = memory + 2 * length };
	float *work = memory + 6 * length;

	for (size_t y = 0; y < in->h; y++) {
		float *to = memory + (3 + y % 3) * length;

		k->row(k, in, y, work, second);
		respond((const float *const *)second, in->w, kind, to);
		if (y >= 2)
			find_peaks((const float *const[3]){ memory + (3 + (y - 2) % 3) * length,
			    memory + (3 + (y - 1) % 3) * length, to }, in->w, y - 1, peaks);
	}
}

/* Leaves out those below `least` of the strongest: with noise nearly all are. */
static void
drop_weak(struct peaks *peaks, float least)
{
	float strongest = 0;
	size_t n = 0;

	for (size_t i = 0; i < peaks->n; i++)
		strongest = peaks->peak[i].strength > strongest ? peaks->peak[i].strength :
		    strongest;
	for (size_t i = 0; i < peaks->n; i++)
		if (peaks->peak[i].strength >= least * strongest)
			peaks->peak[n++] = peaks->peak[i];
	peaks->n = n;
}

/* All of an image but those of less than `least` of the strongest one's strength, both taken as
 * sqrt(|det H|). The caller frees peak. */
static void
peaks_find(const struct derivative_plane *in, const struct derivative_kernels *k,
    enum feature_kind kind, double least, struct peaks *peaks)
{
	size_t length = (in->w + 15) / 16 * 16;
	float *memory;

	*peaks = (struct peaks){ 0 };
	memory = must_aligned(6 * length + derivatives_work(k, in->w), sizeof(*memory));
	all_peaks(in, k, kind, memory, length, peaks);
	free(memory);
	if (peaks->n) {
		drop_weak(peaks, (float)(least * least));
		qsort(peaks->peak, peaks->n, sizeof(*peaks->peak), compare_peaks);
	}
}

/* ---- from pixels to places between them ---- */

#define LONGEST 12.0 /* ratio of the second derivatives: longer ones are lines */
#define MAX_BLOB_STEPS 10
#define BLOB_LAST_STEP_PX 0.01 /* after a shorter one the place is found */
#define MAX_CORNER_STEPS 20
#define FIND_LAST_STEP_PX 0.05
#define ONE_FEATURE 1.5 /* sigma: nearer ones are the same */
#define RING 32         /* places on the ring that angles are read from */
#define RING_RADIUS 2.0 /* sigma */

/* Newton's step to where the gradient is zero; returns its length. */
static double
newton_step(const struct derivatives *d, double det, double step[2])
{
	step[0] = (d->xy * d->y - d->yy * d->x) / det;
	step[1] = (d->xy * d->x - d->xx * d->y) / det;
	return hypot(step[0], step[1]);
}

/* Moves to the extremum. False where that is no blob. */
static bool
blob_refine(const struct derivative_plane *in, const struct derivative_kernels *k,
    struct feature *blob)
{
	double x = blob->x, y = blob->y;

	for (int i = 0; i < MAX_BLOB_STEPS; i++) {
		struct derivatives d;
		double det, mean, root, step[2], length;

		derivatives_at(k, in, x, y, &d);
		det = d.xx * d.yy - d.xy * d.xy;
		mean = 0.5 * (d.xx + d.yy);
		root = hypot(0.5 * (d.xx - d.yy), d.xy);
		if (!(det > 0) || !(fabs(mean) + root < LONGEST * (fabs(mean) - root)))
			return false;
		length = newton_step(&d, det, step);
		x += step[0];
		y += step[1];
		if (!(hypot(x - blob->x, y - blob->y) <= ONE_FEATURE * k->sigma))
			return false;
		blob->strength = k->sigma * k->sigma * sqrt(det);
		if (length < BLOB_LAST_STEP_PX)
			break;
	}
	blob->x = x;
	blob->y = y;
	return true;
}

/* False where it is none. */
static bool
describe(const struct derivatives *d, double sigma, struct feature *saddle)
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

bool
saddle_refine(const struct derivative_plane *in, const struct derivative_kernels *k, double reach,
    double last_step_px, struct feature *saddle)
{
	struct feature at = *saddle;

	for (int i = 0; i < MAX_CORNER_STEPS; i++) {
		struct derivatives d;
		double step[2], length;

		derivatives_at(k, in, at.x, at.y, &d);
		if (!describe(&d, k->sigma, &at))
			return false;
		length = newton_step(&d, d.xx * d.yy - d.xy * d.xy, step);
		/* the image is no parabola: no step beyond its curvature's reach */
		if (length > k->sigma) {
			step[0] *= k->sigma / length;
			step[1] *= k->sigma / length;
		}
		at.x += step[0];
		at.y += step[1];
		if (!(hypot(at.x - saddle->x, at.y - saddle->y) <= reach))
			return false;
		if (length < last_step_px) {
			*saddle = at;
			return true;
		}
	}
	return false;
}

/* Beyond its border an image goes on with its last pixel. */
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
measure_open(const struct derivative_plane *in, double radius, struct feature *saddle)
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

static bool
is_new(const struct features *features, const struct feature *feature, double least)
{
	for (size_t i = 0; i < features->n; i++)
		if (hypot(feature->x - features->v[i].x, feature->y - features->v[i].y) < least)
			return false;
	return true;
}

void
features_find(const struct derivative_plane *in, const struct derivative_kernels *k,
    enum feature_kind kind, size_t most, double least, struct features *to)
{
	double reach = ONE_FEATURE * k->sigma;
	struct peaks peaks;

	*to = (struct features){ 0 };
	peaks_find(in, k, kind, least, &peaks);
	to->v = must_alloc(most, sizeof(*to->v));
	for (size_t i = 0; i < peaks.n && i < 2 * most && to->n < most; i++) {
		struct feature at = { peaks.peak[i].x, peaks.peak[i].y, 0, NAN, NAN };

		if ((kind == FEATURE_SADDLE ?
		    saddle_refine(in, k, reach, FIND_LAST_STEP_PX, &at) &&
		    measure_open(in, RING_RADIUS * k->sigma, &at) : blob_refine(in, k, &at)) &&
		    is_new(to, &at, reach))
			to->v[to->n++] = at;
	}
	free(peaks.peak);
}

/* ---- the edge of a blob ---- */

#define RAYS_LEAST 12
#define RAYS_MOST 96
#define ARC_PX 1.5        /* of edge for each ray: nearer ones share their noise */
#define RAY_STEP_PX 0.25
#define EDGE_NEAR_PX 1.5  /* from the edge: levels are read from there */
#define EDGE_FAR_PX 3.0   /* to there */
#define SLOPE_OVER_PX 1.0 /* the steepest place is that of the largest difference over it */
#define STEEP 0.6         /* of the largest difference: an edge */
#define SAMPLES_MOST 2048 /* of a ray */
#define OUTLIER 4.0       /* of the median distance from the ellipse */
#define RAYS_SHARE 0.6    /* of the rays must be on the ellipse */

/* The mean of a ray's samples from r0 to r1 px, as far as it has them. */
static double
mean_of(const double *ray, int n, double r0, double r1)
{
	int first = (int)fmax(ceil(r0 / RAY_STEP_PX), 0);
	int last = (int)fmin(floor(r1 / RAY_STEP_PX), n - 1);
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
	int over = (int)(SLOPE_OVER_PX / RAY_STEP_PX);
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
find_edge(const struct derivative_plane *in, const struct feature *blob, double angle, double reach)
{
	int n = (int)fmin(reach / RAY_STEP_PX, SAMPLES_MOST), steepest;
	int over = (int)(SLOPE_OVER_PX / RAY_STEP_PX);
	double ray[SAMPLES_MOST], near, level;

	for (int k = 0; k < n; k++) {
		double x = blob->x + k * RAY_STEP_PX * cos(angle);
		double y = blob->y + k * RAY_STEP_PX * sin(angle);

		ray[k] = x >= 0 && y >= 0 && x < (double)in->w - 1 && y < (double)in->h - 1 ?
		    read_bilinear(in, x, y) : NAN;
		if (isnan(ray[k])) /* the border: what lies before it may do */
			n = k;
	}
	steepest = first_edge(ray, n);
	if (steepest < 0)
		return NAN;
	near = (steepest - 0.5 * over) * RAY_STEP_PX;
	level = 0.5 *
	    (mean_of(ray, n, near - EDGE_FAR_PX, near - EDGE_NEAR_PX) +
		mean_of(ray, n, near + EDGE_NEAR_PX, near + EDGE_FAR_PX));
	for (int away = 0; away <= 2 * over; away++)
		for (int side = -1; side <= 1; side += 2) {
			int k = (int)(near / RAY_STEP_PX) + side * away;

			if (k < 0 || k + 1 >= n || (ray[k] > level) == (ray[k + 1] > level))
				continue;
			return (k + (level - ray[k]) / (ray[k + 1] - ray[k])) * RAY_STEP_PX;
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

/* Leaves out the points far off the ellipse; the rms of the others, or NaN where they are too few.
 */
static double
judge(const double (*p)[2], bool *used, int n, int rays, const double q[5])
{
	double off[RAYS_MOST], sorted[RAYS_MOST], most, sum = 0;
	int left = 0;

	for (int k = 0; k < n; k++)
		off[k] = sorted[k] = fabs(distance(q, p[k]));
	most = OUTLIER * statistics_ranked(sorted, (size_t)n, (size_t)n / 2);
	for (int k = 0; k < n; k++) {
		used[k] = off[k] <= most;
		left += used[k];
		sum += used[k] ? off[k] * off[k] : 0;
	}
	/* five numbers were fitted */
	return left >= RAYS_SHARE * rays && left > 6 ? sqrt(sum / (left - 5)) : NAN;
}

bool
blob_measure(const struct derivative_plane *in, double reach, struct feature *blob, double *sd)
{
	double p[RAYS_MOST][2], q[5], rms, det, x, y, radius = find_edge(in, blob, 0, reach);
	bool used[RAYS_MOST];
	int rays, n = 0;

	if (isnan(radius))
		radius = reach / 2;
	rays = (int)fmin(fmax(2 * M_PI * radius / ARC_PX, RAYS_LEAST), RAYS_MOST);
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
pixel_variance(const struct derivative_plane *in, double reach, const struct feature *saddle)
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
    const struct feature *saddle)
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
