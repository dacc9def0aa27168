/*
 * Points of a laser's line to points of the surface, slice by slice (methods §11): options, frames,
 * the table of --join, and the checks of calibration, units and stage.
 */
#include "laser2xyz.h"

#include "base/linear.h"
#include "frame/samples.h"
#include "optics/calib.h"
#include "run/stage.h"

/* ---- options ---- */

struct parameters {
	const char *calib, *camera;
	struct numbers origin;
	struct stage_pose_options pose;
	double min_depth, max_depth;
	bool join;
};

static const struct opt options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "camera, laser_plane and what the stage needs, as lasercal writes them" },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "devices.NAME of a calibration of several" },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "first pixel of a foreign crop on the calibrated sensor" },
	{ 0, "pose-from", "KEY", OPT_TEXT, AT(pose.key), NULL, 0, 0, NULL,
	  "where the stage stands: NAME_mm or NAME_deg; or none [stage_mm or stage_deg]" },
	{ 0, "step", "MM", OPT_NUMBER, AT(pose.step), NULL, -1e6, 1e6, "mm",
	  "travel of the stage from frame to frame, instead of a key" },
	{ 0, "angle", "DEG", OPT_ANGLE, AT(pose.angle), NULL, -360, 360, NULL,
	  "turn of the stage from frame to frame, instead of a key" },
	{ 0, "min-depth", "Z", OPT_NUMBER, AT(min_depth), NULL, 0, 1e9, "mm",
	  "no points nearer to the camera, along its axis" },
	{ 0, "max-depth", "Z", OPT_NUMBER, AT(max_depth), NULL, 0, 1e9, "mm",
	  "no points farther from it" },
	FLAG_ROW(0, "join", join,
	    "all frames in one: slices with a point per row in their order, else a table"),
	{ 0 },
};

/* ---- --join: one frame of the points of many ---- */

struct joined {
	bool begun;
	size_t across;			/* points of a slice in their order; 0: a table of all */
	bool turned;			/* they stand in a row, not in a column */
	struct frame_head head;		/* the first frame's channels and `frame` */
	struct table_rows rows;
	double (*seen_from)[3];		/* of each slice: the camera, as the object sees it */
	size_t slices;
	double nearest;			/* distance of a point from its slice's camera */
};

/* Keys that describe one frame, not the table of all. */
static const char *const own_keys[] = { "name", "frame_number", "stage_mm", "stage_deg",
	"time_s", "points" };

static int
begin_table(struct joined *joined, const struct frame_head *head)
{
	if (head_channel(head, "frame") != NO_CHANNEL)
		return fail("--join", "input has a channel frame already");
	head_copy(&joined->head, head);
	joined->begun = true;
	if (head_add_channels(&joined->head, "frame") < 0)
		return -1;
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
		meta_remove(&joined->head.meta, own_keys[i]);
	joined->head.spacing[0] = joined->head.spacing[1] = NAN;
	joined->rows.c = joined->head.c;
	joined->nearest = INFINITY;
	joined->turned = head->h == 1 && head->w > 1;
	joined->across = head_is_table(head) || (head->h > 1 && head->w > 1) ? 0 :
	    head->w * head->h;
	return 0;
}

static bool
same_channels(const struct joined *joined, const struct frame_head *head)
{
	if (head->c + 1 != joined->head.c)
		return false;
	for (size_t k = 0; k < head->c; k++)
		if (strcmp(head->channel[k], joined->head.channel[k]))
			return false;
	return true;
}

/* Adds the points of a frame (channels ... x y z); to a table those that have x y z. -1 after
 * fail(). */
