#include "point_variance.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"
#include "optics/rotation.h"

/* ---- what a point does when the parameters change ---- */

/* A point of the first device's frame in a device's own. */
static void
to_device(const struct rig_device *device, const double X[3], double x[3])
{
	const double *R = device->pinhole.R, *T = device->pinhole.T;

	for (size_t i = 0; i < 3; i++)
		x[i] = R[3 * i] * X[0] + R[3 * i + 1] * X[1] + R[3 * i + 2] * X[2] + T[i];
}

/* Where a parameter stands among those that matter. */
static size_t
place_of(const struct point_variance *at, size_t parameter)
{
	size_t i = 0;

	while (at->parameter[i] != parameter)
		i++;
	return i;
}

/* Row r (0 u, 1 v) of a device's pixel at X: by X, and by all parameters. False behind it. */
static bool
pixel_row(const struct point_variance *at, const struct rig_device *device, const double X[3],
    size_t r, double by_X[3], double *J)
{
	double x[3], by_x[6], by_intrinsics[2 * PINHOLE_INTRINSICS];
	size_t first = place_of(at, device->intrinsics);

	memset(J, 0, at->n * sizeof(*J));
	to_device(device, X, x);
	if (!(x[2] > 0))
		return false;
	pinhole_derivatives(&device->pinhole, x, by_x, by_intrinsics);
	for (size_t k = 0; k < device->count; k++)
		J[first + k] = by_intrinsics[PINHOLE_INTRINSICS * r + k];
	for (size_t j = 0; j < 3; j++) {
		by_X[j] = 0;
		for (size_t k = 0; k < 3; k++)
			by_X[j] += by_x[3 * r + k] * device->pinhole.R[3 * k + j];
	}
	if (device->pose != SIZE_MAX) {
		double turn[9];

		first = place_of(at, device->pose);
		rotation_derivative(device->pinhole.R, X, turn);
		for (size_t j = 0; j < 3; j++) {
			J[first + 3 + j] = by_x[3 * r + j];
			for (size_t k = 0; k < 3; k++)
				J[first + j] += by_x[3 * r + k] * turn[3 * k + j];
		}
	}
	return true;
}

/*
 * dX, 3 x n, of the point X that stays at its pixel u, v of the camera and at its projector column
 * (or row): by rows F of those three, dX = -(dF/dX)^-1 dF. F: room for 3 x n.
 */
static bool
point_rows(const struct point_variance *at, const double X[3], double *F, double *J)
{
	double by_X[3][3], inverse[3], det;
	size_t n = at->n;

	memset(J, 0, 3 * n * sizeof(*J));
	for (size_t r = 0; r < 3; r++)
		if (!pixel_row(at, r < 2 ? &at->rig.camera : &at->rig.projector, X,
		    r < 2 ? r : at->along_y, by_X[r], F + r * n))
			return false;
	for (size_t r = 0; r < 3; r++) {
		const double *a = by_X[(r + 1) % 3], *b = by_X[(r + 2) % 3];

		for (size_t i = 0; i < 3; i++)
			inverse[i] = a[(i + 1) % 3] * b[(i + 2) % 3] -
			    a[(i + 2) % 3] * b[(i + 1) % 3];
		det = by_X[r][0] * inverse[0] + by_X[r][1] * inverse[1] + by_X[r][2] * inverse[2];
		if (!(fabs(det) > 0))
			return false;
		for (size_t i = 0; i < 3; i++)
			for (size_t k = 0; k < n; k++)
				J[i * n + k] -= inverse[i] / det * F[r * n + k];
	}
	return true;
}

/* In the frame of a device that is moved by the parameters itself: the rest of what X does there,
 * turned back into the first device's frame. */
static void
add_frame(const struct point_variance *at, const double X[3], double *J)
{
	const struct rig_device *frame = &at->rig.frame;
	double turn[9];
	size_t first, n = at->n;

	if (frame->pose == SIZE_MAX)
		return;
	first = place_of(at, frame->pose);
	rotation_derivative(frame->pinhole.R, X, turn);
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			J[i * n + first + 3 + j] += frame->pinhole.R[3 * j + i];
			for (size_t k = 0; k < 3; k++)
				J[i * n + first + j] += frame->pinhole.R[3 * k + i] *
				    turn[3 * k + j];
		}
}

