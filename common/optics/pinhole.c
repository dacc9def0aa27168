/* OpenCV's pinhole model: rational, tangential and thin-prism distortion. */
#include "optics/calib.h"

#include <math.h>
#include <string.h>

#include "optics/lens.h"

enum { K1, K2, P1, P2, K3, K4, K5, K6, S1, S2, S3, S4 };	/* in distortion[] */

/* ---- the radial terms ---- */

#define FOLD_STEP 1e-3
#define FOLD_MOST 20		/* 87 degrees from the axis */
#define FOLD_MARGIN 1.05	/* tangential terms move the fold; det < 0 just beyond it */
#define FOLD_DIRECTIONS 64
#define BISECTIONS 60

static double
radial(const double d[14], double r)
{
	double r2 = r * r;

	return r * (1 + r2 * (d[K1] + r2 * (d[K2] + r2 * d[K3]))) /
	    (1 + r2 * (d[K4] + r2 * (d[K5] + r2 * d[K6])));
}

static bool
radial_rises(const double d[14], double r)
{
	double r2 = r * r;
	double num = 1 + r2 * (d[K1] + r2 * (d[K2] + r2 * d[K3]));
	double den = 1 + r2 * (d[K4] + r2 * (d[K5] + r2 * d[K6]));
	double num_by_r2 = d[K1] + r2 * (2 * d[K2] + r2 * 3 * d[K3]);
	double den_by_r2 = d[K4] + r2 * (2 * d[K5] + r2 * 3 * d[K6]);

	return den > 0 && (num + 2 * r2 * num_by_r2) * den - 2 * r2 * num * den_by_r2 > 0;
}

/* Where the radial terms rise no more. */
static double
find_fold(const double d[14])
{
	for (int i = 1; i * FOLD_STEP <= FOLD_MOST; i++) {
		double low = (i - 1) * FOLD_STEP, high = i * FOLD_STEP;

		if (radial_rises(d, high))
			continue;
		for (int k = 0; k < BISECTIONS; k++) {
			double middle = (low + high) / 2;

			*(radial_rises(d, middle) ? &low : &high) = middle;
		}
		return low;
	}
	return INFINITY;
}

/* The place that the radial terms alone take to the aim, or the nearest within the fold. */
static void
undo_radial(const struct pinhole *device, const double aim[2], double xy[2])
{
	const double *d = device->distortion, wanted = hypot(aim[0], aim[1]);
	double low = 0, high = fmin(device->fold, FOLD_MOST);

	for (int k = 0; k < BISECTIONS; k++) {
		double middle = (low + high) / 2;

		*(radial(d, middle) < wanted ? &low : &high) = middle;
	}
	for (size_t i = 0; i < 2; i++)
		xy[i] = wanted > 0 ? aim[i] / wanted * low : 0;
}

bool
pinhole_within_fold(const struct pinhole *device, const double xy[2])
{
	return !(device->fold > 0) || hypot(xy[0], xy[1]) < FOLD_MARGIN * device->fold;
}

/* Does the lens, tangential and prism terms and all, fold back at that place? */
static bool
folds_at(const double d[14], double x, double y)
{
	double at[2], j[4];

	lens_derivatives(d, x, y, at, j);
	return !(j[0] * j[3] - j[1] * j[2] > 0);
}

double
pinhole_fold_square(const struct pinhole *device)
{
	double least = device->fold;

	if (!(least > 0) || !isfinite(least))
		return INFINITY;
	for (size_t i = 0; i < FOLD_DIRECTIONS; i++) {
		double angle = 2 * M_PI * (double)i / FOLD_DIRECTIONS;
		double low = device->fold / FOLD_MARGIN / FOLD_MARGIN, high = least;

		for (int k = 0; k < BISECTIONS && folds_at(device->distortion, cos(angle) * high,
		    sin(angle) * high); k++) {
			double middle = (low + high) / 2;

			if (folds_at(device->distortion, cos(angle) * middle, sin(angle) * middle))
				least = high = middle;
			else
				low = middle;
		}
	}
	return least * least;
}

/* ---- the device ---- */

