#include "board_pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"
#include "levenberg.h"
#include "optics/laser.h"

void
board_pose_apply(const struct board_pose *pose, const double b[3], double x[3])
{
	for (int i = 0; i < 3; i++)
		x[i] = pose->R[3 * i] * b[0] + pose->R[3 * i + 1] * b[1] +
		    pose->R[3 * i + 2] * b[2] + pose->t[i];
}

/* a b, 3x3. */
static void
board_pose_product(const double a[9], const double b[9], double out[9])
{
	for (int i = 0; i < 9; i++)
		out[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] +
		    a[i / 3 * 3 + 2] * b[6 + i % 3];
}

void
board_pose_quotient(const double a[9], const double b[9], double out[9])
{
	double turned[9] = { b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8] };

	board_pose_product(a, turned, out);
}

void
board_pose_log(const double R[9], double w[3])
{
	double v[3] = { (R[7] - R[5]) / 2, (R[2] - R[6]) / 2, (R[3] - R[1]) / 2 };
	double s = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	double c = (R[0] + R[4] + R[8] - 1) / 2, angle = atan2(s, c);

	for (int i = 0; i < 3; i++)
		w[i] = s > 1e-12 ? v[i] * angle / s : v[i];
}

double
board_pose_turn(const struct board_pose *a, const struct board_pose *b)
{
	double R[9], w[3];

	board_pose_quotient(a->R, b->R, R);
	board_pose_log(R, w);
	return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

void
board_pose_step(const struct board_pose *pose, const double step[6], struct board_pose *out)
{
	double angle = sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
	double axis[3] = { 1, 0, 0 };

	*out = *pose;
	for (int i = 0; i < 3; i++) {
		out->t[i] += step[3 + i];
		if (angle > 0)
			axis[i] = step[i] / angle;
	}
	for (int k = 0; k < 3; k++) {
		double column[3] = { pose->R[k], pose->R[3 + k], pose->R[6 + k] };

		laser_rotate(axis, angle, column);
		for (int i = 0; i < 3; i++)
			out->R[3 * i + k] = column[i];
	}
}

/* ---- the homography ---- */

/* Moves points to mean 0 and a mean square distance of 2 (Hartley 1997): x -> (x - m) s. */
static int
condition(double (*at)[2], size_t n, double m[2], double *s)
{
	double squares = 0;

	m[0] = m[1] = 0;
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++)
			m[k] += at[i][k] / (double)n;
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			at[i][k] -= m[k];
			squares += at[i][k] * at[i][k] / (double)n;
		}
	if (!(squares > 0))
		return -1;
	*s = sqrt(2 / squares);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++)
			at[i][k] *= *s;
	return 0;
}

/* H with `to` ~ H (from, 1), both conditioned. -1 where that is not determined. */
static int
conditioned_homography(double (*const from)[2], double (*const to)[2], size_t n, double H[9])
{
	double a[81] = { 0 }, value[9], vector[81];

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			double row[9] = { 0 };

			for (int j = 0; j < 3; j++) {
				double f = j < 2 ? from[i][j] : 1;

				row[3 * k + j] = f;
				row[6 + j] = -to[i][k] * f;
			}
			for (int p = 0; p < 81; p++)
				a[p] += row[p / 9] * row[p % 9];
		}
	symmetric_eigen(9, a, value, vector);
	memcpy(H, vector + 72, 9 * sizeof(*H));
	return value[7] > 1e-10 * value[0] ? 0 : -1;
}

/* H' = S_to^-1 H S_from. */
static void
uncondition(double H[9], const double from_mean[2], double from_scale, const double to_mean[2],
    double to_scale)
{
	double S[9] = { from_scale, 0, -from_scale * from_mean[0], 0, from_scale,
		-from_scale * from_mean[1], 0, 0, 1 };
	double back[9] = { 1 / to_scale, 0, to_mean[0], 0, 1 / to_scale, to_mean[1], 0, 0, 1 };
	double product[9];

	board_pose_product(H, S, product);
	board_pose_product(back, product, H);
}

