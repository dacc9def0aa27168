/*
 * Start values of a calibration: each device by itself in closed form, from homographies of its
 * views (Zhang 2000); then where devices and boards stand to each other.
 */
#include "fringecal.h"

#include <mrcal/poseutils.h>

struct start {
	struct calib_problem *problem;
	double (*H)[9];			/* of each view */
	struct calib_pose *seen;	/* of each view: board to device */
	double (*core)[4];		/* of each device */
	struct calib_pose *device;	/* first device to device */
	bool *placed;
	struct pool pool;		/* of these */
};

/* ---- homographies of the board's views, and Zhang's closed form for the device's matrix ---- */

#define WEIGHT_ROUNDS 6		/* of weighing wrong points down */

struct normalised {		/* (v - mean) times scale has mean 0, size 1 */
	double mean[2], scale;
};

static void
normalise(const double (*v)[2], size_t n, struct normalised *out)
{
	double sum = 0;

	*out = (struct normalised){ 0 };
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 2; c++)
			out->mean[c] += v[i][c] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += hypot(v[i][0] - out->mean[0], v[i][1] - out->mean[1]) / (double)n;
	out->scale = sum > 0 ? 1 / sum : 1;
}

/* Least squares of h0 .. h7 (h8 = 1) between normalised points. */
static bool
fit(const double (*board)[2], const double (*pixel)[2], const double *weight, size_t n,
    double h[9])
{
	double A[64] = { 0 }, b[8] = { 0 }, most = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 2; c++) {
			double x = board[i][0], y = board[i][1], u = pixel[i][c];
			double row[8] = { c ? 0 : x, c ? 0 : y, !c, c ? x : 0, c ? y : 0, c,
				-u * x, -u * y };

			for (size_t k = 0; k < 8; k++) {
				b[k] += weight[i] * row[k] * u;
				for (size_t l = 0; l < 8; l++)
					A[8 * k + l] += weight[i] * row[k] * row[l];
			}
		}
	for (size_t k = 0; k < 8; k++)
		most = fmax(most, A[9 * k]);
	if (!symmetric_factor(8, A, 0))
		return false;
	for (size_t k = 0; k < 8; k++)
		if (A[9 * k] * A[9 * k] < 1e-12 * most)
			return false;
	symmetric_solve(8, A, b, 1);
	memcpy(h, b, sizeof(b));
	h[8] = 1;
	return true;
}

/* Cauchy's weights by the distances, in units of their median. error: room for n. */
static void
weigh(const double h[9], const double (*board)[2], const double (*pixel)[2], size_t n,
    double *weight, double *error)
{
	double scale;

	for (size_t i = 0; i < n; i++) {
		double uv[2];

		homography_apply(h, board[i], uv);
		weight[i] = error[i] = hypot(uv[0] - pixel[i][0], uv[1] - pixel[i][1]);
	}
	calib_sort(error, n);
	scale = 2 * error[n / 2] + 1e-9;
	for (size_t i = 0; i < n; i++)
		weight[i] = 1 / (1 + weight[i] * weight[i] / (scale * scale));
}

/* T_pixel^-1 h T_board */
static void
denormalise(const double h[9], const struct normalised *board, const struct normalised *pixel,
    double H[9])
{
	double half[9];

	for (size_t r = 0; r < 3; r++) {
		half[3 * r] = h[3 * r] * board->scale;
		half[3 * r + 1] = h[3 * r + 1] * board->scale;
		half[3 * r + 2] = h[3 * r + 2] - half[3 * r] * board->mean[0] -
		    half[3 * r + 1] * board->mean[1];
	}
	for (size_t k = 0; k < 3; k++) {
		H[k] = half[k] / pixel->scale + pixel->mean[0] * half[6 + k];
		H[3 + k] = half[3 + k] / pixel->scale + pixel->mean[1] * half[6 + k];
		H[6 + k] = half[6 + k];
	}
}

/* Board x, y, 1 to pixels, row-major, positive third row in the board's middle; wrong points count
 * little. *error: the median distance, over that of the points from their middle. False where the
 * points lie on a line. */