void
pinhole_complete(struct pinhole *device)
{
	device->distorted = false;
	for (size_t i = 0; i < 14; i++)
		device->distorted |= device->distortion[i] != 0;
	device->fold = device->distorted ? find_fold(device->distortion) : INFINITY;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 4; j++) {
			double sum = 0;

			for (size_t k = 0; k < 3; k++)
				sum += device->K[3 * i + k] *
				    (j < 3 ? device->R[3 * k + j] : device->T[k]);
			device->P[4 * i + j] = sum;
		}
}

/* Normalised coordinates to distorted normalised coordinates. */
static void
pinhole_distort(const struct pinhole *device, const double xy[2], double distorted[2])
{
	lens_distort(device->distortion, xy[0], xy[1], &distorted[0], &distorted[1]);
}

bool
pinhole_project(const struct pinhole *device, const double X[3], double uv[2])
{
	const double *R = device->R, *T = device->T, *K = device->K;
	double x = R[0] * X[0] + R[1] * X[1] + R[2] * X[2] + T[0];
	double y = R[3] * X[0] + R[4] * X[1] + R[5] * X[2] + T[1];
	double z = R[6] * X[0] + R[7] * X[1] + R[8] * X[2] + T[2];
	double xy[2] = { x / z, y / z };

	if (!(z > 0))
		return false;
	if (device->distorted)
		pinhole_distort(device, (double[2]){ x / z, y / z }, xy);
	uv[0] = K[0] * xy[0] + K[1] * xy[1] + K[2];
	uv[1] = K[4] * xy[1] + K[5];
	return isfinite(uv[0]) && isfinite(uv[1]);
}

/* How distorted coordinates change with k1 k2 p1 p2 k3 k4 k5 k6, row-major. */
static void
distort_by_lens(const double d[14], const double xy[2], double out[16])
{
	double x = xy[0], y = xy[1], r2 = x * x + y * y;
	double num = 1 + r2 * (d[K1] + r2 * (d[K2] + r2 * d[K3]));
	double den = 1 + r2 * (d[K4] + r2 * (d[K5] + r2 * d[K6]));
	double power[3] = { r2, r2 * r2, r2 * r2 * r2 };
	static const size_t up[3] = { K1, K2, K3 }, down[3] = { K4, K5, K6 };

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < 3; k++) {
			out[8 * i + up[k]] = xy[i] * power[k] / den;
			out[8 * i + down[k]] = -xy[i] * num * power[k] / (den * den);
		}
		out[8 * i + P1 + i] = 2 * x * y;
		out[8 * i + P2 - i] = r2 + 2 * xy[i] * xy[i];
	}
}

void
pinhole_derivatives(const struct pinhole *device, const double x[3], double by_point[6],
    double by_intrinsics[2 * PINHOLE_INTRINSICS])
{
	const double *K = device->K, xy[2] = { x[0] / x[2], x[1] / x[2] };
	double at[2], j[4], lens[16];

	lens_derivatives(device->distortion, xy[0], xy[1], at, j);
	distort_by_lens(device->distortion, xy, lens);
	for (size_t i = 0; i < 2; i++) {
		double *row = by_intrinsics + PINHOLE_INTRINSICS * i;
		double of[2];		/* by distorted x and y */

		of[0] = i == 0 ? K[0] : 0;
		of[1] = i == 0 ? K[1] : K[4];
		for (size_t k = 0; k < 4; k++)
			row[k] = k == i ? at[i] : k == 2 + i;
		for (size_t k = 0; k < 8; k++)
			row[4 + k] = of[0] * lens[k] + of[1] * lens[8 + k];
		for (size_t k = 0; k < 2; k++)
			by_point[3 * i + k] = (of[0] * j[k] + of[1] * j[2 + k]) / x[2];
		by_point[3 * i + 2] = -by_point[3 * i] * xy[0] - by_point[3 * i + 1] * xy[1];
	}
}

/*
 * Newton's method on the distortion, from xy on. A step that makes the rest larger is halved. Where
 * the lens model folds back (determinant not positive) there is no answer.
 */
