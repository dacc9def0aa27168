/*
 * Points of many views to one cloud, in world coordinates: options, frames as they come, bodies.
 * pieces.c gathers the cloud and does --grid, outliers.c --noise, poses.c checks the poses and does
 * --icp. --splat, one ordered frame of all views, is splat.c's.
 */
#include "mergexyz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "run/stage.h"
#include "splat.h"

/* ---- options ---- */

struct parameters {
	struct opt_list views, poses;
	bool icp, ring;
	double max_rms;
	struct opt_list write_pose;
	double grid;
	struct numbers noise;
	struct splat_options splat;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "view", "FILE", OPT_STREAMS, AT(views), NULL, 0, 0, NULL,
	  "another view's stream of points; may be repeated", NULL },
	{ 0, "pose", "FILE", OPT_FILES, AT(poses), NULL, 0, 0, NULL,
	  "poses of a view's frames, 4x4 or R|T, view to world; one file per view", NULL },
	{ 0, "icp", NULL, OPT_FLAG, AT(icp), NULL, 0, 0, NULL,
	  "fit each ordered view to those before it", NULL },
	{ 0, "ring", NULL, OPT_FLAG, AT(ring), NULL, 0, 0, NULL,
	  "with --icp: the last frame also meets the first, and its error is spread", NULL },
	{ 0, "max-rms", "MM", OPT_NUMBER, AT(max_rms), NULL, 0, 1e9, "mm",
	  "of the residuals of --icp [by the noise of the views]", NULL },
	{ 0, "write-pose", "FILE", OPT_FILES, AT(write_pose), NULL, 0, 0, NULL,
	  "the poses that --icp has found, for --pose; one file per view", NULL },
	{ 0, "noise", "K,N", OPT_NUMBERS, AT(noise), NULL, 0, 1000, NULL,
	  "drop points whose K nearest are N sigma farther than is usual", NULL },
	{ 0, "grid", "MM", OPT_NUMBER, AT(grid), NULL, 1e-9, 1e9, "mm",
	  "one point per cube of this side", NULL },
	SPLAT_OPTIONS(struct parameters, splat),
	{ 0 },
};

struct priv {
	struct pieces pieces;
	bool folds;			/* points go into sums as frames come */
	struct cube_sums sums;
	struct pose_list *pose;		/* of each view; NULL: none are given */
	size_t views;
	struct view_checks checks;
	struct splat_stage splat;
};

/* ---- frames ---- */

/* View k's planes of a frame (1: the input itself) as a frame of their own. */
static int
take_view(struct run *run, const struct frame *in, size_t view, struct frame **out)
{
	const struct frame_head *head = view > 1 ?
	    run_second_input_head(run, "view", view - 1) : NULL;
	struct frame_head own;
	size_t first = 0;
	char prefix[32];
	int status;

	snprintf(prefix, sizeof(prefix), "view%zu.", view - 1);
	while (head && first < in->head.c &&
	    strncmp(in->head.channel[first], prefix, strlen(prefix)))
		first++;
	if (head_copy(&own, head ? head : &in->head) < 0)
		return -1;
	for (size_t k = 1; !head && k < ((struct priv *)run->priv)->views; k++)
		own.c -= run_second_input_head(run, "view", k)->c;
	own.type = SAMPLE_FLOAT;
	status = frame_new_empty(&own, out);
	head_free(&own);
	for (size_t c = 0; status == 0 && c < (*out)->head.c; c++)
		frame_share(*out, c, in, first + c);
	return status;
}

