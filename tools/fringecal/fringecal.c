/* Calibrates cameras and projectors from the corners of a board in many poses. */
#include "run/stage.h"

#include "calib_problem.h"
#include "folder.h"
#include "models.h"
#include "options.h"
#include "points_input.h"
#include "report.h"
#include "write.h"

#define MOST_LOST 0.2	/* share of a device's points; beyond it a line doubts the result */
#define MOST_SCATTER 5	/* rms residual over sigma */
#define MOST_RMS 2	/* px; beyond it the result is written with -f only */
#define LEAST_MM 0.2	/* of a board in mm; what is below is in metres, more often than not */

struct priv {
	struct calib_problem problem;
	struct calib_solution solution;
	struct points_input input;
	size_t frame;
};

/* ---- what came of it ---- */

/* A device that loses so many that those left need not be the right ones. */
static void
warn_device(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t device)
{
	size_t points = 0, left = 0;

	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device) {
			points += problem->view[v].n;
			left += solution->view_used[v];
		}
	if ((double)left < (1 - MOST_LOST) * (double)points)
		warn(problem->device[device].name, "%zu of its %zu points contradict the others: "
		    "do not trust the result; --report says which views are doubtful",
		    points - left, points);
}

/* Points that scatter far more than they should: noise is not what is wrong with them. */
static void
warn_scatter(const struct calib_problem *problem, const struct calib_solution *solution)
{
	for (size_t d = 0; d < problem->devices && !problem->equal_weights; d++)
		if (!problem->device[d].sigma_unknown && solution->device_scale[d] > MOST_SCATTER)
			warn(problem->device[d].name, "its points lie %.0f times farther from "
			    "where they belong than their sigma says, %.2g px rms: a board that is "
			    "bent (--warp) or badly printed, another lens than --model, or wrong "
			    "points",
			    solution->device_scale[d], solution->device_rms[d]);
}

/* Views that lose more than a tenth of their points. */
static void
warn_rejected(const struct calib_problem *problem, const struct calib_solution *solution)
{
	size_t views = 0, worst = 0;
	double most = 0;
	char name[128];

	for (size_t v = 0; v < problem->views; v++) {
		double share = 1 - (double)solution->view_used[v] / (double)problem->view[v].n;

		views += share > 0.1;
		if (share > most) {
			most = share;
			worst = v;
		}
	}
	if (!views)
		return;
	for (size_t d = 0; d < problem->devices; d++)
		warn_device(problem, solution, d);
	calib_view_name(problem, &problem->view[worst], name, sizeof(name));
	warn(NULL, "%zu of %zu views lose more than a tenth of their points, which lie farther "
	    "than %g sigma from where they belong: %s the most, %zu of %zu", views, problem->views,
	    problem->reject, name, problem->view[worst].n - solution->view_used[worst],
	    problem->view[worst].n);
}

/* A board that is named larger than it is; where its first corner is taken to be may differ from
 * pose to pose. */
static void
warn_board(const struct calib_problem *problem)
{
	int most[2] = { 0, 0 };

	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_point *p = problem->point + problem->view[v].first;
		int low[2] = { p->i, p->j }, high[2] = { p->i, p->j };

		for (size_t k = 1; k < problem->view[v].n; k++) {
			low[0] = p[k].i < low[0] ? p[k].i : low[0];
			low[1] = p[k].j < low[1] ? p[k].j : low[1];
			high[0] = p[k].i > high[0] ? p[k].i : high[0];
			high[1] = p[k].j > high[1] ? p[k].j : high[1];
		}
		for (size_t a = 0; a < 2; a++)
			if (high[a] - low[a] >= most[a])
				most[a] = high[a] - low[a] + 1;
	}
	if ((size_t)most[0] < problem->board.w || (size_t)most[1] < problem->board.h)
		warn("--board", "has %zux%zu corners, and no pose shows more than %dx%d of them: "
		    "is the size right?", problem->board.w, problem->board.h, most[0], most[1]);
}

static int
write_report(const struct parameters *p, const struct priv *priv)
{
	const char *const *names = (const char *const *)priv->input.captures.pose_name;

	return p->report ? report_write(p->report, &priv->problem, &priv->solution,
	    &priv->input.views, names) :
	    report_warn(&priv->problem, &priv->solution, names);
}

static int
start(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct calib_problem *problem = &priv->problem;
	struct calib_solution *solution = &priv->solution;
	bool bad;

	if (points_input_read(&priv->input, run, p, problem) < 0 || options_fix(p, problem) < 0 ||
	    options_diameter(p, &problem->board) < 0 ||
	    (p->models && models_check(problem) < 0) || calib_solve(problem, solution) < 0)
		return -1;
	bad = !(solution->rms <= MOST_RMS);
	warn_rejected(problem, solution);
	if (!bad)
		warn_scatter(problem, solution);
	warn_board(problem);
	if (problem->board.kind != BOARD_CHESS && !(problem->board.diameter > 0))
		warn("--diameter", "is not given: the circles are taken for points, and the "
		    "centres of their ellipses for theirs, off by some hundredths of a pixel");
	if (!strcmp(problem->board.unit, "mm") && problem->board.spacing < LEAST_MM)
		warn("--board", "has its points %g mm from each other: are these metres? Lengths "
		    "are mm", problem->board.spacing);
	if (!strcmp(problem->board.unit, "board"))
		warn("--board", "has no spacing: lengths are in spacings of the board, not in mm");
	/* Folders first: where one cannot be made, no file is left behind. */
	if (((!bad || run->force) && p->models && folder_make(p->models) < 0) ||
	    (p->report && folder_make(p->report) < 0))
		return -1;
	if ((!bad || run->force) && run->output &&
	    write_json(problem, solution, priv->frame, run->output) < 0)
		return -1;
	if ((!bad || run->force) && p->models &&
	    models_write(p->models, problem, solution, priv->frame) < 0)
		return -1;
	write_text(problem, solution, stdout);
	if (write_report(p, priv) < 0)
		return -1;
	return bad ? fail(NULL, "the rms is %.3g px, more than %d: wrong corners, or the wrong "
	    "--board%s", solution->rms, MOST_RMS, run->force || !run->output ? "" :
	    " (-f writes the file all the same)") : 0;
}

static const struct body body = { .start = start };

static int
init(struct run *run)
{
	struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (points_input_check(&priv->input, run, p) < 0 ||
	    (run->output && write_check(run->output) < 0) ||
	    (p->models && folder_check("--models", p->models, run->force, false) < 0) ||
	    (p->report && folder_check("--report", p->report, run->force, p->models) < 0))
		return -1;
	return options_apply(p, &priv->problem, &priv->frame);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	points_input_free(&priv->input);
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
