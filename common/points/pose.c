#include "points/pose.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

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
	size_t n, room;
	size_t bars, bar_after_row, bar_after_rotation;	/* bars, and what stands before them */
};

static int
append(struct text_numbers *numbers, double v)
{
	if (numbers->n == numbers->room) {
		size_t room = numbers->room ? 2 * numbers->room : 64;
		double *more = reallocarray(numbers->v, room, sizeof(*more));

		if (!more)
			return fail_memory();
		numbers->v = more;
		numbers->room = room;
	}
	numbers->v[numbers->n++] = v;
	return 0;
}

static int
parse(const char *path, const char *text, struct text_numbers *numbers)
{
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
			if (append(numbers, v) < 0)
				return -1;
			at += length;
		}
	}
	return 0;
}

static int
read_text(const char *path, char **text)
{
	FILE *file = fopen(path, "rb");
	size_t n = 0, room = 4096;
	char *all = NULL;

	if (!file)
		return fail_errno(path, "cannot open");
	for (;;) {
		char *more = realloc(all, room);

		if (!more) {
			fail_memory();
			break;
		}
		all = more;
		n += fread(all + n, 1, room - n - 1, file);
		if (n < room - 1)
			break;
		room *= 2;
		if (room > FILE_MOST) {
			fail(path, "is too long for a file of poses");
			break;
		}
	}
	if (ferror(file))
		fail_errno(path, "cannot read");
	fclose(file);
	if (fail_message()) {
		free(all);
		return -1;
	}
	all[n] = '\0';
	*text = all;
	if (strlen(all) == n)
		return 0;
	free(all);
	return fail(path, "is no text");
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
	to->v = calloc(numbers->n / each, sizeof(*to->v));
	if (!to->v)
		return fail_memory();
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
	char *text = NULL;
	int status;

	*to = (struct pose_list){ 0 };
	if (read_text(path, &text) < 0)
		return -1;
	status = parse(path, text, &numbers);
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