/* The pose of a view's frame `number`, from 1: its own, or the only one of its file. */
static int
view_pose(const struct run *run, size_t view, size_t number, struct pose *pose)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	const struct pose_list *list = priv->pose ? &priv->pose[view - 1] : NULL;

	*pose = pose_identity;
	if (!list)
		return 0;
	if (list->n > 1 && number > list->n)
		return fail(parameters->poses.v[view - 1], "has %zu poses, view %zu has more "
		    "frames", list->n, view);
	*pose = list->v[list->n == 1 ? 0 : number - 1];
	return 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t number = run_inputs(run) + 1, before;
	int status = 0;

	if (priv->folds && fold_is_due(&priv->pieces))
		status = fold_pieces(run, &priv->sums, &priv->pieces);
	before = priv->pieces.n;
	for (size_t view = 1; view <= priv->views && status == 0; view++) {
		struct frame *frame;
		struct pose pose;

		status = view_pose(run, view, number, &pose);
		if (status == 0)
			status = take_view(run, in, view, &frame);
		if (status == 0)
			status = pieces_add(&priv->pieces, frame, view, number, &pose);
	}
	frame_free(in);
	if (status == 0)
		status = view_checks_add(&priv->checks, run, priv->pieces.v + before,
		    priv->views);
	for (size_t k = 0; k < priv->views && status == 0 && !parameters->icp; k++)
		status = pieces_compact(run, &priv->pieces.v[before + k]);
	return status;
}

static int
check_poses(const struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	size_t frames = run_inputs(run);

	for (size_t k = 0; priv->pose && k < priv->views; k++)
		if (priv->pose[k].n > 1 && priv->pose[k].n != frames)
			return fail(parameters->poses.v[k], "has %zu poses, view %zu has %zu "
			    "frame%s", priv->pose[k].n, k + 1, frames, frames == 1 ? "" : "s");
	return 0;
}

/* The cloud of all points, or one point for each cube where they went into sums. */
static int
gather(struct run *run, struct frame **cloud)
{
	struct priv *priv = run->priv;

	if (priv->sums.clouds == 0)
		return pieces_cloud(run, &priv->pieces, cloud);
	if (fold_pieces(run, &priv->sums, &priv->pieces) < 0)
		return -1;
	return cube_sums_cloud(&priv->sums, run, cloud);
}

static int
end(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *cloud = NULL;
	bool folded = priv->sums.clouds > 0;
	size_t points;
	int status;

	if (priv->pieces.n == 0)
		return 0;
	if (check_poses(run) < 0 || (parameters->icp && align_pieces(run, &(struct align_options){
	    parameters->ring, parameters->max_rms, &parameters->write_pose }, &priv->pieces) < 0) ||
	    gather(run, &cloud) < 0) {
		frame_free(cloud);
		return -1;
	}
	pieces_free(&priv->pieces);
	status = head_points(&cloud->head, &points);
	if (status == 0 && points == 0)
		warn(NULL, "no frame has a point: the cloud is empty");
	else if (status == 0 && parameters->noise.n)
		status = outliers_drop(run, (size_t)parameters->noise.v[0],
		    parameters->noise.v[1], &cloud);
	if (status == 0 && !isnan(parameters->grid) && !folded)
		status = thin_cloud(run, parameters->grid, &cloud);
	if (status < 0) {
		frame_free(cloud);
		return -1;
	}
	return run_emit(run, cloud);
}

static const struct body cloud_body = { .frame = take_frame, .end = end,
	.no_passes = "a cloud waits for all its points" };

/* ---- the views of each time on one grid ---- */

static int
check_set(struct run *run, struct frame *const *view, const struct pose *pose)
{
	struct priv *priv = run->priv;
	struct piece piece[priv->views];

	for (size_t k = 0; k < priv->views; k++)
		piece[k] = (struct piece){ view[k], k + 1, run_inputs(run) + 1, pose[k], false };
	return view_checks_add(&priv->checks, run, piece, priv->views);
}

static int
splat_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	struct frame **view = calloc(priv->views, sizeof(*view));
	struct pose *pose = calloc(priv->views, sizeof(*pose));
	int status = view && pose ? 0 : fail_memory();

	for (size_t k = 0; k < priv->views && status == 0; k++) {
		status = view_pose(run, k + 1, run_inputs(run) + 1, &pose[k]);
		if (status == 0)
			status = take_view(run, in, k + 1, &view[k]);
	}
	frame_free(in);
	if (status == 0)
		status = check_set(run, view, pose);
	if (status == 0)
		status = splat_stage_step(&priv->splat, run, view, pose);
	else
		for (size_t k = 0; view && k < priv->views; k++)
			frame_free(view[k]);
	free(view);
	free(pose);
	return status;
}

