#define _GNU_SOURCE
#include "simulated_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/source.h"

#define TWO_PI 6.28318530717958647692

/* ---- options that do not go together ---- */

static int
check_scene(const struct studio_options *options, enum scene_kind kind)
{
	if (kind == SCENE_FILE && !options->depth)
		return fail_usage("--scene", "file needs --depth");
	if (kind != SCENE_FILE && options->depth)
		return fail_usage("--depth", "is only for --scene file");
	if (kind != SCENE_SPHERE && !isnan(options->radius))
		return fail_usage("--radius", "is only for --scene sphere");
	if (kind == SCENE_FILE && !isnan(options->height))
		return fail_usage("--height", "the heights of a depth image are taken as they are");
	return 0;
}

/* NULL or the option of the other geometry that was given. */
static const char *
foreign_option(const struct studio_options *options)
{
	if (options->calib)
		return options->ref_plane.n ? "--ref-plane" : !isnan(options->c) ? "--c" :
		    !isnan(options->pixel) ? "--pixel" : NULL;
	return options->origin.n ? "--origin" : !isnan(options->distance) ? "--distance" : NULL;
}

static int
check_rig(const struct studio_options *options)
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

static int
choose_size(struct studio *studio, const struct studio_options *options)
{
	const struct pinhole *camera = &studio->calib.camera;
	const struct frame *file = studio->scene.file;
	struct rig *rig = &studio->rig;
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
	if (!rig->calib && file && (rig->w != file->head.w || rig->h != file->head.h))
		return fail(options->depth, "is %zux%zu, --size is %zux%zu", file->head.w,
		    file->head.h, rig->w, rig->h);
	return 0;
}

static void
choose_projector(struct studio *studio, const struct studio_options *options)
{
	const struct pinhole *projector = &studio->calib.projector;
	struct rig *rig = &studio->rig;

	rig->projector_px[0] = 1920;
	rig->projector_px[1] = 1080;
	if (rig->calib && projector->w > 0) {
		rig->projector_px[0] = projector->w;
		rig->projector_px[1] = projector->h;
	}
	studio->projector_named = rig->calib || options->projector.w;
	if (options->projector.w) {
		rig->projector_px[0] = (double)options->projector.w;
		rig->projector_px[1] = (double)options->projector.h;
	}
}

