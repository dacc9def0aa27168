/* Points of many views to one cloud. */
#include "mergexyz.h"

#include <math.h>
#include <stdlib.h>

#include "align.h"
#include "fold.h"
#include "outliers.h"
#include "thin.h"
#include "view_input.h"

/* ---- frames ---- */

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

		status = view_input_pose(run, view, number, &pose);
		if (status == 0)
			status = view_input_take(run, in, view, &frame);
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

/* All points, or where they went into sums one for each cube. */
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
		status = view_input_pose(run, k + 1, run_inputs(run) + 1, &pose[k]);
		if (status == 0)
			status = view_input_take(run, in, k + 1, &view[k]);
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

/* What makes a cloud has no place beside --splat. */
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
	    noise->v[0] > OUTLIERS_NEAREST_MOST)
		return fail_usage("--noise", "the number of nearest points is 1 to %d, not %g",
		    OUTLIERS_NEAREST_MOST, noise->v[0]);
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

STAGE(mergexyz) = {
	.name = "mergexyz",
	.summary = "points of many views to one cloud",
	.operands = "[FILE ...]",
	.hint = "--noise",
	.options = mergexyz_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_TABLES | STAGE_UNITS,
	.agree = AGREE_EXACT,
	.init = init,
	.release = release,
};
