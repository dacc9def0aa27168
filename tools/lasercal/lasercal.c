/*
 * Calibrates a laser's plane, and the stage that moves the object through it, from a board:
 * options, pictures and tables, results. views.c finds boards and lines, fits.c fits plane,
 * direction and axis, lasercal_rows.c has the loops over corners and points.
 */
#include "lasercal.h"

#include <stdio.h>

#include "image/statistics.h"
#include "io/safe_file.h"

enum mode { MODE_PLANE, MODE_DIRECTION, MODE_AXIS, LASERCAL_MODES };

struct parameters {
	const char *calib, *camera, *board, *corners, *off;
	int kind, channel;
	double sigma;
	struct numbers origin;
	struct stage_pose_options pose;
	double limit;
	bool plain;
};

static const char *const lasercal_modes[LASERCAL_MODES] = { "plane", "direction", "axis" };

static const char *const channels[] = { "red", "green", "blue", NULL };

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
	{ 0, "off", "FILE", OPT_STREAM, AT(off), NULL, 0, 0, NULL,
	  "plane: a folder or stream of pictures with the laser off, one for each", NULL },
	{ 0, "sigma", "PX", OPT_NUMBER, AT(sigma), "2", DERIVATIVES_SIGMA_LEAST, 64, "px",
	  "plane: smoothing that the line is found with, as steger --sigma", NULL },
	{ 0, "channel", "WORD", OPT_WORD, AT(channel), NULL, 0, 0, NULL,
	  "of colour pictures; the best if not given", channels },
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
	FLAG_ROW(0, "plain", plain, "plane: all points count; direction: the mean of differences"),
	{ 0 },
};

/* ---- reports ---- */

static void
print_numbers(FILE *out, const char *name, const double *v, size_t n)
{
	fprintf(out, "%-15s", name);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %.9g", v[i]);
	fputc('\n', out);
}

/* The line of a view: its points, those that count and their rms, the median distance from the
 * plane, and how points scatter about it, by the median of differences along the line. */
struct view_line {
	size_t points, used;
	double rms, median, scatter;
};

static struct view_line
view_line(const struct views *views, const struct plane_fit *fit, size_t view)
{
	const struct plane_points *line = &views->line[views->channel];
	double *v = must_alloc(2 * line->n, sizeof(*v)), *step = v + line->n, squares = 0;
	struct view_line of = { 0 };

	for (size_t i = 0; i < line->n; i++) {
		double off = plane_distance(fit->plane, line->v[i].X);

		if (line->v[i].view != view)
			continue;
		v[of.points++] = off;
		squares += fabs(off) < fit->limit ? off * off : 0;
		of.used += fabs(off) < fit->limit;
	}
	of.rms = sqrt(squares / (double)of.used);
	for (size_t i = 0; i + 1 < of.points; i++)
		step[i] = fabs(v[i + 1] - v[i]);
	if (of.points > 1) {
		of.median = statistics_quantile(v, of.points, 0.5);
		of.scatter = 1.4826 / sqrt(2) * statistics_quantile(step, of.points - 1, 0.5);
	}
	free(v);
	return of;
}

/* The fit of one channel; used 0: there is none. */
struct channel_fit {
	struct plane_fit fit;
	size_t views;			/* with points that count */
};

/* Of pictures in colour: the channel that was chosen, and what the others give. */
static void
report_channels(FILE *out, const struct views *views, const struct channel_fit *channel)
{
	const char *before = ";";

	if (!views->colour)
		return;
	fprintf(out, "channel         %s", channels[views->channel]);
	for (size_t c = 0; c < LASER_CHANNELS; c++) {
		const struct plane_fit *fit = &channel[c].fit;

		if (c == views->channel)
			continue;
		if (fit->used)
			fprintf(out, "%s %s %.4g %s of %zu points", before, channels[c], fit->rms,
			    views->laser->unit, fit->used);
		else
			fprintf(out, "%s %s no plane", before, channels[c]);
		before = ",";
	}
	fputc('\n', out);
}