/* R and t of H ~ (r1 r2 t); t in front of the camera. */
static void
pose_of(const double H[9], struct board_pose *pose)
{
	double length = 0, along, r[3][3], norm;

	for (int k = 0; k < 2; k++)
		length += sqrt(H[k] * H[k] + H[3 + k] * H[3 + k] + H[6 + k] * H[6 + k]) / 2;
	length = copysign(length, H[8]);
	for (int i = 0; i < 3; i++) {
		r[0][i] = H[3 * i] / length;
		r[1][i] = H[3 * i + 1] / length;
		pose->t[i] = H[3 * i + 2] / length;
	}
	for (int k = 0; k < 2; k++) {
		along = k ? r[0][0] * r[1][0] + r[0][1] * r[1][1] + r[0][2] * r[1][2] : 0;
		for (int i = 0; i < 3; i++)
			r[k][i] -= along * r[0][i];
		norm = sqrt(r[k][0] * r[k][0] + r[k][1] * r[k][1] + r[k][2] * r[k][2]);
		for (int i = 0; i < 3; i++)
			r[k][i] /= norm;
	}
	for (int i = 0; i < 3; i++)
		r[2][i] = r[0][(i + 1) % 3] * r[1][(i + 2) % 3] -
		    r[0][(i + 2) % 3] * r[1][(i + 1) % 3];
	for (int i = 0; i < 9; i++)
		pose->R[i] = r[i % 3][i / 3];
}

static int
start_pose(const struct pinhole *camera, const struct board_points *points,
    struct board_pose *pose)
{
	size_t n = points->n;
	double (*from)[2] = malloc(2 * n * sizeof(*from)), (*to)[2];
	double from_mean[2], to_mean[2], from_scale, to_scale, H[9];
	int status = 0;

	if (!from)
		return fail_memory();
	to = from + n;
	memcpy(from, points->place, n * sizeof(*from));
	for (size_t i = 0; i < n && status == 0; i++)
		if (!pinhole_undistort(camera, points->uv[i], to[i]))
			status = fail(NULL, "the lens model has no ray for the corner at %.1f %.1f",
			    points->uv[i][0], points->uv[i][1]);
	if (status == 0 && (condition(from, n, from_mean, &from_scale) < 0 ||
	    condition(to, n, to_mean, &to_scale) < 0 ||
	    conditioned_homography(from, to, n, H) < 0))
		status = fail(NULL, "the corners lie on one line");
	free(from);
	if (status < 0)
		return -1;
	uncondition(H, from_mean, from_scale, to_mean, to_scale);
	pose_of(H, pose);
	return 0;
}

/* ---- refinement ---- */

struct refining {
	const struct pinhole *camera;	/* without its pose */
	const struct board_points *points;
	struct board_pose pose;
};

static void
residual(const void *state, const double *step, double *r)
{
	const struct refining *refining = state;
	struct board_pose pose;

	board_pose_step(&refining->pose, step, &pose);
	for (size_t i = 0; i < refining->points->n; i++) {
		const double *place = refining->points->place[i], *uv = refining->points->uv[i];
		double x[3], seen[2];

		board_pose_apply(&pose, (double[3]){ place[0], place[1], 0 }, x);
		if (!pinhole_project(refining->camera, x, seen))
			seen[0] = seen[1] = 1e6;	/* behind the camera: never better */
		r[2 * i] = seen[0] - uv[0];
		r[2 * i + 1] = seen[1] - uv[1];
	}
}

static void
take(void *state, const double *step)
{
	struct refining *refining = state;
	struct board_pose pose;

	board_pose_step(&refining->pose, step, &pose);
	refining->pose = pose;
}

int
board_pose_find(const struct pinhole *camera, const struct board_points *points,
    struct board_pose *pose)
{
	struct pinhole own = *camera;
	struct refining refining = { &own, points, { { 0 } } };
	double scale[6] = { 1e-6, 1e-6, 1e-6, 0, 0, 0 }, squares;
	struct levenberg fit = { 6, 2 * points->n, scale, residual, take, &refining };

	if (points->n < 4)
		return fail(NULL, "%zu corners: a board's pose needs 4", points->n);
	memset(own.R, 0, sizeof(own.R));
	memset(own.T, 0, sizeof(own.T));
	own.R[0] = own.R[4] = own.R[8] = 1;
	pinhole_complete(&own);
	if (start_pose(camera, points, &refining.pose) < 0)
		return -1;
	scale[3] = scale[4] = scale[5] = 1e-6 * refining.pose.t[2];
	if (levenberg_fit(&fit, &squares) < 0)
		return -1;
	refining.pose.rms_px = sqrt(squares / (double)points->n);
	*pose = refining.pose;
	return 0;
}
