/*
 * The simulated scene of a run: reads its options, places the scene before its rig, and looks at
 * every pixel for what the projector or the laser lights there.
 */
#define _GNU_SOURCE
#include "simulated_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/source.h"
#include "optics/device_check.h"
#include "simulated_board.h"
#include "simulated_laser.h"

#define SCENE_COLOURS 3
#define TWO_PI 6.28318530717958647692

/* ---- options that do not go together ---- */

static int
check_scene(const struct simulated_scene_options *options, enum scene_kind kind)
{
	if (kind == SCENE_FILE && !options->depth)
		return fail_usage("--scene", "file needs --depth");
	if (kind != SCENE_FILE && options->depth)
		return fail_usage("--depth", "is only for --scene file");
	if (kind != SCENE_SPHERE && kind != SCENE_CYLINDER && !isnan(options->radius))
		return fail_usage("--radius", "is only for --scene sphere and cylinder");
	if (kind == SCENE_CYLINDER && !options->calib)
		return fail_usage("--scene", "cylinder stands before the camera of --calib");
	if (kind == SCENE_FILE && !isnan(options->height))
		return fail_usage("--height", "the heights of a depth image are taken as they are");
	return simulated_board_check(options, kind);
}

/* NULL or the option of the other geometry that was given. */
static const char *
foreign_option(const struct simulated_scene_options *options)
{
	if (options->calib)
		return options->ref_plane.n ? "--ref-plane" : !isnan(options->c) ? "--c" :
		    !isnan(options->pixel) ? "--pixel" : NULL;
	return options->origin.n ? "--origin" : !isnan(options->distance) ? "--distance" :
	    options->view ? "--view" : options->camera ? "--camera" : NULL;
}

static int
check_rig(const struct simulated_scene_options *options)
{
	const char *foreign = foreign_option(options);

	if (foreign && options->calib)
		return fail_usage(foreign, "has no meaning with --calib");
	if (foreign)
		return fail_usage(foreign, "is only for --calib");
	if (options->origin.n && options->origin.n != 2)
		return fail_usage("--origin", "must be two numbers, not %zu", options->origin.n);
	if (options->ref_plane.n && options->ref_plane.n != 3)
		return fail_usage("--ref-plane", "must be three numbers, not %zu",
		    options->ref_plane.n);
	if (options->c == 0)
		return fail_usage("--c", "must not be 0");
	return 0;
}

/* ---- setting up ---- */

/* Does the picture lie on the calibration's camera, and does --origin say where, if on a part? */
static int
check_crop(const struct rig *rig, const struct pinhole *camera,
    const struct simulated_scene_options *options)
{
	const double *origin = rig->origin_px, w = (double)rig->w, h = (double)rig->h;

	if (camera->w > 0 && (origin[0] < -0.5 || origin[1] < -0.5 ||
	    origin[0] + w > camera->w + 0.5 || origin[1] + h > camera->h + 0.5))
		return fail_usage(options->size.w ? "--size" : "--origin", "%zux%zu px from %g,%g "
		    "on do not lie on the calibration's camera of %gx%g px", rig->w, rig->h,
		    origin[0], origin[1], camera->w, camera->h);
	if (options->origin.n)
		return 0;
	if (!(camera->w > 0))
		device_check_resolution(options->calib, camera, DEVICE_CAMERA, "camera", w, h);
	else if (w < camera->w || h < camera->h)
		warn("--size", "%zux%zu px are the upper left part of the calibration's camera of "
		    "%gx%g px: leave --size out for the whole picture, or say where the part lies, "
		    "by --origin", rig->w, rig->h, camera->w, camera->h);
	return 0;
}