static void
report_plane(FILE *out, const struct views *views, const struct plane_fit *fit,
    const struct channel_fit *channel)
{
	const char *unit = views->laser->unit;
	double nearest, farthest;

	print_numbers(out, "laser_plane", fit->plane, 4);
	fprintf(out, "rms             %.4g %s of %zu points, %zu left out\n", fit->rms, unit,
	    fit->used, views->line[views->channel].n - fit->used);
	report_channels(out, views, channel);
	fprintf(out, "singular        %.3g smallest/middle, %.3g middle/largest\n",
	    fit->singular[2] / fit->singular[1], fit->singular[1] / fit->singular[0]);
	if (!isnan(fit->sd_rad))
		fprintf(out, "sd              %.2g degrees, %.2g %s (one view left out after the "
		    "other)\n", fit->sd_rad * DEGREES, fit->sd_mm, unit);
	if (views_depths(views, &nearest, &farthest))
		fprintf(out, "boards          %.4g to %.4g %s before the camera\n", nearest,
		    farthest, unit);
	fprintf(out, "\n%-6s %8s %8s %8s %10s %10s\n", "view", "seen", "on_board", "used", "rms",
	    "board_px");
	for (size_t i = 0; i < views->n; i++) {
		const struct view *view = &views->view[i];
		struct view_line of = view_line(views, fit, i);

		fprintf(out, "%-6zu %8zu %8zu %8zu ", i, view->seen[views->channel],
		    view->used[views->channel], of.used);
		if (of.used)
			fprintf(out, "%10.4g ", of.rms);
		else
			fprintf(out, "%10s ", "-");
		if (view->has_board)
			fprintf(out, "%10.3g\n", view->board.rms_px);
		else
			fprintf(out, "%10s\n", "-");
	}
}

/* off: of each board's middle from the line, 3 numbers per view. */
static void
report_direction(FILE *out, const struct views *views, const struct direction_fit *fit,
    const double *off)
{
	const double *d = fit->direction;

	print_numbers(out, "scan_direction", d, 3);
	fprintf(out, "length          %.6f of 1\n", vector3_length(d));
	if (!isnan(fit->sd[0]))
		fprintf(out, "sd              %.2g %.2g %.2g\n", fit->sd[0], fit->sd[1],
		    fit->sd[2]);
	fprintf(out, "rms             %.3g %.3g %.3g %s of the board's middle from the line\n",
	    fit->rms[0], fit->rms[1], fit->rms[2], views->laser->unit);
	fprintf(out, "turn            %.2g degrees from first to last\n",
	    fit->turn_rad * DEGREES);
	fprintf(out, "\n%-6s %10s %10s %10s %10s %10s\n", "view", "travel", "off_x", "off_y",
	    "off_z", "board_px");
	for (size_t i = 0; i < views->n; i++)
		fprintf(out, "%-6zu %10.6g %10.3g %10.3g %10.3g %10.3g\n", i,
		    views->view[i].stage, off[3 * i], off[3 * i + 1], off[3 * i + 2],
		    views->view[i].board.rms_px);
}

static void
report_axis(FILE *out, const struct views *views, const struct axis_fit *fit)
{
	print_numbers(out, "axis_point_mm", fit->point, 3);
	print_numbers(out, "axis_direction", fit->direction, 3);
	fprintf(out, "rms             %.3g px of the corners, %.3g of each board alone\n",
	    fit->rms_px, fit->alone_px);
	fprintf(out, "turns           %.5f of the stage's, %.2g degrees rms\n", fit->gain,
	    fit->angle_rms_rad * DEGREES);
	fprintf(out, "radius          %.5g %s of the board's middle\n", fit->radius_mm,
	    views->laser->unit);
	fprintf(out, "\n%-6s %10s %10s\n", "view", "degrees", "board_px");
	for (size_t i = 0; i < views->n; i++)
		fprintf(out, "%-6zu %10.6g %10.3g\n", i, views->view[i].stage * DEGREES,
		    views->view[i].board.rms_px);
}

/* ---- results: checks, and the calibration of -o ---- */

/* Entries that lasercal writes, and that a calibration must not lose. */
static const char *const entries[] = { "laser_plane", "scan_direction", "axis_point_mm",
	"axis_direction" };
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

#define BOARD_WARN_PX 0.4	/* rms of corners */
#define SCALE_WARN 0.01		/* the boards' movement over the stage's, less 1 */
#define SCALE_FAIL 0.1
#define TURN_WARN_DEG 0.5	/* of the board along the travel */
#define MIN_BREADTH 0.01	/* of the points' length: less is a line */
#define THICKNESS_WARN 0.1	/* of the points' breadth: more is no plane */
#define MAX_THICKNESS 0.3
#define SD_WARN_DEG 0.3		/* of the plane's tilt */
#define MIN_VIEW_POINTS 20	/* of a view that is compared with the others */
#define USED_LEAST 0.5		/* of a view's points: fewer are reported */
#define VIEW_NOISES 3		/* a view is farther off the plane than so many scatters */
#define STOP_WARN 0.25		/* of a step: a stop that is as far off the line of all, */
#define STOP_TIMES 5		/* and so many times as far as the usual one */
#define MIN_STOPS 5		/* fewer do not show which one is off */

