/* Calibrates a laser's plane and the stage that moves the object through it, from a board. */
#include <math.h>
#include <stdlib.h>

#include "options.h"
#include "pictures.h"
#include "results.h"
#include "run/stage.h"

struct priv {
	enum mode mode;
	struct laser laser;
	struct views views;
	struct pictures pictures;
	struct stage_history history;
};

/* ---- pictures ---- */

static bool
has(const struct frame_head *head, const char *names)
{
	for (; *names; names++)
		if (head_channel(head, (char[2]){ *names }) == NO_CHANNEL)
			return false;
	return true;
}

/* A view of the board in a picture. */
static int
take_corners(struct run *run, const struct frame *picture)
{
	struct views *views = &((struct priv *)run->priv)->views;
	struct corners corners;
	char name[32];
	int status;

	if (!views->board.w)
		return fail_usage("--board", "is needed with pictures");
	status = pictures_corners(&views->board, picture, &corners);
	if (status < 0) {
		snprintf(name, sizeof(name), "view %zu", views->n);
		fail_prefix(name);
		return -1;
	}
	status = views_add_corners(views, run, &picture->head, &corners);
	corners_free(&corners);
	return status;
}

/* Board and line of a picture; both are seen best with the laser off and on. */
static int
take_picture(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *on, *off = NULL;
	struct line_points points;
	int status = pictures_own(run, in, false, &on);

	if (status < 0)
		return -1;
	status = parameters->off ? pictures_own(run, in, true, &off) : 0;
	if (status == 0)
		status = parameters->corners ?
		    views_add_board(&priv->views, run, in, "corners.") :
		    take_corners(run, off ? off : on);
	if (status == 0)
		status = pictures_line(&priv->pictures, run, on, off, &points);
	if (status == 0)
		status = views_add_found(&priv->views, run, &in->head, &points,
		    parameters->sigma);
	frame_free(on);
	frame_free(off);
	return status;
}

static int
take_line(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct views *views = &((struct priv *)run->priv)->views;

	if (pictures_is_picture(&in->head))
		return take_picture(run, in);
	if (parameters->off)
		return fail_usage("--off", "is for pictures");

	if (has(&in->head, "xyz"))
		return views_add_empty(views) < 0 ? -1 : views_add_points(views, in);
	if (!has(&in->head, "uv"))
		return fail(NULL, "wants pictures, tables with channels u v of the laser's line "
		    "(steger), or x y z");
	if (!parameters->corners)
		return fail_usage("--corners", "is needed with points of the line: the board's "
		    "corners in each picture (boardfind)");
	return views_add_board(views, run, in, "corners.") < 0 ? -1 :
	    views_add_line(views, run, in);
}

/* Travel or turn of a picture. */
static int
take_board(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	bool turns = priv->mode == MODE_AXIS;
	struct stage_pose pose;
	struct view *view;

	bool picture = pictures_is_picture(&in->head);

	if (!picture && !has(&in->head, "uvij"))
		return fail(NULL, "wants pictures of a board, or tables of its corners, with "
		    "channels u v i j (boardfind)");
	if (stage_pose_of(run, &parameters->pose, &in->head, &pose) < 0)
		return -1;
	if (stage_history_add(&priv->history, run, NULL, &in->head, &pose) < 0)
		return -1;
	if (pose.kind == STAGE_POSE_NONE)
		return fail(NULL, "where the stage stood is not known: give --%s, or the key "
		    "stage_%s of each picture", turns ? "angle" : "step", turns ? "deg" : "mm");
	if ((pose.kind == STAGE_POSE_TURN) != turns)
		return fail(NULL, "the stage %s in these pictures: lasercal %s is for that",
		    turns ? "travelled" : "turned", turns ? "direction" : "axis");
	if (picture ? take_corners(run, in) < 0 : views_add_board(&priv->views, run, in, "") < 0)
		return -1;
	view = &priv->views.view[priv->views.n - 1];
	view->stage = turns ? pose.turn_rad : pose.travel;
	return 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct priv *priv = run->priv;
	int status = priv->mode == MODE_PLANE ? take_line(run, in) : take_board(run, in);

	frame_free(in);
	return status;
}

static int
end(struct run *run)
{
	const struct priv *priv = run->priv;
	int status;

	stage_history_end(&priv->history);
	status = results_print(run, run->parameters, priv->mode, &priv->views);

	return status == 0 && (fflush(stdout) != 0 || ferror(stdout)) ?
	    fail_errno("standard output", "cannot write") : status;
}

/* ---- beginning and end ---- */

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "one fit of all pictures" };

static int
find_mode(struct run *run)
{
	struct priv *priv = run->priv;

	for (size_t i = 0; i < LASERCAL_MODES; i++)
		if (run->operands && !strcmp(run->operand[0], lasercal_modes[i])) {
			priv->mode = (enum mode)i;
			run->operand++;
			run->operands--;
			return 0;
		}
	return fail_usage(run->operands ? run->operand[0] : NULL, "lasercal wants plane, direction "
	    "or axis as its first word");
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct views *views = &priv->views;

	run->body = &body;
	run->sink = true;
	run->colour = parameters->channel >= 0 ? (enum colour)(COLOUR_RED + parameters->channel) :
	    COLOUR_GREY;
	priv->pictures.sigma = parameters->sigma;
	views->laser = &priv->laser;
	views->origin = parameters->origin;
	if (find_mode(run) < 0 || options_check(parameters, priv->mode) < 0 ||
	    stage_pose_check(&parameters->pose) < 0)
		return -1;
	if (!parameters->calib)
		return fail_usage("--calib", "is needed: the camera's matrix and lens");
	if (parameters->origin.n && parameters->origin.n != 2)
		return fail_usage("--origin", "must be two numbers, not %zu",
		    parameters->origin.n);
	if (parameters->board && board_parse("--board", parameters->board,
	    (enum board_kind)parameters->kind, &views->board) < 0)
		return -1;
	if (parameters->board && !(views->board.spacing_mm > 0))
		return fail_usage("--board", "wants the points' distance in mm too: %s,MM",
		    parameters->board);
	if (laser_load(parameters->calib, parameters->camera, &priv->laser) < 0)
		return -1;
	if (run->output && !strcmp(run->output, "-"))
		return fail_usage("--output", "standard output has the report: name a file for "
		    "the calibration");
	return run->output ? results_check_loss(run, parameters) : 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	views_free(&priv->views);
	pictures_free(&priv->pictures);
}

STAGE(lasercal) = {
	.name = "lasercal",
	.summary = "calibrate a laser's plane, or the stage before it",
	.operands = "plane|direction|axis [FILE ...]",
	.options = lasercal_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SINK | STAGE_TABLES,
	.agree = AGREE_EXACT,
	.init = init,
	.release = release,
};