static int
joined_add(struct joined *joined, const struct frame *frame, double number,
    const double seen_from[3])
{
	const struct frame_head *head = &frame->head;
	size_t c = head->c, n = head->w * head->h;

	if (!joined->begun && begin_table(joined, head) < 0)
		return -1;
	if (!same_channels(joined, head))
		return fail("--join", "frame %.0f has other channels than the first one", number);
	if (joined->across && (n != joined->across || head_is_table(head) ||
	    (head->w > 1) != joined->turned))
		return fail("--join", "frame %.0f has %zux%zu points in their order, the first one "
		    "%zu", number, head->w, head->h, joined->across);
	joined->seen_from = must_resize(joined->seen_from, joined->slices + 1,
	    sizeof(*joined->seen_from));
	memcpy(joined->seen_from[joined->slices++], seen_from, sizeof(*joined->seen_from));
	for (size_t i = 0; i < n; i++) {
		size_t x = i % head->w, y = i / head->w;
		double square = 0;
		float *row;

		if (!joined->across && isnan(frame_floats(frame, c - 1, y)[x]))
			continue;
		row = table_rows_add(&joined->rows);
		if (!row)
			return -1;
		for (size_t k = 0; k < c; k++)
			row[k] = frame_floats(frame, k, y)[x];
		row[c] = (float)number;
		for (size_t k = 0; k < 3; k++)
			square += pow((double)row[c - 3 + k] - seen_from[k], 2);
		joined->nearest = fmin(joined->nearest, sqrt(square));
	}
	return 0;
}

/* x y z of a point of a slice. */
static const float *
joined_point(const struct joined *joined, size_t slice, size_t i)
{
	return joined->rows.v + (slice * joined->across + i + 1) * joined->rows.c - 4;
}

/* Do columns to the right and rows down turn about a direction away from the camera, as in its own
 * picture? By the majority of the points. */
static bool
sees_the_front(const struct joined *joined)
{
	size_t front = 0, back = 0;

	for (size_t s = 0; s + 1 < joined->slices; s++)
		for (size_t i = 0; i + 1 < joined->across; i++) {
			const float *p = joined_point(joined, s, i);
			const float *next = joined_point(joined, s + 1, i);
			const float *below = joined_point(joined, s, i + 1);
			double right[3], down[3], away[3], n[3], dot;

			for (size_t k = 0; k < 3; k++) {
				right[k] = (double)(joined->turned ? below : next)[k] - p[k];
				down[k] = (double)(joined->turned ? next : below)[k] - p[k];
				away[k] = p[k] - joined->seen_from[s][k];
			}
			vector3_cross(right, down, n);
			dot = vector3_dot(n, away);
			front += dot > 0;
			back += dot < 0;
		}
	return front >= back;
}

#define SEEN_FROM_SHARE 0.5	/* of the nearest point's distance: so far the camera may move */

/* Sets seen_from_mm to the mean of the cameras' places, where it tells the sides of all points. */
static void
set_seen_from(struct joined *joined)
{
	double mean[3] = { 0 }, farthest = 0;

	for (size_t s = 0; s < joined->slices; s++)
		for (size_t k = 0; k < 3; k++)
			mean[k] += joined->seen_from[s][k] / (double)joined->slices;
	for (size_t s = 0; s < joined->slices; s++) {
		const double *at = joined->seen_from[s];

		farthest = fmax(farthest, vector3_length((double[3]){ at[0] - mean[0],
		    at[1] - mean[1], at[2] - mean[2] }));
	}
	meta_remove(&joined->head.meta, "seen_from_mm");
	if (farthest <= SEEN_FROM_SHARE * joined->nearest)
		meta_set_numbers(&joined->head.meta, "seen_from_mm", mean, 3);
}

/* Slices lie in the order of the frames: that of their places only if the stage goes one way. */
static void
check_order(const struct joined *joined)
{
	size_t back = 0;

	for (size_t s = 2; s < joined->slices; s++) {
		const double *a = joined->seen_from[s - 2], *b = joined->seen_from[s - 1];
		const double *c = joined->seen_from[s];

		back += (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) +
		    (b[2] - a[2]) * (c[2] - b[2]) < 0;
	}
	if (back > 0)
		warn("--join", "the stage turns back %zu time%s: neighbours in this frame are none "
		    "on the surface, as normals, shade and mergexyz would have it; join the frames "
		    "in the order of the stage", back, back == 1 ? "" : "s");
}

/* The frame of all: a table, or an ordered frame of slices by points. -1 after fail(). */
static int
joined_frame(struct joined *joined, struct frame **out)
{
	const struct table_rows *rows = &joined->rows;
	size_t n = joined->slices;
	bool front;

	set_seen_from(joined);
	if (!joined->across)
		return table_rows_frame(rows, &joined->head, out);
	check_order(joined);
	front = sees_the_front(joined);
	joined->head.w = joined->turned ? joined->across : n;
	joined->head.h = joined->turned ? n : joined->across;
	if (frame_new(&joined->head, out) < 0)
		return -1;
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < joined->across; i++)
			for (size_t c = 0; c < rows->c; c++) {
				size_t at = front ? s : n - 1 - s;
				float *row = frame_floats(*out, c, joined->turned ? at : i);

				row[joined->turned ? i : at] =
				    rows->v[(s * joined->across + i) * rows->c + c];
			}
	return 0;
}

