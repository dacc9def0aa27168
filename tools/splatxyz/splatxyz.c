/*
 * Points of several cameras on one grid, in a projector's frame (methods §14). Collects sets of
 * frames of the same time, merges each set, and writes the grid as a frame. first_set.c looks at
 * the first set, splatxyz_rows.c spreads the points.
 */
#include "splatxyz.h"

#include "base/numbers.h"
#include "base/px.h"
#include "optics/number_file.h"
#include "optics/stereo.h"
#include "points/views.h"

/*
 * ---- sets ----
 *
 * Streams come in step. Where one of them lacks a set, by its key time_s, the others' frames of
 * that time are dropped, and the streams continue in step from the next time that all have.
 */

void
splat_sets_open(struct splat_sets *sets, size_t views, double late_s)
{
	sets->views = views;
	sets->late_s = late_s;
	sets->queue = must_alloc(views, sizeof(*sets->queue));
	for (size_t k = 0; k < views; k++)
		sets->queue[k].last_s = -INFINITY;
}

static struct frame *
pop(struct splat_queue *queue)
{
	struct frame *frame = queue->frame[queue->first];

	queue->first = (queue->first + 1) % SPLAT_SETS_WAIT;
	queue->n--;
	return frame;
}

void
splat_sets_close(struct splat_sets *sets)
{
	for (size_t k = 0; sets->queue && k < sets->views; k++)
		while (sets->queue[k].n)
			frame_free(pop(&sets->queue[k]));
	free(sets->queue);
	sets->queue = NULL;
}

/* Frame `view` of a step, which it then owns, and its pose. -1 after fail(). */
int
splat_sets_add(struct splat_sets *sets, size_t view, struct frame *frame, const struct pose *pose)
{
	struct splat_queue *queue = &sets->queue[view];
	size_t last = (queue->first + queue->n) % SPLAT_SETS_WAIT;
	double time_s = NAN, before = queue->last_s;
	int status = 0;

	if (queue->n == SPLAT_SETS_WAIT)
		status = fail(NULL, "view %zu runs more than %d sets ahead of another one, by "
		    "their time_s", view + 1, SPLAT_SETS_WAIT);
	else
		status = meta_mean(&frame->head.meta, "time_s", &time_s);
	if (status == 0 && isinf(time_s))
		status = fail(NULL, "view %zu: key time_s must be a time in seconds", view + 1);
	if (status < 0) {
		frame_free(frame);
		return -1;
	}
	queue->frame[last] = frame;
	queue->pose[last] = *pose;
	queue->time_s[last] = queue->last_s = time_s;
	queue->n++;
	sets->untimed |= isnan(time_s);
	sets->timed |= !isnan(time_s);
	return time_s < before ? fail(NULL, "view %zu: key time_s falls, from %.9g s to %.9g s",
	    view + 1, before, time_s) : 0;
}

/* The least and the greatest time of the frames that wait first; false where no frame of some
 * stream waits. */
static bool
find_times(const struct splat_sets *sets, double *least, double *most)
{
	size_t waiting = 0;

	*least = INFINITY;
	*most = -INFINITY;
	for (size_t k = 0; k < sets->views; k++) {
		const struct splat_queue *queue = &sets->queue[k];

		if (queue->n == 0)
			continue;
		waiting++;
		*least = fmin(*least, queue->time_s[queue->first]);
		*most = fmax(*most, queue->time_s[queue->first]);
	}
	return waiting == sets->views;
}

/* Drops the frames of the least time, which some stream lacks. */
static void
drop(struct splat_sets *sets, double least)
{
	for (size_t k = 0; k < sets->views; k++) {
		struct splat_queue *queue = &sets->queue[k];

		if (queue->n && queue->time_s[queue->first] <= least + sets->late_s)
			frame_free(pop(queue));
	}
	sets->dropped++;
}

/* The next set, a frame and a pose for each view; the caller frees the frames. False where none is
 * complete yet. */
bool
splat_sets_take(struct splat_sets *sets, struct frame **set, struct pose *pose)
{
	double least, most;

	while (find_times(sets, &least, &most)) {
		if (!sets->untimed && most - least > sets->late_s) {
			drop(sets, least);
			continue;
		}
		for (size_t k = 0; k < sets->views; k++) {
			pose[k] = sets->queue[k].pose[sets->queue[k].first];
			set[k] = pop(&sets->queue[k]);
		}
		sets->sets++;
		return true;
	}
	return false;
}