/* Fails where the file of -o has entries that the new one would not have. */
static int
check_loss(const struct run *run, const struct parameters *parameters)
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
save(const struct run *run, const struct parameters *parameters, const struct number_edit *edit,
    size_t edits)
{
	return run->output ? number_edit_file(parameters->calib, run->output, edit, edits) : 0;
}

/*
 * Warns where views lie on planes of their own: of a view hardly any point counts, or the points of
 * all are thick because views differ, and not because their lines are noisy. No tilt of the board
 * mends that. True after a warning.
 */
static bool
views_disagree(const struct views *views, const struct plane_fit *fit, bool thick)
{
	double squares = 0, noise = 0, least = USED_LEAST, rms;
	size_t n = 0, low = views->n;
	struct view_line worst = { 0 };

	for (size_t i = 0; i < views->n; i++) {
		struct view_line of = view_line(views, fit, i);
		double share = (double)of.used / (double)of.points;

		if (of.points < MIN_VIEW_POINTS)
			continue;
		if (share < least && fabs(of.median) > VIEW_NOISES * of.scatter) {
			least = share;
			low = i;
			worst = of;
		}
		squares += of.median * of.median;
		noise += of.scatter * of.scatter;
		n++;
	}
	rms = sqrt(squares / (double)n);
	noise = sqrt(noise / (double)n);
	if (n < 2 || !(low < views->n || (thick && rms > VIEW_NOISES * noise)))
		return false;
	if (low < views->n)
		warn(NULL, "of view %zu %zu of %zu points count: its line is %.3g %s off the "
		    "plane, and lines scatter by %.3g: is its board another one or bent, or did "
		    "camera or laser move?", low, worst.used, worst.points,
		    worst.median, views->laser->unit, noise);
	else
		warn(NULL, "views are %.3g %s rms off one plane, and their lines scatter by %.3g: "
		    "are --board and --calib right, and did camera and laser stand still?", rms,
		    views->laser->unit, noise);
	return true;
}

static int
check_plane(const struct views *views, const struct plane_fit *fit)
{
	double across = fit->singular[1] / fit->singular[0];
	double thick = fit->singular[2] / fit->singular[1];

	if (!(across >= MIN_BREADTH))
		return fail(NULL, "all points are nearly on one line (singular values %.2g to 1): "
		    "move or tilt the board", across);
	if (!(thick <= MAX_THICKNESS))
		return fail(NULL, "the points lie on no plane: they are as thick as %.2g of their "
		    "breadth; other lights than the laser's go with --off, or the board hardly "
		    "moved", thick);
	if (views_disagree(views, fit, thick > THICKNESS_WARN))
		return 0;
	if (thick > THICKNESS_WARN)
		warn(NULL, "the points are as thick as %.2g of their breadth: move or tilt the "
		    "board more", thick);
	if (fit->sd_rad * DEGREES > SD_WARN_DEG)
		warn(NULL, "the plane's tilt is known to %.2g degrees only, by leaving views out: "
		    "tilt the board, and move it through the whole depth that is to be measured",
		    fit->sd_rad * DEGREES);
	for (size_t i = 0; i < views->n; i++)
		if (views->view[i].used[views->channel] == 0)
			warn(NULL, "view %zu has no point of the laser's line on the board (%zu "
			    "seen)", i, views->view[i].seen[views->channel]);
	return 0;
}

/* Noise of corners leaves less than 0.1 px, and 0.2 px in real pictures. */
static void
check_boards(const struct views *views)
{
	double squares = 0;
	size_t n = 0;

	for (size_t i = 0; i < views->n; i++)
		if (views->view[i].has_board) {
			squares += views->view[i].board.rms_px * views->view[i].board.rms_px;
			n++;
		}
	if (n && sqrt(squares / (double)n) > BOARD_WARN_PX)
		warn(NULL, "corners are %.3g px rms from where flat boards would be: is this the "
		    "camera's calibration, at this focus, with its lens?",
		    sqrt(squares / (double)n));
}

