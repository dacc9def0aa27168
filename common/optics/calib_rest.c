#include "optics/calib_rest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 0.01	/* of T, a share: files that were rounded agree within 1e-3 */
#define TURN 0.02	/* of rotations and directions, about radians */
#define E_APART 0.1	/* the same of an E that was not made of R and T, but found from points */
#define ESSENTIAL 0.01	/* of the cube of its length, in the equation of essential matrices */
#define F_APART 0.05	/* and of F: found from 100 points with noise of 0.3 px 0.02 */

struct rest {
	const struct number_file *numbers;
	const double *R, *T;
	double length;		/* of T */
	double E[9];		/* [T]x R, of length 1 */
	char *text;		/* CALIB_REST_TEXT */
};

/* The n numbers of an entry; NULL where there are not so many, or some are none. */
static const double *
find(const struct rest *rest, const char *name, size_t n)
{
	const struct number_file_entry *entry = number_file_find(rest->numbers, name);
	const double *v = entry && entry->n == n ? rest->numbers->v + entry->first : NULL;

	for (size_t i = 0; v && i < n; i++)
		if (!isfinite(v[i]))
			return NULL;
	return v;
}

/* c = a b of 3 x 3 matrices; `turned`: a is taken transposed. */
static void
multiply(const double a[9], bool turned, const double b[9], double c[9])
{
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			c[3 * i + j] = 0;
			for (size_t k = 0; k < 3; k++)
				c[3 * i + j] += (turned ? a[3 * k + i] : a[3 * i + k]) *
				    b[3 * k + j];
		}
}

static double
norm(const double *v, size_t n)
{
	double square = 0;

	for (size_t i = 0; i < n; i++)
		square += v[i] * v[i];
	return sqrt(square);
}

/* The largest difference of elements of two matrices, a brought to length 1 and to b's sign. */
static double
apart(const double a[9], const double b[9])
{
	double length = norm(a, 9), most[2] = { 0, 0 };

	for (size_t i = 0; i < 9; i++) {
		most[0] = fmax(most[0], fabs(a[i] / length - b[i]));
		most[1] = fmax(most[1], fabs(a[i] / length + b[i]));
	}
	return fmin(most[0], most[1]);
}

static bool
other_pose(const struct rest *rest, const char *name)
{
	snprintf(rest->text, CALIB_REST_TEXT, "R and T are not the pose that %s of the same file "
	    "belong%s to: are they the other way round, or of another calibration?", name,
	    name[1] ? "" : "s");
	return false;
}

static bool
check_length(const struct rest *rest, const char *name, double length)
{
	if (!(length > 0) || fabs(length / rest->length - 1) <= LENGTH)
		return true;
	snprintf(rest->text, CALIB_REST_TEXT, "T is %.6g long, and by %s of the same file %.6g: is "
	    "it in another unit, or of another calibration?", rest->length, name, length);
	return false;
}

/* 2 E E' E = trace(E E') E holds of essential matrices, and no other ones. */
static bool
is_essential(const double E[9])
{
	double turned[9], square[9], cube[9], length = norm(E, 9), trace;

	for (size_t i = 0; i < 9; i++)
		turned[i] = E[3 * (i % 3) + i / 3];
	multiply(E, false, turned, square);
	trace = square[0] + square[4] + square[8];
	multiply(square, false, E, cube);
	for (size_t i = 0; i < 9; i++)
		if (!(fabs(2 * cube[i] - trace * E[i]) < ESSENTIAL * length * length * length))
			return false;
	return length > 0;
}

/* cv2.stereoCalibrate() makes E of T itself; found from points its length and sign say nothing. */
static bool
check_essential(const struct rest *rest)
{
	const double *E = find(rest, "E", 9);
	double length = E ? norm(E, 9) / sqrt(2) : 0, along = 0;
	bool of_points = fabs(length - 1) < 1e-3 || (E && (fabs(norm(E, 9) - 1) < 1e-3 ||
	    E[8] == 1));

	if (!E || !is_essential(E))
		return true;
	for (size_t i = 0; i < 9; i++)
		along += E[i] * rest->E[i];
	if (apart(E, rest->E) > (of_points ? E_APART : TURN) || (!of_points && along < 0))
		return other_pose(rest, "E");
	return of_points || check_length(rest, "E", length);
}