/* The streams have ended: drops what still waits. */
void
splat_sets_end(struct splat_sets *sets)
{
	double least, most;

	for (find_times(sets, &least, &most); least < INFINITY; find_times(sets, &least, &most))
		drop(sets, least);
}

/* ---- the merge of a set ---- */

static void
free_view(struct splat_view *view)
{
	free_all(view->u, view->span, view->points, view->lost);
	view->u = view->v = view->d = NULL;
	view->span = NULL;
	view->points = view->lost = NULL;
}

/* Makes room for w x h points, or keeps it where the size has not changed. */
static int
resize_view(struct splat_view *view, size_t w, size_t h)
{
	size_t stride = (w + 16 + 31) / 16 * 16, n, spans;

	if (view->u && view->w == w && view->h == h)
		return 0;
	free_view(view);
	view->w = w;
	view->h = h;
	view->stride = stride;
	view->segments = (w + SPLAT_SEGMENT - 1) / SPLAT_SEGMENT;
	if (size_multiply(stride, h + 2, &n) < 0 || size_multiply(view->segments, h, &spans) < 0)
		return -1;
	view->u = must_aligned(n, 3 * sizeof(float));
	view->span = must_alloc(spans, sizeof(*view->span));
	view->points = must_alloc(h, sizeof(*view->points));
	view->lost = must_alloc(h, sizeof(*view->lost));
	view->v = view->u + n;
	view->d = view->v + n;
	for (size_t i = 0; i < 3 * n; i++)
		view->u[i] = PX_NAN;
	return 0;
}

/* Makes room for so many views. splat_close() it. */
void
splat_open(struct splat *splat, size_t views)
{
	splat->views = views;
	splat->view = must_alloc(views, sizeof(*splat->view));
}

void
splat_close(struct splat *splat)
{
	for (size_t k = 0; k < splat->views && splat->view; k++)
		free_view(&splat->view[k]);
	free(splat->view);
	splat_grid_free(&splat->grid);
	for (size_t k = 0; k < splat->threads; k++) {
		struct splat_scratch *scratch = &splat->scratch[k];

		for (size_t i = 0; i < scratch->room; i++)
			free(scratch->block[i]);
		free_all(scratch->block, scratch->nearest, scratch->sum, scratch->more);
	}
	free(splat->scratch);
	free(splat->claimed);
	*splat = (struct splat){ 0 };
}

/* A thread's strips, one after another, in memory of its own. */
static void
fill_strips(void *arg, size_t thread)
{
	struct splat_job *job = arg;
	size_t h = job->splat->grid.h, y0;

	while ((y0 = STRIP_ROWS * __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED)) < h) {
		size_t y1 = h - y0 < STRIP_ROWS ? h : y0 + STRIP_ROWS;

		splatxyz_rows()->strip_fill(job->splat, job->source,
		    &job->splat->scratch[thread], job->out, y0, y1);
	}
}

/* Makes room for the points of a set; *rows: of all views. */
static int
fit_views(struct splat *splat, size_t threads, const struct splat_source *source, size_t *rows)
{
	size_t cells;

	if (!splat->scratch) {
		splat->scratch = must_alloc(threads, sizeof(*splat->scratch));
		splat->threads = threads;
	}
	*rows = 0;
	for (size_t k = 0; k < splat->views; k++) {
		if (resize_view(&splat->view[k], source[k].w, source[k].h) < 0)
			return -1;
		splat->view[k].jump = splat->jump;
		*rows += source[k].h;
	}
	if (!splat->claimed) {
		if (size_multiply(splat->grid.w, splat->grid.h, &cells) < 0)
			return -1;
		splat->claimed = must_alloc(cells, 1);
	}
	return 0;
}

/*
 * Merges one frame of each view. out has the channels x y z, sigma if keeps_sigma, then the
 * attributes of the sources in their order, and the size of the grid. counts[views]. The result
 * does not depend on the number of threads. run may be NULL: one thread. -1 after fail().
 */
int
splat_merge(struct splat *splat, struct run *run, const struct splat_source *source,
    struct frame *out, struct splat_counts *counts)
{
	struct splat_job job = { .splat = splat, .source = source, .out = out };
	size_t rows = 0;