/* ---- checks: what a wrong calibration, unit or stage shows in the frames ---- */

#define NEAREST_MM 5.0		/* no camera and laser measure everything nearer than this */
#define SCAN_SLICES 20		/* scans of fewer may be of a narrow piece */
#define SCAN_LEAST 5e-4		/* of the distance from the camera: with less all slices are one */
#define LENGTH_OFF 0.1		/* of the length of scan_direction: lasercal's own limit */
#define ALONG_RAD 0.02		/* between a stage's motion and the laser's plane */
#define STOOD_FRAMES 4		/* in one place, and more */
#define TURNS_MOST 1.5		/* a scan goes round once, and a little more */
#define LOST_SHARE 0.1		/* of the points: reflections are fewer */
#define OUTSIDE_SHARE 0.01	/* of the points */
#define REPORTED_LEAST 10	/* points */
#define DEGREES 57.29577951308232

struct plausible {
	struct stage_history history;
	bool unmoved_warned, size_warned, direction_warned;
};

/* Warns where no pose is given: all slices then overlap. */
static void
check_unmoved(struct plausible *plausible, const struct run *run,
    const struct stage_pose_options *options, const struct stage_pose *pose)
{
	if (pose->kind != STAGE_POSE_NONE || run_inputs(run) == 0 || plausible->unmoved_warned ||
	    options->key)
		return;
	plausible->unmoved_warned = true;
	warn(NULL, "frames have no key stage_mm or stage_deg, and neither --step nor --angle is "
	    "given: all slices are where the camera saw them (--pose-from none is silent)");
}

/* Warns where scan_direction is not one mm long, in the calibration's unit. True after it did. */
static bool
check_length(const struct laser *laser)
{
	const double *D = laser->direction, mm = length_unit_mm(laser->unit);
	double length = vector3_length(D);

	if (!(mm > 0) || fabs(length * mm - 1) <= LENGTH_OFF)
		return false;
	warn("scan_direction", "takes points %.4g %s for each mm of travel, not %g: is it of this "
	    "stage, and in the calibration's unit?", length, laser->unit, 1 / mm);
	return true;
}

/* Warns where the stage moves the object within the laser's plane: all slices are then one. True
 * after a warning. */
static bool
check_slices(const struct laser *laser, const struct stage_pose *pose)
{
	bool turns = pose->kind == STAGE_POSE_TURN;
	const double *D = turns ? laser->axis_direction : laser->direction, *n = laser->plane;
	double across[3], length = vector3_length(D);

	/* a turn about an axis across the plane leaves the plane where it is */
	vector3_cross(n, D, across);
	if ((turns ? vector3_length(across) : fabs(vector3_dot(n, D))) >= ALONG_RAD * length)
		return false;
	warn(turns ? "axis_direction" : "scan_direction", "moves the object within the laser's "
	    "plane, so that all slices are one: is it of this stage, and of this laser?");
	return true;
}

/* The pose of one frame, compared with the earlier ones. -1 after fail(). */
static int
plausible_pose(struct plausible *plausible, const struct run *run,
    const struct stage_pose_options *options, const struct frame_head *head,
    const struct laser *laser, const struct stage_pose *pose)
{
	if (stage_history_add(&plausible->history, run, options, head, pose) < 0)
		return -1;
	check_unmoved(plausible, run, options, pose);
	if (pose->kind != STAGE_POSE_NONE && !plausible->direction_warned)
		plausible->direction_warned = check_slices(laser, pose) ||
		    (pose->kind == STAGE_POSE_TRAVEL && check_length(laser));
	return 0;
}

