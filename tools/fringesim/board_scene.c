#include "board_scene.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

/* ---- pose ---- */

/* Rodrigues' formula. */
static void
rotate(const double pose[3], double R[9])
{
	double r[3], angle, c, s;

	for (int k = 0; k < 3; k++)
		r[k] = pose[k] * M_PI / 180;
	angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
	c = cos(angle);
	s = angle > 0 ? sin(angle) / angle : 1;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			R[3 * i + k] = (i == k ? c : 0) +
			    (angle > 0 ? (1 - c) / (angle * angle) * r[i] * r[k] : 0);
	R[1] -= s * r[2];
	R[2] += s * r[1];
	R[3] += s * r[2];
	R[5] -= s * r[0];
	R[6] -= s * r[1];
	R[7] += s * r[0];
}

/* On which side of the board a point of the camera's frame is: negative before it. */
static double
side(const struct board_scene *scene, const double x[3])
{
	double sum = 0;

	for (int k = 0; k < 3; k++)
		sum += scene->R[3 * k + 2] * (x[k] - scene->T[k]);
	return sum;
}

static void
measure(struct board_scene *scene)
{
	const struct board *board = &scene->board;
	double around = board->kind == BOARD_CHESS ? 2 : 1.25, middle[2];

	board_middle(board, middle);
	for (int k = 0; k < 2; k++)
		scene->half[k] = (middle[k] + around) * board->spacing_mm;
	scene->radius = board->spacing_mm * (board->kind == BOARD_ACIRCLES ? 0.25 * sqrt(2) : 0.25);
}

int
board_scene_init(struct board_scene *scene, const struct board *board, const double pose[6],
    const struct calib *calib)
{
	double center[3], x[3], zero[3] = { 0 };
	const double *R = calib->camera.R, *T = calib->camera.T;

	scene->board = *board;
	rotate(pose, scene->R);
	memcpy(scene->T, pose + 3, sizeof(scene->T));
	measure(scene);
	if (!(scene->T[2] > 0))
		return fail_usage("--board-pose",
		    "the board's middle is behind the camera: z is %g mm", scene->T[2]);
	if (!(side(scene, zero) < 0))
		return fail_usage("--board-pose", "the board turns its back to the camera");
	pinhole_center(&calib->projector, center);
	for (int i = 0; i < 3; i++)
		x[i] = R[3 * i] * center[0] + R[3 * i + 1] * center[1] + R[3 * i + 2] * center[2] +
		    T[i];
	scene->lit_from_behind = !(side(scene, x) < 0);
	return 0;
}

bool
board_scene_hit(const struct board_scene *scene, const double ray[3], double *z, double at[2])
{
	const double *R = scene->R, *T = scene->T;
	double down = R[2] * ray[0] + R[5] * ray[1] + R[8];
	double far = R[2] * T[0] + R[5] * T[1] + R[8] * T[2], on[3];

	*z = far / down;
	if (!(down > 0) || !(*z > 0))
		return false;
	for (int k = 0; k < 3; k++)
		on[k] = *z * (k < 2 ? ray[k] : 1) - T[k];
	for (int k = 0; k < 2; k++)
		at[k] = R[k] * on[0] + R[3 + k] * on[1] + R[6 + k] * on[2];
	return fabs(at[0]) <= scene->half[0] && fabs(at[1]) <= scene->half[1];
}

void
board_scene_point(const struct board_scene *scene, long i, long j, double x[3])
{
	double middle[2], at[2];

	board_middle(&scene->board, middle);
	board_point(&scene->board, i, j, at);
	for (int k = 0; k < 2; k++)
		at[k] = (at[k] - middle[k]) * scene->board.spacing_mm;
	for (int k = 0; k < 3; k++)
		x[k] = scene->R[3 * k] * at[0] + scene->R[3 * k + 1] * at[1] + scene->T[k];
}

/* ---- print ---- */

/* How much of a step at 0 has been taken at x, blurred by sigma. */
static double
step_at(double x, double sigma)
{
	return sigma > 0 ? 0.5 * erfc(-x / (sigma * sqrt(2))) : x >= 0;
}

/*
 * Along one side of a chessboard with n corners: the colours' sign, -1 before the first corner, and
 * in *in whether the squares go so far. x in spacings from the first corner.
 */
static double
alternate(double x, size_t n, double sigma, double *in)
{
	double k = fmin(fmax(floor(x + 0.5), -1), (double)n);
	double sign = fmod(k + 2, 2) < 0.5 ? 1 : -1;

	*in = k < 0 ? step_at(x - k, sigma) : k >= (double)n ? step_at(k - x, sigma) : 1;
	if (k < 0)
		return -1;
	if (k >= (double)n)
		return -sign;
	return sign * (2 * step_at(x - k, sigma) - 1);
}

static double
chess_black(const struct board_scene *scene, const double x[2], const double sigma[2])
{
	double in[2];
	double a = alternate(x[0], scene->board.w, sigma[0], &in[0]);
	double b = alternate(x[1], scene->board.h, sigma[1], &in[1]);

	return in[0] * in[1] * (1 + a * b) / 2;
}

static double
nearest(double x, size_t n)
{
	return fmin(fmax(floor(x + 0.5), 0), (double)n - 1);
}

/* The circle whose centre is nearest, in spacings; along y first: of asymmetric ones of three rows.
 */
static double
circles_black(
    const struct board_scene *scene, const double x[2], const double step[4], double sigma)
{
	const struct board *board = &scene->board;
	bool shifted = board->kind == BOARD_ACIRCLES;
	double near = INFINITY, to[2] = { 0, 0 }, blur = 0, radius;

	for (int row = shifted ? -1 : 0; row <= (shifted ? 1 : 0); row++) {
		double j = nearest(x[1] + row, board->h), odd = shifted ? fmod(j, 2) : 0;
		double i = nearest(shifted ? (x[0] - odd) / 2 : x[0], board->w);
		double at[2] = { (shifted ? 2 * i + odd : i) - x[0], j - x[1] };

		if (hypot(at[0], at[1]) < near) {
			near = hypot(at[0], at[1]);
			memcpy(to, at, sizeof(to));
		}
	}
	radius = scene->radius / board->spacing_mm;
	if (near > 0)
		blur = sigma *
		    hypot(to[0] * step[0] + to[1] * step[1], to[0] * step[2] + to[1] * step[3]) /
		    (near * board->spacing_mm);
	return step_at(radius - near, blur);
}

double
board_scene_share(
    const struct board_scene *scene, const double at[2], const double step[4], double sigma)
{
	double spacing = scene->board.spacing_mm, middle[2], x[2], blur[2], black;

	board_middle(&scene->board, middle);
	for (int k = 0; k < 2; k++) {
		x[k] = at[k] / spacing + middle[k];
		blur[k] = sigma * hypot(step[k], step[2 + k]) / spacing;
	}
	black = scene->board.kind == BOARD_CHESS ? chess_black(scene, x, blur)
						 : circles_black(scene, x, step, sigma);
	return 1 - (1 - BOARD_BLACK) * black;
}