static int
choose_size(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	const struct pinhole *camera = &simulated->calib.camera;
	const struct frame *file = simulated->scene.file;
	struct rig *rig = &simulated->rig;
	double rest[2] = { camera->w - rig->origin_px[0], camera->h - rig->origin_px[1] };

	rig->w = 640;
	rig->h = 480;
	if (rig->calib && camera->w > 0) {
		if (rest[0] < 1 || rest[1] < 1)
			return fail_usage("--origin", "lies outside the %gx%g camera", camera->w,
			    camera->h);
		rig->w = (size_t)rest[0];
		rig->h = (size_t)rest[1];
	} else if (!rig->calib && file) {
		rig->w = file->head.w;
		rig->h = file->head.h;
	}
	if (options->size.w) {
		rig->w = options->size.w;
		rig->h = options->size.h;
	}
	if (rig->calib && check_crop(rig, camera, options) < 0)
		return -1;
	if (!rig->calib && file && (rig->w != file->head.w || rig->h != file->head.h))
		return fail(options->depth, "is %zux%zu, --size is %zux%zu", file->head.w,
		    file->head.h, rig->w, rig->h);
	return 0;
}

static void
choose_projector(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	const struct pinhole *projector = &simulated->calib.projector;
	struct rig *rig = &simulated->rig;

	rig->projector_px[0] = 1920;
	rig->projector_px[1] = 1080;
	if (rig->calib && projector->w > 0) {
		rig->projector_px[0] = projector->w;
		rig->projector_px[1] = projector->h;
	}
	simulated->projector_given = rig->calib || options->projector.w;
	if (options->projector.w) {
		if (rig->calib && projector->w > 0 &&
		    ((double)options->projector.w != projector->w ||
		    (double)options->projector.h != projector->h))
			warn("--projector", "says %zux%zu px, and the calibration's projector has "
			    "%gx%g px: leave it out", options->projector.w, options->projector.h,
			    projector->w, projector->h);
		rig->projector_px[0] = (double)options->projector.w;
		rig->projector_px[1] = (double)options->projector.h;
	}
}

static int
set_ortho(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	struct rig *rig = &simulated->rig;
	struct scene *scene = &simulated->scene;
	double w = (double)rig->w, h = (double)rig->h;

	rig->c = isnan(options->c) ? 5 : options->c;
	rig->pixel = !isnan(options->pixel) ? options->pixel :
	    (isnan(options->field) ? 100 : options->field) / w;
	scene->width = isnan(options->field) ? rig->pixel * w : options->field;
	scene->length = scene->width * h / w;
	for (int k = 0; k < 2; k++)
		rig->ref_plane[k][1 + k] = TWO_PI / rig->period_px;
	if (options->ref_plane.n)
		memcpy(rig->ref_plane[rig->used[0] ? 0 : 1], options->ref_plane.v,
		    sizeof(rig->ref_plane[0]));
	if (rig->shadow && !rig_has_light_direction(rig))
		return fail_usage("--shadow", "needs a --ref-plane that is not level");
	return 0;
}

/* The field is what the whole camera sees at the distance, so that a crop shows a part of it. */
static int
set_pinhole(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	const struct pinhole *camera = &simulated->calib.camera;
	struct rig *rig = &simulated->rig;
	struct scene *scene = &simulated->scene;
	double size[2] = { camera->w > 0 ? camera->w : (double)rig->w,
		camera->w > 0 ? camera->h : (double)rig->h };
	double w, h;

	if (simulated->pair.given) {	/* both views are of one scene */
		pair_size(&simulated->pair, size);
		rig->before = camera = &simulated->pair.stereo.camera[STEREO_LEFT];
		rig->other = &simulated->pair.stereo.camera[!simulated->pair.side];
	}
	w = size[0];
	h = size[1];
	if (!options->laser.on)
		rig->distance = options->board_pose.n == 6 ? options->board_pose.v[5] :
		    options->distance;
	if (isnan(rig->distance))
		rig->distance = simulated->pair.given ? pair_axes_meet(&simulated->pair) :
		    rig_axes_meet(&simulated->calib);
	if (isnan(rig->distance))
		return fail_usage("--calib", "the axes meet nowhere: --distance is needed");
	scene->width = isnan(options->field) ? w / camera->K[0] * rig->distance : options->field;
	scene->length = scene->width * h / w;
	if (scene->file && (scene->file->head.w < 2 || scene->file->head.h < 2))
		return fail(options->depth, "is %zux%zu, rays need at least 2x2 heights",
		    scene->file->head.w, scene->file->head.h);
	return 0;
}