/* Fits the plane to the points of each channel of pictures in colour, and chooses the one that
 * knows it best: by its rms over the root of the number of points, in half as many views at
 * least as another one has. */
static void
choose_channel(struct views *views, enum plane_method method, double limit,
    struct channel_fit channel[LASER_CHANNELS])
{
	double least = INFINITY;
	size_t most = 0;

	for (size_t c = 0; c < LASER_CHANNELS; c++) {
		struct channel_fit *of = &channel[c];

		views->channel = c;
		if (fit_plane(views->line[c].v, views->line[c].n, views->n, method, limit,
		    &of->fit) < 0) {
			fail_clear();
			of->fit.used = 0;
			continue;
		}
		for (size_t i = 0; i < views->n; i++)
			of->views += view_line(views, &of->fit, i).used > 0;
		/* a line in one picture is no plane */
		if (of->views < 2)
			of->fit.used = 0;
		else
			most = of->views > most ? of->views : most;
	}
	views->channel = 0;
	for (size_t c = 0; c < LASER_CHANNELS; c++) {
		double error = channel[c].fit.rms / sqrt((double)channel[c].fit.used);

		if (channel[c].fit.used && 2 * channel[c].views >= most && error < least) {
			least = error;
			views->channel = c;
		}
	}
}

static int
finish_plane(const struct run *run, const struct parameters *parameters, struct views *views)
{
	enum plane_method method = parameters->plain ? PLANE_PLAIN :
	    isnan(parameters->limit) ? PLANE_ROBUST : PLANE_WITHIN;
	struct channel_fit channel[LASER_CHANNELS] = { 0 };
	const struct plane_points *line;
	struct plane_fit fit;
	size_t used = 0;

	if (views->colour)
		choose_channel(views, method, parameters->limit, channel);
	line = &views->line[views->channel];
	for (size_t i = 0; i < views->n; i++)
		used += views->view[i].used[views->channel] > 0;
	if (line->n == 0)
		return fail(NULL, "no point of the laser's line on the board in %zu pictures"
		    "%s", views->n, parameters->off ? ": are those of --off exchanged with them, "
		    "or of the laser too?" : "");
	if (used < 2 && views->view[0].has_board)
		return fail(NULL, "one view with the laser's line: it is a line, and no plane; "
		    "move or tilt the board");
	if (fit_plane(line->v, line->n, views->n, method, parameters->limit, &fit) < 0)
		return -1;
	if (check_plane(views, &fit) < 0)
		return -1;
	/* the finder: the line was found in pictures */
	if (views->finder && views->lit && views->board.kind != BOARD_CHESS)
		warn("--off", "is not given, and the line crosses the board's printed circles, "
		    "whose edges break and shift it: take each picture once more with the laser "
		    "off");
	report_plane(stdout, views, &fit, channel);
	return save(run, parameters, &(struct number_edit){ "laser_plane", fit.plane, 4 }, 1);
}

/* Checks the ratio of the boards' movement to the stage's. */
static int
check_scale(double scale, const char *what)
{
	if (!(fabs(scale - 1) <= SCALE_FAIL))
		return fail(NULL, "the boards %s %.4g times as far as the stage: the step, the "
		    "board or the calibration is another one, or pictures are missing or in "
		    "another order", what, scale);
	if (fabs(scale - 1) > SCALE_WARN)
		warn(NULL, "the boards %s %.4g times as far as the stage", what, scale);
	return 0;
}

/* Warns of a stop that is not where its picture says: pictures are in another order, twice or
 * missing. off: of each board's middle from the line, three numbers per view. */
static void
check_stops(const struct views *views, const double *off)
{
	size_t n = views->n, worst = 0;
	double *length, *step, usual, most;

	if (n < MIN_STOPS)
		return;
	length = must_alloc(2 * n, sizeof(*length));
	step = length + n;
	for (size_t i = 0; i < n; i++) {
		length[i] = hypot(hypot(off[3 * i], off[3 * i + 1]), off[3 * i + 2]);
		worst = length[i] > length[worst] ? i : worst;
		step[i] = i ? fabs(views->view[i].stage - views->view[i - 1].stage) : 0;
	}
	usual = statistics_quantile(step + 1, n - 1, 0.5);
	most = length[worst];
	if (most > STOP_WARN * usual && most > STOP_TIMES * statistics_quantile(length, n, 0.5))
		warn(NULL, "the board of view %zu is %.3g mm off the line of all, at steps of %.3g "
		    "mm: are pictures in their order, and none missing or twice?", worst, most,
		    usual);
	free(length);
}

