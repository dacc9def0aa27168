/*
 * Where devices stand to each other, from the poses of the board that they share. The corners of a
 * symmetric board are numbered in each picture from a place of its own; with several cameras the
 * numbering is taken that puts the camera at one place in all poses.
 */
#include "placing.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "closed_form.h"

void
placing_compose(const struct calib_pose *a, const struct calib_pose *b, struct calib_pose *out)
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
placing_invert(const struct calib_pose *a, struct calib_pose *out)
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
	if (turn && placing_fit_view(start, v) < 0)
		return -1;
	closed_form_pose(start->H[v], start->core[view->device], &start->seen[v]);
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

	placing_invert(&start->seen[relation->from], &inverse);
	placing_compose(&start->seen[relation->to], &inverse, &relation->pose);
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
			status = fail(problem->device[b].name, "the board is symmetric, and two "
			    "ways to number its corners fit %s equally well: take poses that "
			    "differ more, or a board of an odd and an even side",
			    problem->device[a].name);
		if (status == 0)
			status = median_pose(start, list, n, best, length, &pose);
		if (status == 0 && turns)
			status = renumber_views(start, list, n, best, length, b);
		placing_compose(&pose, &start->device[a], &start->device[b]);
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
int
placing_devices(struct start *start)
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
