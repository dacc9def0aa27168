/* Points of a laser's line to points of the surface, slice by slice. */
#include <math.h>
#include <stdlib.h>

#include "joined.h"
#include "optics/laser.h"
#include "optics/sensor_crop.h"
#include "optics/stage_pose.h"
#include "plausible.h"
#include "run/stage.h"

/* Points of one call of a thread. */
#define PART 1024

struct parameters {
	const char *calib, *camera;
	struct numbers origin;
	struct stage_pose_options pose;
	double min_depth, max_depth;
	bool join;
};

struct priv {
	struct laser laser;
	double origin_px[2], bin[2];
	size_t u, v;			/* channels */
	struct plausible plausible;
	struct counts all;
	struct joined joined;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "camera, laser_plane and what the stage needs, as lasercal writes them", NULL },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "devices.NAME of a calibration of several", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "first pixel of a foreign crop on the calibrated sensor", NULL },
	{ 0, "pose-from", "KEY", OPT_TEXT, AT(pose.key), NULL, 0, 0, NULL,
	  "where the stage stands: NAME_mm or NAME_deg; or none [stage_mm or stage_deg]", NULL },
	{ 0, "step", "MM", OPT_NUMBER, AT(pose.step), NULL, -1e6, 1e6, "mm",
	  "travel of the stage from frame to frame, instead of a key", NULL },
	{ 0, "angle", "DEG", OPT_ANGLE, AT(pose.angle), NULL, -360, 360, NULL,
	  "turn of the stage from frame to frame, instead of a key", NULL },
	{ 0, "min-depth", "Z", OPT_NUMBER, AT(min_depth), NULL, 0, 1e9, "mm",
	  "no points nearer to the camera, along its axis", NULL },
	{ 0, "max-depth", "Z", OPT_NUMBER, AT(max_depth), NULL, 0, 1e9, "mm",
	  "no points farther from it", NULL },
	{ 0, "join", NULL, OPT_FLAG, AT(join), NULL, 0, 0, NULL,
	  "the points of all frames in one table, those without x y z left out", NULL },
	{ 0 },
};

/* ---- one frame ---- */

struct slice {
	const struct parameters *parameters;
	const struct priv *priv;
	const struct stage_pose *pose;
	const struct frame *in;
	struct frame *out;
	struct counts *counts;		/* of every part */
};

static bool
is_kept(const struct parameters *parameters, enum laser_meeting meeting, double depth,
    struct counts *counts)
{
	bool near = depth < parameters->min_depth, far = depth > parameters->max_depth;

	counts->no_ray += meeting == LASER_NO_RAY;
	counts->parallel += meeting == LASER_PARALLEL;
	counts->behind += meeting == LASER_BEHIND;
	if (meeting != LASER_MET)
		return false;
	counts->near += near;
	counts->far += far;
	counts->met += !near && !far;
	counts->deepest = fmax(counts->deepest, depth);
	return !near && !far;
}

static void
fill_part(void *arg, size_t part)
{
	const struct slice *slice = arg;
	const struct priv *priv = slice->priv;
	const struct frame_head *head = &slice->in->head;
	size_t end = (part + 1) * PART, n = head->w * head->h, c = head->c;
	double near[2] = { NAN, NAN };
	struct counts *counts = &slice->counts[part];

	for (size_t i = part * PART; i < end && i < n; i++) {
		size_t x = i % head->w, y = i / head->w;
		double u = frame_floats(slice->in, priv->u, y)[x];
		double v = frame_floats(slice->in, priv->v, y)[x];
		double X[3] = { NAN, NAN, NAN }, depth = NAN;
		double uv[2] = { priv->origin_px[0] + (u + 0.5) * priv->bin[0] - 0.5,
			priv->origin_px[1] + (v + 0.5) * priv->bin[1] - 0.5 };
		bool given = !isnan(u) && !isnan(v);
		enum laser_meeting meeting = laser_meet(&priv->laser, uv, near, X, &depth);

		counts->points += given;
		counts->outside += given && !plausible_pixel(&priv->laser, uv);
		if (!given || !is_kept(slice->parameters, meeting, depth, counts))
			X[0] = X[1] = X[2] = NAN;
		else
			stage_pose_undo(slice->pose, &priv->laser, X);
		for (size_t k = 0; k < 3; k++)
			frame_floats(slice->out, c + k, y)[x] = (float)X[k];
	}
}

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

