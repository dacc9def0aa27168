/*
 * Points of many views to one cloud, in world coordinates: options, frames as they come. pieces.c
 * gathers the cloud and does --grid, outliers.c --noise, poses.c --icp.
 */
#include "mergexyz.h"

#include "base/linear.h"
#include "image/statistics.h"
#include "points/cloud.h"
#include "run/stage.h"

/* ---- options ---- */

struct parameters {
	struct opt_list views, poses;
	bool icp, ring;
	double max_rms;
	struct opt_list write_pose;
	struct numbers grid, noise;
};

static const char *const sizes[] = { "auto", NULL };

static const struct opt options[] = {
	VIEWS_OPTIONS(struct parameters, views, poses),
	FLAG_ROW(0, "icp", icp, "fit all views to one another"),
	FLAG_ROW(0, "ring", ring,
	    "with --icp: each view meets those beside it alone, and the last one the first"),
	{ 0, "max-rms", "MM", OPT_NUMBER, AT(max_rms), NULL, 0, 1e9, "mm",
	  "of the residuals of --icp [by the noise of the views]" },
	{ 0, "write-pose", "FILE", OPT_FILES, AT(write_pose), NULL, 0, 0, NULL,
	  "the poses that --icp has found, for --pose; one file per view" },
	{ 0, "noise", "K,N", OPT_NUMBERS, AT(noise), NULL, 0, 1000, NULL,
	  "drop points whose K nearest are N sigma farther than is usual" },
	{ 0, "grid", "MM", OPT_NUMBERS, AT(grid), NULL, 1e-9, 1e9, "mm",
	  "one point per cube of this side; auto: the spacing of the points", sizes },
	/* what splatxyz does, by its old spelling */
	{ 0, "splat", "WxH", OPT_STAGE, .help = "splatxyz" },
	{ 0, "onto", "WORD", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0, "calib", "FILE", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0, "frame", "NAME", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0, "pixel", "MM", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0, "center", "X,Y", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0, "weight", "WORD", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0, "jump", "MM", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0, "late", "S", OPT_STAGE, .standard = "", .help = "splatxyz" },
	{ 0 },
};

struct priv {
	struct views views;
	struct pieces pieces;
	bool folds;			/* points go into sums as frames come */
	struct cube_sums sums;
	struct place *place;		/* of each frame that came */
	size_t places;
};

/* ---- do the clouds meet? ---- */

#define PLACE_POINTS 4000	/* of a frame, about, that tell where it is */
#define PLACE_SHARE 0.05	/* of them that are left out at each end of an axis: wrong ones */
#define PLACES_MOST 2000	/* frames that are compared */

/* The box of a frame's points in the world. */
struct place {
	double low[3], high[3];
	size_t view, number;
};

/* The distance of two boxes. */
static double
gap(const struct place *a, const struct place *b)
{
	double off[3];

	for (int k = 0; k < 3; k++)
		off[k] = fmax(fmax(a->low[k] - b->high[k], b->low[k] - a->high[k]), 0);
	return vector3_length(off);
}

static double
diagonal(const struct place *a)
{
	return hypot(hypot(a->high[0] - a->low[0], a->high[1] - a->low[1]), a->high[2] - a->low[2]);
}

/* Keeps the place of a frame, if it has points. */
static void
add_place(struct priv *priv, const struct view_frame *of)
{
	const struct frame_head *head = &of->frame->head;
	size_t step = head->w * head->h / PLACE_POINTS + 1, n = 0, channel[3];
	struct place place = { .view = of->view, .number = of->number };
	double *v;

	if (!head_xyz(head, channel) || priv->places == PLACES_MOST)
		return;
	v = must_alloc(3 * (PLACE_POINTS + 1), sizeof(*v));
	for (size_t i = 0; i < head->w * head->h; i += step) {
		double X[3], to[3];

		for (int k = 0; k < 3; k++)
			X[k] = frame_floats(of->frame, channel[k], i / head->w)[i % head->w];
		if (!isfinite(X[0]) || !isfinite(X[1]) || !isfinite(X[2]))
			continue;
		pose_apply(&of->pose, X, to);
		for (size_t k = 0; k < 3; k++)
			v[k * (PLACE_POINTS + 1) + n] = to[k];
		n++;
	}
	for (size_t k = 0; k < 3 && n; k++) {
		double *axis = v + k * (PLACE_POINTS + 1);

		place.low[k] = statistics_quantile(axis, n, PLACE_SHARE);
		place.high[k] = statistics_quantile(axis, n, 1 - PLACE_SHARE);
	}
	free(v);
	if (n) {
		priv->place = must_resize(priv->place, priv->places + 1, sizeof(*priv->place));
		priv->place[priv->places++] = place;
	}
}

