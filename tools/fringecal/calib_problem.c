/* What a calibration consists of: devices, views, points and board, the names of its parameters,
 * and the arithmetic of poses. */
#include "fringecal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

const char *const calib_intrinsics_names[CALIB_INTRINSICS] = { "fx", "fy", "cx", "cy", "k1", "k2",
	"p1", "p2", "k3", "k4", "k5", "k6" };
const char *const calib_model_names[] = { "pinhole", "opencv4", "opencv5", "opencv8", NULL };

size_t
calib_intrinsics_count(enum calib_model model)
{
	static const size_t count[] = { 4, 8, 9, 12 };

	return count[model];
}

size_t
calib_parameter_intrinsics(const struct calib_problem *problem, size_t device)
{
	size_t at = 0;

	for (size_t i = 0; i < device; i++)
		at += calib_intrinsics_count(problem->device[i].model);
	return at;
}

size_t
calib_parameter_pose(const struct calib_problem *problem, size_t device)
{
	return calib_parameter_intrinsics(problem, problem->devices) + 6 * (device - 1);
}

size_t
calib_parameters(const struct calib_problem *problem)
{
	return calib_parameter_pose(problem, problem->devices) + (problem->warp ? 2 : 0);
}

void
calib_parameter_name(const struct calib_problem *problem, size_t parameter, char *name,
    size_t size)
{
	static const char *const pose[] = { "rx", "ry", "rz", "tx", "ty", "tz" };
	size_t poses = calib_parameter_pose(problem, 1);
	size_t bends = calib_parameter_pose(problem, problem->devices);

	if (parameter >= bends) {
		snprintf(name, size, "board.bend_%c", parameter == bends ? 'x' : 'y');
	} else if (parameter >= poses) {
		snprintf(name, size, "%s.%s", problem->device[1 + (parameter - poses) / 6].name,
		    pose[(parameter - poses) % 6]);
	} else {
		size_t device = 0;

		while (parameter >= calib_parameter_intrinsics(problem, device + 1))
			device++;
		snprintf(name, size, "%s.%s", problem->device[device].name,
		    calib_intrinsics_names[parameter -
		    calib_parameter_intrinsics(problem, device)]);
	}
}

/* Room for n more elements of a list. */
static int
grow(void **list, size_t have, size_t *room, size_t n, size_t size)
{
	size_t wanted = have + n < 2 * *room ? 2 * *room : have + n;
	void *larger;

	if (have + n <= *room)
		return 0;
	larger = reallocarray(*list, wanted, size);
	if (!larger)
		return fail_memory();
	*list = larger;
	*room = wanted;
	return 0;
}

int
calib_problem_add_device(struct calib_problem *problem, const struct calib_device *device)
{
	size_t n = problem->devices + 1;
	void *devices = reallocarray(problem->device, n, sizeof(*device)), *fixed = NULL;

	if (devices) {
		problem->device = devices;
		fixed = reallocarray(problem->fixed, n, sizeof(*problem->fixed));
	}
	if (!fixed)
		return fail_memory();
	problem->fixed = fixed;
	for (size_t k = 0; k < CALIB_INTRINSICS; k++)
		problem->fixed[problem->devices][k] = NAN;
	problem->device[problem->devices++] = *device;
	return 0;
}

int
calib_problem_add_view(struct calib_problem *problem, size_t device, size_t pose, size_t through,
    const struct calib_point *point, size_t n)
{
	void *views = problem->view, *points = problem->point;
	int status = grow(&views, problem->views, &problem->views_room, 1, sizeof(*problem->view));

	problem->view = views;
	if (status == 0)
		status = grow(&points, problem->points, &problem->points_room, n, sizeof(*point));
	problem->point = points;
	if (status < 0)
		return -1;
	problem->view[problem->views++] =
	    (struct calib_view){ device, pose, through, problem->points, n };
	if (n)
		memcpy(problem->point + problem->points, point, n * sizeof(*point));
	problem->points += n;
	if (pose >= problem->poses)
		problem->poses = pose + 1;
	return 0;
}