/* The motion of the stage in all frames. True after a warning. */
static bool
check_stage(const struct stage_history *history, const struct laser *laser, double deepest)
{
	double travel_mm = history->most_mm - history->least_mm, mm = length_unit_mm(laser->unit);
	double turns = (history->most_rad - history->least_rad) / (2 * M_PI);

	stage_history_end(history);
	if (history->kind == STAGE_POSE_NONE)
		return false;
	if (history->frames >= STOOD_FRAMES && !(travel_mm > 0) && !(turns > 0))
		warn(NULL, "the stage stood in one place in all %zu frames, so that all slices are "
		    "one (--pose-from none is silent)", history->frames);
	else if (history->frames >= STOOD_FRAMES && turns > TURNS_MOST)
		warn(NULL, "the stage turned by %.4g degrees in %zu frames, %.3g times around: is "
		    "its angle that from frame to frame?", 2 * M_PI * DEGREES * turns,
		    history->frames, turns);
	else if (history->kind == STAGE_POSE_TRAVEL && history->frames >= SCAN_SLICES &&
	    travel_mm < SCAN_LEAST * deepest * mm)
		warn(NULL, "the stage travels by %.3g mm in %zu frames, before points up to %.4g "
		    "%s away: is that in metres?", travel_mm, history->frames, deepest,
		    laser->unit);
	else
		return false;
	return true;
}

/* Points without a place, and outside the picture. */
static void
check_places(const struct laser *laser, const struct counts *all)
{
	size_t lost = all->no_ray + all->parallel + all->behind;

	if (all->outside >= REPORTED_LEAST &&
	    (double)all->outside > OUTSIDE_SHARE * (double)all->points)
		warn(NULL, "%zu of %zu points lie beside the calibration's picture of %gx%g px: is "
		    "it of this camera, at this resolution, and are u and v columns and rows?",
		    all->outside, all->points, laser->camera.w, laser->camera.h);
	else if (all->met && lost >= REPORTED_LEAST &&
	    (double)lost > LOST_SHARE * (double)all->points)
		warn(NULL, "%zu of %zu points have no place: %zu without a ray, %zu along the "
		    "plane, %zu behind the camera: is laser_plane of this camera and laser?", lost,
		    all->points, all->no_ray, all->parallel, all->behind);
}

/* After all frames. */
static void
plausible_end(const struct plausible *plausible, const struct laser *laser,
    const struct counts *all)
{
	double mm = length_unit_mm(laser->unit);

	check_places(laser, all);
	if (!check_stage(&plausible->history, laser, all->deepest) && all->deepest > 0 && mm > 0 &&
	    all->deepest * mm < NEAREST_MM)
		warn(NULL, "all points lie within %.3g %s of the camera: is laser_plane in another "
		    "unit than length_unit (mm unless given)?", all->deepest, laser->unit);
}

/* ---- one frame ---- */

struct priv {
	struct laser laser;
	double origin_px[2], bin[2];
	size_t u, v;			/* channels */
	struct plausible plausible;
	struct counts all;
	struct joined joined;
};

static void
add(struct counts *all, const struct counts *part)
{
	all->points += part->points;
	all->met += part->met;
	all->no_ray += part->no_ray;
	all->parallel += part->parallel;
	all->behind += part->behind;
	all->near += part->near;
	all->far += part->far;
	all->outside += part->outside;
	all->deepest = fmax(all->deepest, part->deepest);
}

static void
fill(struct run *run, const struct slice *slice)
{
	struct priv *priv = run->priv;
	const struct frame_head *head = &slice->in->head;
	size_t parts = (head->w * head->h + SLICE_POINTS - 1) / SLICE_POINTS;
	struct slice own = *slice;

	own.counts = must_alloc(parts, sizeof(*own.counts));
	run_for(run, parts, laser2xyz_rows()->fill, &own);
	for (size_t i = 0; i < parts; i++)
		add(&priv->all, &own.counts[i]);
	free(own.counts);
}

