#include "points/rigid_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "base/symmetric.h"

#define PART 8192		/* pairs of one sum */
#define SIGMAS 3
#define NOISE 10		/* times what noise alone gives */
#define PAIRS_LEAST 6
#define ALL_SHIFT 0.99		/* of a motion's square: the words are those of a shift */
#define SCREW 0.1		/* shift along the axis to turn: less is none in words */

/* What one part of the pairs adds up to. */
struct sums {
	double n, point[3], square, residual_square;
	double a[36], b[6];		/* the normal matrix, the right side */
	double one[36], two[36];	/* the matrices of one kind of normals alone */
};

struct work {
	const struct rigid_pair *pair;
	const float (*other)[3];
	size_t n;
	double center[3], radius;
	float low, high;		/* the residuals in use */
	struct sums *part;
};

static void
for_parts(struct run *run, struct work *work, void (*fn)(void *, size_t))
{
	size_t parts = (work->n + PART - 1) / PART;

	memset(work->part, 0, parts * sizeof(*work->part));
	if (run)
		run_for(run, parts, fn, work);
	for (size_t i = 0; i < parts && !run; i++)
		fn(work, i);
}

static bool
in_use(const struct work *work, size_t i)
{
	float residual = work->pair[i].residual;

	return residual >= work->low && residual <= work->high;
}

static void
sum_points(void *arg, size_t part)
{
	const struct work *work = arg;
	struct sums *sums = &work->part[part];
	size_t end = (part + 1) * PART < work->n ? (part + 1) * PART : work->n;

	for (size_t i = part * PART; i < end; i++) {
		if (!in_use(work, i))
			continue;
		sums->n++;
		for (size_t k = 0; k < 3; k++)
			sums->point[k] += work->pair[i].point[k];
		sums->residual_square += pow(work->pair[i].residual, 2);
	}
}

static void
sum_squares(void *arg, size_t part)
{
	const struct work *work = arg;
	struct sums *sums = &work->part[part];
	size_t end = (part + 1) * PART < work->n ? (part + 1) * PART : work->n;

	for (size_t i = part * PART; i < end; i++)
		for (size_t k = 0; k < 3 && in_use(work, i); k++)
			sums->square += pow(work->pair[i].point[k] - work->center[k], 2);
}

/* The change of a residual with a turn (times radius) and with a shift. */
static void
row_of(const struct work *work, size_t i, const float normal[3], double row[6])
{
	double d[3];

	for (size_t k = 0; k < 3; k++)
		d[k] = (work->pair[i].point[k] - work->center[k]) / work->radius;
	row[0] = d[1] * normal[2] - d[2] * normal[1];
	row[1] = d[2] * normal[0] - d[0] * normal[2];
	row[2] = d[0] * normal[1] - d[1] * normal[0];
	for (size_t k = 0; k < 3; k++)
		row[3 + k] = normal[k];
}

static void
sum_rows(void *arg, size_t part)
{
	const struct work *work = arg;
	struct sums *sums = &work->part[part];
	size_t end = (part + 1) * PART < work->n ? (part + 1) * PART : work->n;

	for (size_t i = part * PART; i < end; i++) {
		double row[6];

		if (!in_use(work, i))
			continue;
		row_of(work, i, work->pair[i].normal, row);
		for (size_t k = 0; k < 6; k++) {
			for (size_t l = 0; l <= k; l++)
				sums->a[6 * k + l] += row[k] * row[l];
			sums->b[k] += row[k] * work->pair[i].residual;
		}
	}
}

static void
sum_both(void *arg, size_t part)
{
	const struct work *work = arg;
	struct sums *sums = &work->part[part];
	size_t end = (part + 1) * PART < work->n ? (part + 1) * PART : work->n;

	for (size_t i = part * PART; i < end; i++) {
		double one[6], two[6];

		if (!in_use(work, i) || isnan(work->other[i][0]))
			continue;
		sums->n++;
		row_of(work, i, work->pair[i].normal, one);
		row_of(work, i, work->other[i], two);
		for (size_t k = 0; k < 6; k++)
			for (size_t l = 0; l <= k; l++) {
				sums->a[6 * k + l] += (one[k] * two[l] + two[k] * one[l]) / 2;
				sums->one[6 * k + l] += one[k] * one[l];
				sums->two[6 * k + l] += two[k] * two[l];
			}
		for (size_t k = 0; k < 6; k++)
			sums->b[k] += one[k] * work->pair[i].residual;
	}
}

