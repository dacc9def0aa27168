/*
 * Registration of point clouds by the iterated closest point: rigid steps from pairs of points and
 * planes, files of poses, and all views of mergexyz --icp in one system.
 */
#include "points/icp.h"

#include <math.h>
#include <stdio.h>

#include "base/linear.h"
#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"
#include "base/text.h"

#define SUM_PAIRS 8192		/* pairs of one sum */
#define CUT_SIGMAS 3
#define NOISE 5		/* times what noise alone gives */
#define NORMAL_POINTS 25	/* that a normal is made from: neighbours share its noise */
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
	run_for(run, parts, fn, work);
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
		sums->n++;
		sums->residual_square += pow(work->pair[i].residual, 2);
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

		if (!in_use(work, i))
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

/* The least squares solution without the motions that the pairs leave free. */
static void
solve(struct sums *all, double x[6])
{
	double value[6], vector[36];

	symmetric_eigen(6, all->a, value, vector);
	memset(x, 0, 6 * sizeof(*x));
	for (size_t k = 0; k < 6; k++) {
		double dot = 0;

		if (!(value[k] > RIGID_STEP_FREE * value[0]))
			continue;
		for (size_t l = 0; l < 6; l++)
			dot += vector[6 * k + l] * all->b[l];
		for (size_t l = 0; l < 6; l++)
			x[l] += dot / value[k] * vector[6 * k + l];
	}
}

int
rigid_step_solve(struct run *run, const struct rigid_pair *pair, size_t n, double cut,
    struct rigid_step *step)
{
	struct work work = { .pair = pair, .n = n };
	struct sums all;
	double x[6];

