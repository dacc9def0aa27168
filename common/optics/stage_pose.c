/* The position of the stage when a frame was taken, from options or metadata. */
#include "optics/stage_pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define RADIANS 0.017453292519943295
#define FRAMES_OF_A_TURN 12	/* and more are taken for one */
#define FRAMES_OF_STEPS 3
#define WHOLE 2e-5		/* a share of a step by which whole degrees may be rounded */
#define ROUND 1e-3		/* of a thousandth of a degree: the step is a round number */
#define TURN_NEAR 0.51		/* steps, from the middle of a turn and of one step less */

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

int
stage_pose_check(const struct stage_pose_options *options)
{
	bool step = !isnan(options->step), angle = !isnan(options->angle);

	if (step && angle)
		return fail_usage("--step", "and --angle are two stages: give one of them");
	if (options->key && (step || angle))
		return fail_usage("--pose-from", "and %s both say where the stage stands",
		    step ? "--step" : "--angle");
	if (!options->key || !strcmp(options->key, "none") || ends_with(options->key, "_mm") ||
	    ends_with(options->key, "_deg"))
		return 0;
	return fail_usage("--pose-from", "expected a key that ends with _mm or _deg, or none, "
	    "found '%s'", options->key);
}

/* The option, or else the stream's key: a step per frame. */
static int
from_number(const struct run *run, const struct stage_pose_options *options,
    const struct frame_head *head, struct stage_pose *pose)
{
	double frame = (double)run_inputs(run), step, angle;

	if (run_number(run, options->step, head, "step_mm", NAN, &step) < 0 ||
	    run_number(run, isnan(options->angle) ? NAN : options->angle / RADIANS, head,
		"angle_deg", NAN, &angle) < 0)
		return -1;
	if (!isnan(options->step))
		angle = NAN;
	if (!isnan(options->angle))
		step = NAN;
	if (!isnan(step) && !isnan(angle))
		return fail(NULL, "frame has the keys step_mm and angle_deg: --step or --angle "
		    "says which");
	if (!isnan(step))
		*pose = (struct stage_pose){ STAGE_POSE_TRAVEL, step * frame, 0 };
	else if (!isnan(angle))
		*pose = (struct stage_pose){ STAGE_POSE_TURN, 0, angle * RADIANS * frame };
	return 0;
}

static int
from_key(const struct frame_head *head, const char *key, struct stage_pose *pose)
{
	bool turns = ends_with(key, "_deg");
	double value;

	if (!meta_get(&head->meta, key))
		return fail(NULL, "frame has no key %s (--pose-from)", key);
	if (meta_number(&head->meta, key, NAN, &value) < 0)
		return -1;
	if (!isfinite(value))
		return fail(NULL, "key %s: expected a number, found %g", key, value);
	pose->kind = turns ? STAGE_POSE_TURN : STAGE_POSE_TRAVEL;
	pose->travel = turns ? 0 : value;
	pose->turn_rad = turns ? value * RADIANS : 0;
	return 0;
}

int
stage_pose_of(const struct run *run, const struct stage_pose_options *options,
    const struct frame_head *head, struct stage_pose *pose)
{
	const char *mm = meta_get(&head->meta, "stage_mm");
	const char *deg = meta_get(&head->meta, "stage_deg");

	*pose = (struct stage_pose){ STAGE_POSE_NONE, 0, 0 };
	if (options->key)
		return strcmp(options->key, "none") ? from_key(head, options->key, pose) : 0;
	if (!isnan(options->step) || !isnan(options->angle))
		return from_number(run, options, head, pose);
	if (mm && deg)
		return fail(NULL, "frame has the keys stage_mm and stage_deg: --pose-from says "
		    "which one counts");
	if (mm || deg)
		return from_key(head, mm ? "stage_mm" : "stage_deg", pose);
	return from_number(run, options, head, pose);
}

int
stage_pose_needs(const struct stage_pose *pose, const struct laser *laser, const char *path)
{
	if (pose->kind == STAGE_POSE_TRAVEL && !laser->has_direction)
		return fail(path, "has no scan_direction, which a stage that travels needs: "
		    "lasercal direction finds it (--pose-from none does without)");
	if (pose->kind == STAGE_POSE_TURN && !laser->has_axis)
		return fail(path, "has no axis_point_mm and axis_direction, which a stage that "
		    "turns needs: lasercal axis finds them (--pose-from none does without)");
	return 0;
}