static int
set_paint(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	static const char *const words[] = { "none", "checker", "noise" };
	const struct rig *rig = &simulated->rig;
	struct frame *image;

	simulated->colour = SCENE_COLOURS;
	if (options->paint >= 0) {
		if (strcmp(options->albedo, "none"))
			return fail_usage("--paint", "takes the place of --albedo %.40s: give one",
			    options->albedo);
		if (simulated->scene.kind == SCENE_BOARD)
			return fail_usage("--paint", "is not for --scene board, which is printed");
		simulated->paint = PAINT_COLOURS;
		simulated->colours = (enum scene_paint)options->paint;
		return 0;
	}
	for (int i = 0; i < 3; i++)
		if (!strcmp(options->albedo, words[i])) {
			simulated->paint = (enum paint)i;
			return 0;
		}
	if (options->view)
		return fail_usage("--albedo", "an image is of one view: with --view it is none, "
		    "checker or noise");
	simulated->paint = PAINT_FILE;
	if (source_load(options->albedo, &image) < 0)
		return -1;
	simulated->white = image->head.type == SAMPLE_UCHAR ? 255 :
	    image->head.type == SAMPLE_USHORT ? 65535 : 1;
	if (image->head.c != 1 || image->head.w != rig->w || image->head.h != rig->h) {
		fail(options->albedo, "is %zux%zu with %zu channels, wanted %zux%zu with one",
		    image->head.w, image->head.h, image->head.c, rig->w, rig->h);
		frame_free(image);
		return -1;
	}
	if (frame_to_float(image, &simulated->albedo) < 0)
		simulated->albedo = NULL;
	frame_free(image);
	return simulated->albedo ? 0 : -1;
}

static int
new_view(struct simulated_scene *simulated)
{
	const struct rig *rig = &simulated->rig;
	size_t n, bytes;

	if (size_multiply(rig->w + 2 * rig->margin, rig->samples, &simulated->columns) < 0 ||
	    size_multiply(rig->h + 2 * rig->margin, rig->samples, &simulated->rows) < 0 ||
	    size_multiply(simulated->columns, simulated->rows, &n) < 0 ||
	    size_multiply(n, sizeof(double), &bytes) < 0)
		return -1;
	for (int k = 0; k < 2; k++)
		if (((rig->used[k] || simulated->both) &&
			!(simulated->column[k] = malloc(bytes))) ||
		    (rig->board && !(simulated->painted[k] = malloc(bytes))))
			return fail_memory();
	simulated->share = malloc(n * sizeof(*simulated->share));
	simulated->visibility = malloc(n);
	return simulated->share && simulated->visibility ? 0 : fail_memory();
}

static int
load_rig(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	double size[2] = { 1920, 1080 };

	if (!options->view)
		return calib_load_device(options->calib, options->camera, NULL, &simulated->calib);
	if (options->camera || options->board)
		return fail_usage("--view", "is for two cameras that see a scene: it goes with "
		    "neither --camera nor --board");
	if (options->projector.w) {
		size[0] = (double)options->projector.w;
		size[1] = (double)options->projector.h;
	}
	return pair_open(&simulated->pair, options->calib, options->view, size,
	    &simulated->calib);
}

int
simulated_scene_open(struct simulated_scene *simulated,
    const struct simulated_scene_options *options, double period_px, uint32_t seed,
    const bool axis[2])
{
	struct scene *scene = &simulated->scene;
	struct rig *rig = &simulated->rig;

	scene->kind = options->scene >= 0 ? (enum scene_kind)options->scene :
	    options->depth ? SCENE_FILE : SCENE_RELIEF;
	scene->rise = options->height;
	scene->radius = options->radius;
	*rig = (struct rig){ .scene = scene, .used = { axis[0], axis[1] },
		.shadow = options->shadow, .period_px = period_px, .samples = 1 };
	if (check_scene(options, scene->kind) < 0 || check_rig(options) < 0)
		return -1;
	if (options->laser.on ? simulated_laser_open(simulated, options) < 0 :
	    options->calib && load_rig(simulated, options) < 0)
		return -1;
	simulated->seed = seed;
	rig->calib = options->calib ? &simulated->calib : NULL;
	for (int k = 0; k < 2 && options->origin.n; k++)
		rig->origin_px[k] = options->origin.v[k];
	if (options->depth && scene_load(scene, options->depth) < 0)
		return -1;
	if (choose_size(simulated, options) < 0)
		return -1;
	choose_projector(simulated, options);
	if ((rig->calib ? set_pinhole(simulated, options) : set_ortho(simulated, options)) < 0)
		return -1;
	if (scene_init(scene) < 0 || set_paint(simulated, options) < 0 ||
	    simulated_board_open(simulated, options) < 0)
		return -1;
	return new_view(simulated);
}