static int
fill(struct run *run, const struct slice *slice)
{
	struct priv *priv = run->priv;
	const struct frame_head *head = &slice->in->head;
	size_t parts = (head->w * head->h + PART - 1) / PART;
	struct slice own = *slice;

	own.counts = calloc(parts, sizeof(*own.counts));
	if (!own.counts)
		return fail_memory();
	run_for(run, parts, fill_part, &own);
	for (size_t i = 0; i < parts; i++)
		add(&priv->all, &own.counts[i]);
	free(own.counts);
	return 0;
}

/* The output's frame: the input's channels and x y z behind them. */
static int
begin(const struct run *run, const struct frame *in, struct frame **out)
{
	const struct priv *priv = run->priv;
	size_t c = in->head.c;
	struct frame_head head;
	int status;

	if (head_copy(&head, &in->head) < 0)
		return -1;
	status = head_set_count(&head, c + 3);
	for (size_t k = 0; k < 3 && status == 0; k++)
		memcpy(head.channel[c + k], (char[2]){ "xyz"[k] }, 2);
	if (status < 0 || meta_set(&head.meta, "length_unit", priv->laser.unit) < 0 ||
	    meta_set(&head.meta, "z_axis", "away") < 0 || frame_new(&head, out) < 0)
		status = -1;
	head_free(&head);
	for (size_t k = 0; k < c && status == 0; k++)
		for (size_t y = 0; y < in->head.h; y++)
			frame_pass(in, k, *out, k, y);
	return status;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct stage_pose pose;
	struct frame *out = NULL;
	int status = stage_pose_of(run, &parameters->pose, &in->head, &pose);

	if (status == 0)
		status = stage_pose_needs(&pose, &priv->laser, parameters->calib);
	if (status == 0)
		status = plausible_pose(&priv->plausible, run, &parameters->pose, &in->head,
		    &priv->laser, &pose);
	if (status == 0)
		status = begin(run, in, &out);
	if (status == 0)
		status = fill(run, &(struct slice){ parameters, priv, &pose, in, out, NULL });
	frame_free(in);
	if (status == 0 && !parameters->join)
		return run_emit(run, out);
	if (status == 0)
		status = joined_add(&priv->joined, out, (double)run_inputs(run));
	frame_free(out);
	return status;
}

/* ---- beginning and end ---- */

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	(void)out;
	for (size_t k = 0; k < 3; k++)
		if (head_channel(in, (char[2]){ "xyz"[k] }) != NO_CHANNEL)
			return fail(NULL, "input has a channel %c already", "xyz"[k]);
	if (run_channel(run, in, "u", &priv->u) < 0 || run_channel(run, in, "v", &priv->v) < 0)
		return -1;
	return sensor_crop_origin(run, &parameters->origin, in, priv->laser.origin_px,
	    priv->origin_px, priv->bin) < 0 ? -1 : plausible_picture(&priv->plausible, &priv->laser,
	    in, priv->origin_px, priv->bin,
	    parameters->origin.n || meta_get(&in->meta, "origin_px"));
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
	return joined_take(&priv->joined, &table) < 0 ? -1 : run_emit(run, table);
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
	if (parameters->origin.n && parameters->origin.n != 2)
		return fail_usage("--origin", "must be two numbers, not %zu",
		    parameters->origin.n);
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
	joined_free(&((struct priv *)run->priv)->joined);
}

STAGE(laser2xyz) = {
	.name = "laser2xyz",
	.summary = "points of a laser's line to points of the surface",
	.operands = "[FILE ...]",
	.hint = "--calib, --min-depth, --max-depth",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_TABLES,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.release = release,
};
