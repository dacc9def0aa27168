/* Start values: each device by itself, then the poses of devices and boards. */
#include "start.h"

#include <math.h>
#include <mrcal/poseutils.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "homography.h"

#define FEWEST_VIEWS 3

struct start {
	struct calib_problem *problem;
	double (*H)[9];			/* of each view */
	struct calib_pose *seen;	/* of each view: board to device */
	double (*core)[4];		/* of each device */
	struct calib_pose *device;	/* first device to device */
	bool *placed;
};

/* ---- poses ---- */

/* out = a after b */
static void
compose(const struct calib_pose *a, const struct calib_pose *b, struct calib_pose *out)
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

static void
invert(const struct calib_pose *a, struct calib_pose *out)
{
	for (size_t i = 0; i < 3; i++) {
		out->T[i] = 0;
		for (size_t j = 0; j < 3; j++) {
			out->R[3 * i + j] = a->R[3 * j + i];
			out->T[i] -= a->R[3 * j + i] * a->T[j];
		}
	}
}

/* How far apart: the size of the rotation, and the distance in units of `length`. */
static double
distance(const struct calib_pose *a, const struct calib_pose *b, double length)
{
	double turn = 0, moved = 0;

	for (size_t i = 0; i < 9; i++)
		turn += (a->R[i] - b->R[i]) * (a->R[i] - b->R[i]) / 2;
	for (size_t i = 0; i < 3; i++)
		moved += (a->T[i] - b->T[i]) * (a->T[i] - b->T[i]);
	return sqrt(turn) + sqrt(moved) / length;
}

/* ---- one device ---- */

static double
view_error(const struct start *start, const struct calib_view *view, const double core[4])
{
	static const double flat[2];
	const struct calib_problem *problem = start->problem;
	struct calib_pose pose;
	double sum = 0;

	homography_pose(start->H[view - problem->view], core, &pose);
	for (size_t k = 0; k < view->n; k++) {
		const struct calib_point *point = &problem->point[view->first + k];
		double X[3], x[3];

		calib_board_point(&problem->board, flat, point->i, point->j, X);
		for (size_t i = 0; i < 3; i++)
			x[i] = pose.R[3 * i] * X[0] + pose.R[3 * i + 1] * X[1] + pose.T[i];
		sum += hypot(core[0] * x[0] / x[2] + core[2] - point->u,
		    core[1] * x[1] / x[2] + core[3] - point->v);
	}
	return sum;
}

static double
device_error(const struct start *start, size_t device, const double core[4])
{
	const struct calib_problem *problem = start->problem;
	double sum = 0;

	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			sum += view_error(start, &problem->view[v], core);
	return sum;
}

static void
hold(const double fixed[CALIB_INTRINSICS], double core[4])
{
	for (size_t k = 0; k < 4; k++)
		core[k] = isnan(fixed[k]) ? core[k] : fixed[k];
}

static int
find_core(struct start *start, size_t device)
{
	const struct calib_problem *problem = start->problem;
	const struct calib_device *of = &problem->device[device];
	double (*H)[9] = calloc(problem->views + 1, sizeof(*H)), *core = start->core[device];
	double other[4];
	size_t n = 0;

	if (!H)
		return fail_memory();
	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			memcpy(H[n++], start->H[v], sizeof(*H));
	if (!homography_square((const double (*)[9])H, n, of->w, of->h, core)) {
		core[0] = core[1] = 1.2 * (double)(of->w > of->h ? of->w : of->h);
		core[2] = ((double)of->w - 1) / 2;
		core[3] = ((double)of->h - 1) / 2;
	}
	hold(problem->fixed[device], core);
	if (!of->square && homography_free((const double (*)[9])H, n, of->w, of->h, other)) {
		hold(problem->fixed[device], other);
		if (device_error(start, device, other) < device_error(start, device, core))
			memcpy(core, other, sizeof(other));
	}
	free(H);
	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			homography_pose(start->H[v], core, &start->seen[v]);
	return 0;
}

