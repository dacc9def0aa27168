/* Calibrates cameras and projectors from the corners of a board in many poses. */
#include "run/stage.h"

#include "calib_problem.h"
#include "options.h"

struct priv {
	struct calib_problem problem;
	struct calib_solution solution;
};

static int
start(struct run *run)
{
	struct priv *priv = run->priv;

	return calib_solve(&priv->problem, &priv->solution);
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	calib_problem_free(&priv->problem);
	calib_solution_free(&priv->solution);
}

STAGE(fringecal) = {
	.name = "fringecal",
	.summary = "calibrate cameras and projectors from the corners of a board in many poses",
	.operands = "[FILE ...]",
	.options = fringecal_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE | STAGE_SINK | STAGE_OPERANDS | STAGE_TABLES,
	.agree = AGREE_EXACT,
	.init = init,
	.release = release,
};
