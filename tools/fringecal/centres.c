/*
 * The ellipse that a circle is seen as has another centre than the circle's image: perspective
 * shortens its far half, and the lens bends both. Where the board's plane goes to pixels by
 * p(X + r e) = p(X) + J r e + q(e), e on the unit circle, the ellipse that is fitted to the edge
 * has its centre at 2 mean(e (e . (J r)^-1 (p(X + r e) - p(X)) - 1)), in radii on the board. Of a
 * pinhole this is the centre of the conic to the third order in r over the distance.
 */
#include "centres.h"

#include <math.h>

#define EDGE 24		/* points of a circle's edge */
#define STEP 0.01	/* of the radius, for derivatives */

struct circle {
	const struct calib_problem *problem;
	const struct calib_solution *solution;
	const struct calib_pose *board;
	double X[3];		/* its centre on the board */
	double radius;
};

/* The pixel of a device where the point is seen that lies by so many radii from the centre. */
static void
project(const struct circle *c, size_t device, double ex, double ey, double uv[2])
{
	const double *R = c->board->R, *T = c->board->T;
	double X[3] = { c->X[0] + c->radius * ex, c->X[1] + c->radius * ey, c->X[2] }, first[3];

	for (size_t k = 0; k < 3; k++)
		first[k] = R[3 * k] * X[0] + R[3 * k + 1] * X[1] + R[3 * k + 2] * X[2] + T[k];
	calib_project(c->problem, c->solution, device, first, uv, NULL, NULL);
}

/* Its derivatives at the centre, row-major. */
static void
derive(const struct circle *c, size_t device, double J[4])
{
	double low[2], high[2];

	for (size_t k = 0; k < 2; k++) {
		project(c, device, k ? 0 : -STEP, k ? -STEP : 0, low);
		project(c, device, k ? 0 : STEP, k ? STEP : 0, high);
		J[k] = (high[0] - low[0]) / (2 * STEP);
		J[2 + k] = (high[1] - low[1]) / (2 * STEP);
	}
}

/* The point of the board, in radii from the circle's centre, that is seen at its ellipse's. */
static void
find_shift(const struct circle *c, size_t device, double shift[2])
{
	double J[4], middle[2], determinant;

	derive(c, device, J);
	project(c, device, 0, 0, middle);
	determinant = J[0] * J[3] - J[1] * J[2];
	shift[0] = shift[1] = 0;
	for (size_t k = 0; k < EDGE; k++) {
		double angle = 2 * M_PI * (double)k / EDGE, e[2] = { cos(angle), sin(angle) };
		double uv[2], du, dv, beyond;

		project(c, device, e[0], e[1], uv);
		du = uv[0] - middle[0];
		dv = uv[1] - middle[1];
		beyond = (e[0] * (J[3] * du - J[1] * dv) + e[1] * (J[0] * dv - J[2] * du)) /
		    determinant - 1;
		shift[0] += 2.0 / EDGE * beyond * e[0];
		shift[1] += 2.0 / EDGE * beyond * e[1];
	}
}

void
centres_correct(struct calib_problem *problem, const struct calib_solution *solution)
{
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];
		struct circle c = { problem, solution, &solution->board[view->pose], { 0 },
			problem->board.diameter / 2 };

		for (size_t k = view->first; k < view->first + view->n; k++) {
			struct calib_point *point = &problem->point[k];
			double J[4], shift[2], to[2];

			calib_board_point(&problem->board, solution->bend, point->i, point->j, c.X);
			find_shift(&c, view->through, shift);
			derive(&c, view->device, J);
			to[0] = J[0] * shift[0] + J[1] * shift[1];
			to[1] = J[2] * shift[0] + J[3] * shift[1];
			if (!isfinite(to[0]) || !isfinite(to[1]))
				continue;
			point->u += point->shift[0] - to[0];
			point->v += point->shift[1] - to[1];
			point->shift[0] = to[0];
			point->shift[1] = to[1];
		}
	}
}
