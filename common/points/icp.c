/*
 * Registration of point clouds by the iterated closest point: rigid steps from pairs of points and
 * planes, with their covariance.
 */
#include "points/icp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"
#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"

#define SUM_PAIRS 8192		/* pairs of one sum */
#define CUT_SIGMAS 3
#define NOISE 10		/* times what noise alone gives */
#define PAIRS_LEAST 6
#define ALL_SHIFT 0.99		/* of a motion's square: the words are those of a shift */
#define SCREW 0.1		/* shift along the axis to turn: less is none in words */

/* What one part of the pairs adds up to: doubles only, which total() relies on. */
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
	size_t parts = (work->n + SUM_PAIRS - 1) / SUM_PAIRS;

	memset(work->part, 0, parts * sizeof(*work->part));
	if (run)
		run_for(run, parts, fn, work);
	for (size_t i = 0; i < parts && !run; i++)
		fn(work, i);
}

static size_t
part_end(const struct work *work, size_t part)
{
	return (part + 1) * SUM_PAIRS < work->n ? (part + 1) * SUM_PAIRS : work->n;
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

	for (size_t i = part * SUM_PAIRS; i < part_end(work, part); i++) {
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

	for (size_t i = part * SUM_PAIRS; i < part_end(work, part); i++)
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

	for (size_t i = part * SUM_PAIRS; i < part_end(work, part); i++) {
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

	for (size_t i = part * SUM_PAIRS; i < part_end(work, part); i++) {
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
	const size_t parts = (work->n + SUM_PAIRS - 1) / SUM_PAIRS, numbers = sizeof(struct sums) /
	    sizeof(double);
	struct sums all = { 0 };

	for (size_t i = 0; i < parts; i++)
		for (size_t k = 0; k < numbers; k++)
			((double *)&all)[k] += ((const double *)&work->part[i])[k];
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
	float *v = must_alloc(work->n, sizeof(*v)), middle, spread;
	size_t n = 0;

	for (size_t i = 0; i < work->n; i++)
		if (fabs(work->pair[i].residual) <= cut)
			v[n++] = work->pair[i].residual;
	step->pairs = n;
	if (n < PAIRS_LEAST) {
		free(v);
		return fail(NULL, "%zu pairs of points are too few for a rigid motion", n);
	}
	middle = numbers_median(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabsf(v[i] - middle);
	spread = numbers_median(v, n);
	free(v);
	step->median = middle;
	step->sigma = 1.4826 * spread;
	/* what is below the digits of a float is exact: without noise MAD is 0 */
	work->low = (float)fmax(-cut, middle - CUT_SIGMAS * step->sigma - 1e-6);
	work->high = (float)fmin(cut, middle + CUT_SIGMAS * step->sigma + 1e-6);
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

int
rigid_step_solve(struct run *run, const struct rigid_pair *pair, const float (*other)[3], size_t n,
    double cut, struct rigid_step *step)
{
	struct work work = { .pair = pair, .other = other, .n = n };
	struct sums all;
	double x[6];

	*step = (struct rigid_step){ 0 };
	if (find_cut(&work, cut, step) < 0)
		return -1;
	work.part = must_alloc(n / SUM_PAIRS + 1, sizeof(*work.part));
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

/* How far a small motion goes, in the standard errors that the residuals of `step` leave. */
static double
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

void
rigid_step_freedom(struct run *run, const struct rigid_pair *pair, const float (*other)[3],
    size_t n, const struct rigid_step *step, double least, struct rigid_freedom *freedom)
{
	struct work work = { .pair = pair, .other = other, .n = n, .radius = step->radius };
	double vector[36];
	struct sums all;

	*freedom = (struct rigid_freedom){ 0 };
	work.low = (float)(step->median - CUT_SIGMAS * step->sigma - 1e-6);
	work.high = (float)(step->median + CUT_SIGMAS * step->sigma + 1e-6);
	memcpy(work.center, step->center, sizeof(work.center));
	if (!(work.radius > 0))
		work.radius = 1;
	work.part = must_alloc(n / SUM_PAIRS + 1, sizeof(*work.part));
	for_parts(run, &work, other ? sum_both : sum_rows);
	all = total(&work);
	free(work.part);
	symmetric_eigen(6, all.a, freedom->eigenvalue, vector);
	for (size_t k = 0; k < 6; k++)
		freedom->free += is_free(&all, other != NULL, least, freedom->eigenvalue, k,
		    vector + 6 * k);
	describe(step, vector + 30, freedom);
}

/* ---- rigid motions ---- */

#define FILE_MOST (64u << 20)
#define TOLERANCE 2e-4

const struct pose pose_identity = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 0, 0, 0 } };

void
pose_apply(const struct pose *pose, const double X[3], double to[3])
{
	double x = X[0], y = X[1], z = X[2];

	for (size_t i = 0; i < 3; i++)
		to[i] = pose->R[3 * i] * x + pose->R[3 * i + 1] * y + pose->R[3 * i + 2] * z +
		    pose->T[i];
}

void
pose_compose(const struct pose *then, const struct pose *first, struct pose *to)
{
	struct pose both;

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			both.R[3 * i + j] = 0;
			for (size_t k = 0; k < 3; k++)
				both.R[3 * i + j] += then->R[3 * i + k] * first->R[3 * k + j];
		}
	pose_apply(then, first->T, both.T);
	*to = both;
}

void
pose_invert(const struct pose *pose, struct pose *to)
{
	struct pose inverse = pose_identity;

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			inverse.R[3 * i + j] = pose->R[3 * j + i];
	pose_apply(&inverse, pose->T, inverse.T);
	for (size_t i = 0; i < 3; i++)
		inverse.T[i] = -inverse.T[i];
	*to = inverse;
}

void
pose_from_twist(const double turn_rad[3], const double shift[3], const double center[3],
    struct pose *to)
{
	double angle = sqrt(turn_rad[0] * turn_rad[0] + turn_rad[1] * turn_rad[1] +
	    turn_rad[2] * turn_rad[2]);
	double sine = angle > 1e-8 ? sin(angle) / angle : 1;
	double rest = angle > 1e-8 ? 2 * pow(sin(angle / 2) / angle, 2) : 0.5;
	const double *w = turn_rad;
	const double cross[9] = { 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0 };
	double moved[3];

	*to = pose_identity;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			to->R[3 * i + j] += sine * cross[3 * i + j] +
			    rest * (w[i] * w[j] - (i == j ? angle * angle : 0));
	pose_apply(to, center, moved);
	for (size_t i = 0; i < 3; i++)
		to->T[i] = center[i] - moved[i] + shift[i];
}

void
pose_turn(const struct pose *pose, double turn_rad[3])
{
	const double *R = pose->R;
	const double w[3] = { R[7] - R[5], R[2] - R[6], R[3] - R[1] };
	double sine = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / 2;
	double cosine = (R[0] + R[4] + R[8] - 1) / 2, angle = atan2(sine, cosine);
	size_t most = R[0] >= R[4] && R[0] >= R[8] ? 0 : R[4] >= R[8] ? 1 : 2;
	double length = 0, column[3];

	for (size_t i = 0; i < 3; i++)
		turn_rad[i] = w[i] / 2 * (sine > 1e-9 ? angle / sine : 1);
	if (sine > 1e-6 || cosine > 0)
		return;
	/* half a turn: R + I is 2 a a' */
	for (size_t i = 0; i < 3; i++) {
		column[i] = R[3 * i + most] + (i == most);
		length += column[i] * column[i];
	}
	for (size_t i = 0; i < 3; i++)
		turn_rad[i] = column[i] / sqrt(length) * angle;
}

void
pose_orthonormalize(struct pose *pose)
{
	double *R = pose->R;

	/* Newton's iteration for the polar factor: the mean of R and its inverse's transpose */
	for (int round = 0; round < 6; round++) {
		double cofactor[9], determinant;

		for (size_t i = 0; i < 3; i++)
			for (size_t j = 0; j < 3; j++) {
				size_t i1 = (i + 1) % 3, i2 = (i + 2) % 3;
				size_t j1 = (j + 1) % 3, j2 = (j + 2) % 3;

				cofactor[3 * i + j] = R[3 * i1 + j1] * R[3 * i2 + j2] -
				    R[3 * i1 + j2] * R[3 * i2 + j1];
			}
		determinant = R[0] * cofactor[0] + R[1] * cofactor[1] + R[2] * cofactor[2];
		for (size_t i = 0; i < 9; i++)
			R[i] = (R[i] + cofactor[i] / determinant) / 2;
	}
}

/* ---- text ---- */

struct text_numbers {
	double *v;
	size_t n;
	size_t bars, bar_after_row, bar_after_rotation;	/* bars, and what stands before them */
};

static int
parse(const char *path, const char *text, struct text_numbers *numbers)
{
	numbers->v = must_alloc(strlen(text) / 2 + 1, sizeof(*numbers->v));
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, " \t\r\n,;[]()|#");
		char word[64];
		double v;

		if (*at == '#') {
			at += strcspn(at, "\n");
		} else if (*at == '|') {
			numbers->bars++;
			numbers->bar_after_row += numbers->n % 4 == 3;
			numbers->bar_after_rotation += numbers->n % 12 == 9;
			at++;
		} else if (length == 0) {
			at++;
		} else {
			snprintf(word, sizeof(word), "%.*s", (int)(length < 63 ? length : 63), at);
			if (number_parse(word, &v) < 0 || !isfinite(v))
				return fail(path, "wants numbers of poses, not '%s'", word);
			numbers->v[numbers->n++] = v;
			at += length;
		}
	}
	return 0;
}

/* The file as a string that the caller frees; NULL after fail(). */
static char *
read_text(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t n = 0, room = 4096;
	char *text = NULL, *more;

	if (!file) {
		fail_errno(path, "cannot open");
		return NULL;
	}
	for (; (more = realloc(text, room)); room *= 2) {
		text = more;
		n += fread(text + n, 1, room - n - 1, file);
		if (n < room - 1 || room > FILE_MOST / 2)
			break;
	}
	if (!more)
		fail_memory();
	else if (ferror(file))
		fail_errno(path, "cannot read");
	else if (n == room - 1)
		fail(path, "is too long for a file of poses");
	else if (memchr(text, 0, n))
		fail(path, "is no text");
	fclose(file);
	if (!fail_message()) {
		text[n] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

/* How far R'R is from the identity, and the determinant. */
static double
deviation(const struct pose *pose, double *determinant)
{
	const double *R = pose->R;
	double most = 0;

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			double sum = i == j ? -1 : 0;

			for (size_t k = 0; k < 3; k++)
				sum += R[3 * k + i] * R[3 * k + j];
			most = fmax(most, fabs(sum));
		}
	*determinant = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
	    R[2] * (R[3] * R[7] - R[4] * R[6]);
	return most;
}

enum layout { ROWS_4X4, ROWS_3X4, ROTATION_FIRST };

static struct pose
pose_of(const double *v, enum layout layout)
{
	struct pose pose;

	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < 3; j++)
			pose.R[3 * i + j] = v[layout == ROTATION_FIRST ? 3 * i + j : 4 * i + j];
		pose.T[i] = v[layout == ROTATION_FIRST ? 9 + i : 4 * i + 3];
	}
	return pose;
}

