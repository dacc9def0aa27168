/* Calibrates a laser's plane and the stage that moves the object through it, from a board. */
#include <math.h>
#include <stdlib.h>

#include "io/safe_file.h"
#include "optics/number_edit.h"
#include "optics/number_file.h"
#include "report.h"
#include "run/stage.h"

enum mode { MODE_PLANE, MODE_DIRECTION, MODE_AXIS };

static const char *const modes[] = { "plane", "direction", "axis" };
#define MODES (sizeof(modes) / sizeof(modes[0]))

/* What a calibration of ours may have, and must not lose without a word. */
static const char *const entries[] = { "laser_plane", "scan_direction", "axis_point_mm",
	"axis_direction" };
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

/* The board itself: a length of the direction that is off by more is a mistake. */
#define SCALE_WARN 0.01
#define SCALE_FAIL 0.1
#define TURN_WARN_DEG 0.5
#define SINGULAR_LEAST 0.01
#define SINGULAR_WARN 0.1
#define DEGREES 57.29577951308232

struct parameters {
	const char *calib, *camera, *board, *corners;
	int kind;
	struct numbers origin;
	struct stage_pose_options pose;
	double limit;
	bool plain;
};

struct priv {
	enum mode mode;
	struct laser laser;
	struct views views;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "the camera's matrix and lens; -o writes what was found beside them", NULL },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "devices.NAME of a calibration of several", NULL },
	{ 0, "board", "WxH,MM", OPT_TEXT, AT(board), NULL, 0, 0, NULL,
	  "points along both sides and their distance; else the corners' keys say it", NULL },
	{ 0, "kind", "WORD", OPT_WORD, AT(kind), "chess", 0, 0, NULL, "of --board", board_kinds },
	{ 0, "corners", "FILE", OPT_STREAM, AT(corners), NULL, 0, 0, NULL,
	  "plane: the tables of boardfind, one for each table of the line's points", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "first pixel of a foreign crop on the calibrated sensor", NULL },
	{ 0, "step", "MM", OPT_NUMBER, AT(pose.step), NULL, -1e6, 1e6, "mm",
	  "direction: travel from picture to picture", NULL },
	{ 0, "angle", "DEG", OPT_ANGLE, AT(pose.angle), NULL, -360, 360, NULL,
	  "axis: turn from picture to picture", NULL },
	{ 0, "pose-from", "KEY", OPT_TEXT, AT(pose.key), NULL, 0, 0, NULL,
	  "where the stage stood: NAME_mm or NAME_deg [stage_mm or stage_deg]", NULL },
	{ 0, "limit", "MM", OPT_NUMBER, AT(limit), NULL, 1e-9, 1e9, "mm",
	  "plane: points farther off do not count; 5 MAD if not given", NULL },
	{ 0, "plain", NULL, OPT_FLAG, AT(plain), NULL, 0, 0, NULL,
	  "plane: all points count; direction: the mean of differences", NULL },
	{ 0 },
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

