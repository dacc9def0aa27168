/* The geometry of a rectified pair. */
#include "optics/stereo.h"

#include <math.h>
#include <string.h>

static void
multiply(const double A[9], const double B[9], double out[9])
{
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] +
			    A[3 * i + 2] * B[6 + j];
}

static void
transpose(const double A[9], double out[9])
{
	for (size_t i = 0; i < 9; i++)
		out[i] = A[3 * (i % 3) + i / 3];
}

static void
apply(const double A[9], const double x[3], double out[3])
{
	for (size_t i = 0; i < 3; i++)
		out[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

static void
apply_transposed(const double A[9], const double x[3], double out[3])
{
	for (size_t i = 0; i < 3; i++)
		out[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}

/* The rotation of the quaternion w + x i + y j + z k, of any length. */
static void
from_quaternion(const double q[4], double R[9])
{
	double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], s = 2 / n;
	double w = q[0], x = q[1], y = q[2], z = q[3];

	R[0] = 1 - s * (y * y + z * z);
	R[1] = s * (x * y - w * z);
	R[2] = s * (x * z + w * y);
	R[3] = s * (x * y + w * z);
	R[4] = 1 - s * (x * x + z * z);
	R[5] = s * (y * z - w * x);
	R[6] = s * (x * z - w * y);
	R[7] = s * (y * z + w * x);
	R[8] = 1 - s * (x * x + y * y);
}

/* Half of a rotation; false where it is a half turn, whose half may go either way. */
static bool
half_rotation(const double R[9], double half[9])
{
	double trace = R[0] + R[4] + R[8], w = sqrt(fmax(1 + trace, 0)) / 2;
	double q[4] = { w + 1, 0, 0, 0 };

	if (!(w > 1e-3))
		return false;
	q[1] = (R[7] - R[5]) / (4 * w);
	q[2] = (R[2] - R[6]) / (4 * w);
	q[3] = (R[3] - R[1]) / (4 * w);
	from_quaternion(q, half);
	return true;
}

/* The least rotation that takes the unit vector e, with e[0] > -1, to the x axis. */
static void
turn_to_x(const double e[3], double R[9])
{
	const double q[4] = { 1 + e[0], 0, e[2], -e[1] };	/* 1 + e.x, e x x */

	from_quaternion(q, R);
}

void
stereo_ray(const struct stereo *stereo, enum stereo_side side, double u, double v, double ray[3])
{
	const double x[3] = { (u - stereo->cx_px[side]) / stereo->f_px,
		(v - stereo->cy_px) / stereo->f_px, 1 };

	apply_transposed(stereo->R[side], x, ray);
}

bool
stereo_project(const struct stereo *stereo, enum stereo_side side, const double ray[3],
    double uv[2])
{
	double x[3];

	apply(stereo->R[side], ray, x);
	uv[0] = stereo->f_px * x[0] / x[2] + stereo->cx_px[side];
	uv[1] = stereo->f_px * x[1] / x[2] + stereo->cy_px;
	return x[2] > 0 && isfinite(uv[0]) && isfinite(uv[1]);
}

/* Both cameras' axes and the common x axis. *turned: the baseline runs along the pictures' columns,
 * which become rows. */
static int
set_rotations(const char *path, struct stereo *stereo, bool *turned)
{
	const double *R = stereo->camera[1].R, *T = stereo->camera[1].T;
	double half[9], back[9], turn[9], t[3], e[3], length, sign;

	if (!half_rotation(R, half))
		return fail(path, "R: the cameras look into opposite directions");
	transpose(half, back);
	apply(back, T, t);		/* in the frame midway between both */
	length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
	if (!(length > 0))
		return fail(path, "T: the baseline is zero: both cameras stand at one place");
	if (!(hypot(t[0], t[1]) > fabs(t[2])))
		return fail(path, "T: the baseline runs along the cameras' axes (%g %g %g mm "
		    "midway between them): such a pair cannot be rectified", t[0], t[1], t[2]);
	*turned = fabs(t[1]) > fabs(t[0]);
	sign = t[*turned] < 0 ? -1 : 1;		/* t leads from the right camera to the left */
	for (size_t i = 0; i < 3; i++)
		e[i] = sign * t[i] / length;
	turn_to_x(e, turn);
	multiply(turn, half, stereo->R[STEREO_LEFT]);
	multiply(turn, back, stereo->R[STEREO_RIGHT]);
	stereo->baseline_mm = -sign * length;
	return 0;
}

/* Where the middle of a side's picture appears, x/z and y/z of the rectified camera: the mean of
 * its corners, as OpenCV takes it. */
static int
find_middle(const char *path, const struct stereo *stereo, enum stereo_side side,
    double middle[2])
{
	const struct pinhole *camera = &stereo->camera[side];
	double w = camera->w > 0 ? camera->w : 2 * camera->K[2] + 1;
	double h = camera->w > 0 ? camera->h : 2 * camera->K[5] + 1;

	middle[0] = middle[1] = 0;
	if (!(w >= 1 && h >= 1))
		return fail(path, "names no image_size, and the %s camera's principal point %g %g "
		    "lies outside of its image: say image_size", side == STEREO_LEFT ? "left" :
		    "right", camera->K[2], camera->K[5]);
	for (size_t i = 0; i < 4; i++) {
		const double uv[2] = { i & 1 ? w - 1 : 0, i & 2 ? h - 1 : 0 };
		double xy[2], ray[3] = { 0, 0, 1 }, x[3];

		xy[1] = (uv[1] - camera->K[5]) / camera->K[4];
		xy[0] = (uv[0] - camera->K[2] - camera->K[1] * xy[1]) / camera->K[0];
		if (pinhole_undistort(camera, uv, ray)) {
			xy[0] = ray[0];
			xy[1] = ray[1];
		}
		apply(stereo->R[side], (double[3]){ xy[0], xy[1], 1 }, x);
		if (!(x[2] > 1e-3))
			return fail(path, "R T: the rectified %s camera would look away from its "
			    "picture", side == STEREO_LEFT ? "left" : "right");
		middle[0] += x[0] / x[2] / 4;
		middle[1] += x[1] / x[2] / 4;
	}
	return 0;
}

/* The focal length and the principal points, where rotations are known. */
static int
place_pictures(const char *path, struct stereo *stereo, bool turned)
{
	const struct pinhole *left = &stereo->camera[0], *right = &stereo->camera[1];
	double w = left->w > 0 ? left->w : 2 * left->K[2] + 1;
	double h = left->w > 0 ? left->h : 2 * left->K[5] + 1;
	double middle[2][2];

	if (find_middle(path, stereo, STEREO_LEFT, middle[0]) < 0 ||
	    find_middle(path, stereo, STEREO_RIGHT, middle[1]) < 0)
		return -1;
	stereo->f_px = (left->K[0] + left->K[4] + right->K[0] + right->K[4]) / 4;
	for (size_t i = 0; i < 2; i++)
		stereo->cx_px[i] = ((turned ? h : w) - 1) / 2 - stereo->f_px * middle[i][0];
	stereo->cy_px = ((turned ? w : h) - 1) / 2 -
	    stereo->f_px * (middle[0][1] + middle[1][1]) / 2;
	stereo->w = turned ? left->h : left->w;
	stereo->h = turned ? left->w : left->h;
	return 0;
}

int
stereo_rectify(const char *path, struct stereo *stereo)
{
	bool turned;

	if (set_rotations(path, stereo, &turned) < 0)
		return -1;
	return place_pictures(path, stereo, turned);
}

int
stereo_place(const char *path, struct stereo *stereo)
{
	const double *T = stereo->camera[1].T;
	double t[3], length = sqrt(T[0] * T[0] + T[1] * T[1] + T[2] * T[2]);

	apply(stereo->R[STEREO_RIGHT], T, t);
	stereo->baseline_mm = t[0] > 0 ? -length : length;
	return place_pictures(path, stereo, fabs(stereo->R[0][1]) > fabs(stereo->R[0][0]));
}