/* The worst deviation of the poses that the numbers are in this layout. */
static double
worst(const struct text_numbers *numbers, enum layout layout)
{
	size_t each = layout == ROWS_4X4 ? 16 : 12;
	double most = 0, determinant;

	if (numbers->n % each)
		return INFINITY;
	for (size_t i = 0; i < numbers->n; i += each) {
		const double *v = numbers->v + i;
		struct pose pose = pose_of(v, layout);

		most = fmax(most, deviation(&pose, &determinant));
		if (layout == ROWS_4X4 && (v[12] != 0 || v[13] != 0 || v[14] != 0 || v[15] != 1))
			return INFINITY;
	}
	return most;
}

/* Matrices of 4x4 column by column, as OpenGL stores them. */
static bool
is_transposed(const struct text_numbers *numbers)
{
	for (size_t i = 0; i < numbers->n; i += 16) {
		const double *v = numbers->v + i;

		if (numbers->n % 16 || v[3] != 0 || v[7] != 0 || v[11] != 0 || v[15] != 1)
			return false;
	}
	return true;
}

static int
choose_layout(const char *path, const struct text_numbers *numbers, enum layout *layout)
{
	double rows = worst(numbers, ROWS_3X4), first = worst(numbers, ROTATION_FIRST);

	if (numbers->n == 0)
		return fail(path, "has no poses");
	if (isfinite(worst(numbers, ROWS_4X4))) {
		*layout = ROWS_4X4;
		return 0;
	}
	if (rows > 2 * TOLERANCE && first > 2 * TOLERANCE && is_transposed(numbers))
		return fail(path, "pose 1 is transposed: its last column is 0 0 0 1, not its last "
		    "row");
	if (numbers->n % 12)
		return fail(path, "has %zu numbers; a pose is 16 (4x4, the last row 0 0 0 1) or "
		    "12 (R|T)", numbers->n);
	if (numbers->bars)
		*layout = numbers->bar_after_rotation == numbers->bars ? ROTATION_FIRST : ROWS_3X4;
	else
		*layout = first < rows ? ROTATION_FIRST : ROWS_3X4;
	if (numbers->bars && numbers->bar_after_rotation != numbers->bars &&
	    numbers->bar_after_row != numbers->bars)
		return fail(path, "has bars that do not stand between R and T");
	if (!numbers->bars && rows <= 2 * TOLERANCE && first <= 2 * TOLERANCE && rows != first)
		return fail(path, "can be read row by row as R|T and as R before T: write a bar "
		    "between R and T");
	return 0;
}