/* The parts in their order, so that no thread matters; lower triangles become whole matrices. */
static struct sums
total(const struct work *work)
{
	size_t parts = (work->n + PART - 1) / PART;
	struct sums all = { 0 };

	for (size_t i = 0; i < parts; i++) {
		const struct sums *part = &work->part[i];

		all.n += part->n;
		all.square += part->square;
		all.residual_square += part->residual_square;
		for (size_t k = 0; k < 3; k++)
			all.point[k] += part->point[k];
		for (size_t k = 0; k < 6; k++)
			all.b[k] += part->b[k];
		for (size_t k = 0; k < 36; k++) {
			all.a[k] += part->a[k];
			all.one[k] += part->one[k];
			all.two[k] += part->two[k];
		}
	}
	for (size_t k = 0; k < 6; k++)
		for (size_t l = k + 1; l < 6; l++) {
			all.a[6 * k + l] = all.a[6 * l + k];
			all.one[6 * k + l] = all.one[6 * l + k];
			all.two[6 * k + l] = all.two[6 * l + k];
		}
	return all;
}

/* The cut: 3 sigma by the MAD about the median, and the caller's about 0. -1 after fail(). */
static int
find_cut(struct work *work, double cut, struct rigid_step *step)
{
	float *v = malloc(work->n * sizeof(*v)), middle, spread;
	size_t n = 0;

	if (!v)
		return fail_memory();
	for (size_t i = 0; i < work->n; i++)
		if (fabs(work->pair[i].residual) <= cut)
			v[n++] = work->pair[i].residual;
	step->pairs = n;
	if (n < PAIRS_LEAST) {
		free(v);
		return fail(NULL, "%zu pairs of points are too few for a rigid motion", n);
	}
	numbers_ranks(v, n, &(size_t){ n / 2 }, 1, &middle);
	for (size_t i = 0; i < n; i++)
		v[i] = fabsf(v[i] - middle);
	numbers_ranks(v, n, &(size_t){ n / 2 }, 1, &spread);
	free(v);
	step->median = middle;
	step->sigma = 1.4826 * spread;
	/* what is below the digits of a float is exact: without noise MAD is 0 */
	work->low = (float)fmax(-cut, middle - SIGMAS * step->sigma - 1e-6);
	work->high = (float)fmin(cut, middle + SIGMAS * step->sigma + 1e-6);
	return 0;
}

static void
measure(struct run *run, struct work *work, struct rigid_step *step)
{
	struct sums all;

	for_parts(run, work, sum_points);
	all = total(work);
	step->used = (size_t)all.n;
	step->rms = sqrt(all.residual_square / all.n);
	for (size_t k = 0; k < 3; k++)
		step->center[k] = work->center[k] = all.point[k] / all.n;
	for_parts(run, work, sum_squares);
	all = total(work);
	step->radius = work->radius = sqrt(all.square / (double)step->used);
	if (!(work->radius > 0))
		work->radius = 1;
}

static double
moment(const double a[36], const double v[6])
{
	double sum = 0;

	for (size_t k = 0; k < 6; k++)
		for (size_t l = 0; l < 6; l++)
			sum += v[k] * a[6 * k + l] * v[l];
	return sum;
}

/* Is the motion v, of the k-th eigenvalue, free? both: of two normals. */
static bool
is_free(const struct sums *all, bool both, double least, const double value[6], size_t k,
    const double v[6])
{
	double noise = both ? sqrt(moment(all->one, v) * moment(all->two, v) / fmax(all->n, 1)) : 0;

	return !(value[k] > least * value[0]) || !(value[k] > NOISE * noise);
}

/* The least squares solution without the motions that the pairs leave free; returns its length
 * where x'ax is the square. */
static double
solve(struct sums *all, bool both, double x[6])
{
	double value[6], vector[36], square = 0;

	symmetric_eigen(6, all->a, value, vector);
	memset(x, 0, 6 * sizeof(*x));
	for (size_t k = 0; k < 6; k++) {
		double dot = 0;

		if (is_free(all, both, RIGID_STEP_FREE, value, k, vector + 6 * k))
			continue;
		for (size_t l = 0; l < 6; l++)
			dot += vector[6 * k + l] * all->b[l];
		for (size_t l = 0; l < 6; l++)
			x[l] += dot / value[k] * vector[6 * k + l];
		square += dot * dot / value[k];
	}
	return sqrt(square);
}

static int
begin(struct work *work)
{
	work->part = calloc(work->n / PART + 1, sizeof(*work->part));
	return work->part ? 0 : fail_memory();
}