static bool
closed_form_homography(const struct calib_board *board, const struct calib_point *point, size_t n,
    double H[9], double *error)
{
	static const double flat[2];
	double (*x)[2] = must_alloc(n, sizeof(*x)), (*u)[2] = must_alloc(n, sizeof(*u));
	double *weight = must_alloc(n + 1, 2 * sizeof(*weight)), h[9];
	const double (*of_x)[2] = (const double (*)[2])x, (*of_u)[2] = (const double (*)[2])u;
	struct normalised of_board, of_pixels;
	bool fits = n >= 4;

	for (size_t i = 0; i < n; i++) {
		double X[3];

		calib_board_point(board, flat, point[i].i, point[i].j, X);
		memcpy(x[i], X, sizeof(x[i]));
		u[i][0] = point[i].u;
		u[i][1] = point[i].v;
		weight[i] = 1;
	}
	normalise(of_x, n, &of_board);
	normalise(of_u, n, &of_pixels);
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 2; c++) {
			x[i][c] = (x[i][c] - of_board.mean[c]) * of_board.scale;
			u[i][c] = (u[i][c] - of_pixels.mean[c]) * of_pixels.scale;
		}
	for (size_t round = 0; round < WEIGHT_ROUNDS && fits; round++) {
		fits = fit(of_x, of_u, weight, n, h);
		if (fits)
			weigh(h, of_x, of_u, n, weight, weight + n);
	}
	*error = fits ? weight[n + n / 2] : 0;
	if (fits)
		denormalise(h, &of_board, &of_pixels, H);
	free_all(x, u, weight);
	return fits;
}

/* Does it mirror the board? */
static bool
closed_form_mirrors(const double H[9], const struct calib_board *board)
{
	static const double flat[2];
	double X[3];

	calib_board_point(board, flat, (int)board->w / 2, (int)board->h / 2, X);
	return matrix3_determinant(H) * (H[6] * X[0] + H[7] * X[1] + H[8]) < 0;
}

/* The homography to pixels from the middle, in units of the width; its two columns of length 1. */
static void
centre(const double H[9], size_t w, size_t h, double G[9])
{
	double middle[2] = { ((double)w - 1) / 2, ((double)h - 1) / 2 }, sum = 0;

	for (size_t k = 0; k < 3; k++) {
		G[k] = (H[k] - middle[0] * H[6 + k]) / (double)w;
		G[3 + k] = (H[3 + k] - middle[1] * H[6 + k]) / (double)w;
		G[6 + k] = H[6 + k];
	}
	for (size_t k = 0; k < 9; k++)
		sum += k % 3 < 2 ? G[k] * G[k] : 0;
	for (size_t k = 0; k < 9; k++)
		G[k] /= sqrt(sum);
}

/* fx = fy in core, of a device of w x h pixels with square pixels and the principal point in the
 * middle, from n homographies. False where the views do not tell. */
static bool
closed_form_square(const double (*H)[9], size_t n, size_t w, size_t h, double core[4])
{
	double a = 0, b = 0;

	for (size_t i = 0; i < n; i++) {
		double G[9], p[2], q[2];

		centre(H[i], w, h, G);
		p[0] = G[0] * G[1] + G[3] * G[4];
		q[0] = G[6] * G[7];
		p[1] = G[0] * G[0] + G[3] * G[3] - G[1] * G[1] - G[4] * G[4];
		q[1] = G[6] * G[6] - G[7] * G[7];
		for (size_t k = 0; k < 2; k++) {
			a += p[k] * p[k];
			b -= p[k] * q[k];
		}
	}
	if (!(b / a > 1e-4 && b / a < 1e2))	/* focal lengths of 0.1 to 100 widths */
		return false;
	core[0] = core[1] = sqrt(a / b) * (double)w;
	return true;
}