	if (fit_views(splat, run && run->threads > 1 ? (size_t)run->threads : 1, source, &rows) < 0)
		return -1;
	run_for(run, rows, splatxyz_rows()->project, &job);
	run_for(run, rows, splatxyz_rows()->find_reach, &job);
	run_for(run, splat->threads, fill_strips, &job);
	run_for(run, splat->grid.h, splatxyz_rows()->close_holes, &job);
	for (size_t k = 0; k < splat->views; k++) {
		counts[k] = (struct splat_counts){ 0 };
		for (size_t y = 0; y < splat->view[k].h; y++) {
			counts[k].points += splat->view[k].points[y];
			counts[k].lost += splat->view[k].lost[y];
		}
	}
	return 0;
}

/* ---- options ---- */

static const char *const onto_words[] = { "ortho", "projector", NULL };
static const char *const weight_words[] = { "sigma", "modulation", "none", NULL };

enum onto { ONTO_ORTHO, ONTO_PROJECTOR };

struct parameters {
	struct opt_size size;
	int onto, weight;		/* weight: enum splat_weight; -1: not given */
	const char *calib, *frame;
	struct opt_list views, poses;
	double pixel_mm, jump, late_s;
	struct numbers center;
};

static const struct opt options[] = {
	{ 0, "splat", "WxH", OPT_SIZE, AT(size), NULL, 0, 0, NULL,
	  "columns and rows of the grid, in cells" },
	{ 0, "onto", "WORD", OPT_WORD, AT(onto), NULL, 0, 0, NULL,
	  "cells of equal size, or the projector's picture", onto_words },
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "the projector's calibration" },
	{ 0, "frame", "NAME", OPT_TEXT, AT(frame), NULL, 0, 0, NULL,
	  "the points' coordinates are those of the calibration's device of that name" },
	VIEWS_OPTIONS(struct parameters, views, poses),
	{ 0, "pixel", "MM", OPT_NUMBER, AT(pixel_mm), NULL, 1e-9, 1e9, "mm",
	  "side of a cell of --onto ortho; such that all points fit if not given" },
	{ 0, "center", "X,Y", OPT_NUMBERS, AT(center), NULL, 0, 0, "mm",
	  "its middle in the projector's frame; that of the points if not given" },
	{ 0, "weight", "WORD", OPT_WORD, AT(weight), NULL, 0, 0, NULL,
	  "of a point: what all views have, the first of these, if not given", weight_words },
	{ 0, "jump", "MM", OPT_NUMBER, AT(jump), NULL, 1e-9, 1e9, "mm",
	  "surfaces farther apart are two, and the nearer counts; 10 cells if not given" },
	{ 0, "late", "S", OPT_NUMBER, AT(late_s), "0.005", 0, 1e9, "s",
	  "frames whose times differ by more are not of one set" },
	/* old spellings go through mergexyz, whose clouds are something else */
	{ 0, "icp", NULL, OPT_STAGE, .standard = "", .help = "mergexyz" },
	{ 0, "noise", "K,N", OPT_STAGE, .standard = "", .help = "mergexyz" },
	{ 0, "grid", "MM", OPT_STAGE, .standard = "", .help = "mergexyz" },
	{ 0 },
};

struct priv {
	struct views views;
	struct splat splat;
	struct splat_sets sets;
	struct pinhole projector;
	double projector_px[2];		/* its picture; 0: not known */
	char unit[16];
	bool placed;			/* the grid and the jump are chosen */
	double (*eye)[3];		/* of each view, in its points' frame; NULL: not yet */
};

static int
check_options(const struct parameters *p)
{
	if (p->size.w == 0)
		return fail_usage("--splat", "is needed: the columns and rows of the grid");
	if (p->onto < 0)
		return fail_usage("--splat", "wants --onto ortho or --onto projector");
	if (!p->calib)
		return fail_usage("--splat", "wants --calib, for the projector");
	if (p->onto == ONTO_PROJECTOR && (!isnan(p->pixel_mm) || p->center.n))
		return fail_usage(p->center.n ? "--center" : "--pixel", "is only for --onto ortho");
	if (p->size.w > UINT32_MAX / 2 || p->size.h > UINT32_MAX / 2)
		return fail_usage("--splat", "%zux%zu is too large", p->size.w, p->size.h);
	return 0;
}