static int
splat_end(struct run *run)
{
	struct priv *priv = run->priv;

	return check_poses(run) < 0 ? -1 : splat_stage_end(&priv->splat);
}

static const struct body splat_body = { .frame = splat_frame, .end = splat_end,
	.no_passes = "points are spread over the grid by the processor" };

/* Options for a cloud exclude --splat. */
static int
open_splat(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const char *foreign = parameters->icp ? "--icp" : !isnan(parameters->grid) ? "--grid" :
	    parameters->noise.n ? "--noise" : NULL;

	if (foreign)
		return fail_usage(foreign, "does not go with --splat");
	run->body = &splat_body;
	priv->checks.splat = true;
	priv->splat.posed = priv->pose;
	return splat_stage_open(&priv->splat, &parameters->splat, priv->views);
}

/* ---- beginning and end ---- */

static int
load_poses(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (parameters->poses.n == 0)
		return 0;
	if (parameters->poses.n != priv->views)
		return fail_usage("--pose", "one file per view is needed: %zu for %zu view%s",
		    parameters->poses.n, priv->views, priv->views == 1 ? "" : "s");
	priv->pose = calloc(priv->views, sizeof(*priv->pose));
	if (!priv->pose)
		return fail_memory();
	for (size_t k = 0; k < priv->views; k++)
		if (pose_list_load(parameters->poses.v[k], &priv->pose[k]) < 0)
			return -1;
	return 0;
}

static int
check_noise(const struct numbers *noise)
{
	if (noise->n == 0)
		return 0;
	if (noise->n != 2)
		return fail_usage("--noise", "wants two numbers, how many nearest and how many "
		    "sigma, not %zu", noise->n);
	if (noise->v[0] != floor(noise->v[0]) || noise->v[0] < 1 ||
	    noise->v[0] > NEIGHBOURS_MOST)
		return fail_usage("--noise", "the number of nearest points is 1 to %d, not %g",
		    NEIGHBOURS_MOST, noise->v[0]);
	return 0;
}

static int
check_icp(const struct parameters *parameters, size_t views)
{
	if (!parameters->icp && (parameters->ring || !isnan(parameters->max_rms) ||
	    parameters->write_pose.n))
		return fail_usage(parameters->ring ? "--ring" : parameters->write_pose.n ?
		    "--write-pose" : "--max-rms", "goes with --icp");
	if (parameters->write_pose.n && parameters->write_pose.n != views)
		return fail_usage("--write-pose", "one file per view is needed: %zu for %zu "
		    "view%s", parameters->write_pose.n, views, views == 1 ? "" : "s");
	return 0;
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	int splat;

	run->body = &cloud_body;
	priv->views = 1 + parameters->views.n;
	if (check_noise(&parameters->noise) < 0 || check_icp(parameters, priv->views) < 0 ||
	    load_poses(run) < 0)
		return -1;
	priv->folds = !isnan(parameters->grid) && !parameters->icp && parameters->noise.n == 0;
	priv->sums.size = parameters->grid;
	priv->checks.poses = priv->pose;
	priv->checks.fits = parameters->icp;
	priv->checks.files = &parameters->views;
	splat = splat_stage_wanted(&parameters->splat);
	return splat > 0 ? open_splat(run) : splat;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	pieces_free(&priv->pieces);
	cube_sums_free(&priv->sums);
	if (!fail_message())
		view_checks_warn(&priv->checks);
	view_checks_free(&priv->checks);
	splat_stage_close(&priv->splat);
	for (size_t k = 0; priv->pose && k < priv->views; k++)
		pose_list_free(&priv->pose[k]);
	free(priv->pose);
}

const struct stage stage_mergexyz = {
	.name = "mergexyz",
	.summary = "points of many views to one cloud",
	.operands = "[FILE ...]",
	.hint = "--noise",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_TABLES | STAGE_UNITS,
	.agree = AGREE_EXACT,
	.init = init,
	.release = release,
};