/* The same of any pixels and principal point: fx fy cx cy. */
static bool
closed_form_free(const double (*H)[9], size_t n, size_t w, size_t h, double core[4])
{
	double A[25] = { 0 }, value[5], vector[25], *B = vector + 4 * 5, lambda;

	for (size_t i = 0; i < n; i++) {
		double G[9];

		centre(H[i], w, h, G);
		for (size_t e = 0; e < 2; e++) {
			/* h1' B h2 = 0; h1' B h1 = h2' B h2. B: 11 22 13 23 33 */
			double row[5] = { G[0] * G[1], G[3] * G[4], G[0] * G[7] + G[6] * G[1],
				G[3] * G[7] + G[6] * G[4], G[6] * G[7] };
			double other[5] = { G[0] * G[0] - G[1] * G[1], G[3] * G[3] - G[4] * G[4],
				2 * (G[0] * G[6] - G[1] * G[7]), 2 * (G[3] * G[6] - G[4] * G[7]),
				G[6] * G[6] - G[7] * G[7] };
			const double *v = e ? other : row;

			for (size_t k = 0; k < 5; k++)
				for (size_t l = 0; l < 5; l++)
					A[5 * k + l] += v[k] * v[l];
		}
	}
	symmetric_eigen(5, A, value, vector);
	for (size_t k = 5; k-- > 0;)
		B[k] = B[0] < 0 ? -B[k] : B[k];
	if (!(B[0] > 0 && B[1] > 0))
		return false;
	lambda = B[4] - B[2] * B[2] / B[0] - B[3] * B[3] / B[1];
	if (!(lambda > 0))
		return false;
	core[0] = sqrt(lambda / B[0]) * (double)w;
	core[1] = sqrt(lambda / B[1]) * (double)w;
	core[2] = -B[2] / B[0] * (double)w + ((double)w - 1) / 2;
	core[3] = -B[3] / B[1] * (double)w + ((double)h - 1) / 2;
	return core[0] > 0.5 * core[1] && core[1] > 0.5 * core[0];
}

/* The board's pose before a device of these. */
static void
closed_form_pose(const double H[9], const double core[4], struct calib_pose *pose)
{
	double column[3][3], length[2], sum = 0, difference = 0, *R = pose->R;

	for (size_t k = 0; k < 3; k++) {
		column[k][2] = H[6 + k];
		column[k][0] = (H[k] - core[2] * H[6 + k]) / core[0];
		column[k][1] = (H[3 + k] - core[3] * H[6 + k]) / core[1];
	}
	for (size_t k = 0; k < 2; k++)
		length[k] = vector3_length(column[k]);
	/* The two unit columns, bent alike until they stand at right angles. */
	for (size_t i = 0; i < 3; i++) {
		double a = column[0][i] / length[0], b = column[1][i] / length[1];

		sum += (a + b) * (a + b);
		difference += (a - b) * (a - b);
		pose->T[i] = 2 * column[2][i] / (length[0] + length[1]);
	}
	for (size_t i = 0; i < 3; i++) {
		double a = column[0][i] / length[0], b = column[1][i] / length[1];
		double c = (a + b) / sqrt(2 * sum), d = (a - b) / sqrt(2 * difference);

		R[3 * i] = c + d;
		R[3 * i + 1] = c - d;
	}
	for (size_t i = 0; i < 3; i++) {
		size_t j = (i + 1) % 3, k = (i + 2) % 3;

		R[3 * i + 2] = R[3 * j] * R[3 * k + 1] - R[3 * k] * R[3 * j + 1];
	}
}

#define MOST_ERROR 0.15	/* of a homography's points, in board sizes; lenses bend lines */

/* The homography of a view. -1 after fail(). */
static int
placing_fit_view(struct start *start, size_t v)
{
	const struct calib_problem *problem = start->problem;
	const struct calib_view *view = &problem->view[v];
	const struct calib_device *device = &problem->device[view->device];
	double error;
	char name[128];

	calib_view_name(problem, view, name, sizeof(name));
	if (!closed_form_homography(&problem->board, problem->point + view->first, view->n,
	    start->H[v], &error))
		return fail(name, "its %zu points lie on a line", view->n);
	if (error > MOST_ERROR)
		return fail(name, "its points do not lie as those of a board of %zux%zu do",
		    problem->board.w, problem->board.h);
	if (closed_form_mirrors(start->H[v], &problem->board))
		return fail(name, device->kind == CALIB_PROJECTOR ?
		    "shows the board mirrored: the phase of x or of y runs the wrong way "
		    "(phasewrap --sign), they are exchanged, or the camera's pictures are "
		    "mirrored" :
		    "shows the board mirrored: from i to j must be a quarter turn to the right in "
		    "the picture, as on the board");
	return 0;
}