/* Does a file name two cameras, K1 and K2, and a projector, but no camera_K? Then K2 is not the
 * projector's. */
static int
is_pair(const char *path, bool *pair)
{
	struct number_file numbers;

	if (number_file_load(path, &numbers) < 0)
		return -1;
	*pair = calib_has(&numbers, "K1|M1|cameraMatrix1") && calib_has(&numbers,
	    "projector_K|M4") && !calib_has(&numbers, "camera_K");
	number_file_free(&numbers);
	return 0;
}

static int
load_projector(const struct parameters *parameters, struct priv *priv)
{
	struct calib calib;
	struct stereo stereo;
	bool pair;

	if (is_pair(parameters->calib, &pair) < 0)
		return -1;
	if (!pair || parameters->frame) {
		if (calib_load_device(parameters->calib, NULL, parameters->frame, &calib) < 0)
			return -1;
	} else {
		if (stereo_load(parameters->calib, &stereo) < 0)
			return -1;
		calib = (struct calib){ .projector = stereo.projector, .unit = "mm",
			.two_cameras = !stereo.has_projector };
	}
	if (calib.two_cameras)
		return fail(parameters->calib, "has two cameras and no projector");
	priv->projector = calib.projector;
	priv->projector_px[0] = calib.projector.w;
	priv->projector_px[1] = calib.projector.h;
	memcpy(priv->unit, calib.unit, sizeof(priv->unit));
	return 0;
}

/* ---- the grid ---- */

#define UNLIT_MOST 0.1		/* of the points; more is reported */
#define COVERED_LEAST 0.125	/* of the grid's sides; less is reported */

/* The size of the picture: the calibration's, else the captures'. */
static int
find_picture(struct run *run, const struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct numbers size;

	if (priv->projector_px[0] > 0)
		return 0;
	if (meta_numbers(&head->meta, "projector_px", &size) < 0)
		return -1;
	for (size_t k = 0; k < 2; k++)
		priv->projector_px[k] = size.n == 2 ? size.v[k] : 0;
	numbers_free(&size);
	return priv->projector_px[0] >= 1 && priv->projector_px[1] >= 1 ? 0 :
	    fail(parameters->calib, "does not say how large the projector's picture is "
	    "(projector_size), nor do the frames (projector_px)");
}

/* Chooses the grid and the jump for all sets by the first one. */
static int
place_grid(struct run *run, const struct splat_source *source)
{
	const struct parameters *options = run->parameters;
	struct priv *priv = run->priv;
	struct splat *splat = &priv->splat;
	const double *center = options->center.n ? options->center.v : (double[2]){ NAN, NAN };
	struct splat_field field;

	if (options->onto == ONTO_ORTHO)
		splat_grid_ortho(&splat->grid, &priv->projector, options->size.w,
		    options->size.h);
	else if (find_picture(run, &source->frame->head) < 0 ||
	    splat_grid_picture(&splat->grid, &priv->projector, priv->projector_px,
	    options->size.w, options->size.h) < 0)
		return -1;
	if (splat_field_choose(&splat->grid, source, splat->views, options->pixel_mm, center,
	    priv->projector_px, &field) < 0)
		return -1;
	if (field.unlit > UNLIT_MOST)
		warn(NULL, "the projector's picture misses %.0f %% of the points: are they in the "
		    "world of --calib?", 100 * field.unlit);
	else if (field.apart > (double)SPLAT_REACH)
		warn("--splat", "most points lie %.0f cells and more apart: holes are left, a "
		    "smaller grid has none", floor(field.apart));
	else if (!isnan(options->pixel_mm) && field.fitting_mm > 0 &&
	    field.covered[0] < COVERED_LEAST * (double)options->size.w &&
	    field.covered[1] < COVERED_LEAST * (double)options->size.h)
		warn("--pixel", "%g mm is coarse: the points cover %.0f x %.0f of %zu x %zu cells, "
		    "which %.2g mm would fill", options->pixel_mm, ceil(field.covered[0]),
		    ceil(field.covered[1]), options->size.w, options->size.h, field.fitting_mm);
	splat->jump = (float)(isnan(options->jump) ? 10 * splat_grid_pixel(&splat->grid,
	    field.depth) : options->jump);
	priv->placed = true;
	return 0;
}