static int
fit_view(struct start *start, size_t v)
{
	const struct calib_problem *problem = start->problem;
	const struct calib_view *view = &problem->view[v];
	const struct calib_device *device = &problem->device[view->device];
	char name[128];

	calib_view_name(problem, view, name, sizeof(name));
	if (!homography_fit(&problem->board, problem->point + view->first, view->n, start->H[v]))
		return fail(name, "its %zu points lie on a line", view->n);
	if (homography_mirrors(start->H[v], &problem->board))
		return fail(name, device->kind == CALIB_PROJECTOR ?
		    "shows the board mirrored: the phase of x or of y runs the wrong way "
		    "(phasewrap --sign), or they are exchanged" :
		    "shows the board mirrored: from i to j is a quarter turn to the right on the "
		    "board and in the picture");
	return 0;
}

static int
check_views(const struct calib_problem *problem)
{
	for (size_t d = 0; d < problem->devices; d++) {
		size_t n = 0, last = problem->poses;

		for (size_t v = 0; v < problem->views; v++)
			if (problem->view[v].device == d && problem->view[v].pose != last) {
				last = problem->view[v].pose;
				n++;
			}
		if (n < FEWEST_VIEWS)
			return fail(problem->device[d].name, "has %zu view%s of the board, and at "
			    "least %d are needed", n, n == 1 ? "" : "s", FEWEST_VIEWS);
	}
	return 0;
}

/* ---- several devices ---- */

/* The corner that is i, j in numbering `turn`, a rotation of the board by turn quarters; of a board
 * of two numberings by half a turn. */
static void
renumber(const struct calib_board *board, int turn, struct calib_point *point)
{
	int w = (int)board->w, h = (int)board->h, i = point->i, j = point->j;

	if (board->turns == 2)
		turn *= 2;
	point->i = turn == 0 ? i : turn == 1 ? h - 1 - j : turn == 2 ? w - 1 - i : j;
	point->j = turn == 0 ? j : turn == 1 ? i : turn == 2 ? h - 1 - j : w - 1 - i;
}

static int
turn_view(struct start *start, size_t v, int turn)
{
	struct calib_problem *problem = start->problem;
	const struct calib_view *view = &problem->view[v];

	for (size_t k = 0; k < view->n && turn; k++)
		renumber(&problem->board, turn, &problem->point[view->first + k]);
	if (turn && fit_view(start, v) < 0)
		return -1;
	homography_pose(start->H[v], start->core[view->device], &start->seen[v]);
	return 0;
}

/* A pair of views of one pose: what it says of where `to` is, before a board of numbering turn. */
struct relation {
	size_t from, to;	/* views */
	int turn;
	struct calib_pose pose;
};

static void
relate(const struct start *start, struct relation *relation)
{
	struct calib_pose inverse;

	invert(&start->seen[relation->from], &inverse);
	compose(&start->seen[relation->to], &inverse, &relation->pose);
}

/* All pairs of views of devices a and b; with a list, all numberings of the second. The caller
 * frees the list. */
static int
find_relations(struct start *start, size_t a, size_t b, struct relation **list, size_t *n)
{
	const struct calib_problem *problem = start->problem;
	bool turns = problem->device[b].kind == CALIB_CAMERA && problem->board.turns > 1;
	size_t room = 0;

	*list = NULL;
	*n = 0;
	for (size_t v = 0; v < problem->views; v++)
		for (size_t w = 0; w < problem->views; w++) {
			const struct calib_view *from = &problem->view[v], *to = &problem->view[w];
			int numberings = turns ? problem->board.turns : 1;

			if (from->device != a || to->device != b || from->pose != to->pose)
				continue;
			for (int turn = 0; turn < numberings; turn++) {
				if (*n == room) {
					struct relation *more;

					room = 2 * room + 64;
					more = reallocarray(*list, room, sizeof(*more));
					if (!more)
						return fail_memory();
					*list = more;
				}
				(*list)[*n] = (struct relation){ v, w, turn };
				relate(start, &(*list)[(*n)++]);
				if (turns && turn_view(start, w, 1) < 0)
					return -1;
			}
		}
	return 0;
}

