/* Frames of a stereo pair's camera to what a rectified one would have seen. */
#include "rectify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optics/sensor_crop.h"
#include "pair_check.h"
#include "run/stage.h"

#define SIDE_MOST 32767			/* 16.16 fixed point */
#define SHARED_PX 0.5			/* the standard deviation of what samples are weighed by */
#define LOST_MOST 0.2			/* of the input, without a word */

struct parameters {
	const char *calib;
	int side, interpolation;
	struct opt_size size;
	double max_step;
	struct numbers origin;
};

#define AT(field) offsetof(struct parameters, field)

static const char *const sides[] = { "left", "right", NULL };
static const char *const interpolations[] = { "linear", "cubic", NULL };

static const struct opt options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "the two cameras: K1 d1 K2 d2 R T, R1 R2 P1 P2", NULL },
	{ 0, "side", "WORD", OPT_WORD, AT(side), NULL, 0, 0, NULL, "which of them saw the frames",
	  sides },
	{ 0, "size", "WxH", OPT_SIZE, AT(size), NULL, 0, 0, "px",
	  "of the result; the calibration's image_size if not given", NULL },
	{ 0, "interpolation", "WORD", OPT_WORD, AT(interpolation), "linear", 0, 0, NULL,
	  "between 4 samples or 16", interpolations },
	{ 0, "max-step", "X", OPT_NUMBER, AT(max_step), NULL, 0, 1e9, NULL,
	  "samples that differ by more make no pixel; pi for absphase if not given", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "of the frames on the camera's full frame", NULL },
	{ 0 },
};

/* ---- frames ---- */

static int
whole_frame(struct run *run, struct frame *in)
{
	const struct rectify *rectify = run->priv;
	struct frame *out = NULL;
	int status = rectify_frame_on_device(run, rectify, in, &out);

	if (status == 0 && !out) {
		status = frame_new(&rectify->out, &out);
		if (status == 0)
			status = rectify_frame(run, rectify, in, out);
	}
	frame_free(in);
	if (status == 0)
		return run_emit(run, out);
	frame_free(out);
	return -1;
}

static const struct body body = { .frame = whole_frame, .passes = rectify_passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct rectify *rectify = run->priv;

	run->body = &body;
	if (!parameters->calib)
		return fail_usage("--calib", "is needed: the calibration of both cameras");
	if (parameters->side < 0)
		return fail_usage("--side", "is needed: did the left or the right camera see the "
		    "frames?");
	if (parameters->origin.n && parameters->origin.n != 2)
		return fail_usage("--origin", "must be two numbers, not %zu", parameters->origin.n);
	if (parameters->size.w > SIDE_MOST || parameters->size.h > SIDE_MOST)
		return fail_usage("--size", "is at most %dx%d", SIDE_MOST, SIDE_MOST);
	rectify->cubic = parameters->interpolation == 1;
	return stereo_load(parameters->calib, &rectify->stereo);
}

/* ---- the plan ---- */

/* Frames that reach beyond the calibrated camera are another camera's, or of another bin. */
static int
check_inside(const struct parameters *parameters, const struct source_geometry *geometry)
{
	const struct pinhole *camera = &geometry->stereo->camera[geometry->side];
	double w = geometry->origin_px[0] + (double)geometry->in_w * geometry->bin;
	double h = geometry->origin_px[1] + (double)geometry->in_h * geometry->bin;

	if (geometry->in_w > SIDE_MOST || geometry->in_h > SIDE_MOST)
		return fail(NULL, "is %zux%zu, at most %dx%d can be rectified", geometry->in_w,
		    geometry->in_h, SIDE_MOST, SIDE_MOST);
	if (camera->w > 0 && (w > camera->w || h > camera->h || geometry->origin_px[0] < 0 ||
	    geometry->origin_px[1] < 0))
		return fail(parameters->calib, "its cameras have %gx%g pixels, the frame reaches "
		    "from %g,%g to %g,%g", camera->w, camera->h, geometry->origin_px[0],
		    geometry->origin_px[1], w, h);
	return 0;
}

static int
set_size(const struct parameters *parameters, struct source_geometry *geometry)
{
	const struct stereo *stereo = geometry->stereo;
	double w = stereo->w > 0 ? stereo->w / geometry->bin :
	    geometry->origin_px[0] / geometry->bin + (double)geometry->in_w;
	double h = stereo->w > 0 ? stereo->h / geometry->bin :
	    geometry->origin_px[1] / geometry->bin + (double)geometry->in_h;

	geometry->w = parameters->size.w;
	geometry->h = parameters->size.h;
	if (parameters->size.w)
		return 0;
	if (!(w >= 1 && h >= 1 && w <= SIDE_MOST && h <= SIDE_MOST))
		return fail(NULL, "a rectified frame would have %gx%g pixels: say --size", w, h);
	geometry->w = (size_t)w;
	geometry->h = (size_t)h;
	return 0;
}