/* ---- the result ---- */

#define SHARED_PX 0.41	/* sqrt(1/6): the standard deviation of the window that cells share */

/* Keys that describe the camera's pixels, not the cells. */
static const char *const camera_keys[] = { "origin_px", "bin", "rect_f_px", "rect_cx_px",
	"rect_cy_px", "rect_side", "rect_baseline_mm", "rect_rotation", "picture_px" };

static int
make_head(const struct priv *priv, const struct frame_head *in,
    const struct splat_channels *channels, struct frame_head *out)
{
	const struct splat_grid *grid = &priv->splat.grid;

	head_copy(out, in);
	for (size_t i = 0; i < sizeof(camera_keys) / sizeof(*camera_keys); i++)
		meta_remove(&out->meta, camera_keys[i]);
	meta_remove(&out->meta, "seen_from_mm");
	out->w = grid->w;
	out->h = grid->h;
	for (size_t k = 0; k < 2; k++)
		out->spacing[k] = grid->ortho ? grid->pixel_mm : NAN;
	memcpy(out->unit, grid->ortho ? priv->unit : "", grid->ortho ? sizeof(out->unit) : 1);
	if (channels->sigma)
		meta_set_number(&out->meta, "sigma_window_px", SHARED_PX);
	if (head_set_channels(out, channels->names) < 0 ||
	    meta_set(&out->meta, "length_unit", priv->unit) < 0)
		return -1;
	meta_set(&out->meta, "z_axis", "away");
	return 0;
}

/* Reports points that lie outside the grid. */
static int
check_counts(const struct run *run, const struct splat_counts *counts)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	for (size_t k = 0; k < priv->splat.views; k++) {
		if (counts[k].lost * 2 > counts[k].points)
			return fail(NULL, "view %zu: %.0f %% of its %zu points lie beside the "
			    "grid: are they in the world of --calib%s?", k + 1, 100 *
			    (double)counts[k].lost / (double)counts[k].points, counts[k].points,
			    parameters->onto == ONTO_ORTHO ? ", are --pixel and --center right"
			    : "");
		if (run->verbose && counts[k].lost)
			note(NULL, "view %zu: %zu of %zu points lie beside the grid", k + 1,
			    counts[k].lost, counts[k].points);
	}
	return 0;
}

static int
merge_sources(struct run *run, const struct splat_source *source,
    const struct splat_channels *channels)
{
	struct priv *priv = run->priv;
	struct splat_counts *counts = must_alloc(priv->splat.views, sizeof(*counts));
	struct frame_head head;
	struct frame *out;
	int status = frame_new_if(make_head(priv, &source->frame->head, channels, &head), &head,
	    &out);

	if (status == 0) {
		status = splat_merge(&priv->splat, run, source, out, counts);
		if (status == 0)
			status = check_counts(run, counts);
		if (status < 0)
			frame_free(out);
		else
			status = run_emit(run, out);
	}
	free(counts);
	return status;
}

/* The cameras' centres, by the first set. Only sigma needs them. */
static void
find_eyes(struct priv *priv, const struct splat_source *source)
{
	if (priv->eye)
		return;
	priv->eye = must_alloc(priv->splat.views, sizeof(*priv->eye));
	for (size_t k = 0; k < priv->splat.views; k++) {
		splat_eye_find(&source[k], priv->eye[k]);
		if (isnan(priv->eye[k][0]))
			warn(NULL, "view %zu: no camera sees its points in this order: sigma is "
			    "taken for that of the depth", k + 1);
	}
}

/* The poses of the views, and of their cameras, in the grid's frame. */
static void
set_poses(const struct priv *priv, const struct pose *pose, struct splat_source *source)
{
	const struct pinhole *projector = &priv->projector;
	struct pose to_grid;

	memcpy(to_grid.R, projector->R, sizeof(to_grid.R));
	memcpy(to_grid.T, projector->T, sizeof(to_grid.T));
	for (size_t k = 0; k < priv->splat.views; k++) {
		pose_compose(&to_grid, &pose[k], &source[k].pose);
		for (size_t i = 0; i < 3; i++)
			source[k].eye[i] = NAN;
		if (priv->eye)
			pose_apply(&source[k].pose, priv->eye[k], source[k].eye);
	}
}

