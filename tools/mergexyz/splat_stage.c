#include "splat_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "optics/calib_entries.h"
#include "optics/number_file.h"
#include "optics/stereo.h"
#include "splat_cameras.h"
#include "splat_channels.h"
#include "splat_eye.h"
#include "splat_field.h"

const char *const splat_onto_words[] = { "ortho", "projector", NULL };
const char *const splat_weight_words[] = { "sigma", "modulation", "none", NULL };

#define UNLIT 0.1	/* of the points: more is worth a word */
#define COVERED 0.125	/* of the grid's sides: less is */

/* ---- options ---- */

/* NULL or an option that only a splat has a use for. */
static const char *
splat_option(const struct splat_options *options)
{
	return options->onto >= 0 ? "--onto" : options->calib ? "--calib" : options->frame ?
	    "--frame" : !isnan(options->pixel_mm) ? "--pixel" : options->center.n ? "--center" :
	    options->weight >= 0 ? "--weight" : !isnan(options->jump) ? "--jump" : NULL;
}

int
splat_stage_wanted(const struct splat_options *options)
{
	const char *option = splat_option(options);

	if (options->size.w == 0)
		return option ? fail_usage(option, "is only for --splat") : 0;
	if (options->onto < 0)
		return fail_usage("--splat", "wants --onto ortho or --onto projector");
	if (!options->calib)
		return fail_usage("--splat", "wants --calib, for the projector");
	if (options->onto == SPLAT_PROJECTOR && (!isnan(options->pixel_mm) || options->center.n))
		return fail_usage(options->center.n ? "--center" : "--pixel",
		    "is only for --onto ortho");
	if (options->center.n && options->center.n != 2)
		return fail_usage("--center", "must be two numbers, not %zu", options->center.n);
	if (options->size.w > UINT32_MAX / 2 || options->size.h > UINT32_MAX / 2)
		return fail_usage("--splat", "%zux%zu is too large", options->size.w,
		    options->size.h);
	return 1;
}

/* Does a file name two cameras as K1 and K2, and a projector beside them, but no camera_K? Then K2
 * is no projector. */
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
load_projector(const struct splat_options *options, struct calib *calib)
{
	struct stereo stereo;
	bool pair;

	if (is_pair(options->calib, &pair) < 0)
		return -1;
	if (!pair || options->frame)
		return calib_load_device(options->calib, NULL, options->frame, calib);
	if (stereo_load(options->calib, &stereo) < 0)
		return -1;
	*calib = (struct calib){ .projector = stereo.projector, .unit = "mm",
		.two_cameras = !stereo.has_projector };
	return 0;
}

int
splat_stage_open(struct splat_stage *stage, const struct splat_options *options, size_t views)
{
	struct calib calib;

	stage->options = options;
	if (load_projector(options, &calib) < 0)
		return -1;
	if (calib.two_cameras)
		return fail(options->calib, "has two cameras and no projector");
	stage->projector = calib.projector;
	stage->projector_px[0] = calib.projector.w;
	stage->projector_px[1] = calib.projector.h;
	memcpy(stage->unit, calib.unit, sizeof(stage->unit));
	return splat_open(&stage->splat, views) < 0 ||
	    splat_sets_open(&stage->sets, views, options->late_s) < 0 ? -1 : 0;
}

void
splat_stage_close(struct splat_stage *stage)
{
	splat_sets_close(&stage->sets);
	splat_close(&stage->splat);
	free(stage->eye);
}

/* ---- the grid ---- */

/* The picture's size, by the calibration, else by the captures. */
static int
find_picture(struct splat_stage *stage, const struct frame_head *head)
{
	struct numbers size;

	if (stage->projector_px[0] > 0)
		return 0;
	if (meta_numbers(&head->meta, "projector_px", &size) < 0)
		return -1;
	for (size_t k = 0; k < 2; k++)
		stage->projector_px[k] = size.n == 2 ? size.v[k] : 0;
	numbers_free(&size);
	return stage->projector_px[0] >= 1 && stage->projector_px[1] >= 1 ? 0 :
	    fail(stage->options->calib, "does not say how large the projector's picture is "
	    "(projector_size), nor do the frames (projector_px)");
}