/* x2' F x1 = 0 in pixels, so that K2' F K1 is E. */
static bool
check_fundamental(const struct rest *rest, const double K1[9], const double K2[9])
{
	const double *F = find(rest, "F", 9);
	double by_K1[9], E[9];

	if (!F || !(norm(F, 9) > 0))
		return true;
	multiply(F, false, K1, by_K1);
	multiply(K2, true, by_K1, E);
	if (apart(E, rest->E) <= F_APART)
		return true;
	if (is_essential(E))
		return other_pose(rest, "F");
	snprintf(rest->text, CALIB_REST_TEXT, "the matrices of both devices are not those that F "
	    "of the same file belongs to: are they exchanged, of pictures of another size, or of "
	    "another calibration?");
	return false;
}

/* Rectified: f 0 cx 0, 0 f cy 0, 0 0 1 0, and the second one's with f T beside it. */
static bool
is_rectified(const double P1[12], const double P2[12])
{
	const double *P[2] = { P1, P2 };

	for (size_t i = 0; i < 2; i++)
		if (P[i][1] != 0 || P[i][4] != 0 || P[i][8] != 0 || P[i][9] != 0 ||
		    P[i][10] != 1 || P[i][11] != 0 || !(P[i][0] > 0) ||
		    fabs(P[i][0] / P1[0] - 1) > 1e-4 || fabs(P[i][5] / P1[0] - 1) > 1e-4)
			return false;
	return P1[3] == 0 && P1[7] == 0 && (P2[3] != 0) != (P2[7] != 0);
}

/* R2 R R1' is no turn, and R2 T lies along the row or column that P2 says. */
static bool
check_rectification(const struct rest *rest)
{
	static const char all[] = "R1 R2 P1 P2";
	const double *R1 = find(rest, "R1", 9), *R2 = find(rest, "R2", 9);
	const double *P1 = find(rest, "P1", 12), *P2 = find(rest, "P2", 12);
	double second[9], first[9], along[3] = { 0 }, length;

	if (!R1 || !R2 || !P1 || !P2 || !is_rectified(P1, P2))
		return true;
	multiply(R2, false, rest->R, second);
	memcpy(first, R1, sizeof(first));
	for (size_t i = 0; i < 9; i++)
		if (fabs(second[i] - first[i]) > TURN)
			return other_pose(rest, all);
	length = norm((double[2]){ P2[3], P2[7] }, 2) / P2[0];
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			along[i] += R2[3 * i + j] * rest->T[j];
	if (fabs(along[0] / rest->length - P2[3] / P2[0] / length) > TURN ||
	    fabs(along[1] / rest->length - P2[7] / P2[0] / length) > TURN)
		return other_pose(rest, all);
	return check_length(rest, all, length);
}

/* 1 0 0 -cx, 0 1 0 -cy, 0 0 0 f, 0 0 -1/T and another one. */
static bool
check_disparity(const struct rest *rest)
{
	const double *Q = find(rest, "Q", 16);

	if (!Q || Q[0] != 1 || Q[5] != 1 || Q[10] != 0 || Q[14] == 0)
		return true;
	return check_length(rest, "Q", fabs(1 / Q[14]));
}

bool
calib_rest_agrees(const struct number_file *numbers, const double K1[9], const double K2[9],
    const double R[9], const double T[3], char text[CALIB_REST_TEXT])
{
	const double cross[9] = { 0, -T[2], T[1], T[2], 0, -T[0], -T[1], T[0], 0 };
	struct rest rest = { numbers, R, T, norm(T, 3), { 0 }, text };
	double length;

	text[0] = '\0';
	if (!(rest.length > 0))
		return true;
	multiply(cross, false, R, rest.E);
	length = norm(rest.E, 9);
	for (size_t i = 0; i < 9; i++)
		rest.E[i] /= length;
	return check_essential(&rest) && check_rectification(&rest) && check_disparity(&rest) &&
	    check_fundamental(&rest, K1, K2);
}