void
simulated_scene_close(struct simulated_scene *simulated)
{
	scene_free(&simulated->scene);
	frame_free(simulated->albedo);
	for (int k = 0; k < 2; k++) {
		free(simulated->column[k]);
		free(simulated->painted[k]);
	}
	free(simulated->share);
	free(simulated->visibility);
	*simulated = (struct simulated_scene){ 0 };
}

/* ---- looking ---- */

struct look {
	struct simulated_scene *simulated;
	const struct rig_pose *pose;
	struct frame *truth;
};

/* The sample of an image of the picture's size that a place of the picture lies on. */
static double
file_paint(const struct simulated_scene *simulated, double x, double y)
{
	const struct frame *image = simulated->albedo;
	double column = fmin(fmax(floor(x + 0.5), 0), (double)image->head.w - 1);
	double row = fmin(fmax(floor(y + 0.5), 0), (double)image->head.h - 1);

	return frame_floats(image, 0, (size_t)row)[(size_t)column] / simulated->white;
}

static double
colour_share(const struct simulated_scene *simulated, const double at[2], size_t colour)
{
	double sum = 0;

	if (colour < SCENE_COLOURS)
		return scene_paint(&simulated->scene, simulated->colours, at[0], at[1], colour);
	for (size_t k = 0; k < SCENE_COLOURS; k++)
		sum += scene_paint(&simulated->scene, simulated->colours, at[0], at[1], k);
	return sum / SCENE_COLOURS;
}

bool
simulated_scene_is_coloured(const struct simulated_scene *simulated)
{
	return simulated->paint == PAINT_COLOURS;
}

double
simulated_scene_share(const struct simulated_scene *simulated, const struct rig_point *point,
    double x, double y)
{
	const double *at = point->painted;

	switch (simulated->paint) {
	case PAINT_CHECKER:
		return scene_checker(&simulated->scene, at[0], at[1]);
	case PAINT_NOISE:
		return scene_texture(&simulated->scene, simulated->seed, at[0], at[1]);
	case PAINT_FILE:
		return file_paint(simulated, x, y);
	case PAINT_COLOURS:
		return colour_share(simulated, at, simulated->colour);
	default:
		return 1;
	}
}

static void
fill_truth(const struct simulated_scene *simulated, const struct rig_point *point,
    struct frame *truth, size_t x, size_t y)
{
	const struct rig *rig = &simulated->rig;
	double phase = TWO_PI * point->column[rig->used[0] ? 0 : 1] / rig->period_px;
	double value[] = { phase, point->depth, point->X[0], point->X[1], point->X[2] };
	double disparity;

	for (size_t c = 0; c < 5; c++)
		frame_floats(truth, c, y)[x] = point->lit ? (float)value[c] : NAN;
	frame_floats(truth, 5, y)[x] = point->lit;
	if (simulated->pair.given)
		frame_floats(truth, 6, y)[x] = point->lit && point->seen && pair_disparity(
		    &simulated->pair, point->X, rig->origin_px, rig->w, rig->h, &disparity) ?
		    (float)disparity : NAN;
	for (size_t k = 0; k < SCENE_COLOURS && simulated->paint == PAINT_COLOURS; k++)
		frame_floats(truth, truth->head.c - SCENE_COLOURS + k, y)[x] = point->lit ?
		    (float)colour_share(simulated, point->painted, k) : NAN;
}