/* Warns where the result points against `before`, the entry of --calib. */
static void
check_opposite(const char *name, bool has, const double before[3], const double now[3])
{
	if (has && vector3_dot(before, now) < 0)
		warn(name, "points against the one that --calib has: are the pictures in the "
		    "order, and the steps in the sense, of the scans?");
}

static int
finish_direction(const struct run *run, const struct parameters *parameters, struct views *views)
{
	struct direction_fit fit;
	const double *d = fit.direction;
	double *off = must_alloc(3 * views->n, sizeof(*off));
	int status;

	status = fit_direction(views, parameters->plain, &fit, off);
	if (status == 0)
		status = check_scale(vector3_length(d), "moved");
	if (status == 0 && fit.turn_rad * DEGREES > TURN_WARN_DEG)
		warn(NULL, "the board turned by %.2g degrees along the travel",
		    fit.turn_rad * DEGREES);
	if (status == 0) {
		check_stops(views, off);
		check_opposite("scan_direction", views->laser->has_direction,
		    views->laser->direction, d);
		report_direction(stdout, views, &fit, off);
		status = save(run, parameters, &(struct number_edit){ "scan_direction", d, 3 }, 1);
	}
	free(off);
	return status;
}

static int
finish_axis(const struct run *run, const struct parameters *parameters, struct views *views)
{
	struct axis_fit fit;

	if (fit_axis(views, &fit) < 0 || check_scale(fit.gain, "turned") < 0)
		return -1;
	if (fit.rms_px > 2 * fit.alone_px && fit.rms_px > 0.1)
		warn(NULL, "corners are %.3g px rms from a stage that turns about one axis, %.3g "
		    "from boards of their own: the angles are inexact, or the board moved on it",
		    fit.rms_px, fit.alone_px);
	check_opposite("axis_direction", views->laser->has_axis, views->laser->axis_direction,
	    fit.direction);
	report_axis(stdout, views, &fit);
	return save(run, parameters, (struct number_edit[2]){ { "axis_point_mm", fit.point, 3 },
	    { "axis_direction", fit.direction, 3 } }, 2);
}

/* ---- pictures and tables ---- */

struct priv {
	enum mode mode;
	struct laser laser;
	struct views views;
	struct stage_history history;
};

/* Are all these letters channels? */
static bool
has(const struct frame_head *head, const char *names)
{
	for (; *names; names++)
		if (head_channel(head, (char[2]){ *names }) == NO_CHANNEL)
			return false;
	return true;
}

/* Is the frame a picture, in colour or of one channel, and no table? Second inputs do not count. */
static bool
is_picture(const struct frame_head *head)
{
	return !head_is_table(head) && head->h > 1 && (head->c == 1 ||
	    strchr(head->channel[1], '.') || head_is_colour(head));
}

/* The picture (off: its second input --off, which has its size) as a frame of its own, which
 * shares its pixels. -1 after fail(). */
static int
own_picture(const struct run *run, const struct frame *in, bool off, struct frame **out)
{
	const struct frame_head *other = off ? run_second_input_head(run, "off", 0) : NULL;
	bool colour = head_is_colour(off ? other : &in->head);
	size_t c[3] = { 0, 1, 2 }, n = colour ? 3 : 1;
	int status = 0;

	if (off && (other->w != in->head.w || other->h != in->head.h))
		return fail("--off", "is %zux%zu, the picture %zux%zu", other->w, other->h,
		    in->head.w, in->head.h);
	for (size_t k = 0; off && k < n && status == 0; k++)
		status = run_second_input(run, &in->head, "off", colour ?
		    (char[2]){ "rgb"[k] } : NULL, &c[k]);
	if (status < 0 || frame_select(in, c, n, out) < 0)
		return -1;
	for (size_t k = 0; k < n; k++)
		snprintf((*out)->head.channel[k], sizeof((*out)->head.channel[k]), "%s",
		    colour ? (char[2]){ "rgb"[k] } : "image");
	return 0;
}