static int
check(const char *path, size_t number, const struct pose *pose)
{
	double determinant, off = deviation(pose, &determinant);

	if (!(off <= 2 * TOLERANCE) && fabs(cbrt(determinant)) > 0.01 &&
	    fabs(fabs(cbrt(determinant)) - 1) > TOLERANCE)
		return fail(path, "pose %zu is no rigid motion: it scales by %.4g", number,
		    cbrt(determinant));
	if (!(off <= 2 * TOLERANCE))
		return fail(path, "pose %zu is no rigid motion: the columns of its rotation are "
		    "off by %.2g from right angles and length 1", number, off);
	if (determinant < 0)
		return fail(path, "pose %zu is no rigid motion: it mirrors (determinant -1)",
		    number);
	return 0;
}

static int
take_poses(const char *path, const struct text_numbers *numbers, struct pose_list *to)
{
	enum layout layout = ROWS_3X4;
	size_t each;

	if (choose_layout(path, numbers, &layout) < 0)
		return -1;
	each = layout == ROWS_4X4 ? 16 : 12;
	to->v = must_alloc(numbers->n / each, sizeof(*to->v));
	for (to->n = 0; to->n < numbers->n / each; to->n++) {
		to->v[to->n] = pose_of(numbers->v + to->n * each, layout);
		if (check(path, to->n + 1, &to->v[to->n]) < 0)
			return -1;
		pose_orthonormalize(&to->v[to->n]);
	}
	return 0;
}