void
calib_view_name(const struct calib_problem *problem, const struct calib_view *view, char *name,
    size_t size)
{
	int n = snprintf(name, size, "pose %zu of %s", view->pose + 1,
	    problem->device[view->device].name);
	size_t cameras = 0;

	for (size_t d = 0; d < problem->devices; d++)
		cameras += problem->device[d].kind == CALIB_CAMERA;
	if (view->through != view->device && cameras > 1 && n > 0 && (size_t)n < size)
		snprintf(name + n, size - (size_t)n, " through %s",
		    problem->device[view->through].name);
}

void
calib_problem_free(struct calib_problem *problem)
{
	free(problem->device);
	free(problem->fixed);
	free(problem->view);
	free(problem->point);
	*problem = (struct calib_problem){ 0 };
}

int
calib_board_set(struct calib_board *board, const struct board *from)
{
	size_t w = from->w, h = from->h;
	bool circles = from->kind == BOARD_CIRCLES;

	if (w < 2 || h < 2 || w > 1000 || h > 1000 || w * h < 6 || !(from->spacing_mm >= 0) ||
	    !(from->spacing_mm <= 1e6))
		return -1;
	*board = (struct calib_board){ .kind = from->kind, .w = w, .h = h,
		.spacing = from->spacing_mm > 0 ? from->spacing_mm : 1 };
	snprintf(board->unit, sizeof(board->unit), "%s", from->spacing_mm > 0 ? "mm" : "board");
	if (from->kind == BOARD_ACIRCLES)
		board->turns = h % 2 ? 1 : 2;
	else if (w == h)
		board->turns = circles || w % 2 == 0 ? 4 : 2;
	else
		board->turns = circles || (w + h) % 2 == 0 ? 2 : 1;
	return 0;
}

void
calib_board_point(const struct calib_board *board, const double bend[2], int i, int j, double X[3])
{
	bool alternate = board->kind == BOARD_ACIRCLES;
	double along = alternate ? 2.0 * i + j % 2 : i;
	double most = alternate ? 2.0 * (double)board->w - 1 : (double)board->w - 1;
	double x = most > 0 ? 2 * along / most - 1 : 0;
	double y = board->h > 1 ? 2.0 * j / ((double)board->h - 1) - 1 : 0;

	X[0] = along * board->spacing;
	X[1] = j * board->spacing;
	X[2] = bend[0] * (1 - x * x) + bend[1] * (1 - y * y);
}

void
calib_pose_between(const struct calib_pose *a, const struct calib_pose *b, struct calib_pose *out)
{
	for (size_t i = 0; i < 3; i++) {
		out->T[i] = b->T[i];
		for (size_t j = 0; j < 3; j++) {
			out->R[3 * i + j] = 0;
			for (size_t k = 0; k < 3; k++)
				out->R[3 * i + j] += b->R[3 * i + k] * a->R[3 * j + k];
		}
		for (size_t j = 0; j < 3; j++)
			out->T[i] -= out->R[3 * i + j] * a->T[j];
	}
}

void
calib_pose_compose(const struct calib_pose *a, const struct calib_pose *b, struct calib_pose *out)
{
	struct calib_pose c;

	for (size_t i = 0; i < 3; i++) {
		c.T[i] = a->T[i];
		for (size_t j = 0; j < 3; j++) {
			c.T[i] += a->R[3 * i + j] * b->T[j];
			c.R[3 * i + j] = 0;
			for (size_t k = 0; k < 3; k++)
				c.R[3 * i + j] += a->R[3 * i + k] * b->R[3 * k + j];
		}
	}
	*out = c;
}

void
calib_pose_invert(const struct calib_pose *a, struct calib_pose *out)
{
	for (size_t i = 0; i < 3; i++) {
		out->T[i] = 0;
		for (size_t j = 0; j < 3; j++) {
			out->R[3 * i + j] = a->R[3 * j + i];
			out->T[i] -= a->R[3 * j + i] * a->T[j];
		}
	}
}