/*
 * ---- where devices stand to each other, from the poses of the board that they share ----
 *
 * The corners of a symmetric board are numbered in each picture from a place of its own; with
 * several cameras the numbering is taken that puts the camera at one place in all poses.
 */

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

/* All pairs of views of devices a and b; where `turns`, all numberings of the second. The caller
 * frees the list, NULL after fail(). */
static struct relation *
find_relations(struct start *start, size_t a, size_t b, bool turns, size_t *n)
{
	const struct calib_problem *problem = start->problem;
	int numberings = turns ? problem->board.turns : 1;
	struct relation *list = must_alloc(1, sizeof(*list));

	*n = 0;
	for (size_t v = 0; v < problem->views; v++)
		for (size_t w = 0; w < problem->views; w++) {
			const struct calib_view *from = &problem->view[v], *to = &problem->view[w];

			if (from->device != a || to->device != b || from->pose != to->pose)
				continue;
			list = must_resize(list, *n + (size_t)numberings, sizeof(*list));
			for (int turn = 0; turn < numberings; turn++) {
				struct relation *relation = &list[(*n)++];
				struct calib_pose inverse;

				*relation = (struct relation){ v, w, turn, { { 0 } } };
				calib_pose_invert(&start->seen[v], &inverse);
				calib_pose_compose(&start->seen[w], &inverse, &relation->pose);
				if (turns && turn_view(start, w, 1) < 0) {
					free(list);
					return NULL;
				}
			}
		}
	return list;
}

/* Are two relations of the same views, in other numberings? */
static bool
same_views(const struct relation *p, const struct relation *q)
{
	return p->from == q->from && p->to == q->to;
}

