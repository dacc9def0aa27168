#include "board_shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/symmetric.h"

#define SURE 5			/* standard deviations of the ratio of variances */
#define SHARE 0.1		/* of the squares of residuals, that is worth a word */
/* A projector's points are measured at the corners that the camera found and repeat their errors
 * within a pose, so that noise alone makes a ratio of up to that. */
#define NOISE_RATIO 2
#define PIVOT_LEAST 1e-9

/* Normal equations of one corner's offset, by all its residuals. */
struct offset {
	double A[9], b[3];
};

/* du, dv by X, Y, Z of the board's frame. */
static void
by_board(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct calib_view *view, const struct calib_point *point, double J[6])
{
	const struct calib_pose *pose = &solution->board[view->pose];
	double B[3], X[3], uv[2], D[6];

	calib_board_point(&problem->board, solution->bend, point->i, point->j, B);
	for (size_t k = 0; k < 3; k++)
		X[k] = pose->R[3 * k] * B[0] + pose->R[3 * k + 1] * B[1] +
		    pose->R[3 * k + 2] * B[2] + pose->T[k];
	calib_project(problem, solution, view->device, X, uv, D, NULL);
	for (size_t r = 0; r < 2; r++)
		for (size_t k = 0; k < 3; k++)
			J[3 * r + k] = D[3 * r] * pose->R[k] + D[3 * r + 1] * pose->R[3 + k] +
			    D[3 * r + 2] * pose->R[6 + k];
}

struct sums {
	double chi, square;	/* residuals over sigma, and in px */
	size_t n;		/* coordinates */
};

static void
add_view(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct calib_view *view, struct offset *corner, struct sums *sums)
{
	for (size_t i = view->first; i < view->first + view->n; i++) {
		const struct calib_point *point = &problem->point[i];
		const struct calib_residual *residual = &solution->residual[i];
		struct offset *of = &corner[(size_t)point->j * problem->board.w + (size_t)point->i];
		double J[6], left[2] = { residual->u, residual->v };

		if (residual->rejected)
			continue;
		by_board(problem, solution, view, point, J);
		for (size_t r = 0; r < 2; r++) {
			double weight = problem->equal_weights ? 1 :
			    1 / (point->sigma[r] * point->sigma[r]);

			for (size_t k = 0; k < 3; k++) {
				of->b[k] += weight * J[3 * r + k] * left[r];
				for (size_t l = 0; l < 3; l++)
					of->A[3 * k + l] += weight * J[3 * r + k] * J[3 * r + l];
			}
			sums->chi += weight * left[r] * left[r];
			sums->square += left[r] * left[r];
			sums->n++;
		}
	}
}

int
board_shape_find(const struct calib_problem *problem, const struct calib_solution *solution,
    struct board_shape *shape)
{
	size_t corners = problem->board.w * problem->board.h, solved = 0;
	struct offset *corner = calloc(corners + 1, sizeof(*corner));
	double explained = 0, squares = 0, inverse = 0, noise, ratio, of, left;
	struct sums sums = { 0 };

	*shape = (struct board_shape){ 0 };
	if (!corner)
		return fail_memory();
	for (size_t v = 0; v < problem->views; v++)
		add_view(problem, solution, &problem->view[v], corner, &sums);
	for (size_t c = 0; c < corners; c++) {
		double x[3] = { corner[c].b[0], corner[c].b[1], corner[c].b[2] };
		double unit[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

		if (!symmetric_factor(3, corner[c].A, PIVOT_LEAST))
			continue;
		symmetric_solve(3, corner[c].A, x, 1);
		symmetric_solve(3, corner[c].A, unit[0], 3);
		for (size_t k = 0; k < 3; k++)
			explained += x[k] * corner[c].b[k];
		squares += (x[0] * x[0] + x[1] * x[1]) / 2;
		inverse += (unit[0][0] + unit[1][1]) / 2;
		solved++;
	}
	free(corner);
	of = 3 * (double)solved;
	left = (double)sums.n - of - (double)solution->parameters - 6 * (double)problem->poses;
	if (solved == 0 || left < of)
		return 0;
	noise = fmax(0, sums.chi - explained) / left;
	ratio = noise > 0 ? explained / of / noise : 0;
	shape->all_px = sqrt(sums.square / (double)sums.n);
	shape->px = shape->all_px * sqrt(fmax(0, explained - of * noise) / sums.chi);
	shape->offset = sqrt(fmax(0, squares - noise * inverse) / (double)solved);
	shape->repeats = ratio > NOISE_RATIO * (1 + SURE * sqrt(2 / of + 2 / left)) &&
	    shape->px * shape->px > SHARE * shape->all_px * shape->all_px;
	return 0;
}