int
rigid_step_solve_noisy(struct run *run, const struct rigid_pair *pair, const float (*other)[3],
    size_t n, double cut, struct rigid_step *step)
{
	struct work work = { .pair = pair, .other = other, .n = n };
	struct sums all;
	double x[6];

	*step = (struct rigid_step){ 0 };
	if (find_cut(&work, cut, step) < 0 || begin(&work) < 0)
		return -1;
	measure(run, &work, step);
	for_parts(run, &work, other ? sum_both : sum_rows);
	all = total(&work);
	free(work.part);
	step->standard_errors = solve(&all, other != NULL, x) / step->rms;
	memcpy(step->matrix, all.a, sizeof(step->matrix));
	for (size_t k = 0; k < 3; k++) {
		x[k] /= work.radius;
		step->turn_rad += x[k] * x[k];
		step->shift += x[3 + k] * x[3 + k];
	}
	step->turn_rad = sqrt(step->turn_rad);
	step->shift = sqrt(step->shift);
	pose_from_twist(x, x + 3, step->center, &step->motion);
	return 0;
}

int
rigid_step_solve(struct run *run, const struct rigid_pair *pair, size_t n, double cut,
    struct rigid_step *step)
{
	return rigid_step_solve_noisy(run, pair, NULL, n, cut, step);
}

double
rigid_step_standard_errors(const struct rigid_step *step, const struct pose *motion)
{
	double x[6], moved[3];

	pose_turn(motion, x);
	pose_apply(motion, step->center, moved);
	for (size_t k = 0; k < 3; k++) {
		x[k] *= step->radius > 0 ? step->radius : 1;
		x[3 + k] = moved[k] - step->center[k];
	}
	return sqrt(fmax(moment(step->matrix, x), 0)) / step->rms;
}

/* ---- what is free ---- */

/* A shift; a turn about an axis, or a screw, in words: of the unit vector turn * radius, shift. */
static void
describe(const struct rigid_step *step, const double v[6], struct rigid_freedom *freedom)
{
	double turn = 0, shift = 0, along = 0, foot[3], length;

	for (size_t k = 0; k < 3; k++) {
		turn += v[k] * v[k];
		shift += v[3 + k] * v[3 + k];
		along += v[k] * v[3 + k];
	}
	if (shift > ALL_SHIFT) {
		length = sqrt(shift);
		snprintf(freedom->motion, sizeof(freedom->motion),
		    "the shift along (%.2f, %.2f, %.2f)", v[3] / length, v[4] / length,
		    v[5] / length);
		return;
	}
	/* the axis passes through center + turn x shift / turn^2, in units of the radius */
	for (size_t k = 0; k < 3; k++)
		foot[k] = step->center[k] + step->radius / turn * (v[(k + 1) % 3] *
		    v[3 + (k + 2) % 3] - v[(k + 2) % 3] * v[3 + (k + 1) % 3]);
	length = sqrt(turn);
	snprintf(freedom->motion, sizeof(freedom->motion),
	    "the %s the axis (%.2f, %.2f, %.2f) through (%.4g, %.4g, %.4g)",
	    fabs(along) > SCREW * turn ? "screw along" : "turn about", v[0] / length,
	    v[1] / length, v[2] / length, foot[0], foot[1], foot[2]);
}

int
rigid_step_freedom_below(struct run *run, const struct rigid_pair *pair, const float (*other)[3],
    size_t n, const struct rigid_step *step, double least, struct rigid_freedom *freedom)
{
	struct work work = { .pair = pair, .other = other, .n = n, .radius = step->radius };
	double vector[36];
	struct sums all;

	*freedom = (struct rigid_freedom){ 0 };
	work.low = (float)(step->median - SIGMAS * step->sigma - 1e-6);
	work.high = (float)(step->median + SIGMAS * step->sigma + 1e-6);
	memcpy(work.center, step->center, sizeof(work.center));
	if (!(work.radius > 0))
		work.radius = 1;
	if (begin(&work) < 0)
		return -1;
	for_parts(run, &work, other ? sum_both : sum_rows);
	all = total(&work);
	free(work.part);
	symmetric_eigen(6, all.a, freedom->eigenvalue, vector);
	for (size_t k = 0; k < 6; k++)
		freedom->free += is_free(&all, other != NULL, least, freedom->eigenvalue, k,
		    vector + 6 * k);
	describe(step, vector + 30, freedom);
	return 0;
}

int
rigid_step_freedom(struct run *run, const struct rigid_pair *pair, const float (*other)[3],
    size_t n, const struct rigid_step *step, struct rigid_freedom *freedom)
{
	return rigid_step_freedom_below(run, pair, other, n, step, RIGID_STEP_FREE, freedom);
}