double
point_variance(const struct point_variance *at, const double X[3], double *scratch)
{
	size_t n = at->n;
	double M[3][6], *J = scratch + 3 * n, sum = 0;

	if (!point_rows(at, X, scratch, J))
		return NAN;
	if (at->kind == POINT_VARIANCE_PLACE)
		add_frame(at, X, J);
	else
		rotation_motions(X, at->middle, M);
	for (size_t i = 0; i < 3; i++) {
		double *row = J + i * n;

		for (size_t m = 0; at->kind == POINT_VARIANCE_SHAPE && m < 6; m++)
			for (size_t k = 0; k < n; k++)
				row[k] -= M[i][m] * at->motion[m * n + k];
		for (size_t a = 0; a < n; a++) {
			double column = 0;

			for (size_t b = 0; b < a; b++)
				column += at->C[a * n + b] * row[b];
			sum += row[a] * (2 * column + at->C[a * n + a] * row[a]);
		}
	}
	return fmax(0, sum);
}

/* ---- of a rig ---- */

static void
add_parameters(struct point_variance *at, size_t first, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		bool known = false;

		for (size_t i = 0; i < at->n; i++)
			known |= at->parameter[i] == first + k;
		if (!known)
			at->parameter[at->n++] = first + k;
	}
}

int
point_variance_load(struct point_variance *at, const char *path, const char *camera,
    const char *frame)
{
	struct rig_covariance *rig = &at->rig;
	const struct rig_device *device[3] = { &rig->camera, &rig->projector, &rig->frame };

	if (rig_covariance_load(path, camera, frame, rig) < 0)
		return -1;
	at->parameter = calloc(rig->n, sizeof(*at->parameter));
	if (!at->parameter)
		return fail_memory();
	for (size_t d = 0; d < 2; d++)
		add_parameters(at, device[d]->intrinsics, device[d]->count);
	for (size_t d = 0; d < 3; d++)
		if (device[d]->pose != SIZE_MAX)
			add_parameters(at, device[d]->pose, 6);
	at->C = calloc(at->n * at->n, sizeof(*at->C));
	at->motion = calloc(6 * at->n, sizeof(*at->motion));
	if (!at->C || !at->motion)
		return fail_memory();
	for (size_t a = 0; a < at->n; a++)
		for (size_t b = 0; b < at->n; b++)
			at->C[a * at->n + b] =
			    rig->C[at->parameter[a] * rig->n + at->parameter[b]];
	for (size_t i = 0; i < rig->points; i++)
		for (size_t k = 0; k < 3; k++)
			at->middle[k] += rig->X[i][k] / (double)rig->points;
	return 0;
}

/* The rigid motions of the volume that the parameters make, by least squares over its points. */
int
point_variance_set_axis(struct point_variance *at, bool along_y)
{
	double A[36] = { 0 }, *J = calloc(6 * at->n, sizeof(*J));
	size_t n = at->n;

	at->along_y = along_y;
	if (!J)
		return fail_memory();
	memset(at->motion, 0, 6 * n * sizeof(*at->motion));
	for (size_t p = 0; p < at->rig.points; p++) {
		double M[3][6];

		if (!point_rows(at, at->rig.X[p], J + 3 * n, J))
			continue;
		rotation_motions(at->rig.X[p], at->middle, M);
		for (size_t i = 0; i < 3; i++)
			for (size_t m = 0; m < 6; m++) {
				for (size_t l = 0; l < 6; l++)
					A[6 * m + l] += M[i][m] * M[i][l];
				for (size_t k = 0; k < n; k++)
					at->motion[m * n + k] += M[i][m] * J[i * n + k];
			}
	}
	free(J);
	if (!symmetric_factor(6, A, 1e-14))
		return fail("--calibration-sigma", "camera and projector measure no volume where "
		    "the calibration's board was");
	symmetric_solve(6, A, at->motion, n);
	return 0;
}

void
point_variance_free(struct point_variance *at)
{
	rig_covariance_free(&at->rig);
	free(at->parameter);
	free(at->C);
	free(at->motion);
	at->parameter = NULL;
	at->C = at->motion = NULL;
}
