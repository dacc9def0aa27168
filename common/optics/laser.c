/*
 * Laser planes: intersects the rays of a camera with them and moves the points with the stage (Liu
 * 2016, eq 1-3); the position of the stage when a frame was taken, from options or metadata.
 */
#include "optics/laser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"

/* A ray and a plane at a smaller angle do not meet. */
#define LEAST_SINE 1e-6
#define UNIT_NEAR 0.1		/* of 1: so long a normal was meant to be a unit vector, */
#define UNIT_ROUNDED 0.01	/* and so near it is one but for rounding */

/* Names of a single camera's matrix and distortion, in the order of preference. */
static const struct names {
	const char *K, *distortion;
} names[] = {
	{ "camera_K", "camera_dist|camera_distortion" },
	{ "camera_matrix", "distortion_coefficients|camera_distortion" },
	{ "cameraMatrix", "distCoeffs" },
	{ "cameraMatrix1", "distCoeffs1" },
	{ "cam_K", "cam_dist|cam_kc" },
	{ "K1", "d1|D1" },
	{ "M1", "D1|d1" },
	{ "K", "dist|D|d" },
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* n numbers where the file has them: *has. */
static int
get_optional(const char *path, const struct number_file *numbers, const char *name, size_t n,
    double *out, bool *has)
{
	char what[16];

	snprintf(what, sizeof(what), "%zu numbers", n);
	*has = calib_has(numbers, name);
	return *has ? calib_get(path, numbers, name, what, n, out) : 0;
}

/* World to camera: R and T come together, or neither. */
static int
get_pose(const char *path, const struct number_file *numbers, struct pinhole *camera)
{
	static const char R[] = "camera_R", T[] = "camera_T_mm";
	bool has_R = calib_has(numbers, R), has_T = calib_has(numbers, T);

	for (int i = 0; i < 3; i++)
		camera->R[4 * i] = 1;
	if (has_T && calib_get(path, numbers, T, "a translation of 3 numbers", 3, camera->T) < 0)
		return -1;
	if (has_R != has_T)
		return fail(path, "has %s but no %s", has_R ? R : T, has_R ? T : R);
	return has_R ? calib_get_rotation(path, numbers, R, camera->R) : 0;
}

static int
get_camera(const char *path, const struct number_file *numbers, struct laser *laser)
{
	for (size_t i = 0; i < NAMES; i++)
		if (calib_has(numbers, names[i].K))
			return calib_get_intrinsics(path, numbers, names[i].K,
			    names[i].distortion, "a 3x3 camera matrix", &laser->camera) < 0 ||
			    get_pose(path, numbers, &laser->camera) < 0 ? -1 :
			    calib_get_frame(path, numbers, &laser->camera, laser->origin_px);
	return fail(path, "expected a camera matrix called camera_K, found %zu other entries%s%s "
	    "(man laser2xyz lists the names)", numbers->entries,
	    numbers->entries ? ", the first one " : "",
	    numbers->entries ? numbers->entry[0].name : "");
}

/* Divides v by its length: a file rounds unit vectors to a few digits. */
static int
normalise(const char *path, const char *name, double v[3], double *length)
{
	*length = vector3_length(v);
	if (!(*length > 0))
		return fail(path, "%s: expected a direction, found zeros", name);
	for (int i = 0; i < 3; i++)
		v[i] /= *length;
	return 0;
}

static int
get_stage(const char *path, const struct number_file *numbers, struct laser *laser)
{
	bool has_point;
	double length;

	if (get_optional(path, numbers, "laser_plane", 4, laser->plane, &laser->has_plane) < 0 ||
	    get_optional(path, numbers, "scan_direction", 3, laser->direction,
	    &laser->has_direction) < 0 ||
	    get_optional(path, numbers, "axis_point_mm", 3, laser->axis_point, &has_point) < 0 ||
	    get_optional(path, numbers, "axis_direction", 3, laser->axis_direction,
	    &laser->has_axis) < 0)
		return -1;
	if (has_point != laser->has_axis)
		return fail(path, "has %s but no %s", has_point ? "axis_point_mm" :
		    "axis_direction", has_point ? "axis_direction" : "axis_point_mm");
	if (laser->has_plane) {
		if (normalise(path, "laser_plane", laser->plane, &length) < 0)
			return -1;
		laser->plane[3] /= length;
		if (fabs(length - 1) > UNIT_ROUNDED && fabs(length - 1) < UNIT_NEAR)
			warn(path, "laser_plane: A, B, C have length %.4g, nearly that of a unit "
			    "vector: is a digit wrong?", length);
	}
	if (laser->has_direction && laser->direction[0] == 0 && laser->direction[1] == 0 &&
	    laser->direction[2] == 0)
		return fail(path, "scan_direction: expected a direction, found zeros");
	return laser->has_axis ? normalise(path, "axis_direction", laser->axis_direction,
	    &length) : 0;
}

static int
get_all(const char *path, const struct number_file *numbers, const char *device,
    struct laser *laser)
{
	if (device ? calib_get_device(path, numbers, device, &laser->camera) < 0 :
	    get_camera(path, numbers, laser) < 0)
		return -1;
	if (!(laser->camera.K[0] > 0 && laser->camera.K[4] > 0))
		return fail(path, "the camera's matrix: expected positive focal lengths, found %g "
		    "%g: is the picture mirrored?", laser->camera.K[0], laser->camera.K[4]);
	calib_get_unit(numbers, laser->unit);
	pinhole_complete(&laser->camera);
	return get_stage(path, numbers, laser);
}

int
laser_load(const char *path, const char *device, struct laser *laser)
{
	struct number_file numbers;
	int status;

	memset(laser, 0, sizeof(*laser));
	if (number_file_load(path, &numbers) < 0)
		return -1;
	status = get_all(path, &numbers, device, laser);
	number_file_free(&numbers);
	return status;
}

/* ---- points ---- */

enum laser_meeting
laser_meet(const struct laser *laser, const double uv[2], double near[2], double X[3],
    double *depth)
{
	const struct pinhole *camera = &laser->camera;
	double ray[3] = { 0, 0, 1 }, world[3], center[3], along;

	if (!isfinite(uv[0]) || !isfinite(uv[1]) || !(camera->distorted ?
	    pinhole_undistort_near(camera, uv, near) : pinhole_undistort(camera, uv, near)))
		return LASER_NO_RAY;
	memcpy(ray, near, 2 * sizeof(*ray));
	matrix3_apply_transposed(camera->R, ray, world);
	pinhole_center(camera, center);
	along = vector3_dot(laser->plane, world);
	if (!(fabs(along) > LEAST_SINE * vector3_length(ray)))
		return LASER_PARALLEL;
	*depth = -(vector3_dot(laser->plane, center) + laser->plane[3]) / along;
	if (!(*depth > 0))
		return LASER_BEHIND;
	for (int i = 0; i < 3; i++)
		X[i] = center[i] + *depth * world[i];
	return LASER_MET;
}

void
laser_across(const double a[3], double p[3], double q[3])
{
	int least = fabs(a[0]) < fabs(a[1]) ? 0 : 1;

	least = fabs(a[2]) < fabs(a[least]) ? 2 : least;
	for (int i = 0; i < 3; i++)
		p[i] = (i == least) - a[least] * a[i];
	vector3_normalise(p);
	vector3_cross(a, p, q);
}

void
laser_rotate(const double axis[3], double angle_rad, double v[3])
{
	double c = cos(angle_rad), s = sin(angle_rad), along = vector3_dot(axis, v) * (1 - c);
	double turned[3];

	vector3_cross(axis, v, turned);
	for (int i = 0; i < 3; i++)
		v[i] = c * v[i] + s * turned[i] + along * axis[i];
}

void
laser_rotate_matrix(const double axis[3], double angle_rad, double R[9])
{
	for (int k = 0; k < 3; k++) {
		double column[3] = { R[k], R[3 + k], R[6 + k] };

		laser_rotate(axis, angle_rad, column);
		for (int i = 0; i < 3; i++)
			R[3 * i + k] = column[i];
	}
}

/* ---- where the stage stood ---- */

#define RADIANS 0.017453292519943295
#define FRAMES_OF_A_TURN 12	/* and more are taken for one */
#define FRAMES_OF_STEPS 3
#define WHOLE_DEGREES_SHARE 2e-5	/* of a step by which whole degrees may be rounded */
#define ROUND_THOUSANDTHS 1e-3	/* of a thousandth of a degree: the step is a round number */
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
	    run_number(run, options->angle / RADIANS, head, "angle_deg", NAN, &angle) < 0)
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
	if (!history->frames++) {
		history->least_rad = history->most_rad = pose->turn_rad;
		history->least_mm = history->most_mm = pose->travel;
	}
	history->least_rad = fmin(history->least_rad, pose->turn_rad);
	history->most_rad = fmax(history->most_rad, pose->turn_rad);
	history->least_mm = fmin(history->least_mm, pose->travel);
	history->most_mm = fmax(history->most_mm, pose->travel);
	if (options)
		check_contradiction(history, run, options, head);
	return 0;
}

/* Is a step that is no round number of degrees a whole number of them when taken for radians? */
static bool
step_in_radians(double step)
{
	double degrees = step / RADIANS, thousandths = step * 1000;

	return degrees > 0.5 && fabs(degrees - round(degrees)) < WHOLE_DEGREES_SHARE * degrees &&
	    fabs(thousandths - round(thousandths)) > ROUND_THOUSANDTHS;
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
	for (int i = 0; i < 3 && pose->kind == STAGE_POSE_TRAVEL; i++)
		X[i] -= pose->travel * laser->direction[i];
	if (pose->kind != STAGE_POSE_TURN)
		return;
	for (int i = 0; i < 3; i++)
		X[i] -= laser->axis_point[i];
	laser_rotate(laser->axis_direction, -pose->turn_rad, X);
	for (int i = 0; i < 3; i++)
		X[i] += laser->axis_point[i];
}