static bool
descend(const double d[14], const double aim[2], double xy[2])
{
	double at[2], j[4], rest = INFINITY, step[2] = { 0, 0 };

	for (int i = 0; i < 60; i++) {
		double ex, ey, e, det;

		lens_derivatives(d, xy[0], xy[1], at, j);
		ex = at[0] - aim[0];
		ey = at[1] - aim[1];
		e = hypot(ex, ey);
		det = j[0] * j[3] - j[1] * j[2];
		if (e < 1e-14 || (e <= 1e-13 * (1 + hypot(aim[0], aim[1])) && e >= rest))
			return det > 0;
		if (!(e < rest) || !(det > 0)) {
			if (i == 0)
				return false;
			step[0] /= 2;
			step[1] /= 2;
			xy[0] += step[0];
			xy[1] += step[1];
			continue;
		}
		rest = e;
		step[0] = (j[3] * ex - j[1] * ey) / det;
		step[1] = (j[0] * ey - j[2] * ex) / det;
		xy[0] -= step[0];
		xy[1] -= step[1];
	}
	return rest < 1e-12 * (1 + hypot(aim[0], aim[1]));
}

/* From the aim itself, or where that ends beyond the fold or nowhere, from where the radial terms
 * alone lead. */
static bool
undistort(const struct pinhole *device, const double aim[2], double xy[2])
{
	xy[0] = aim[0];
	xy[1] = aim[1];
	if (descend(device->distortion, aim, xy) && pinhole_within_fold(device, xy))
		return true;
	if (!(device->fold > 0))
		return false;
	undo_radial(device, aim, xy);
	return descend(device->distortion, aim, xy) && pinhole_within_fold(device, xy);
}

/*
 * A few of Newton's steps from a nearby place; false where they do not suffice. A step squares the
 * rest, but for a factor that is the lens's curvature: from 1e-8 it needs no look at what is left.
 */
static bool
settle(const double d[14], const double aim[2], double xy[2])
{
	double aims = aim[0] * aim[0] + aim[1] * aim[1], at[2], j[4];

	for (int i = 0; i < 4; i++) {
		double ex, ey, squares, det;

		lens_derivatives(d, xy[0], xy[1], at, j);
		ex = at[0] - aim[0];
		ey = at[1] - aim[1];
		squares = ex * ex + ey * ey;
		det = j[0] * j[3] - j[1] * j[2];
		if (!(det > 0) || !(squares < 1e-6))
			return false;
		xy[0] -= (j[3] * ex - j[1] * ey) / det;
		xy[1] -= (j[0] * ey - j[2] * ex) / det;
		if (squares <= 1e-16 * aims)
			return true;
	}
	return false;
}

bool
pinhole_undistort_near(const struct pinhole *device, const double uv[2], double xy[2])
{
	const double *K = device->K;
	double y = (uv[1] - K[5]) / K[4], x = (uv[0] - K[2] - K[1] * y) / K[0];

	return (settle(device->distortion, (double[2]){ x, y }, xy) &&
	    pinhole_within_fold(device, xy)) || pinhole_undistort(device, uv, xy);
}

bool
pinhole_undistort(const struct pinhole *device, const double uv[2], double xy[2])
{
	const double *K = device->K;
	double y = (uv[1] - K[5]) / K[4], x = (uv[0] - K[2] - K[1] * y) / K[0];

	if (device->distorted)
		return undistort(device, (double[2]){ x, y }, xy);
	xy[0] = x;
	xy[1] = y;
	return isfinite(x) && isfinite(y);
}

void
pinhole_center(const struct pinhole *device, double X[3])
{
	for (size_t i = 0; i < 3; i++)
		X[i] = -(device->R[i] * device->T[0] + device->R[3 + i] * device->T[1] +
		    device->R[6 + i] * device->T[2]);
}

void
pinhole_between(const double Ra[9], const double Ta[3], const double Rb[9], const double Tb[3],
    double R[9], double T[3])
{
	double turn[9] = { 0 }, shift[3];

	for (size_t i = 0; i < 3; i++) {
		shift[i] = Tb[i];
		for (size_t j = 0; j < 3; j++) {
			for (size_t k = 0; k < 3; k++)
				turn[3 * i + j] += Rb[3 * i + k] * Ra[3 * j + k];
			shift[i] -= turn[3 * i + j] * Ta[j];
		}
	}
	memcpy(R, turn, sizeof(turn));
	memcpy(T, shift, sizeof(shift));
}