	*step = (struct rigid_step){ 0 };
	if (find_cut(&work, cut, step) < 0)
		return -1;
	work.part = must_alloc(n / SUM_PAIRS + 1, sizeof(*work.part));
	measure(run, &work, step);
	for_parts(run, &work, sum_rows);
	all = total(&work);
	free(work.part);
	solve(&all, x);
	for (size_t k = 0; k < 3; k++)
		x[k] /= work.radius;
	step->turn_rad = vector3_length(x);
	step->shift = vector3_length(x + 3);
	pose_from_twist(x, x + 3, step->center, &step->motion);
	return 0;
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
rigid_step_freedom(struct run *run, const struct rigid_pair *pair, size_t n,
    const struct rigid_step *step, struct rigid_freedom *freedom)
{
	struct work work = { .pair = pair, .n = n, .radius = step->radius };
	double vector[36];
	struct sums all;

	*freedom = (struct rigid_freedom){ 0 };
	work.low = (float)(step->median - CUT_SIGMAS * step->sigma - 1e-6);
	work.high = (float)(step->median + CUT_SIGMAS * step->sigma + 1e-6);
	memcpy(work.center, step->center, sizeof(work.center));
	if (!(work.radius > 0))
		work.radius = 1;
	work.part = must_alloc(n / SUM_PAIRS + 1, sizeof(*work.part));
	for_parts(run, &work, sum_rows);
	all = total(&work);
	free(work.part);
	symmetric_eigen(6, all.a, freedom->eigenvalue, vector);
	for (size_t k = 0; k < 6; k++)
		freedom->free += !(freedom->eigenvalue[k] > RIGID_STEP_FREE *
		    freedom->eigenvalue[0]);
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

	matrix3_transpose(pose->R, inverse.R);
	pose_apply(&inverse, pose->T, inverse.T);
	for (size_t i = 0; i < 3; i++)
		inverse.T[i] = -inverse.T[i];
	*to = inverse;
}

void
pose_from_twist(const double turn_rad[3], const double shift[3], const double center[3],
    struct pose *to)
{
	double angle = vector3_length(turn_rad);
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
	double sine = vector3_length(w) / 2;
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
	*determinant = matrix3_determinant(R);
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
	size_t n;
	char *text = text_file_read(path, FILE_MOST - 2, "is too long for a file of poses", &n);
	int status = !text ? -1 : memchr(text, 0, n) ? fail(path, "is no text") :
	    parse(path, text, &numbers);

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

/* ---- several views at once ---- */

#define COARSE_STEP 4		/* pixels from one to the next at first */
#define COARSE_POINTS 4096	/* of a cloud, about, */
#define FINE_SOURCES 524288	/* and from it at last */
#define COARSE_REACH 4		/* spacings in which a partner is sought; beyond, steps are wild */
#define FINE_REACH 2
#define TANGENTIAL 2		/* spacings beside the partner: a border's */
#define NORMALS_AGREE 0.8	/* cosine */
#define ITEM_POINTS 256		/* of a cloud, that a thread takes at a time */
#define COARSE_TIMES 30		/* what is rest at first */
#define OVERLAP_PITCHES 20	/* distances of points within which several views overlap */
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
#define DAMPING 1e-7		/* of the largest element of the diagonal */

/* The points of a view that meet another one. */
struct icp_link {
	size_t from, to;
	size_t common, used;		/* those with a partner; those within the cut */
	double rms, sigma;		/* of those in use; 1.4826 MAD of all */
	struct sums sums;
};

struct fitting {
	struct run *run;
	const char *name;
	struct icp_view *view;
	size_t views, steps;
	bool ring, fine, both;		/* both: pairs have two normals of independent noise */
	struct icp_link *link;
	size_t links;
	double center[3], radius;	/* of all points, about which the views turn */
	struct work work;
	struct rigid_pair *pair;	/* of the link at hand, in the world */
	float (*other)[3];		/* the source's own normal */
	const struct icp_view *source, *target;
	struct pose pose;		/* from the source to the target */
	size_t step, columns;		/* every so many points; and so many of them for an item */
	/* 6 unknowns for each view but the first */
	double *matrix, *right;
};

/* The nearest point of a level; NO_POINT: none within its reach. */
#define NO_POINT SIZE_MAX

static size_t
nearest_point(const struct icp_level *level, const double X[3])
{
	const struct grid *grid = &level->grid;
	const float x = (float)X[0], y = (float)X[1], z = (float)X[2];
	float half = (float)grid->size / 2, least = half * half;
	size_t best = NO_POINT;
	int64_t place[3];

	grid_place(grid, (float[3]){ x - half, y - half, z - half }, place);
	for (int row = 0; row < 4; row++) {
		uint64_t key = grid_key(place[0] + row / 2, place[1] + row % 2, place[2]);
		size_t first = grid_find(grid, key, 0), last = first;

		while (grid->key[last] <= key + 1)
			last++;
		for (size_t i = grid->first[first]; i < grid->first[last]; i++) {
			float dx = level->at[0][i] - x, dy = level->at[1][i] - y;
			float dz = level->at[2][i] - z, square = dx * dx + dy * dy + dz * dz;

			best = square < least ? i : best;
			least = square < least ? square : least;
		}
	}
	return best;
}

/*
 * The target's place for a point of the source, moved to X (the mean of its neighbours: with its
 * own noise the place and the normal there would go with the residual, and pull the pose) and own:
 * its normal there, and the distance along that; NaN: there is none.
 */
static double
find_partner(const struct fitting *fitting, const double X[3], const double own[3],
    const double normal[3], float to[3])
{
	const struct icp_view *target = fitting->target;
	const struct icp_level *level = &target->level[fitting->fine];
	double n[3], d = 0, away = 0, agree = 0, uv[2], foot[3];

	if (target->ordered.pixel) {
		const struct ordered_view *view = &target->ordered;

		if (!ordered_view_project(view, X, uv) || !ordered_view_surface(view, uv, foot))
			return NAN;
		memcpy(to, view->pixel[(size_t)(uv[1] + 0.5) * view->w +
		    (size_t)(uv[0] + 0.5)].normal, 3 * sizeof(*to));
	} else {
		size_t at = nearest_point(level, X);

		if (at == NO_POINT)
			return NAN;
		for (size_t k = 0; k < 3; k++) {
			foot[k] = level->at[k][at];
			to[k] = level->normal[k][at];
		}
	}
	for (size_t k = 0; k < 3; k++) {
		n[k] = to[k];
		agree += n[k] * normal[k];
	}
	/* both normals: square to the chord of two points of a sphere (Rusinkiewicz 2019) */
	for (size_t k = 0; k < 3 && !target->ordered.pixel && !fitting->both; k++) {
		n[k] = (n[k] + (agree < 0 ? -normal[k] : normal[k])) / sqrt(2 + 2 * fabs(agree));
		to[k] = (float)n[k];
	}
	for (size_t k = 0; k < 3; k++) {
		d += n[k] * (foot[k] - own[k]);
		away += pow(foot[k] - X[k], 2);
	}
	/* two views never see the front and the back of one place */
	if (target->ordered.pixel)
		return agree > 0 ? d : NAN;
	return fabs(agree) > NORMALS_AGREE &&
	    (agree > 0 || !target->sided || !fitting->source->sided) &&
	    away - d * d < pow(TANGENTIAL * level->spacing, 2) ? d : NAN;
}

static void
turn_vector(const struct pose *pose, const float v[3], double to[3])
{
	matrix3_apply(pose->R, (double[3]){ v[0], v[1], v[2] }, to);
}

static void
find_pairs_of(void *arg, size_t item)
{
	const struct fitting *fitting = arg;
	const struct icp_view *source = fitting->source;
	const struct icp_level *level = &source->level[fitting->fine];

	for (size_t c = 0; c < fitting->columns; c++) {
		size_t i = item * fitting->columns + c;
		struct rigid_pair *pair = &fitting->pair[i];
		float mean[3] = { 0 }, own[3] = { 0 }, normal[3] = { PX_NAN }, to[3];
		double X[3], at[3], n[3];

		pair->residual = PX_NAN;
		if (source->ordered.pixel) {
			const struct ordered_pixel *pixel = source->ordered.pixel +
			    item * fitting->step * source->ordered.w + c * fitting->step;

			memcpy(mean, pixel->mean, sizeof(mean));
			memcpy(own, pixel->point, sizeof(own));
			memcpy(normal, pixel->normal, sizeof(normal));
		} else if (i * fitting->step < level->n) {
			for (size_t k = 0; k < 3; k++) {
				mean[k] = own[k] = level->at[k][i * fitting->step];
				normal[k] = level->normal[k][i * fitting->step];
			}
		}
		if (isnan(normal[0]))
			continue;
		pose_apply(&fitting->pose, (double[3]){ mean[0], mean[1], mean[2] }, X);
		pose_apply(&fitting->pose, (double[3]){ own[0], own[1], own[2] }, at);
		turn_vector(&fitting->pose, normal, n);
		pair->residual = (float)find_partner(fitting, X, at, n, to);
		if (px_isnan(pair->residual))
			continue;
		pose_apply(&fitting->target->pose, X, X);
		turn_vector(&fitting->target->pose, to, at);
		turn_vector(&source->pose, normal, n);
		for (size_t k = 0; k < 3; k++) {
			pair->point[k] = (float)X[k];
			pair->normal[k] = (float)at[k];
			fitting->other[i][k] = (float)(vector3_dot(at, n) < 0 ? -n[k] : n[k]);
		}
	}
}

/* The pairs of a link: how many have a partner. */
static size_t
find_pairs(struct fitting *fitting, size_t from, size_t to)
{
	const struct icp_view *source = &fitting->view[from];
	const struct icp_level *level = &source->level[fitting->fine];
	size_t items, common = 0;
	struct pose back;

	fitting->source = source;
	fitting->target = &fitting->view[to];
	pose_invert(&fitting->target->pose, &back);
	pose_compose(&back, &source->pose, &fitting->pose);
	if (source->ordered.pixel) {
		fitting->step = fitting->fine ? 1 : COARSE_STEP;
		fitting->columns = (source->ordered.w + fitting->step - 1) / fitting->step;
		items = (source->ordered.h + fitting->step - 1) / fitting->step;
	} else {
		fitting->step = level->n / FINE_SOURCES + 1;
		fitting->columns = ITEM_POINTS;
		items = (level->n / fitting->step + ITEM_POINTS) / ITEM_POINTS;
	}
	run_for(fitting->run, items, find_pairs_of, fitting);
	fitting->work.n = items * fitting->columns;
	for (size_t i = 0; i < fitting->work.n; i++)
		common += !px_isnan(fitting->pair[i].residual);
	return common;
}

/* How many of the view's points each pair represents. */
static double
points_of_pair(const struct fitting *fitting)
{
	const struct icp_view *source = fitting->source;

	return (double)fitting->step * (source->ordered.pixel ? (double)fitting->step :
	    (double)source->points / (double)source->level[fitting->fine].n);
}

/* Finds the pairs of all links, and their sums; both: of two normals. */
static void
sum_links(struct fitting *fitting, bool both)
{
	fitting->both = both;
	for (size_t l = 0; l < fitting->links; l++) {
		struct icp_link *link = &fitting->link[l];
		struct work *work = &fitting->work;
		struct rigid_step step = { 0 };

		link->common = find_pairs(fitting, link->from, link->to);
		link->sums = (struct sums){ 0 };
		link->used = 0;
		if (link->common < PAIRS_LEAST)
			continue;
		if (find_cut(work, fitting->views > 2 && fitting->source->ordered.pixel ?
		    OVERLAP_PITCHES * fitting->source->pitch : INFINITY, &step) < 0) {
			fail_clear();		/* too few of them within the cut */
			continue;
		}
		for_parts(fitting->run, work, both ? sum_both : sum_rows);
		link->sums = total(work);
		link->common = step.pairs;
		link->used = (size_t)link->sums.n;
		link->rms = sqrt(link->sums.residual_square / link->sums.n);
		link->sigma = step.sigma;
		link->common = (size_t)((double)link->common * points_of_pair(fitting));
		link->used = (size_t)((double)link->used * points_of_pair(fitting));
	}
}

/* Adds a link's 6 x 6 matrix to that of all views, in which the first one is at rest. */
static void
add_block(const struct fitting *fitting, const struct icp_link *link, const double a[36],
    double weight, double *matrix)
{
	size_t n = 6 * (fitting->views - 1);
	const size_t view[2] = { link->from, link->to };

	for (size_t i = 0; i < 4; i++) {
		size_t row = view[i / 2], column = view[i % 2];

		for (size_t k = 0; k < 36 && row > 0 && column > 0; k++)
			matrix[(6 * row - 6 + k / 6) * n + 6 * column - 6 + k % 6] +=
			    (i % 3 ? -weight : weight) * a[k];
	}
}

static double
moment(size_t n, const double *a, const double *v)
{
	double sum = 0;

	for (size_t k = 0; k < n; k++)
		for (size_t l = 0; l < n; l++)
			sum += v[k] * a[k * n + l] * v[l];
	return sum;
}

/* Moves every view but the first by the solution x of all links; its length in standard errors and
 * the largest turn and shift. */
static void
solve_views(struct fitting *fitting, double *x, double *standard_errors, double *turn_rad,
    double *shift)
{
	size_t n = 6 * (fitting->views - 1);
	double *factor = must_alloc(n * n, sizeof(*factor)), most = 0;

	memset(fitting->matrix, 0, n * n * sizeof(*fitting->matrix));
	memset(x, 0, n * sizeof(*x));
	for (size_t l = 0; l < fitting->links; l++) {
		const struct icp_link *link = &fitting->link[l];
		const struct icp_view *from = &fitting->view[link->from];
		const struct icp_view *to = &fitting->view[link->to];
		/* points that two views share have no residual, and would outweigh all others */
		double least = (from->noise * from->noise + to->noise * to->noise) / 8;
		double weight = link->used ?
		    1 / fmax(link->rms * link->rms, fmax(least, 1e-24)) : 0;

		add_block(fitting, link, link->sums.a, weight, fitting->matrix);
		for (size_t k = 0; k < 6; k++) {
			if (link->from > 0)
				x[6 * link->from - 6 + k] += weight * link->sums.b[k];
			if (link->to > 0)
				x[6 * link->to - 6 + k] -= weight * link->sums.b[k];
		}
	}
	memcpy(factor, fitting->matrix, n * n * sizeof(*factor));
	for (size_t k = 0; k < n; k++)
		most = fmax(most, factor[k * n + k]);
	for (size_t k = 0; k < n; k++)
		factor[k * n + k] += DAMPING * most;
	if (symmetric_factor(n, factor, 0))
		symmetric_solve(n, factor, x, 1);
	free(factor);
	*standard_errors = sqrt(fmax(moment(n, fitting->matrix, x), 0) /
	    (double)(fitting->views - 1));
	*turn_rad = *shift = 0;
	for (size_t v = 1; v < fitting->views; v++) {
		double *turn = x + 6 * v - 6;
		struct pose *pose = &fitting->view[v].pose, motion;

		for (size_t k = 0; k < 3; k++)
			turn[k] /= fitting->radius;
		*turn_rad = fmax(*turn_rad, vector3_length(turn));
		*shift = fmax(*shift, vector3_length(turn + 3));
		pose_from_twist(turn, turn + 3, fitting->center, &motion);
		pose_compose(&motion, pose, pose);
		pose_orthonormalize(pose);
	}
}

/*
 * Have the views come back to where they were? As points hop over the cut, and from one normal to
 * the next, the steps of few noisy points can go around in a circle, far smaller than what they
 * know. x: how far they are from there. Then `before` becomes where they are.
 */
static bool
has_circled(const struct fitting *fitting, struct pose *before, double *x)
{
	for (size_t v = 1; v < fitting->views; v++) {
		double *turn = x + 6 * v - 6, moved[3];
		struct pose motion;

		pose_invert(&before[v], &motion);
		pose_compose(&fitting->view[v].pose, &motion, &motion);
		pose_turn(&motion, turn);
		pose_apply(&motion, fitting->center, moved);
		for (size_t k = 0; k < 3; k++) {
			turn[k] *= fitting->radius;
			turn[3 + k] = moved[k] - fitting->center[k];
		}
		before[v] = fitting->view[v].pose;
	}
	return moment(6 * (fitting->views - 1), fitting->matrix, x) <
	    CIRCLE * CIRCLE * (double)(fitting->views - 1);
}

/* The first view that no chain of links joins to the first one; fitting->views: there is none. */
static size_t
find_apart(const struct fitting *fitting)
{
	bool *joined = must_alloc(fitting->views, sizeof(*joined)), more = true;
	/* views that are not yet where they belong have fewer points in common */
	size_t least = fitting->fine ? COMMON_LEAST : COMMON_LEAST / 4, apart = 0;

	for (joined[0] = true; more;) {
		more = false;
		for (size_t l = 0; l < fitting->links; l++) {
			const struct icp_link *link = &fitting->link[l];

			if (link->common < least || joined[link->from] == joined[link->to])
				continue;
			joined[link->from] = joined[link->to] = more = true;
		}
	}
	while (apart < fitting->views && joined[apart])
		apart++;
	free(joined);
	return apart;
}

/* Of a view's links, of which one has pairs if any does, the one to show: to an earlier view if it
 * can be, else the one with most pairs. */
static bool
is_stronger(const struct icp_link *link, const struct icp_link *than)
{
	bool earlier = link->to < link->from, than_earlier = than->to < than->from;

	if ((link->used > 0) != (than->used > 0))
		return link->used > 0;
	return earlier != than_earlier ? earlier : link->used > than->used;
}

static struct icp_link *
strongest_link(const struct fitting *fitting, size_t view)
{
	struct icp_link *best = NULL;

	for (size_t l = 0; l < fitting->links; l++) {
		struct icp_link *link = &fitting->link[l];

		if (link->from == view && (!best || is_stronger(link, best)))
			best = link;
	}
	return best;
}

/* Links all views that may overlap, each way; of ordered ones only to earlier ones. */
static void
make_links(struct fitting *fitting)
{
	size_t n = fitting->views;

	fitting->link = must_alloc(n * n, sizeof(*fitting->link));
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			size_t apart = i > j ? i - j : j - i;
			bool ordered = fitting->view[0].ordered.pixel != NULL;

			if (i == j || (fitting->ring && apart != 1 && apart != n - 1) ||
			    (ordered && j > i))
				continue;
			fitting->link[fitting->links++] = (struct icp_link){ .from = i, .to = j };
		}
}

static int
check_joined(const struct fitting *fitting)
{
	size_t apart = find_apart(fitting);
	const struct icp_link *link;

	if (apart == fitting->views)
		return 0;
	link = strongest_link(fitting, apart);
	return fail(NULL, "%s to %s: has only %zu common points, %d are needed: does it overlap, "
	    "is its pose near?", fitting->view[apart].name, fitting->view[link->to].name,
	    link->common, COMMON_LEAST);
}

/* Iterates on few points, or on all. 1 where they have come to rest, 0 where not; -1 after
 * fail(). */
static int
iterate(struct fitting *fitting)
{
	size_t most = fitting->steps + (fitting->fine ? STEPS_MOST : COARSE_MOST);
	size_t n = 6 * (fitting->views - 1);
	struct pose *before = must_alloc(fitting->views, sizeof(*before));
	double times = fitting->fine ? 1 : COARSE_TIMES, *x = must_alloc(n, sizeof(*x));
	int done = 0;

	for (size_t v = 0; v < fitting->views; v++)
		before[v] = fitting->view[v].pose;
	for (size_t steps = 1; done == 0 && fitting->steps < most; steps++) {
		double standard_errors, turn_rad, shift;

		sum_links(fitting, false);
		if (check_joined(fitting) < 0) {
			done = -1;
			break;
		}
		solve_views(fitting, x, &standard_errors, &turn_rad, &shift);
		fitting->steps++;
		done = (turn_rad < times * TURN_RAD && shift < times * SHIFT) ||
		    standard_errors < STANDARD_ERRORS ||
		    (steps % CIRCLE_STEPS == 0 && has_circled(fitting, before, x));
	}
	free(before);
	free(x);
	return done;
}

/* The root mean square of the distances between two views that fit. */
static double
noise_of_pair(const struct icp_view *view, const struct icp_view *to)
{
	return sqrt(view->noise * view->noise + to->noise * to->noise + pow(PITCHES * to->pitch,
	    2));
}

/*
 * Do the overlaps leave a motion free? Its eigenvalue of the matrix of all views, of two normals
 * whose noise is independent, so that it does not pass for shape, is below RIGID_STEP_FREE of the
 * largest, or not NOISE times what noise alone gives. Pairs of views that are far off hold nothing
 * either, whatever their shape. -1 after fail().
 */
static int
check_freedom(struct fitting *fitting)
{
	size_t n = 6 * (fitting->views - 1), free_motions = 0, freest = 1;
	double *a = must_alloc(4 * n * n + n, sizeof(*a)), *one = a + n * n, *two = one + n * n;
	double *vector = two + n * n, *value = vector + n * n, all = 0, part[6], length = 0, noise;
	struct rigid_step step = { .radius = fitting->radius };
	struct rigid_freedom freedom;
	const struct icp_link *link;
	char far[120] = "";
	int status;

	sum_links(fitting, true);
	status = check_joined(fitting);
	for (size_t l = 0; l < fitting->links; l++) {
		link = &fitting->link[l];
		add_block(fitting, link, link->sums.a, 1, a);
		add_block(fitting, link, link->sums.one, 1, one);
		add_block(fitting, link, link->sums.two, 1, two);
		all += fmin(link->sums.n, (double)link->used / NORMAL_POINTS);
	}
	symmetric_eigen(n, a, value, vector);
	for (size_t k = 0; k < n; k++) {
		noise = NOISE * sqrt(moment(n, one, vector + n * k) *
		    moment(n, two, vector + n * k) / fmax(all, 1));
		free_motions += !(value[k] > RIGID_STEP_FREE * value[0] && value[k] > noise);
	}
	for (size_t v = 1; v < fitting->views; v++) {
		const double *of = vector + n * (n - 1) + 6 * v - 6;
		double square = vector3_dot(of, of) + vector3_dot(of + 3, of + 3);

		if (square <= length)
			continue;
		freest = v;
		length = square;
	}
	for (size_t k = 0; k < 6; k++)
		part[k] = vector[n * (n - 1) + 6 * freest - 6 + k] / sqrt(length);
	memcpy(step.center, fitting->center, sizeof(step.center));
	describe(&step, part, &freedom);
	link = strongest_link(fitting, freest);
	noise = noise_of_pair(&fitting->view[freest], &fitting->view[link->to]);
	if (link->sigma > NOISE_FACTOR * noise)
		snprintf(far, sizeof(far), "it is too far off, by %.3g (noise explains %.3g): "
		    "start nearer (--pose), or ", link->sigma, noise);
	if (status == 0 && free_motions > 0)
		status = fail(NULL, "%s: %sthe overlap leaves %zu motion%s free, most of all %s "
		    "(eigenvalue %.2g of the largest)", fitting->view[freest].name, far,
		    free_motions, free_motions > 1 ? "s" : "", freedom.motion,
		    fmax(value[n - 1], 0) / value[0]);
	free(a);
	return status;
}

/* What each view's fit is worth; -1 after fail(): it is none. */
static int
judge_views(struct fitting *fitting, double max_rms, bool done)
{
	for (size_t v = 1; v < fitting->views; v++) {
		struct icp_view *view = &fitting->view[v];
		const struct icp_link *link = strongest_link(fitting, v);
		const struct icp_view *to = &fitting->view[link->to];
		double most;

		view->partner = link->to;
		view->overlap = (double)link->used / (double)view->points;
		view->rms = link->rms;
		view->expected = noise_of_pair(view, to);
		most = isnan(max_rms) ? NOISE_FACTOR * view->expected : max_rms;
		if (!done || !(view->rms <= most))
			return fail(NULL, "%s to %s: does not fit: rms %.4g over an overlap of "
			    "%.1f %%, where %.4g is %s; %s", view->name, to->name, view->rms,
			    100 * view->overlap, most,
			    isnan(max_rms) ? "what noise explains" : "--max-rms",
			    done ? "start nearer (--pose), or say --max-rms" :
			    "no rest after 100 steps");
	}
	return 0;
}

/* The middle of the views' points and their distance from it, which turns are about; the most
 * pairs that a link has. */
static size_t
measure_views(struct fitting *fitting)
{
	double n = 0, sum[3] = { 0 }, square = 0;
	size_t most = 0;

	for (size_t v = 0; v < fitting->views; v++) {
		const struct icp_view *view = &fitting->view[v];
		size_t pixels = view->ordered.w * view->ordered.h;
		size_t step = pixels ? 64 : 1, all = pixels ? pixels : view->level[0].n;

		most = pixels > most ? pixels : most;
		for (size_t i = 0; i < all; i += step) {
			double X[3];

			for (size_t k = 0; k < 3; k++)
				X[k] = pixels ? view->ordered.pixel[i].point[k] :
				    view->level[0].at[k][i];
			if (isnan(X[0]))
				continue;
			pose_apply(&view->pose, X, X);
			n++;
			square += vector3_dot(X, X);
			for (size_t k = 0; k < 3; k++)
				sum[k] += X[k];
		}
	}
	for (size_t k = 0; k < 3; k++)
		fitting->center[k] = sum[k] / n;
	fitting->radius = sqrt(fmax(square / n - vector3_dot(fitting->center, fitting->center),
	    1e-24));
	return most > 2 * FINE_SOURCES + ITEM_POINTS ? most : 2 * FINE_SOURCES + ITEM_POINTS;
}

/* How far the fit moved each view from its start, in standard errors of each of six motions. */
static void
measure_moves(const struct fitting *fitting, struct pose *start)
{
	size_t n = 6 * (fitting->views - 1);
	double *x = must_alloc(n, sizeof(*x)), *one = must_alloc(n, sizeof(*one));

	has_circled(fitting, start, x);
	for (size_t v = 1; v < fitting->views; v++) {
		memset(one, 0, n * sizeof(*one));
		memcpy(one + 6 * v - 6, x + 6 * v - 6, 6 * sizeof(*one));
		fitting->view[v].moved = sqrt(fmax(moment(n, fitting->matrix, one), 0) / 6);
	}
	free(x);
	free(one);
}

int
icp_fit(struct run *run, struct icp_view *view, size_t views, bool ring, double max_rms,
    size_t *steps)
{
	struct fitting fitting = { .run = run, .view = view, .views = views, .ring = ring };
	size_t n = 6 * (views - 1), most = measure_views(&fitting);
	struct pose *start = must_alloc(views, sizeof(*start));
	int done = 0, status;

	for (size_t v = 0; v < views; v++)
		start[v] = view[v].pose;
	fitting.pair = must_alloc(most, sizeof(*fitting.pair));
	fitting.other = must_alloc(most, sizeof(*fitting.other));
	fitting.matrix = must_alloc(n * n, sizeof(*fitting.matrix));
	fitting.work = (struct work){ .pair = fitting.pair,
		.other = (const float (*)[3])fitting.other, .radius = fitting.radius,
		.part = must_alloc(most / SUM_PAIRS + 1, sizeof(struct sums)) };
	memcpy(fitting.work.center, fitting.center, sizeof(fitting.center));
	make_links(&fitting);
	/* nearest points slide away along what is free; projections do not */
	status = view[0].ordered.pixel ? 0 : check_freedom(&fitting);
	if (status == 0)
		status = iterate(&fitting) < 0 ? -1 : 0;
	fitting.fine = true;
	if (status == 0)
		status = check_freedom(&fitting);
	if (status == 0)
		status = done = iterate(&fitting);
	if (status >= 0)
		status = judge_views(&fitting, max_rms, done);
	if (status == 0)
		measure_moves(&fitting, start);
	free(start);
	*steps = fitting.steps;
	free_all(fitting.pair, fitting.other, fitting.matrix, fitting.work.part, fitting.link);
	return status;
}

/* Every step-th point of a cloud, in the order of cubes that its nearest points are found by. */
static int
make_level(struct run *run, const struct cloud *cloud, size_t step, double reach,
    struct icp_level *level)
{
	const size_t n = (cloud->n + step - 1) / step;
	float *at[3];
	double about[3];
	int status;

