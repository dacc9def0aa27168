/* What a calibration consists of: devices, views, points and board, the names of its parameters,
 * and the arithmetic of poses. */
#include "fringecal.h"

const char *const calib_intrinsics_names[CALIB_INTRINSICS] = { "fx", "fy", "cx", "cy", "k1", "k2",
	"p1", "p2", "k3", "k4", "k5", "k6" };
const char *const calib_kind_names[] = { "camera", "projector" };
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

void
calib_problem_add_device(struct calib_problem *problem, const struct calib_device *device)
{
	size_t d = problem->devices++;

	problem->device = must_resize(problem->device, d + 1, sizeof(*device));
	problem->fixed = must_resize(problem->fixed, d + 1, sizeof(*problem->fixed));
	for (size_t k = 0; k < CALIB_INTRINSICS; k++)
		problem->fixed[d][k] = NAN;
	problem->device[d] = *device;
}

void
calib_problem_add_view(struct calib_problem *problem, size_t device, size_t pose, size_t through,
    const struct calib_point *point, size_t n)
{
	size_t points = problem->points + n;

	if (points > problem->points_room) {
		size_t room = points < 2 * problem->points_room ? 2 * problem->points_room : points;
		struct calib_point *more = must_resize(problem->point, room, sizeof(*more));

		problem->point = more;
		problem->points_room = room;
	}
	problem->view = must_resize(problem->view, problem->views + 1, sizeof(*problem->view));
	problem->view[problem->views++] =
	    (struct calib_view){ device, pose, through, problem->points, n };
	if (n)
		memcpy(problem->point + problem->points, point, n * sizeof(*point));
	problem->points = points;
	if (pose >= problem->poses)
		problem->poses = pose + 1;
}

void
calib_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), numbers_compare_doubles);
}

size_t
calib_find_device(const struct calib_problem *problem, const char *name, size_t n)
{
	size_t d = 0;

	while (d < problem->devices && (strlen(problem->device[d].name) != n ||
	    strncmp(problem->device[d].name, name, n)))
		d++;
	return d;
}

void
calib_corner(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t pose, int i, int j, double X[3])
{
	double at[3];

	calib_board_point(&problem->board, solution->bend, i, j, at);
	calib_pose_apply(&solution->board[pose], at, X);
}

size_t
calib_cameras(const struct calib_problem *problem)
{
	size_t cameras = 0;

	for (size_t d = 0; d < problem->devices; d++)
		cameras += problem->device[d].kind == CALIB_CAMERA;
	return cameras;
}

size_t
calib_device_points(const struct calib_problem *problem, size_t device)
{
	size_t points = 0;

	for (size_t v = 0; v < problem->views; v++)
		points += problem->view[v].device == device ? problem->view[v].n : 0;
	return points;
}

void
calib_view_name(const struct calib_problem *problem, const struct calib_view *view, char *name,
    size_t size)
{
	bool through = view->through != view->device && calib_cameras(problem) > 1;

	snprintf(name, size, "pose %zu of %s%s%s", view->pose + 1,
	    problem->device[view->device].name, through ? " through " : "",
	    through ? problem->device[view->through].name : "");
}

void
calib_problem_free(struct calib_problem *problem)
{
	free_all(problem->device, problem->fixed, problem->view, problem->point);
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
calib_pose_compose(const struct calib_pose *a, const struct calib_pose *b, struct calib_pose *out)
{
	struct calib_pose c;

	matrix3_product(a->R, b->R, c.R);
	for (size_t i = 0; i < 3; i++) {
		c.T[i] = a->T[i];
		for (size_t j = 0; j < 3; j++)
			c.T[i] += a->R[3 * i + j] * b->T[j];
	}
	*out = c;
}