static void
look_row(void *arg, size_t row)
{
	const struct look *look = arg;
	struct simulated_scene *simulated = look->simulated;
	const struct rig *rig = &simulated->rig;
	double y = rig_sample(rig, row);
	struct rig_point point;

	for (size_t column = 0; column < simulated->columns; column++) {
		size_t i = row * simulated->columns + column;
		double x = rig_sample(rig, column);

		rig_look(rig, look->pose, x, y, &point);
		simulated->visibility[i] = point.lit ? VISIBILITY_LIT :
		    point.surface ? VISIBILITY_DARK : VISIBILITY_NONE;
		simulated->share[i] = point.surface ?
		    simulated_scene_share(simulated, &point, x, y) : 0;
		for (int k = 0; k < 2; k++) {
			if (simulated->column[k])
				simulated->column[k][i] = point.column[k];
			if (simulated->painted[k])
				simulated->painted[k][i] = point.painted[k];
		}
		if (look->truth && rig->samples == 1)
			fill_truth(simulated, &point, look->truth, column, row);
	}
}

/* Where pixels are made of several samples, the truth is that of their centres. */
static void
truth_row(void *arg, size_t y)
{
	const struct look *look = arg;
	const struct rig *rig = &look->simulated->rig;
	struct rig_point point;

	for (size_t x = 0; x < rig->w; x++) {
		rig_look(rig, look->pose, (double)x, (double)y, &point);
		fill_truth(look->simulated, &point, look->truth, x, y);
	}
}

void
simulated_scene_look(struct simulated_scene *simulated, struct run *run,
    const struct rig_pose *pose, struct frame *truth)
{
	struct look look = { simulated, pose, truth };

	run_for(run, simulated->rows, look_row, &look);
	if (truth && simulated->rig.samples > 1)
		run_for(run, simulated->rig.h, truth_row, &look);
	if (simulated->rig.board)
		simulated_board_paint(simulated, run);
}

int
simulated_scene_describe(const struct simulated_scene *simulated, struct frame_head *head)
{
	const struct rig *rig = &simulated->rig;

	/* unwrap2f would take a size that was only assumed for a field that the fringes fill */
	if (!simulated->projector_given && !meta_get(&head->meta, "gray_cell"))
		meta_remove(&head->meta, "projector_px");
	else if (meta_set_numbers(&head->meta, "projector_px", rig->projector_px, 2) < 0)
		return -1;
	if (rig->calib)
		return meta_set_numbers(&head->meta, "origin_px", rig->origin_px, 2);
	head->spacing[0] = head->spacing[1] = rig->pixel;
	strcpy(head->unit, "mm");
	return meta_set_number(&head->meta, "c_mm_per_rad", rig->c) < 0 ? -1 :
	    meta_set_numbers(&head->meta, "ref_plane_rad", rig->ref_plane[rig->used[0] ? 0 : 1], 3);
}

int
simulated_scene_new_truth(const struct simulated_scene *simulated, struct frame **out)
{
	const struct rig *rig = &simulated->rig;
	struct frame_head head;
	char channels[64];
	int status;

	if (head_init(&head, rig->w, rig->h, 1, SAMPLE_FLOAT) < 0)
		return -1;
	snprintf(channels, sizeof(channels), "absphase depth x y z mask%s%s",
	    simulated->pair.given ? " disparity" : "",
	    simulated->paint == PAINT_COLOURS ? " r g b" : "");
	status = head_set_channels(&head, channels) < 0 ||
	    meta_set_number(&head.meta, "period_px", rig->period_px) < 0 ||
	    meta_set(&head.meta, "axis", rig->used[0] ? "x" : "y") < 0 ||
	    meta_set(&head.meta, "length_unit", rig->calib ? simulated->calib.unit : "mm") < 0 ||
	    meta_set(&head.meta, "z_axis", rig->calib ? "away" : "towards") < 0 ||
	    simulated_scene_describe(simulated, &head) < 0 ? -1 : frame_new(&head, out);
	head_free(&head);
	return status;
}