	level->n = n;
	level->spacing = cloud->spacing * sqrt((double)step);
	for (size_t k = 0; k < 3; k++) {
		at[k] = must_large(n + 1, sizeof(float));
		level->at[k] = must_large(n + 1, sizeof(float));
		level->normal[k] = must_large(n + 1, sizeof(float));
		for (size_t i = 0; i < n; i++)
			at[k][i] = cloud->xyz[k][i * step];
		about[k] = at[k][n / 2];
	}
	status = grid_make(run, (const float *const[3]){ at[0], at[1], at[2] }, n,
	    2 * reach * level->spacing, about, NULL, &level->grid);
	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < n && status == 0; i++) {
			level->at[k][i] = at[k][level->grid.point[i]];
			level->normal[k][i] = cloud->normal[k][level->grid.point[i] * step];
		}
		free(at[k]);
	}
	return status;
}

int
icp_view_take_cloud(struct run *run, const struct cloud *cloud, struct icp_view *view)
{
	view->points = cloud->n;
	view->pitch = cloud->spacing;
	view->sided = cloud->sides != CLOUD_NO_SIDES;
	if (cloud->n < COMMON_LEAST)
		return fail(NULL, "%s: has only %zu points, %d are needed", view->name, cloud->n,
		    COMMON_LEAST);
	return make_level(run, cloud, cloud->n / COARSE_POINTS + 1, COARSE_REACH,
	    &view->level[0]) < 0 ? -1 :
	    make_level(run, cloud, 1, FINE_REACH, &view->level[1]);
}

void
icp_view_free(struct icp_view *view)
{
	ordered_view_free(&view->ordered);
	for (size_t l = 0; l < 2; l++) {
		for (size_t k = 0; k < 3; k++) {
			free(view->level[l].at[k]);
			free(view->level[l].normal[k]);
		}
		grid_free(&view->level[l].grid);
	}
}