int
pose_list_load(const char *path, struct pose_list *to)
{
	struct text_numbers numbers = { 0 };
	char *text = read_text(path);
	int status = text ? parse(path, text, &numbers) : -1;

	*to = (struct pose_list){ 0 };
	if (status == 0)
		status = take_poses(path, &numbers, to);
	free(text);
	free(numbers.v);
	if (status < 0)
		pose_list_free(to);
	return status;
}

void
pose_list_free(struct pose_list *list)
{
	free(list->v);
	*list = (struct pose_list){ 0 };
}

#define COARSE 4		/* pixels from one to the next at first */
#define WIDE_FREE 5e-4		/* eigenvalues that the bends of a surface make of wide normals */
#define COARSE_TIMES 30		/* what is rest then */
#define OVERLAP_STEP 8
#define OVERLAP_PITCHES 20	/* distances of points within which views overlap */
#define COMMON_LEAST 1000
#define STEPS_MOST 100
#define COARSE_MOST 40		/* which need not come to rest */
#define TURN_RAD 1e-6
#define SHIFT 1e-4
#define STANDARD_ERRORS 0.05	/* of a step, below which it is noise alone */
#define CIRCLE_STEPS 16		/* after which a fit that only circles has come to rest */
#define CIRCLE 0.2		/* standard errors that it may have moved in them */
#define NOISE_FACTOR 3		/* times the noise of the views that a fit may have */
#define PITCHES 0.1		/* of the points' distance, which always is */
#define AGREE_LEAST 0.5		/* share of the common points */

struct fitting {
	const struct ordered_view *target, *source;
	struct pose pose;
	size_t step, columns;		/* pixels of the source that are looked at */
	struct rigid_pair *pair;	/* columns x rows */
	float (*other)[3];		/* its second normal */
	/* of each pair; where there are two, the pair has the first one */
	enum { ONE_NORMAL, NEAR_NORMALS, WIDE_NORMALS } normals;
};

/* Are both sides of the surface that a camera sees on the same side? Two views never see the front
 * and the back of one place. */
static bool
faces(const double R[9], const float from[3], const float to[3])
{
	double dot = 0;

	for (size_t k = 0; k < 3; k++)
		dot += to[k] * (R[3 * k] * from[0] + R[3 * k + 1] * from[1] + R[3 * k + 2] *
		    from[2]);
	return dot > 0;
}