/* The output's frame: the input's channels, then x y z. */
static int
begin_frame(const struct run *run, const struct frame *in, struct frame **out)
{
	const struct priv *priv = run->priv;
	struct frame_head head;
	int status;

	head_copy(&head, &in->head);
	status = head_add_channels(&head, "x y z") < 0 ? -1 :
	    meta_set(&head.meta, "length_unit", priv->laser.unit);
	meta_set(&head.meta, "z_axis", "away");
	if (frame_new_if(status, &head, out) < 0)
		return -1;
	for (size_t k = 0; k < in->head.c; k++)
		for (size_t y = 0; y < in->head.h; y++)
			frame_pass(in, k, *out, k, y);
	return 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct stage_pose pose;
	struct frame *out = NULL;
	double seen_from[3];
	int status = stage_pose_of(run, &parameters->pose, &in->head, &pose);

	if (status == 0)
		status = stage_pose_needs(&pose, &priv->laser, parameters->calib);
	if (status == 0)
		status = plausible_pose(&priv->plausible, run, &parameters->pose, &in->head,
		    &priv->laser, &pose);
	if (status == 0)
		status = begin_frame(run, in, &out);
	if (status == 0)
		fill(run, &(struct slice){ &priv->laser, &pose, priv->origin_px, priv->bin,
		    priv->u, priv->v, parameters->min_depth, parameters->max_depth, in, out,
		    NULL });
	frame_free(in);
	if (status == 0) {
		const double *T = priv->laser.camera.T;

		matrix3_apply_transposed(priv->laser.camera.R,
		    (double[3]){ 0 - T[0], 0 - T[1], 0 - T[2] }, seen_from);
		stage_pose_undo(&pose, &priv->laser, seen_from);
		meta_set_numbers(&out->head.meta, "seen_from_mm", seen_from, 3);
	}
	if (status == 0 && !parameters->join)
		return run_emit(run, out);
	if (status == 0)
		status = joined_add(&priv->joined, out, (double)run_inputs(run), seen_from);
	frame_free(out);
	return status;
}

/* ---- beginning and end ---- */

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	struct sensor_fit fit = { .placed = parameters->origin.n ||
		meta_get(&in->meta, "origin_px") };

	for (size_t k = 0; k < 3; k++)
		if (head_channel(in, (char[2]){ "xyz"[k] }) != NO_CHANNEL)
			return fail(NULL, "input has a channel %c already", "xyz"[k]);
	if (run_channel(run, in, "u", &priv->u) < 0 || run_channel(run, in, "v", &priv->v) < 0)
		return -1;
	if (sensor_crop_origin(run, &parameters->origin, in, priv->laser.origin_px, priv->origin_px,
	    priv->bin) < 0)
		return -1;
	memcpy(fit.origin_px, priv->origin_px, sizeof(fit.origin_px));
	memcpy(fit.bin, priv->bin, sizeof(fit.bin));
	return sensor_fit_check(&priv->laser.camera, in, false, &fit, &priv->plausible.size_warned);
}

static void
report(const struct counts *all)
{
	note(NULL, "%zu of %zu points have x y z; %zu without a ray, %zu along the plane, %zu "
	    "behind the camera, %zu nearer than --min-depth, %zu farther than --max-depth",
	    all->met, all->points, all->no_ray, all->parallel, all->behind, all->near, all->far);
}

static int
end(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct counts *all = &priv->all;
	struct frame *table;

	if (run->verbose)
		report(all);
	plausible_end(&priv->plausible, &priv->laser, all);
	if (all->points && !all->met)
		warn(NULL, "none of %zu points has x y z: %zu without a ray, %zu along the plane, "
		    "%zu behind the camera, %zu beyond --min-depth and --max-depth", all->points,
		    all->no_ray, all->parallel, all->behind, all->near + all->far);
	if (!parameters->join || !priv->joined.begun)
		return 0;
	return joined_frame(&priv->joined, &table) < 0 ? -1 : run_emit(run, table);
}

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "an image has a thousand points" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (!parameters->calib)
		return fail_usage("--calib", "is needed: camera and laser_plane");
	if (parameters->min_depth >= parameters->max_depth)
		return fail_usage("--min-depth", "%g is not below --max-depth %g",
		    parameters->min_depth, parameters->max_depth);
	if (stage_pose_check(&parameters->pose) < 0 ||
	    laser_load(parameters->calib, parameters->camera, &priv->laser) < 0)
		return -1;
	return priv->laser.has_plane ? 0 : fail(parameters->calib, "has no laser_plane: lasercal "
	    "plane finds it and writes it there (-o)");
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	if (priv->joined.begun)
		head_free(&priv->joined.head);
	table_rows_free(&priv->joined.rows);
	free(priv->joined.seen_from);
}

const struct stage stage_laser2xyz = {
	.name = "laser2xyz",
	.summary = "points of a laser's line to points of the surface",
	.hint = "--calib, --min-depth, --max-depth",
	.options = options,
	.usual = "calib step angle pose-from min-depth max-depth join",
	STAGE_MEMORY(priv),
	.traits = STAGE_TABLES,
	.init = init,
	.plan = plan,
	.release = release,
};