/* Adds board and line of a picture. The board is seen best with the laser off. */
static int
take_picture(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *on, *off = NULL;
	int status = own_picture(run, in, false, &on);

	priv->views.lit = !parameters->off && !parameters->corners;
	if (status < 0)
		return -1;
	status = parameters->off ? own_picture(run, in, true, &off) : 0;
	if (status == 0)
		status = parameters->corners ?
		    views_add_board(&priv->views, run, in, "corners.") :
		    views_add_picture_board(&priv->views, run, off ? off : on);
	if (status == 0)
		status = views_add_picture_line(&priv->views, run, on, off);
	frame_free(on);
	frame_free(off);
	return status;
}

/* Adds a picture, or a table of the line or of points. */
static int
take_line(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct views *views = &((struct priv *)run->priv)->views;

	if (is_picture(&in->head))
		return take_picture(run, in);
	if (parameters->off)
		return fail_usage("--off", "is for pictures");
	if (has(&in->head, "xyz")) {
		views_add_points(views, in);
		return 0;
	}
	if (!has(&in->head, "uv"))
		return fail(NULL, "wants pictures, tables with channels u v of the laser's line "
		    "(steger), or x y z");
	if (!parameters->corners)
		return fail_usage("--corners", "is needed with points of the line: the board's "
		    "corners in each picture (boardfind)");
	return views_add_board(views, run, in, "corners.") < 0 ? -1 :
	    views_add_line(views, run, in);
}

/* Adds a board, with the travel or turn of its picture. */
static int
take_board(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	bool turns = priv->mode == MODE_AXIS;
	bool picture = is_picture(&in->head);
	struct stage_pose pose;
	struct view *view;

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
	if ((picture ? views_add_picture_board(&priv->views, run, in) :
	    views_add_board(&priv->views, run, in, "")) < 0)
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

/* struct body's `end`. */
static int
end(struct run *run)
{
	static int (*const finish[LASERCAL_MODES])(const struct run *, const struct parameters *,
	    struct views *) = { finish_plane, finish_direction, finish_axis };
	struct priv *priv = run->priv;
	int status;

	stage_history_end(&priv->history);
	check_boards(&priv->views);
	/* fits, prints, and writes the calibration of -o */
	status = finish[priv->mode](run, run->parameters, &priv->views);
	return status == 0 && (fflush(stdout) != 0 || ferror(stdout)) ?
	    fail_errno("standard output", "cannot write") : status;
}

/* ---- beginning and end ---- */

/* Refuses options of another mode, and those that contradict each other. */
static int
check_options(const struct parameters *parameters, enum mode mode)
{
	bool given[] = { parameters->corners, parameters->off, !isnan(parameters->limit),
		!isnan(parameters->pose.step), !isnan(parameters->pose.angle),
		parameters->pose.key, parameters->plain };
	static const char *const name[] = { "--corners", "--off", "--limit", "--step", "--angle",
		"--pose-from", "--plain" };
	static const char *const of[LASERCAL_MODES] = { "yyynnny", "nnnynyy", "nnnnyyn" };

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i] && of[mode][i] == 'n')
			return fail_usage(name[i], "has no meaning for lasercal %s",
			    lasercal_modes[mode]);
	return parameters->plain && !isnan(parameters->limit) ?
	    fail_usage("--limit", "and --plain contradict each other") : 0;
}

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "one fit of all pictures" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct views *views = &priv->views;

	run->body = &body;
	run->sink = true;
	run->colour = parameters->channel >= 0 ? (enum colour)(COLOUR_RED + parameters->channel) :
	    COLOUR_CHOOSE;
	views->sigma_px = parameters->sigma;
	views->laser = &priv->laser;
	views->origin = parameters->origin;
	priv->mode = (enum mode)run_take_word(run, lasercal_modes, LASERCAL_MODES);
	if (priv->mode == LASERCAL_MODES)
		return fail_usage(run->operands ? run->operand[0] : NULL, "lasercal wants plane, "
		    "direction or axis as its first word");
	if (check_options(parameters, priv->mode) < 0 || stage_pose_check(&parameters->pose) < 0)
		return -1;
	if (!parameters->calib)
		return fail_usage("--calib", "is needed: the camera's matrix and lens");
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
	return run->output ? check_loss(run, parameters) : 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	views_free(&priv->views);
}

const struct stage stage_lasercal = {
	.name = "lasercal",
	.summary = "calibrate a laser's plane, or the stage before it",
	.operands = "plane|direction|axis [FILE ...]",
	.options = options,
	.usual = "calib board off corners step angle pose-from",
	STAGE_MEMORY(priv),
	.traits = STAGE_SINK | STAGE_TABLES,
	.init = init,
	.release = release,
};