/* Pair i, of a pixel of the source. Its partner is found from the mean of its neighbours: with its
 * own noise the place and the normal there would go with the residual, and pull the pose. */
static void
find_pair(const struct fitting *fitting, const struct ordered_pixel *from, size_t i)
{
	struct rigid_pair *pair = &fitting->pair[i];
	const struct ordered_view *target = fitting->target;
	double X[3] = { from->mean[0], from->mean[1], from->mean[2] }, uv[2], foot[3], d = 0;
	double own[3] = { from->point[0], from->point[1], from->point[2] };
	const struct ordered_pixel *to;
	size_t partner;

	pair->residual = PX_NAN;
	if (isnan(from->normal[0]))
		return;
	pose_apply(&fitting->pose, X, X);
	pose_apply(&fitting->pose, own, own);
	if (!ordered_view_project(target, X, uv) || !ordered_view_surface(target, uv, foot))
		return;
	partner = (size_t)(uv[1] + 0.5) * target->w + (size_t)(uv[0] + 0.5);
	to = &target->pixel[partner];
	if (isnan(to->normal[0]) || !faces(fitting->pose.R, from->normal, to->normal))
		return;
	for (size_t k = 0; k < 3; k++) {
		pair->point[k] = (float)X[k];
		pair->normal[k] = to->normal[k];
		d += to->normal[k] * (foot[k] - own[k]);
	}
	pair->residual = (float)d;
	if (fitting->normals != ONE_NORMAL && !ordered_view_two_normals(target, partner,
	    fitting->normals == WIDE_NORMALS, pair->normal, fitting->other[i]))
		fitting->other[i][0] = PX_NAN;
}

static void
find_row(void *arg, size_t row)
{
	const struct fitting *fitting = arg;
	const struct ordered_view *source = fitting->source;
	const struct ordered_pixel *from = source->pixel + row * fitting->step * source->w;

	for (size_t i = 0; i < fitting->columns; i++)
		find_pair(fitting, &from[i * fitting->step], row * fitting->columns + i);
}

static size_t
find_pairs(struct run *run, struct fitting *fitting, size_t step)
{
	size_t rows = (fitting->source->h + step - 1) / step;

	fitting->step = step;
	fitting->columns = (fitting->source->w + step - 1) / step;
	run_for(run, rows, find_row, fitting);
	return rows * fitting->columns;
}

/* Room for the pairs; the caller frees both arrays. */
static void
begin_fit(struct fitting *fitting)
{
	size_t n = fitting->source->w * fitting->source->h;

	fitting->pair = must_alloc(n, sizeof(*fitting->pair));
	fitting->other = must_alloc(n, sizeof(*fitting->other));
}

size_t
icp_overlap(struct run *run, const struct ordered_view *target, const struct ordered_view *source,
    const struct pose *pose)
{
	struct fitting fitting = { .target = target, .source = source, .pose = *pose };
	size_t common = 0, n;

	begin_fit(&fitting);
	n = find_pairs(run, &fitting, OVERLAP_STEP);
	for (size_t i = 0; i < n; i++)
		common += fabsf(fitting.pair[i].residual) <= OVERLAP_PITCHES * target->pitch;
	if (n == 0)
		fail_clear();
	free(fitting.pair);
	free(fitting.other);
	return common;
}

/* Noise and the cut do not let few points rest, but what then moves is less than they know. */
static bool
is_done(const struct rigid_step *last, size_t step)
{
	double coarse = step > 1 ? COARSE_TIMES : 1;

	return (last->turn_rad < coarse * TURN_RAD && last->shift < coarse * SHIFT) ||
	    last->standard_errors < STANDARD_ERRORS;
}

/* Iterates on every so many pixels. 1 where it has come to rest, 0 where not; -1 after fail(). */
static int
iterate(struct run *run, const char *name, struct fitting *fitting, size_t step,
    struct rigid_step *last, struct icp_result *result)
{
	size_t most = result->steps + (step > 1 ? COARSE_MOST : STEPS_MOST);
	struct pose before = fitting->pose, motion;

