#include "unlikely.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "optics/device_check.h"

#define SQUARE 0.02		/* fx over fy, from 1, or from 1/2 and 2 of diagonal rows */
#define SURE 10.0		/* standard deviations */
#define LEAST_SPACING_MM 0.8	/* finer boards are made for rigs as small */

static bool
is_near(double ratio, double to)
{
	return fabs(ratio / to - 1) < SQUARE;
}

static void
warn_pixels(const struct calib_problem *problem, const struct calib_solution *solution)
{
	for (size_t d = 0; d < problem->devices; d++) {
		const double *f = solution->intrinsics[d], *C = solution->covariance;
		size_t at = calib_parameter_intrinsics(problem, d), p = solution->parameters;
		double ratio = f[0] / f[1], variance;

		if (!C || is_near(ratio, 1) || is_near(ratio, 2) || is_near(ratio, 0.5))
			continue;
		variance = C[at * p + at] + C[(at + 1) * p + at + 1] - 2 * C[at * p + at + 1];
		if (fabs(f[0] - f[1]) > SURE * sqrt(fmax(variance, 0)))
			warn(problem->device[d].name, "fx is %.4g times fy, and pixels are square: "
			    "%s, or is the board's spacing another one along its other side?",
			    ratio, problem->device[d].kind == CALIB_PROJECTOR ?
			    "is the period of one axis wrong, or does the projector scale its "
			    "picture" : "are its pictures scaled along one side");
	}
}

static double
apart_of(const struct calib_pose *pose)
{
	return sqrt(pose->T[0] * pose->T[0] + pose->T[1] * pose->T[1] + pose->T[2] * pose->T[2]);
}

static void
warn_unit(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct diagnosis *diagnosis)
{
	double apart = 0, nearest = INFINITY, farthest = 0;
	size_t n = 0, near = 0;

	for (size_t d = 1; d < problem->devices; d++)
		apart = fmax(apart, apart_of(&solution->device[d]));
	for (size_t i = 0; i < diagnosis->views; i++) {
		double distance = diagnosis->view[i].distance;

		if (!diagnosis->view[i].points)
			continue;
		n++;
		near += distance < SMALL_RANGE_MM;
		nearest = fmin(nearest, distance);
		farthest = fmax(farthest, distance);
	}
	if (problem->devices > 1 && !strcmp(problem->board.unit, "mm") &&
	    problem->board.spacing > LEAST_SPACING_MM && apart < SMALL_RIG_MM && 2 * near > n)
		warn("--board", "has its points %g mm from each other, which puts the devices "
		    "%.3g mm apart and the board %.3g to %.3g mm away: is that cm, or no length at "
		    "all? Lengths are mm", problem->board.spacing, apart, nearest, farthest);
}

void
unlikely_warn(const struct calib_problem *problem, const struct calib_solution *solution,
    const struct diagnosis *diagnosis)
{
	warn_pixels(problem, solution);
	warn_unit(problem, solution, diagnosis);
}