static void
warn_lost(struct rectify *rectify, const struct source_geometry *geometry)
{
	size_t size[2];
	double lost = source_map_lost(geometry, size);

	if (rectify->warned || !(lost > LOST_MOST))
		return;
	rectify->warned = true;
	if (size[0] <= geometry->w && size[1] <= geometry->h)
		warn(NULL, "%.0f %% of the frame fall outside of the rectified one, left of it or "
		    "above: --side or --origin may be another", 100 * lost);
	else
		warn(NULL, "%.0f %% of the frame fall outside of the rectified one: --size %zux%zu "
		    "would hold what lies right of or below its %zux%zu", 100 * lost,
		    size[0] > geometry->w ? size[0] : geometry->w,
		    size[1] > geometry->h ? size[1] : geometry->h, geometry->w, geometry->h);
}

static int
plan_geometry(struct run *run, const struct frame_head *in)
{
	static const double zero[2] = { 0, 0 };
	const struct parameters *parameters = run->parameters;
	struct rectify *rectify = run->priv;
	struct source_geometry geometry = { .stereo = &rectify->stereo,
		.side = parameters->side == 1 ? STEREO_RIGHT : STEREO_LEFT, .in_w = in->w,
		.in_h = in->h, .cubic = rectify->cubic };
	double bin[2];

	if (sensor_crop_origin(run, &parameters->origin, in, zero, geometry.origin_px, bin) < 0)
		return -1;
	if (bin[0] != bin[1])
		return fail(NULL, "key bin is %g %g: the pixels of a rectified frame are square",
		    bin[0], bin[1]);
	geometry.bin = bin[0];
	if (check_inside(parameters, &geometry) < 0 || set_size(parameters, &geometry) < 0)
		return -1;
	if (!rectify->checked)
		rectify->warned = !pair_check(parameters->calib, &rectify->stereo) ||
		    !pair_check_frame(parameters->calib, &geometry, parameters->origin.n > 0, in);
	rectify->checked = true;
	warn_lost(rectify, &geometry);
	return source_map_plan(run, &rectify->map, &geometry);
}

static int
describe(const struct rectify *rectify, const struct frame_head *in, struct frame_head *out)
{
	const struct source_geometry *geometry = &rectify->map.geometry;
	/* what holds for the camera's own pixels only */
	static const char *const gone[] = { "origin_px", "bin", "ref_plane_rad", "c_mm_per_rad" };

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		meta_remove(&out->meta, gone[i]);
	out->w = geometry->w;
	out->h = geometry->h;
	out->type = SAMPLE_FLOAT;
	out->spacing[0] = out->spacing[1] = NAN;
	if (in->type != SAMPLE_FLOAT && !meta_get(&in->meta, "max_value") &&
	    meta_set_number(&out->meta, "max_value", in->type == SAMPLE_UCHAR ? 255 : 65535) < 0)
		return -1;
	for (size_t c = 0; c < rectify->channels; c++)	/* neighbours share samples now */
		if (rectify->channel[c].kind == RECTIFY_SIGMA &&
		    meta_set_number(&out->meta, "sigma_window_px", SHARED_PX) < 0)
			return -1;
	return stereo_describe(geometry->stereo, geometry->side, geometry->bin, &out->meta);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const char *side = meta_get(&in->meta, "rect_side");
	struct rectify *rectify = run->priv;

	if (side)
		return fail(NULL, "the frame is rectified already (rect_side %.20s)", side);
	if (rectify_plan_channels(rectify, in, parameters->max_step) < 0 ||
	    plan_geometry(run, in) < 0 || describe(rectify, in, out) < 0)
		return -1;
	head_free(&rectify->out);
	return head_copy(&rectify->out, out);
}

static void
end(struct run *run)
{
	struct rectify *rectify = run->priv;

	source_map_free(&rectify->map);
	free(rectify->channel);
	head_free(&rectify->out);
}

STAGE(rectify) = {
	.name = "rectify",
	.summary = "turn the pictures of two cameras until equal points lie on equal rows",
	.operands = "[FILE ...]",
	.hint = "--origin, --size, --side and --max-step",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct rectify),
	.traits = STAGE_ANY_TYPE | STAGE_UNITS,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.release = end,
};