static int
take_line(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct views *views = &((struct priv *)run->priv)->views;

	if (has(&in->head, "xyz"))
		return views_add_empty(views) < 0 ? -1 : views_add_points(views, in);
	if (!has(&in->head, "uv"))
		return fail(NULL, "wants tables with channels u v of the laser's line (steger), or "
		    "x y z");
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

	if (!has(&in->head, "uvij"))
		return fail(NULL, "wants tables of a board's corners, with channels u v i j "
		    "(boardfind)");
	if (stage_pose_of(run, &parameters->pose, &in->head, &pose) < 0)
		return -1;
	if (pose.kind == STAGE_POSE_NONE)
		return fail(NULL, "where the stage stood is not known: give --%s, or the key "
		    "stage_%s of each picture", turns ? "angle" : "step", turns ? "deg" : "mm");
	if ((pose.kind == STAGE_POSE_TURN) != turns)
		return fail(NULL, "the stage %s in these pictures: lasercal %s is for that",
		    turns ? "travelled" : "turned", turns ? "direction" : "axis");
	if (views_add_board(&priv->views, run, in, "") < 0)
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

/* ---- results ---- */

/* A file at -o that has entries which the new one would not have. */
static int
check_loss(const struct parameters *parameters, const struct run *run)
{
	struct number_file old, base;
	int status = 0;

	if (run->force || safe_file_same(run->output, parameters->calib) ||
	    number_file_load(run->output, &old) < 0) {
		fail_clear();
		return 0;
	}
	if (number_file_load(parameters->calib, &base) < 0)
		status = -1;
	for (size_t i = 0; i < ENTRIES && status == 0; i++)
		if (number_file_find(&old, entries[i]) && !number_file_find(&base, entries[i]))
			status = fail(run->output, "has %s already, which --calib %s has not: give "
			    "--calib %s to keep it, or -f", entries[i], parameters->calib,
			    run->output);
	number_file_free(&base);
	number_file_free(&old);
	return status;
}

static int
save(const struct run *run, const struct number_edit *edit, size_t edits)
{
	const struct parameters *parameters = run->parameters;

	return run->output ? number_edit_file(parameters->calib, run->output, edit, edits) : 0;
}

static int
check_plane(const struct views *views, const struct plane_fit *fit)
{
	double across = fit->singular[1] / fit->singular[0];
	double thick = fit->singular[2] / fit->singular[1];

	if (!(across >= SINGULAR_LEAST))
		return fail(NULL, "all points are nearly on one line (singular values %.2g to 1): "
		    "move or tilt the board", across);
	if (thick > SINGULAR_WARN)
		warn(NULL, "the points are as thick as %.2g of their breadth: move or tilt the "
		    "board more", thick);
	for (size_t i = 0; i < views->n; i++)
		if (views->view[i].used == 0)
			warn(NULL, "view %zu has no point of the laser's line on the board (%zu "
			    "seen)", i, views->view[i].seen);
	return 0;
}

static int
finish_plane(const struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct views *views = &((const struct priv *)run->priv)->views;
	enum plane_method method = parameters->plain ? PLANE_PLAIN :
	    isnan(parameters->limit) ? PLANE_ROBUST : PLANE_WITHIN;
	struct plane_fit fit;
	size_t used = 0;

	for (size_t i = 0; i < views->n; i++)
		used += views->view[i].used > 0;
	if (views->points == 0)
		return fail(NULL, "no point of the laser's line on the board in %zu pictures",
		    views->n);
	if (used < 2 && views->view[0].has_board)
		return fail(NULL, "one view with the laser's line: it is a line, and no plane; "
		    "move or tilt the board");
	if (plane_fit(views->point, views->points, views->n, method, parameters->limit,
	    &fit) < 0)
		return -1;
	if (check_plane(views, &fit) < 0)
		return -1;
	report_plane(stdout, views, &fit);
	return save(run, &(struct number_edit){ "laser_plane", fit.plane, 4 }, 1);
}

/* How far from 1, the ratio of what the boards did to what the stage did. */
static int
check_scale(double scale, const char *what)
{
	if (!(fabs(scale - 1) <= SCALE_FAIL))
		return fail(NULL, "the boards %s %.4g times as far as the stage: the step, the "
		    "board or the calibration is another one", what, scale);
	if (fabs(scale - 1) > SCALE_WARN)
		warn(NULL, "the boards %s %.4g times as far as the stage", what, scale);
	return 0;
}

static int
finish_direction(const struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct views *views = &((const struct priv *)run->priv)->views;
	struct direction_fit fit;
	const double *d = fit.direction;
	double *off = calloc(3 * views->n + 1, sizeof(*off));
	int status;

	if (!off)
		return fail_memory();
	status = direction_fit(views, parameters->plain, &fit, off);
	if (status == 0)
		status = check_scale(sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), "moved");
	if (status == 0 && fit.turn_rad * DEGREES > TURN_WARN_DEG)
		warn(NULL, "the board turned by %.2g degrees along the travel",
		    fit.turn_rad * DEGREES);
	if (status == 0) {
		report_direction(stdout, views, &fit, off);
		status = save(run, &(struct number_edit){ "scan_direction", d, 3 }, 1);
	}
	free(off);
	return status;
}

static int
finish_axis(const struct run *run)
{
	const struct views *views = &((const struct priv *)run->priv)->views;
	struct axis_fit fit;

	if (axis_fit(views, &fit) < 0 || check_scale(fit.gain, "turned") < 0)
		return -1;
	if (fit.rms_px > 2 * fit.alone_px && fit.rms_px > 0.1)
		warn(NULL, "corners are %.3g px rms from a stage that turns about one axis, %.3g "
		    "from boards of their own: the angles are inexact, or the board moved on it",
		    fit.rms_px, fit.alone_px);
	report_axis(stdout, views, &fit);
	return save(run, (struct number_edit[2]){ { "axis_point_mm", fit.point, 3 },
	    { "axis_direction", fit.direction, 3 } }, 2);
}

static int
end(struct run *run)
{
	const struct priv *priv = run->priv;
	int status = priv->mode == MODE_PLANE ? finish_plane(run) :
	    priv->mode == MODE_DIRECTION ? finish_direction(run) : finish_axis(run);

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

	for (size_t i = 0; i < MODES; i++)
		if (run->operands && !strcmp(run->operand[0], modes[i])) {
			priv->mode = (enum mode)i;
			run->operand++;
			run->operands--;
			return 0;
		}
	return fail_usage(run->operands ? run->operand[0] : NULL, "lasercal wants plane, direction "
	    "or axis as its first word");
}

/* Options that another mode has. */
static int
check_mode(const struct parameters *parameters, enum mode mode)
{
	bool given[] = { parameters->corners, !isnan(parameters->limit),
		!isnan(parameters->pose.step), !isnan(parameters->pose.angle),
		parameters->pose.key, parameters->plain };
	static const char *const name[] = { "--corners", "--limit", "--step", "--angle",
		"--pose-from", "--plain" };
	static const char *const of[MODES] = { "yynnny", "nnynyy", "nnnyyn" };

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i] && of[mode][i] == 'n')
			return fail_usage(name[i], "has no meaning for lasercal %s", modes[mode]);
	return parameters->plain && !isnan(parameters->limit) ?
	    fail_usage("--limit", "and --plain contradict each other") : 0;
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct views *views = &priv->views;

	run->body = &body;
	run->sink = true;
	views->laser = &priv->laser;
	views->origin = parameters->origin;
	if (find_mode(run) < 0 || check_mode(parameters, priv->mode) < 0 ||
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
	return run->output ? check_loss(parameters, run) : 0;
}

static void
release(struct run *run)
{
	views_free(&((struct priv *)run->priv)->views);
}

STAGE(lasercal) = {
	.name = "lasercal",
	.summary = "calibrate a laser's plane, or the stage before it",
	.operands = "plane|direction|axis [FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SINK | STAGE_TABLES,
	.agree = AGREE_EXACT,
	.init = init,
	.release = release,
};