/* Warns of a frame that is farther from all others than it and the nearest one are large. */
static void
check_places(const struct priv *priv)
{
	for (size_t i = 0; i < priv->places && priv->places > 1; i++) {
		const struct place *a = &priv->place[i], *nearest = NULL;

		for (size_t j = 0; j < priv->places; j++)
			if (j != i && (!nearest || gap(a, &priv->place[j]) < gap(a, nearest)))
				nearest = &priv->place[j];
		if (!(gap(a, nearest) > diagonal(a) + diagonal(nearest)))
			continue;
		warn(NULL, "frame %zu of view %zu does not meet the others: its points are %.4g "
		    "from the nearest ones, frame %zu of view %zu, and %.3g wide: were its cameras "
		    "exchanged, or is it in another world or unit (--pose)?", a->number, a->view,
		    gap(a, nearest), nearest->number, nearest->view, diagonal(a));
		return;
	}
}

/* ---- frames ---- */

static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t n = priv->views.n;
	struct view_frame *of = must_alloc(n, sizeof(*of));
	int status = 0;

	if (priv->folds && fold_is_due(&priv->pieces))
		status = fold_pieces(run, &priv->sums, &priv->pieces);
	if (status < 0)
		frame_free(in);
	else
		status = views_take(&priv->views, run, in, of);
	for (size_t k = 0; k < n && of[k].frame; k++) {
		if (status == 0) {
			add_place(priv, &of[k]);
			status = pieces_add(&priv->pieces, &of[k]);
		} else {
			frame_free(of[k].frame);
		}
	}
	if (status == 0)
		views_check(&priv->views, run, of);
	for (size_t k = n; k > 0 && status == 0 && !parameters->icp; k--)
		status = pieces_compact(run, &priv->pieces.v[priv->pieces.n - k]);
	free(of);
	return status;
}

/* --grid auto: the spacing of the points of all views. -1 after fail(). */
static int
find_size(struct run *run, const struct frame *points, double *size)
{
	struct cloud cloud = { 0 };
	int status = cloud_take(points, &cloud) < 0 ? -1 : cloud_spacing(run, &cloud, size);

	cloud_free(&cloud);
	if (status == 0 && run->verbose)
		note("--grid", "auto is %.4g", *size);
	return status;
}

static int
end(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *cloud = NULL;
	struct shared_errors errors = { 0 };
	bool folded = priv->sums.clouds > 0;
	double size = parameters->grid.n ? parameters->grid.v[0] : NAN;
	size_t points;
	int status;

	if (priv->pieces.n == 0)
		return 0;
	status = views_check_number(&priv->views, run);
	/* views_conclude() and the checks of poses have lines of their own */
	if (status == 0 && !priv->views.warned && !priv->views.unit_warned && !priv->views.same &&
	    (priv->views.met || !priv->views.apart[0]))
		check_places(priv);
	if (status == 0 && parameters->icp)
		status = align_pieces(run, &(struct align_options){ parameters->ring,
		    parameters->max_rms, &parameters->write_pose }, &priv->pieces);
	/* all points, or one for each cube where they went into sums */
	if (status == 0 && folded)
		status = fold_pieces(run, &priv->sums, &priv->pieces) < 0 ? -1 :
		    cube_sums_cloud(&priv->sums, run, &cloud);
	else if (status == 0)
		status = pieces_cloud(run, &priv->pieces, &errors, &cloud);
	if (status == 0) {
		pieces_free(&priv->pieces);
		status = head_points(&cloud->head, &points);
	}
	if (status == 0 && points == 0) {
		warn(NULL, "no frame has a point: the cloud is empty");
		run->status = EXIT_FAILED;
	} else if (status == 0 && parameters->noise.n)
		status = outliers_drop(run, (size_t)parameters->noise.v[0],
		    parameters->noise.v[1], &errors, &cloud);
	if (status == 0 && parameters->grid.n && isnan(size) && points)
		status = find_size(run, cloud, &size);
	if (status == 0 && !isnan(size) && !folded)
		status = thin_cloud(run, size, &errors, &cloud);
	free(errors.piece);
	if (status < 0) {
		frame_free(cloud);
		return -1;
	}
	return run_emit(run, cloud);
}

static const struct body cloud_body = { .frame = take_frame, .end = end,
	.no_passes = "a cloud waits for all its points" };

/* ---- beginning and end ---- */

static int
check_noise(const struct numbers *noise)
{
	if (noise->n == 0)
		return 0;
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

	run->body = &cloud_body;
	if (check_noise(&parameters->noise) < 0 ||
	    check_icp(parameters, 1 + parameters->views.n) < 0 ||
	    views_open(&priv->views, &parameters->views, &parameters->poses) < 0)
		return -1;
	priv->views.compares = !parameters->icp;
	priv->sums.size = parameters->grid.n ? parameters->grid.v[0] : NAN;
	priv->folds = !isnan(priv->sums.size) && !parameters->icp && parameters->noise.n == 0;
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	pieces_free(&priv->pieces);
	cube_sums_free(&priv->sums);
	free(priv->place);
	if (!fail_message())
		views_conclude(&priv->views);
	views_close(&priv->views);
}

const struct stage stage_mergexyz = {
	.name = "mergexyz",
	.summary = "points of many views to one cloud",
	.hint = "--noise",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_TABLES | STAGE_UNITS,
	.init = init,
	.release = release,
};
