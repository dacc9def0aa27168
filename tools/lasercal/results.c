#include "results.h"

#include <math.h>
#include <stdlib.h>

#include "image/statistics.h"
#include "io/safe_file.h"
#include "optics/number_edit.h"
#include "optics/number_file.h"
#include "report.h"
#include "stage_fit.h"

/* What a calibration of ours may have, and must not lose without a word. */
static const char *const entries[] = { "laser_plane", "scan_direction", "axis_point_mm",
	"axis_direction" };
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

/* What the boards did is so much more or less than what the stage did. */
#define BOARD_WARN_PX 0.4
#define SCALE_WARN 0.01
#define SCALE_FAIL 0.1
#define TURN_WARN_DEG 0.5
#define SINGULAR_LEAST 0.01
#define SINGULAR_WARN 0.1
#define SINGULAR_MOST 0.3
#define SD_WARN_DEG 0.3		/* of the plane's tilt */
#define STOP_WARN 0.25		/* of a step: a stop that is as far off the line of all, */
#define STOP_TIMES 5		/* and so many times as far as the usual one */
#define STOPS_LEAST 5		/* fewer do not tell which one is off */
#define DEGREES 57.29577951308232

int
results_check_loss(const struct run *run, const struct parameters *parameters)
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

static int
check_plane(const struct views *views, const struct plane_fit *fit)
{
	double across = fit->singular[1] / fit->singular[0];
	double thick = fit->singular[2] / fit->singular[1];

	if (!(across >= SINGULAR_LEAST))
		return fail(NULL, "all points are nearly on one line (singular values %.2g to 1): "
		    "move or tilt the board", across);
	if (!(thick <= SINGULAR_MOST))
		return fail(NULL, "the points lie on no plane: they are as thick as %.2g of their "
		    "breadth; other lights than the laser's go with --off, or the board hardly "
		    "moved", thick);
	if (thick > SINGULAR_WARN)
		warn(NULL, "the points are as thick as %.2g of their breadth: move or tilt the "
		    "board more", thick);
	if (fit->sd_rad * DEGREES > SD_WARN_DEG)
		warn(NULL, "the plane's tilt is known to %.2g degrees only, by leaving views out: "
		    "tilt the board, and move it through the whole depth that is to be measured",
		    fit->sd_rad * DEGREES);
	for (size_t i = 0; i < views->n; i++)
		if (views->view[i].used == 0)
			warn(NULL, "view %zu has no point of the laser's line on the board (%zu "
			    "seen)", i, views->view[i].seen);
	return 0;
}

/* What noise of corners leaves is below 0.1 px, and 0.2 in real pictures. */
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

static int
finish_plane(const struct run *run, const struct parameters *parameters,
    const struct views *views)
{
	enum plane_method method = parameters->plain ? PLANE_PLAIN :
	    isnan(parameters->limit) ? PLANE_ROBUST : PLANE_WITHIN;
	struct plane_fit fit;
	size_t used = 0;

	for (size_t i = 0; i < views->n; i++)
		used += views->view[i].used > 0;
	if (views->points == 0)
		return fail(NULL, "no point of the laser's line on the board in %zu pictures"
		    "%s", views->n, parameters->off ? ": are those of --off exchanged with them, "
		    "or of the laser too?" : "");
	if (used < 2 && views->view[0].has_board)
		return fail(NULL, "one view with the laser's line: it is a line, and no plane; "
		    "move or tilt the board");
	if (plane_fit(views->point, views->points, views->n, method, parameters->limit,
	    &fit) < 0)
		return -1;
	if (check_plane(views, &fit) < 0)
		return -1;
	report_plane(stdout, views, &fit);
	return save(run, parameters, &(struct number_edit){ "laser_plane", fit.plane, 4 }, 1);
}

/* How far from 1, the ratio of what the boards did to what the stage did. */
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

/* A stop that is not where its picture says: pictures in another order, twice or missing. off: how
 * far the board's middle is off the line, three numbers a view. */
static void
check_stops(const struct views *views, const double *off)
{
	size_t n = views->n, worst = 0;
	double *length = calloc(2 * n + 1, sizeof(*length)), *step, usual;

	if (!length || n < STOPS_LEAST) {
		free(length);
		return;
	}
	step = length + n;
	for (size_t i = 0; i < n; i++) {
		length[i] = hypot(hypot(off[3 * i], off[3 * i + 1]), off[3 * i + 2]);
		worst = length[i] > length[worst] ? i : worst;
		step[i] = i ? fabs(views->view[i].stage - views->view[i - 1].stage) : 0;
	}
	usual = statistics_quantile(step + 1, n - 1, 0.5);
	if (length[worst] > STOP_WARN * usual) {
		double most = length[worst];

		if (most > STOP_TIMES * statistics_quantile(length, n, 0.5))
			warn(NULL, "the board of view %zu is %.3g mm off the line of all, at steps "
			    "of %.3g mm: are pictures in their order, and none missing or twice?",
			    worst, most, usual);
	}
	free(length);
}

/* An entry of --calib, `before`, of the same stage, against which the result points. */
static void
check_opposite(const char *name, bool has, const double before[3], const double now[3])
{
	if (has && before[0] * now[0] + before[1] * now[1] + before[2] * now[2] < 0)
		warn(name, "points against the one that --calib has: are the pictures in the "
		    "order, and the steps in the sense, of the scans?");
}

static int
finish_direction(const struct run *run, const struct parameters *parameters,
    const struct views *views)
{
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
finish_axis(const struct run *run, const struct parameters *parameters,
    const struct views *views)
{
	struct axis_fit fit;

	if (axis_fit(views, &fit) < 0 || check_scale(fit.gain, "turned") < 0)
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

int
results_print(const struct run *run, const struct parameters *parameters, enum mode mode,
    const struct views *views)
{
	check_boards(views);
	return mode == MODE_PLANE ? finish_plane(run, parameters, views) :
	    mode == MODE_DIRECTION ? finish_direction(run, parameters, views) :
	    finish_axis(run, parameters, views);
}