static int
set_ortho(struct studio *studio, const struct studio_options *options)
{
	struct rig *rig = &studio->rig;
	struct scene *scene = &studio->scene;
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
set_pinhole(struct studio *studio, const struct studio_options *options)
{
	const struct pinhole *camera = &studio->calib.camera;
	struct rig *rig = &studio->rig;
	struct scene *scene = &studio->scene;
	double w = camera->w > 0 ? camera->w : (double)rig->w;
	double h = camera->w > 0 ? camera->h : (double)rig->h;

	rig->distance = options->distance;
	if (isnan(rig->distance))
		rig->distance = rig_axes_meet(&studio->calib);
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
set_paint(struct studio *studio, const struct studio_options *options)
{
	static const char *const words[] = { "none", "checker", "noise" };
	const struct rig *rig = &studio->rig;
	struct frame *image;

	for (int i = 0; i < 3; i++)
		if (!strcmp(options->albedo, words[i])) {
			studio->paint = (enum paint)i;
			return 0;
		}
	studio->paint = PAINT_FILE;
	if (source_load(options->albedo, &image) < 0)
		return -1;
	studio->white = image->head.type == SAMPLE_UCHAR ? 255 :
	    image->head.type == SAMPLE_USHORT ? 65535 : 1;
	if (image->head.c != 1 || image->head.w != rig->w || image->head.h != rig->h) {
		fail(options->albedo, "is %zux%zu with %zu channels, wanted %zux%zu with one",
		    image->head.w, image->head.h, image->head.c, rig->w, rig->h);
		frame_free(image);
		return -1;
	}
	if (frame_to_float(image, &studio->albedo) < 0)
		studio->albedo = NULL;
	frame_free(image);
	return studio->albedo ? 0 : -1;
}

static int
new_view(struct studio *studio)
{
	size_t n, bytes;

	if (size_multiply(studio->rig.w, studio->rig.h, &n) < 0 ||
	    size_multiply(n, sizeof(double), &bytes) < 0)
		return -1;
	for (int k = 0; k < 2; k++)
		if (studio->rig.used[k] && !(studio->column[k] = malloc(bytes)))
			return fail_memory();
	studio->share = malloc(n * sizeof(*studio->share));
	studio->sight = malloc(n);
	return studio->share && studio->sight ? 0 : fail_memory();
}

int
studio_open(struct studio *studio, const struct studio_options *options, double period_px,
    uint32_t seed, const bool axis[2])
{
	struct scene *scene = &studio->scene;
	struct rig *rig = &studio->rig;

	scene->kind = options->scene >= 0 ? (enum scene_kind)options->scene :
	    options->depth ? SCENE_FILE : SCENE_RELIEF;
	scene->rise = options->height;
	scene->radius = options->radius;
	*rig = (struct rig){ .scene = scene, .used = { axis[0], axis[1] },
		.shadow = options->shadow, .period_px = period_px };
	if (check_scene(options, scene->kind) < 0 || check_rig(options) < 0)
		return -1;
	if (options->calib && calib_load(options->calib, &studio->calib) < 0)
		return -1;
	studio->seed = seed;
	rig->calib = options->calib ? &studio->calib : NULL;
	for (int k = 0; k < 2 && options->origin.n; k++)
		rig->origin_px[k] = options->origin.v[k];
	if (options->depth && scene_load(scene, options->depth) < 0)
		return -1;
	if (choose_size(studio, options) < 0)
		return -1;
	choose_projector(studio, options);
	if ((rig->calib ? set_pinhole(studio, options) : set_ortho(studio, options)) < 0)
		return -1;
	if (scene_init(scene) < 0 || set_paint(studio, options) < 0)
		return -1;
	return new_view(studio);
}

void
studio_close(struct studio *studio)
{
	scene_free(&studio->scene);
	frame_free(studio->albedo);
	for (int k = 0; k < 2; k++)
		free(studio->column[k]);
	free(studio->share);
	free(studio->sight);
	*studio = (struct studio){ 0 };
}

/* ---- looking ---- */

struct look {
	struct studio *studio;
	const struct rig_pose *pose;
	struct frame *truth;
};

static double
painted(const struct studio *studio, const struct rig_point *point, size_t x, size_t y)
{
	const double *at = point->painted;

	switch (studio->paint) {
	case PAINT_CHECKER:
		return scene_checker(&studio->scene, at[0], at[1]);
	case PAINT_NOISE:
		return scene_texture(&studio->scene, studio->seed, at[0], at[1]);
	case PAINT_FILE:
		return frame_floats(studio->albedo, 0, y)[x] / studio->white;
	default:
		return 1;
	}
}

static void
tell_truth(const struct rig *rig, const struct rig_point *point, struct frame *truth, size_t x,
    size_t y)
{
	double phase = TWO_PI * point->column[rig->used[0] ? 0 : 1] / rig->period_px;
	double value[] = { phase, point->depth, point->X[0], point->X[1], point->X[2] };

	for (size_t c = 0; c < 5; c++)
		frame_floats(truth, c, y)[x] = point->lit ? (float)value[c] : NAN;
	frame_floats(truth, 5, y)[x] = point->lit;
}

static void
look_row(void *arg, size_t y)
{
	const struct look *look = arg;
	struct studio *studio = look->studio;
	struct rig_point point;

	for (size_t x = 0; x < studio->rig.w; x++) {
		size_t i = y * studio->rig.w + x;

		rig_look(&studio->rig, look->pose, x, y, &point);
		studio->sight[i] = point.lit ? SIGHT_LIT :
		    point.surface ? SIGHT_DARK : SIGHT_NOTHING;
		studio->share[i] = point.surface ? painted(studio, &point, x, y) : 0;
		for (int k = 0; k < 2; k++)
			if (studio->column[k])
				studio->column[k][i] = point.column[k];
		if (look->truth)
			tell_truth(&studio->rig, &point, look->truth, x, y);
	}
}

void
studio_look(struct studio *studio, struct run *run, const struct rig_pose *pose,
    struct frame *truth)
{
	struct look look = { studio, pose, truth };

	run_for(run, studio->rig.h, look_row, &look);
}

int
studio_describe(const struct studio *studio, struct frame_head *head)
{
	const struct rig *rig = &studio->rig;

	/* a size that nobody named would tell unwrap2f a field that the fringes do not fill */
	if (!studio->projector_named && !meta_get(&head->meta, "gray_cell"))
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
studio_new_truth(const struct studio *studio, struct frame **out)
{
	const struct rig *rig = &studio->rig;
	struct frame_head head;
	int status;

	if (head_init(&head, rig->w, rig->h, 1, SAMPLE_FLOAT) < 0)
		return -1;
	status = head_set_channels(&head, "absphase depth x y z mask") < 0 ||
	    meta_set_number(&head.meta, "period_px", rig->period_px) < 0 ||
	    meta_set(&head.meta, "axis", rig->used[0] ? "x" : "y") < 0 ||
	    meta_set(&head.meta, "length_unit", rig->calib ? studio->calib.unit : "mm") < 0 ||
	    meta_set(&head.meta, "z_axis", rig->calib ? "away" : "towards") < 0 ||
	    studio_describe(studio, &head) < 0 ? -1 : frame_new(&head, out);
	head_free(&head);
	return status;
}