/* How well a relation agrees with all pairs, each in its best numbering. */
static double
disagreement(const struct relation *list, size_t n, const struct relation *one, double length)
{
	double sum = 0;

	for (size_t i = 0; i < n;) {
		double least = INFINITY;
		size_t first = i;

		for (; i < n && list[i].from == list[first].from && list[i].to == list[first].to;
		    i++)
			least = fmin(least, distance(&list[i].pose, &one->pose, length));
		sum += fmin(least, 1);
	}
	return sum;
}

/* The relation that agrees best, and the best of those that are clearly others. */
static const struct relation *
best_relation(const struct relation *list, size_t n, double length, double *least, double *second)
{
	const struct relation *best = list;

	*least = *second = INFINITY;
	for (size_t i = 0; i < n; i++) {
		double is = disagreement(list, n, &list[i], length);

		if (is < *least) {
			*least = is;
			best = &list[i];
		}
	}
	for (size_t i = 0; i < n; i++)
		if (distance(&list[i].pose, &best->pose, length) > 0.2)
			*second = fmin(*second, disagreement(list, n, &list[i], length));
	return best;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The best pair's rotation, and with it the median of the translations. */
static int
median_pose(const struct start *start, const struct relation *list, size_t n,
    const struct relation *best, double length, struct calib_pose *out)
{
	double *value = calloc(n + 1, sizeof(*value));

	if (!value)
		return fail_memory();
	*out = best->pose;
	for (size_t c = 0; c < 3; c++) {
		size_t m = 0;

		for (size_t i = 0; i < n; i++) {
			const double *T = start->seen[list[i].from].T;

			if (distance(&list[i].pose, &best->pose, length) > 0.2)
				continue;
			value[m] = start->seen[list[i].to].T[c];
			for (size_t k = 0; k < 3; k++)
				value[m] -= out->R[3 * c + k] * T[k];
			m++;
		}
		qsort(value, m, sizeof(*value), compare);
		out->T[c] = m ? value[m / 2] : best->pose.T[c];
	}
	free(value);
	return 0;
}

/* Numbers the views of b as agrees with where it is. */
static int
renumber_views(struct start *start, const struct relation *list, size_t n,
    const struct relation *best, double length, size_t b)
{
	const struct calib_problem *problem = start->problem;

	for (size_t i = 0; i < n;) {
		size_t first = i, nearest = i;

		for (; i < n && list[i].from == list[first].from && list[i].to == list[first].to;
		    i++)
			if (distance(&list[i].pose, &best->pose, length) <
			    distance(&list[nearest].pose, &best->pose, length))
				nearest = i;
		for (size_t v = 0; v < problem->views; v++)
			if (problem->view[v].through == b &&
			    problem->view[v].pose == problem->view[list[first].to].pose &&
			    turn_view(start, v, list[nearest].turn) < 0)
				return -1;
	}
	return 0;
}

static double
board_distance(const struct start *start, size_t device)
{
	const struct calib_problem *problem = start->problem;
	double sum = 0;
	size_t n = 0;

	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device) {
			sum += start->seen[v].T[2];
			n++;
		}
	return n ? sum / (double)n : 1;
}

static int
place(struct start *start, size_t a, size_t b)
{
	const struct calib_problem *problem = start->problem;
	double length = board_distance(start, a), least, second;
	const struct relation *best;
	struct calib_pose pose;
	struct relation *list;
	size_t n;
	int status = find_relations(start, a, b, &list, &n);
	bool turns = problem->device[b].kind == CALIB_CAMERA && problem->board.turns > 1;

	if (status == 0) {
		best = best_relation(list, n, length, &least, &second);
		if (turns && second < 1.5 * least + 0.02 * (double)n / problem->board.turns)
			status = fail(problem->device[b].name, "the board is symmetric, and two ways "
			    "to number its corners fit %s equally well: take poses that differ more, "
			    "or a board of an odd and an even side", problem->device[a].name);
		if (status == 0)
			status = median_pose(start, list, n, best, length, &pose);
		if (status == 0 && turns)
			status = renumber_views(start, list, n, best, length, b);
		compose(&pose, &start->device[a], &start->device[b]);
	}
	free(list);
	start->placed[b] = true;
	return status;
}