/* Does an option move the stage as the frames' own keys do? */
static void
check_contradiction(struct stage_history *history, const struct run *run,
    const struct stage_pose_options *options, const struct frame_head *head)
{
	bool turns = !isnan(options->angle);
	double by = turns ? options->angle / RADIANS : options->step, frame, given, own;
	const char *key = turns ? "stage_deg" : "stage_mm", *other = turns ? "stage_mm" :
	    "stage_deg", *option = turns ? "--angle" : "--step", *text;
	char *end;

	if (history->warned || isnan(by))
		return;
	text = meta_get(&head->meta, key);
	if (!text && meta_get(&head->meta, other)) {
		history->warned = true;
		warn(option, "counts, and not the frames' key %s", other);
	}
	own = text ? strtod(text, &end) : NAN;
	if (!text || end == text || !isfinite(own))
		return;
	frame = (double)run_inputs(run);
	if (!history->has_first) {
		history->has_first = true;
		history->first = own;
		history->first_frame = frame;
	}
	given = by * (frame - history->first_frame);
	own -= history->first;
	history->warned = fabs(given - own) > 1e-6 + 0.01 * fmax(fabs(given), fabs(own));
	if (history->warned)
		warn(option, "moves the stage by %g %s to frame %g, the frames' key %s by %g: the "
		    "option counts", given, turns ? "degrees" : "mm", frame, key, own);
}

int
stage_history_add(struct stage_history *history, const struct run *run,
    const struct stage_pose_options *options, const struct frame_head *head,
    const struct stage_pose *pose)
{
	static const char *const kinds[] = {
		[STAGE_POSE_NONE] = "nothing says where the stage stood",
		[STAGE_POSE_TRAVEL] = "the stage travels",
		[STAGE_POSE_TURN] = "the stage turns"
	};

	if (history->frames && (int)pose->kind != history->kind)
		return fail(NULL, "in frame %zu %s (stage_mm, stage_deg), in those before it %s",
		    run_inputs(run), kinds[pose->kind], kinds[history->kind]);
	history->kind = (int)pose->kind;
	if (!history->frames || pose->turn_rad < history->least_rad)
		history->least_rad = pose->turn_rad;
	if (!history->frames || pose->turn_rad > history->most_rad)
		history->most_rad = pose->turn_rad;
	if (!history->frames || pose->travel < history->least_mm)
		history->least_mm = pose->travel;
	if (!history->frames || pose->travel > history->most_mm)
		history->most_mm = pose->travel;
	history->frames++;
	if (options)
		check_contradiction(history, run, options, head);
	return 0;
}

/* Is a step that is no round number of degrees a whole number of them when taken for radians? */
static bool
step_in_radians(double step)
{
	double degrees = step / RADIANS, thousandths = step * 1000;

	return degrees > 0.5 && fabs(degrees - round(degrees)) < WHOLE * degrees &&
	    fabs(thousandths - round(thousandths)) > ROUND;
}

void
stage_history_end(const struct stage_history *history)
{
	double span = (history->most_rad - history->least_rad) / RADIANS;
	double step = span / fmax(1, (double)history->frames - 1);

	/* 2 pi, or one step less: a whole turn */
	if (history->frames >= FRAMES_OF_A_TURN &&
	    fabs(span + step / 2 - 2 * M_PI) < TURN_NEAR * step)
		warn(NULL, "the stage turned by %.4g degrees in all: 2 pi, or a step less; are its "
		    "angles in radians?", span);
	else if (history->frames >= FRAMES_OF_STEPS && span < 2 * M_PI && step_in_radians(step))
		warn(NULL, "the stage turns by %.6g degrees from frame to frame, which is %.0f "
		    "degrees in radians: are its angles in radians?", step, step / RADIANS);
}

void
stage_pose_undo(const struct stage_pose *pose, const struct laser *laser, double X[3])
{
	if (pose->kind == STAGE_POSE_TRAVEL)
		laser_unmove(laser, pose->travel, X);
	else if (pose->kind == STAGE_POSE_TURN)
		laser_unturn(laser, pose->turn_rad, X);
}