/* How well a relation agrees with all pairs, each in its best numbering. */
static double
disagreement(const struct relation *list, size_t n, const struct relation *one, double length)
{
	double sum = 0;

	for (size_t i = 0; i < n;) {
		double least = INFINITY;
		size_t first = i;

		for (; i < n && same_views(&list[i], &list[first]); i++)
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

/* The best pair's rotation, and with it the median of the translations. */
static void
median_pose(const struct start *start, const struct relation *list, size_t n,
    const struct relation *best, double length, struct calib_pose *out)
{
	double *value = must_alloc(n, sizeof(*value));

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
		calib_sort(value, m);
		out->T[c] = m ? value[m / 2] : best->pose.T[c];
	}
	free(value);
}

/* Numbers the views of b as agrees with where it is. */
static int
renumber_views(struct start *start, const struct relation *list, size_t n,
    const struct relation *best, double length, size_t b)
{
	const struct calib_problem *problem = start->problem;

	for (size_t i = 0; i < n;) {
		size_t first = i, nearest = i;

		for (; i < n && same_views(&list[i], &list[first]); i++)
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

static int
place(struct start *start, size_t a, size_t b)
{
	const struct calib_problem *problem = start->problem;
	double length = 0, views = 0, least, second;
	bool turns = problem->device[b].kind == CALIB_CAMERA && problem->board.turns > 1;
	const struct relation *best;
	struct calib_pose pose;
	struct relation *list;
	size_t n;
	int status = 0;

	for (size_t v = 0; v < problem->views; v++)	/* the board's mean distance */
		if (problem->view[v].device == a) {
			length += start->seen[v].T[2];
			views++;
		}
	length = views > 0 ? length / views : 1;
	list = find_relations(start, a, b, turns, &n);
	if (!list)
		return -1;
	best = best_relation(list, n, length, &least, &second);
	if (turns && second < 1.5 * least + 0.02 * (double)n / problem->board.turns)
		status = fail(problem->device[b].name, "the board is symmetric, and two ways to "
		    "number its corners fit %s equally well: take poses that differ more, or a "
		    "board of an odd and an even side", problem->device[a].name);
	if (status == 0) {
		median_pose(start, list, n, best, length, &pose);
		calib_pose_compose(&pose, &start->device[a], &start->device[b]);
		if (turns)
			status = renumber_views(start, list, n, best, length, b);
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

/* All devices from the first one's frame; views of a symmetric board are numbered anew. Cameras
 * come first: a projector's points are numbered as theirs. -1 after fail(). */
static int
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

/* ---- one device ---- */

#define FEWEST_VIEWS 3

static double
view_error(const struct start *start, const struct calib_view *view, const double core[4])
{
	static const double flat[2];
	const struct calib_problem *problem = start->problem;
	struct calib_pose pose = { 0 };
	double sum = 0;

	closed_form_pose(start->H[view - problem->view], core, &pose);
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
hold_fixed(const double fixed[CALIB_INTRINSICS], double core[4])
{
	for (size_t k = 0; k < 4; k++)
		core[k] = isnan(fixed[k]) ? core[k] : fixed[k];
}

static void
find_core(struct start *start, size_t device)
{
	const struct calib_problem *problem = start->problem;
	const struct calib_device *of = &problem->device[device];
	double (*H)[9] = must_alloc(problem->views, sizeof(*H)), *core = start->core[device];
	double other[4];
	size_t n = 0;

	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			memcpy(H[n++], start->H[v], sizeof(*H));
	if (!closed_form_square((const double (*)[9])H, n, of->w, of->h, core))
		core[0] = core[1] = 1.2 * (double)(of->w > of->h ? of->w : of->h);
	core[2] = ((double)of->w - 1) / 2;
	core[3] = ((double)of->h - 1) / 2;
	hold_fixed(problem->fixed[device], core);
	if (!of->square && closed_form_free((const double (*)[9])H, n, of->w, of->h, other)) {
		hold_fixed(problem->fixed[device], other);
		if (device_error(start, device, other) < device_error(start, device, core))
			memcpy(core, other, sizeof(other));
	}
	free(H);
	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			closed_form_pose(start->H[v], core, &start->seen[v]);
}

static bool
same_points(const struct calib_problem *problem, const struct calib_view *a,
    const struct calib_view *b)
{
	const struct calib_point *p = problem->point + a->first, *q = problem->point + b->first;

	if (a->device != b->device || a->n != b->n)
		return false;
	for (size_t k = 0; k < a->n; k++)
		if (p[k].u != q[k].u || p[k].v != q[k].v || p[k].i != q[k].i || p[k].j != q[k].j)
			return false;
	return true;
}

/* A copy of a pose tells nothing new, and the standard deviations would count it. */
static int
check_copies(const struct calib_problem *problem)
{
	for (size_t v = 0; v < problem->views; v++)
		for (size_t w = 0; w < v; w++) {
			char name[128], other[128];

			if (!same_points(problem, &problem->view[w], &problem->view[v]))
				continue;
			calib_view_name(problem, &problem->view[v], name, sizeof(name));
			calib_view_name(problem, &problem->view[w], other, sizeof(other));
			return fail(name, "has the very points of %s: is a picture there twice?",
			    other);
		}
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
	return check_copies(problem);
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
		calib_pose_invert(&start->device[problem->view[best].device], &pose);
		calib_pose_compose(&pose, &start->seen[best], &pose);
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
	start.H = pool_alloc(&start.pool, problem->views, sizeof(*start.H));
	start.seen = pool_alloc(&start.pool, problem->views, sizeof(*start.seen));
	start.core = pool_alloc(&start.pool, problem->devices, sizeof(*start.core));
	start.device = pool_alloc(&start.pool, problem->devices, sizeof(*start.device));
	start.placed = pool_alloc(&start.pool, problem->devices, sizeof(*start.placed));
	for (size_t v = 0; v < problem->views && status == 0; v++)
		status = placing_fit_view(&start, v);
	for (size_t d = 0; d < problem->devices && status == 0; d++)
		find_core(&start, d);
	if (status == 0)
		status = placing_devices(&start);
	if (status == 0)
		put_parameters(&start, parameter);
	pool_free(&start.pool);
	return status;
}