	for (size_t steps = 1; result->steps < most; steps++) {
		size_t n = find_pairs(run, fitting, step), common = 0;

		for (size_t i = 0; i < n; i++)
			common += !px_isnan(fitting->pair[i].residual);
		if (common * step * step < COMMON_LEAST)
			return fail(name, "has only %zu common points, %d are needed: does it "
			    "overlap, is its pose near?", common * step * step, COMMON_LEAST);
		if (rigid_step_solve(run, fitting->pair, fitting->normals != ONE_NORMAL ?
		    (const float (*)[3])fitting->other : NULL, n, INFINITY, last) < 0)
			return -1;
		pose_compose(&last->motion, &fitting->pose, &fitting->pose);
		result->steps++;
		if (is_done(last, step))
			return 1;
		if (steps % CIRCLE_STEPS > 0)
			continue;
		/* Has it come back to where it was? As points hop over the cut, and from one normal
		 * to the next, the steps of few noisy points can go around in a circle, far smaller
		 * than what they know. */
		pose_invert(&before, &motion);
		pose_compose(&fitting->pose, &motion, &motion);
		if (rigid_step_standard_errors(last, &motion) < CIRCLE)
			return 1;
		before = fitting->pose;
	}
	return 0;
}

static int
find_freedom(struct run *run, struct fitting *fitting, double least, struct rigid_freedom *freedom)
{
	size_t n = find_pairs(run, fitting, 1);
	struct rigid_step step;

	if (rigid_step_solve(run, fitting->pair, NULL, n, INFINITY, &step) < 0)
		return -1;
	rigid_step_freedom(run, fitting->pair, (const float (*)[3])fitting->other, n, &step, least,
	    freedom);
	return 0;
}

/* Does the overlap leave a motion free? Near normals are right and noisy; where noise hides what
 * they see, wide ones may see it. -1 after fail(). */
static int
check_freedom(struct run *run, const char *name, struct fitting *fitting)
{
	struct rigid_freedom freedom, wide = { 0 };

	fitting->normals = NEAR_NORMALS;
	if (find_freedom(run, fitting, RIGID_STEP_FREE, &freedom) < 0)
		return -1;
	fitting->normals = WIDE_NORMALS;
	if (freedom.free && find_freedom(run, fitting, WIDE_FREE, &wide) < 0)
		return -1;
	fitting->normals = ONE_NORMAL;
	return wide.free == 0 ? 0 : fail(name, "the overlap leaves %zu motion%s free, most of "
	    "all %s (eigenvalue %.2g of the largest)", freedom.free, freedom.free > 1 ? "s" : "",
	    freedom.motion, fmax(freedom.eigenvalue[5], 0) / freedom.eigenvalue[0]);
}

static int
check_fit(const char *name, const struct icp_result *result, const struct rigid_step *step,
    double max_rms, bool done)
{
	double agree = (double)step->used / (double)step->pairs;
	double most = isnan(max_rms) ? NOISE_FACTOR * result->expected : max_rms;

	if (!done || !(result->rms <= most) || agree < AGREE_LEAST)
		return fail(name, "does not fit: rms %.4g over an overlap of %.1f %%, where %.4g "
		    "is %s; %s", result->rms, 100 * result->overlap, most,
		    isnan(max_rms) ? "what noise explains" : "--max-rms",
		    done ? "start nearer (--pose), or say --max-rms" : "no rest after 100 steps");
	return 0;
}

int
icp_fit(struct run *run, const char *name, const struct ordered_view *target,
    const struct ordered_view *source, const struct pose *start, double max_rms,
    struct icp_result *result)
{
	struct fitting fitting = { .target = target, .source = source, .pose = *start,
		.normals = WIDE_NORMALS };
	struct rigid_step last;
	int status, done = 0;

	*result = (struct icp_result){ .pose = *start };
	begin_fit(&fitting);
	status = iterate(run, name, &fitting, COARSE, &last, result) < 0 ? -1 : 0;
	if (status == 0)
		status = check_freedom(run, name, &fitting);
	if (status == 0)
		status = done = iterate(run, name, &fitting, 1, &last, result);
	if (status >= 0) {
		result->pose = fitting.pose;
		result->common = last.pairs;
		result->overlap = (double)last.used / (double)source->points;
		result->rms = last.rms;
		result->cut = 3 * last.sigma;
		result->expected = sqrt(source->noise * source->noise +
		    target->noise * target->noise + pow(PITCHES * target->pitch, 2));
		status = check_fit(name, result, &last, max_rms, done);
	}
	free(fitting.pair);
	free(fitting.other);
	pose_orthonormalize(&result->pose);
	return status;
}