/* Chooses the grid and the jump, by the first set, for all. */
static int
place(struct splat_stage *stage, const struct splat_source *source)
{
	const struct splat_options *options = stage->options;
	struct splat *splat = &stage->splat;
	const double *center = options->center.n ? options->center.v : (double[2]){ NAN, NAN };
	struct splat_field field;

	if (options->onto == SPLAT_ORTHO)
		splat_grid_ortho(&splat->grid, &stage->projector, options->size.w,
		    options->size.h);
	else if (find_picture(stage, &source->frame->head) < 0 ||
	    splat_grid_picture(&splat->grid, &stage->projector, stage->projector_px,
	    options->size.w, options->size.h) < 0)
		return -1;
	if (splat_field_choose(&splat->grid, source, splat->views, options->pixel_mm, center,
	    stage->projector_px, &field) < 0)
		return -1;
	if (field.unlit > UNLIT)
		warn(NULL, "the projector's picture misses %.0f %% of the points: are they in the "
		    "world of --calib?", 100 * field.unlit);
	else if (field.apart > (double)SPLAT_REACH)
		warn("--splat", "most points lie %.0f cells and more apart: holes are left, a "
		    "smaller grid has none", floor(field.apart));
	else if (!isnan(options->pixel_mm) && field.fitting_mm > 0 &&
	    field.covered[0] < COVERED * (double)options->size.w &&
	    field.covered[1] < COVERED * (double)options->size.h)
		warn("--pixel", "%g mm is coarse: the points cover %.0f x %.0f of %zu x %zu cells, "
		    "which %.2g mm would fill", options->pixel_mm, ceil(field.covered[0]),
		    ceil(field.covered[1]), options->size.w, options->size.h, field.fitting_mm);
	splat->jump = (float)(isnan(options->jump) ? 10 * splat_grid_pixel(&splat->grid,
	    field.depth) : options->jump);
	stage->placed = true;
	return 0;
}

/* ---- the result ---- */

#define SHARED_PX 0.41	/* sqrt(1/6): the standard deviation of what cells share with neighbours */

/* What describes the camera's pixels is not true of the cells. */
static const char *const camera_keys[] = { "origin_px", "bin", "rect_f_px", "rect_cx_px",
	"rect_cy_px", "rect_side", "rect_baseline_mm", "rect_rotation", "picture_px" };

static int
make_head(const struct splat_stage *stage, const struct frame_head *in,
    const struct splat_channels *channels, struct frame_head *out)
{
	const struct splat_grid *grid = &stage->splat.grid;

	if (head_copy(out, in) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(camera_keys) / sizeof(*camera_keys); i++)
		meta_remove(&out->meta, camera_keys[i]);
	out->w = grid->w;
	out->h = grid->h;
	for (size_t k = 0; k < 2; k++)
		out->spacing[k] = grid->ortho ? grid->pixel_mm : NAN;
	memcpy(out->unit, grid->ortho ? stage->unit : "", grid->ortho ? sizeof(out->unit) : 1);
	if (channels->sigma && meta_set_number(&out->meta, "sigma_window_px", SHARED_PX) < 0)
		return -1;
	return head_set_channels(out, channels->names) < 0 ||
	    meta_set(&out->meta, "length_unit", stage->unit) < 0 ? -1 :
	    meta_set(&out->meta, "z_axis", "away");
}

/* Says what became of the points of a set. */
static int
check_counts(const struct splat_stage *stage, struct run *run, const struct splat_counts *counts)
{
	for (size_t k = 0; k < stage->splat.views; k++) {
		if (counts[k].lost * 2 > counts[k].points)
			return fail(NULL, "view %zu: %.0f %% of its %zu points lie beside the "
			    "grid: are they in the world of --calib%s?", k + 1, 100 *
			    (double)counts[k].lost / (double)counts[k].points, counts[k].points,
			    stage->options->onto == SPLAT_ORTHO ? ", are --pixel and --center right"
			    : "");
		if (run->verbose && counts[k].lost)
			note(NULL, "view %zu: %zu of %zu points lie beside the grid", k + 1,
			    counts[k].lost, counts[k].points);
	}
	return 0;
}