/* Poses that both have. */
static size_t
common_views(const struct calib_problem *problem, size_t a, size_t b)
{
	size_t n = 0;

	for (size_t v = 0; v < problem->views; v++)
		for (size_t w = 0; w < problem->views && problem->view[v].device == a; w++)
			n += problem->view[w].device == b &&
			    problem->view[v].pose == problem->view[w].pose;
	return n;
}

/* Cameras first: a projector's points are numbered as those of the cameras. */
static int
place_devices(struct start *start)
{
	const struct calib_problem *problem = start->problem;

	start->placed[0] = true;
	start->device[0] = (struct calib_pose){ { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 0 } };
	for (size_t n = 1; n < problem->devices; n++) {
		size_t most = 0, from = 0, to = 0;

		for (size_t a = 0; a < problem->devices; a++)
			for (size_t b = 0; b < problem->devices; b++) {
				size_t common = start->placed[a] && !start->placed[b] ?
				    common_views(problem, a, b) : 0;

				if (common && problem->device[b].kind == CALIB_CAMERA)
					common += problem->views * problem->views;
				if (common > most) {
					most = common;
					from = a;
					to = b;
				}
			}
		if (!most) {
			while (start->placed[to])
				to++;
			return fail(problem->device[to].name, "shares no pose of the board with %s"
			    "%s", problem->device[0].name, n > 1 ? " or those beside it" : "");
		}
		if (place(start, from, to) < 0)
			return -1;
	}
	return 0;
}

/* ---- all of it ---- */

static void
put_pose(const struct calib_pose *pose, double *rt)
{
	mrcal_r_from_R(rt, NULL, pose->R);
	memcpy(rt + 3, pose->T, sizeof(pose->T));
}

static void
put_parameters(const struct start *start, double *parameter)
{
	const struct calib_problem *problem = start->problem;
	size_t shared = calib_parameters(problem);

	memset(parameter, 0, (shared + 6 * problem->poses) * sizeof(*parameter));
	for (size_t d = 0; d < problem->devices; d++) {
		double *intrinsics = parameter + calib_parameter_intrinsics(problem, d);

		memcpy(intrinsics, start->core[d], sizeof(*start->core));
		for (size_t k = 4; k < calib_intrinsics_count(problem->device[d].model); k++)
			if (!isnan(problem->fixed[d][k]))
				intrinsics[k] = problem->fixed[d][k];
		if (d)
			put_pose(&start->device[d],
			    parameter + calib_parameter_pose(problem, d));
	}
	for (size_t p = 0; p < problem->poses; p++) {
		struct calib_pose pose;
		size_t best = SIZE_MAX;

		for (size_t v = 0; v < problem->views; v++)
			if (problem->view[v].pose == p && (best == SIZE_MAX ||
			    problem->view[v].n > problem->view[best].n))
				best = v;
		if (best == SIZE_MAX)
			continue;
		invert(&start->device[problem->view[best].device], &pose);
		compose(&pose, &start->seen[best], &pose);
		put_pose(&pose, parameter + shared + 6 * p);
	}
}

int
calib_start(struct calib_problem *problem, double *parameter)
{
	struct start start = { .problem = problem };
	int status = check_views(problem);

	if (status < 0)
		return -1;
	start.H = calloc(problem->views, sizeof(*start.H));
	start.seen = calloc(problem->views, sizeof(*start.seen));
	start.core = calloc(problem->devices, sizeof(*start.core));
	start.device = calloc(problem->devices, sizeof(*start.device));
	start.placed = calloc(problem->devices, sizeof(*start.placed));
	if (!start.H || !start.seen || !start.core || !start.device || !start.placed)
		status = fail_memory();
	for (size_t v = 0; v < problem->views && status == 0; v++)
		status = fit_view(&start, v);
	for (size_t d = 0; d < problem->devices && status == 0; d++)
		status = find_core(&start, d);
	if (status == 0)
		status = place_devices(&start);
	if (status == 0)
		put_parameters(&start, parameter);
	free(start.H);
	free(start.seen);
	free(start.core);
	free(start.device);
	free(start.placed);
	return status;
}
