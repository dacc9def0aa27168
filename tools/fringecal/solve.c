/* The joint solve. */
#include "calib_problem.h"

#include <stdlib.h>

#include "base/fail.h"

int
calib_solve(struct calib_problem *problem, struct calib_solution *solution)
{
	(void)problem;
	*solution = (struct calib_solution){ 0 };
	return fail(NULL, "there is no solver yet");
}

void
calib_solution_free(struct calib_solution *solution)
{
	free(solution->intrinsics);
	free(solution->device);
	free(solution->board);
	free(solution->residual);
	free(solution->view_rms);
	free(solution->device_rms);
	free(solution->view_rejected);
	free(solution->device_points);
	free(solution->covariance);
	*solution = (struct calib_solution){ 0 };
}