/* Points that poses take to the world need not be in a camera's frame. */
static int
check_cameras(const struct run *run, const struct splat_source *source)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	struct splat_cameras cameras;
	int status = splat_cameras_load(parameters->calib, parameters->frame, &cameras);

	for (size_t k = 0; k < priv->splat.views && status == 0; k++)
		status = splat_cameras_check(&cameras, run, &source[k], k + 1);
	return status;
}

static int
merge_set(struct run *run, struct frame **set, const struct pose *pose)
{
	struct priv *priv = run->priv;
	const struct parameters *parameters = run->parameters;
	const size_t views = priv->splat.views;
	struct splat_source *source = must_alloc(views, sizeof(*source));
	struct splat_channels channels;
	int status;

	status = splat_channels_find(set, views, parameters->weight, priv->unit, &channels,
	    source);
	priv->splat.keeps_sigma = channels.sigma;
	if (status == 0 && channels.sigma)
		find_eyes(priv, source);
	if (status == 0)
		set_poses(priv, pose, source);
	if (status == 0 && !priv->placed && !priv->views.pose)
		status = check_cameras(run, source);
	if (status == 0 && !priv->placed)
		status = place_grid(run, source);
	if (status == 0)
		status = merge_sources(run, source, &channels);
	free(source);
	return status;
}

/* ---- frames ---- */

/* A frame of each view, of one step of the streams. Emits the sets that are complete. */
static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	const size_t n = priv->views.n;
	struct view_frame *of = must_alloc(n, sizeof(*of));
	struct frame **set = must_alloc(n, sizeof(*set));
	struct pose *pose = must_alloc(n, sizeof(*pose));
	int status = views_take(&priv->views, run, in, of);

	if (status == 0)
		views_check(&priv->views, run, of);
	for (size_t k = 0; k < n; k++) {
		if (status == 0)
			status = splat_sets_add(&priv->sets, k, of[k].frame, &of[k].pose);
		else
			frame_free(of[k].frame);
	}
	while (status == 0 && splat_sets_take(&priv->sets, set, pose)) {
		status = merge_set(run, set, pose);
		for (size_t k = 0; k < n; k++)
			frame_free(set[k]);
	}
	free_all(of, set, pose);
	return status;
}

/* struct body's `end`. -1 after fail(): no set was complete. */
static int
end(struct run *run)
{
	struct priv *priv = run->priv;
	struct splat_sets *sets = &priv->sets;

	if (views_check_number(&priv->views, run) < 0)
		return -1;
	splat_sets_end(sets);
	if (sets->dropped && sets->sets == 0)
		return fail(NULL, "no time that all streams have: their time_s differ by more than "
		    "--late %g s", sets->late_s);
	if (sets->timed && sets->untimed)
		warn(NULL, "some frames have the key time_s and others do not: all were taken in "
		    "step, and what came late is not found");
	if (sets->dropped)
		warn(NULL, "%zu set%s dropped, %zu made: not all streams had a frame of that time "
		    "(time_s, --late %g s)", sets->dropped, sets->dropped == 1 ? "" : "s",
		    sets->sets, sets->late_s);
	return 0;
}

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "points are spread over the grid by the processor" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (views_open(&priv->views, &parameters->views, &parameters->poses) < 0 ||
	    check_options(parameters) < 0 || load_projector(parameters, priv) < 0)
		return -1;
	/* without poses the calibration tells whether points are in one world */
	priv->views.compares = priv->views.pose != NULL;
	splat_open(&priv->splat, priv->views.n);
	splat_sets_open(&priv->sets, priv->views.n, parameters->late_s);
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	if (!fail_message())
		views_conclude(&priv->views);
	views_close(&priv->views);
	splat_sets_close(&priv->sets);
	splat_close(&priv->splat);
	free(priv->eye);
}

const struct stage stage_splatxyz = {
	.name = "splatxyz",
	.summary = "points of several cameras on one grid, seen from a projector",
	.hint = "--calib, --weight",
	.options = options,
	.usual = "splat onto calib view pose pixel center",
	STAGE_MEMORY(priv),
	.traits = STAGE_TABLES | STAGE_UNITS,
	.init = init,
	.release = release,
};