static int
merge(struct splat_stage *stage, struct run *run, const struct splat_source *source,
    const struct splat_channels *channels)
{
	struct splat_counts *counts = calloc(stage->splat.views, sizeof(*counts));
	struct frame_head head;
	struct frame *out;
	int status;

	if (!counts)
		return fail_memory();
	status = make_head(stage, &source->frame->head, channels, &head);
	if (status == 0)
		status = frame_new(&head, &out);
	head_free(&head);
	if (status == 0) {
		status = splat_merge(&stage->splat, run, source, out, counts);
		if (status == 0)
			status = check_counts(stage, run, counts);
		if (status < 0)
			frame_free(out);
		else
			status = run_emit(run, out);
	}
	free(counts);
	return status;
}

/* The cameras' centres, by the first set; only sigma needs them. */
static int
find_eyes(struct splat_stage *stage, const struct splat_source *source)
{
	if (stage->eye)
		return 0;
	stage->eye = calloc(stage->splat.views, sizeof(*stage->eye));
	if (!stage->eye)
		return fail_memory();
	for (size_t k = 0; k < stage->splat.views; k++) {
		if (splat_eye_find(&source[k], stage->eye[k]) < 0)
			return -1;
		if (isnan(stage->eye[k][0]))
			warn(NULL, "view %zu: no camera sees its points in this order: sigma is "
			    "taken for that of the depth", k + 1);
	}
	return 0;
}

/* The poses of the views, and of their cameras, in the grid's frame. */
static void
set_poses(const struct splat_stage *stage, const struct pose *pose, struct splat_source *source)
{
	const struct pinhole *projector = &stage->projector;
	struct pose to_grid;

	memcpy(to_grid.R, projector->R, sizeof(to_grid.R));
	memcpy(to_grid.T, projector->T, sizeof(to_grid.T));
	for (size_t k = 0; k < stage->splat.views; k++) {
		pose_compose(&to_grid, &pose[k], &source[k].pose);
		for (size_t i = 0; i < 3; i++)
			source[k].eye[i] = NAN;
		if (stage->eye)
			pose_apply(&source[k].pose, stage->eye[k], source[k].eye);
	}
}

/* Points that poses take to the world need not be in a camera's frame. */
static int
check_cameras(const struct splat_stage *stage, const struct run *run,
    const struct splat_source *source)
{
	struct splat_cameras cameras;
	int status = splat_cameras_load(stage->options->calib, stage->options->frame, &cameras);

	for (size_t k = 0; k < stage->splat.views && status == 0; k++)
		status = splat_cameras_check(&cameras, run, &source[k], k + 1);
	return status;
}

static int
merge_set(struct splat_stage *stage, struct run *run, struct frame **set, const struct pose *pose)
{
	const size_t views = stage->splat.views;
	struct splat_source *source = calloc(views, sizeof(*source));
	struct splat_channels channels;
	int status;

	if (!source)
		return fail_memory();
	status = splat_channels_find(set, views, stage->options->weight, stage->unit, &channels,
	    source);
	stage->splat.keeps_sigma = channels.sigma;
	if (status == 0 && channels.sigma)
		status = find_eyes(stage, source);
	if (status == 0)
		set_poses(stage, pose, source);
	if (status == 0 && !stage->placed && !stage->posed)
		status = check_cameras(stage, run, source);
	if (status == 0 && !stage->placed)
		status = place(stage, source);
	if (status == 0)
		status = merge(stage, run, source, &channels);
	free(source);
	return status;
}

/* ---- steps ---- */

int
splat_stage_step(struct splat_stage *stage, struct run *run, struct frame **view,
    const struct pose *pose)
{
	const size_t views = stage->splat.views;
	struct frame **set = calloc(views, sizeof(*set));
	struct pose *of_set = calloc(views, sizeof(*of_set));
	int status = set && of_set ? 0 : fail_memory();

	for (size_t k = 0; k < views; k++) {
		if (status == 0)
			status = splat_sets_add(&stage->sets, k, view[k], &pose[k]);
		else
			frame_free(view[k]);
	}
	while (status == 0 && splat_sets_take(&stage->sets, set, of_set)) {
		status = merge_set(stage, run, set, of_set);
		for (size_t k = 0; k < views; k++)
			frame_free(set[k]);
	}
	free(set);
	free(of_set);
	return status;
}

int
splat_stage_end(struct splat_stage *stage)
{
	const struct splat_sets *sets = &stage->sets;

	splat_sets_end(&stage->sets);
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
