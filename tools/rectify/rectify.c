/*
 * Resamples the frames of a stereo pair's camera to what a rectified camera would have seen
 * (methods §10): the map from rectified to captured pixels, the checks of the calibration, how each
 * channel is interpolated, whole frames on the processor and the device, options and plan.
 * rectify_rows.c has the loops of the processor.
 */
#include "rectify.h"

#include "base/linear.h"
#include "fringe/capture_set.h"
#include "optics/calib.h"
#include "optics/camera_model.h"
#include "run/passes.h"
#include "run/stage.h"
#include "rectify.block.h"

struct rectify {
	struct stereo stereo;
	struct source_map map;
	struct rectify_channel *channel;	/* of the frame */
	size_t channels;
	bool cubic;
	bool checked;			/* the calibration and the first frame */
	bool warned;			/* of these, or of what falls outside */
};

/* ---- the map: where in the input each pixel of a rectified frame comes from ---- */

#define RADIUS_MOST 20.0	/* tan of 87 degrees */
#define GRID_CELLS 24	/* cells a side of the grid that source_map_lost() samples */

/* The square of the radius up to which the lens model does not fold back. */
static double
lens_reach(const double d[14])
{
	double r = 0;

	while (r < RADIUS_MOST && lens_growth(d, r) > 0)
		r += 1e-3;
	return r * r;
}

static bool
same_geometry(const struct source_geometry *a, const struct source_geometry *b)
{
	return a->stereo == b->stereo && a->side == b->side && a->w == b->w && a->h == b->h &&
	    a->in_w == b->in_w && a->in_h == b->in_h && a->bin == b->bin &&
	    a->cubic == b->cubic && !memcmp(a->origin_px, b->origin_px, sizeof(a->origin_px));
}

static void
source_map_free(struct source_map *map)
{
	free(map->column);
	*map = (struct source_map){ 0 };
}

/* Sets the map; costs nothing if the geometry is the same as before. -1 after fail(). */
static int
source_map_plan(struct run *run, struct source_map *map, const struct source_geometry *geometry)
{
	struct map_job job = { map, 0 };
	size_t stride = (geometry->w + 15) / 16 * 16, n;

	if (map->column && same_geometry(&map->geometry, geometry))
		return 0;
	source_map_free(map);
	if (size_multiply(stride, geometry->h, &n) < 0)
		return -1;
	map->column = must_aligned(n, 2 * sizeof(uint));
	map->row = map->column + stride * geometry->h;
	map->stride = stride;
	map->geometry = *geometry;
	job.most_r2 = lens_reach(geometry->stereo->camera[geometry->side].distortion);
	run_for(run, geometry->h, rectify_rows()->map_source_row, &job);
	return 0;
}

/* The share of the input, sampled on a grid, that is outside the result; `size` is that of a result
 * that would hold all of the input to the right of and below its first pixel. */
static double
source_map_lost(const struct source_geometry *geometry, size_t size[2])
{
	const struct pinhole *camera = &geometry->stereo->camera[geometry->side];
	double most[2] = { 0, 0 }, w = (double)geometry->w, h = (double)geometry->h;
	size_t outside = 0;

	for (size_t i = 0; i < (GRID_CELLS + 1) * (GRID_CELLS + 1); i++) {
		const double at[2] = { (double)(i % (GRID_CELLS + 1)) / GRID_CELLS *
			(double)geometry->in_w, (double)(i / (GRID_CELLS + 1)) / GRID_CELLS *
			(double)geometry->in_h };
		double uv[2] = { geometry->origin_px[0] + at[0] * geometry->bin - 0.5,
			geometry->origin_px[1] + at[1] * geometry->bin - 0.5 };
		double xy[2], place[2];

		if (!pinhole_undistort(camera, uv, xy) || !stereo_project(geometry->stereo,
		    geometry->side, (double[3]){ xy[0], xy[1], 1 }, place)) {
			outside++;
			continue;
		}
		for (size_t k = 0; k < 2; k++) {
			place[k] = (place[k] + 0.5) / geometry->bin - 0.5;
			most[k] = fmax(most[k], place[k]);
		}
		outside += !(place[0] >= -1 && place[1] >= -1 && place[0] <= w && place[1] <= h);
	}
	for (size_t k = 0; k < 2; k++)
		size[k] = (size_t)ceil(fmin(most[k] + 0.5, 65535));
	return (double)outside / ((GRID_CELLS + 1) * (GRID_CELLS + 1));
}

/*
 * ---- checks of the calibration ----
 *
 * Are these two cameras that look at one scene, and is the frame one of theirs? Each check returns
 * false after a warning of one line.
 */

#define TOED_IN_DEG 3.0		/* below this the point where the axes meet is not the scene */
#define APART_DEG 6.0		/* cameras that are meant to be parallel diverge by less */
#define WHOLE_FACTOR_TOLERANCE 0.02	/* of a factor between two sizes that is whole */

/* The direction of the middle of a picture, in the left camera's frame. */
static void
find_view(const struct pinhole *camera, double view[3])
{
	double v = camera->h > 0 ? ((camera->h - 1) / 2 - camera->K[5]) / camera->K[4] : 0;
	double u = camera->w > 0 ?
	    ((camera->w - 1) / 2 - camera->K[2] - camera->K[1] * v) / camera->K[0] : 0;
	double length = sqrt(u * u + v * v + 1);

	matrix3_apply_transposed(camera->R, (double[3]){ u, v, 1 }, view);
	for (size_t i = 0; i < 3; i++)
		view[i] /= length;
}

/* The angle between the viewing directions in degrees. along_mm: how far from each camera the two
 * lines of sight are nearest to each other; negative behind the camera. */
static double
find_meeting(const struct stereo *stereo, double along_mm[2])
{
	double view[2][3], centre[3], cosine, rest;

	find_view(&stereo->camera[0], view[0]);
	find_view(&stereo->camera[1], view[1]);
	pinhole_center(&stereo->camera[1], centre);
	cosine = vector3_dot(view[0], view[1]);
	rest = 1 - cosine * cosine;
	along_mm[0] = (vector3_dot(centre, view[0]) - cosine * vector3_dot(centre, view[1])) / rest;
	along_mm[1] = (cosine * vector3_dot(centre, view[0]) - vector3_dot(centre, view[1])) / rest;
	return 180 / M_PI * acos(fmin(cosine, 1));
}

static bool
check_baseline(const char *path, double baseline_mm)
{
	double apart_mm = fabs(baseline_mm);

	if (apart_mm < BASELINE_LEAST_MM)
		warn(path, "the cameras are %.3g mm apart: is T in metres? Then say length_unit: m "
		    "there", apart_mm);
	else if (apart_mm > BASELINE_MOST_MM)
		warn(path, "the cameras are %.3g m apart: is T in micrometres? Then say "
		    "length_unit: um there", apart_mm / 1000);
	else
		return true;
	return false;
}

/* Do the cameras look at a common point, at a distance that fits the unit of T? */
static bool
check_views(const char *path, const struct stereo *stereo)
{
	double along[2], degrees = find_meeting(stereo, along), apart = fabs(stereo->baseline_mm);

	if (degrees > APART_DEG && along[0] < 0 && along[1] < 0)
		warn(path, "the cameras look apart, by %.0f degrees: is T's sign right, and do R "
		    "and T take points of the first camera to the second?", degrees);
	else if (!stereo->unit_stated && apart < SMALL_RIG_MM && degrees > TOED_IN_DEG &&
	    along[0] > 0 && along[0] < SMALL_RANGE_MM)
		warn(path, "the cameras are %.3g apart and look at a point %.3g away, taken for mm "
		    "as nothing says the unit of T: is it cm, or squares of a board? length_unit "
		    "says what it is, mm too", apart, along[0]);
	else
		return true;
	return false;
}

/* Checks the calibration alone; path: its file. */
static bool
pair_check(const char *path, const struct stereo *stereo)
{
	const struct pinhole *left = &stereo->camera[0], *right = &stereo->camera[1];

	if (stereo->contradiction[0]) {
		warn(path, "%s", stereo->contradiction);
		return false;
	}
	if (stereo->named_otherwise) {
		warn(path, "calls its first camera right and its second left: --side left is the "
		    "first one, whatever its name");
		return false;
	}
	return check_baseline(path, stereo->baseline_mm) &&
	    device_check_tangential(path, left, "left camera") &&
	    device_check_tangential(path, right, "right camera") &&
	    device_check_skew(path, left, "left camera") &&
	    device_check_skew(path, right, "right camera") &&
	    device_check_resolution(path, left, DEVICE_CROPPED, "left camera", left->w, left->h) &&
	    device_check_resolution(path, right, DEVICE_CROPPED, "right camera", right->w,
	    right->h) && check_views(path, stereo);
}

/* Warns if the frame is smaller than the camera and its position on it is unknown. */
static bool
check_small(const struct source_geometry *geometry, bool placed)
{
	const struct pinhole *camera = &geometry->stereo->camera[geometry->side];
	double w = (double)geometry->in_w * geometry->bin;
	double h = (double)geometry->in_h * geometry->bin, factor = camera->w / w;
	bool halved = round(factor) >= 2 && fabs(factor - round(factor)) < WHOLE_FACTOR_TOLERANCE &&
	    fabs(factor - camera->h / h) < WHOLE_FACTOR_TOLERANCE;

	if (!(w <= camera->w - geometry->bin || h <= camera->h - geometry->bin) ||
	    (placed && !halved))
		return true;
	if (halved)
		warn(NULL, "the frame is %.3g times smaller than the calibration's cameras of %g x "
		    "%g px: if its pixels are larger say so (framecat --set bin=%g), if it is cut "
		    "out --origin", factor, camera->w, camera->h, round(factor) * geometry->bin);
	else
		warn(NULL, "the frame, %zu x %zu px, is smaller than the calibration's cameras of "
		    "%g x %g px: if it is cut out say where, by --origin", geometry->in_w,
		    geometry->in_h, camera->w, camera->h);
	return false;
}

/* Checks that the frame fits its camera. origin_given: by the command line. */
static bool
pair_check_frame(const char *path, const struct source_geometry *geometry, bool origin_given,
    const struct frame_head *in)
{
	const struct pinhole *camera = &geometry->stereo->camera[geometry->side];
	bool moved = geometry->origin_px[0] != 0 || geometry->origin_px[1] != 0;

	if (origin_given || moved)
		return true;
	if (camera->w > 0)	/* cameras write origin_px 0 0 of whole frames, too */
		return check_small(geometry, meta_get(&in->meta, "origin_px") != NULL);
	return device_check_resolution(path, camera, DEVICE_CAMERA,
	    geometry->side == STEREO_LEFT ? "left camera" : "right camera",
	    (double)geometry->in_w * geometry->bin, (double)geometry->in_h * geometry->bin);
}

/* ---- how each channel of a frame is interpolated, by its name ---- */

static const char *const absphase_names[] = { "absphase", NULL };
static const char *const sigma_names[] = { "sigma", NULL };

/* shared: neighbours share their errors, so a sigma between them is not smaller than theirs. */
static enum rectify_kind
kind_of(const char *name, bool shared)
{
	static const char *const wrapped[] = { "phase", NULL };
	static const char *const nearest[] = { "index", "label", "mask", "marker", NULL };

	if (channel_is_named(name, wrapped))
		return RECTIFY_WRAPPED;
	if (channel_is_named(name, sigma_names) && !shared)
		return RECTIFY_SIGMA;
	return channel_is_named(name, nearest) ? RECTIFY_NEAREST : RECTIFY_PLAIN;
}

/* The kind and limits of a channel. most: the level at which cameras saturate. */
static struct rectify_channel
channel_of(const struct frame_head *in, size_t c, double max_step, double usual_step,
    bool has_absolute, float most)
{
	static const char *const captured[] = { "image", "r", "g", "b", "gray", NULL };
	const char *name = in->channel[c];
	struct rectify_channel channel = { kind_of(name, meta_get(&in->meta, "sigma_window_px")),
		INFINITY, INFINITY };

	if (channel_is_named(name, absphase_names))
		channel.max_step = (float)(isnan(max_step) ? usual_step : max_step);
	else if (!has_absolute && !channel_is_named(name, sigma_names) && !isnan(max_step))
		channel.max_step = (float)max_step;
	if (channel.kind == RECTIFY_PLAIN &&
	    (in->type != SAMPLE_FLOAT || channel_is_named(name, captured)))
		channel.saturated = most;
	return channel;
}

/* Projector pixels: phases of neighbours that differ by less lie on one surface, also where a whole
 * turn is a pixel or a few, as with a Gray code. */
#define MAX_STEP_PX 8

/* Sets channel[]. max_step: of the command line, NaN if not given. -1 after fail(). */
static int
rectify_plan_channels(struct rectify *rectify, const struct frame_head *in, double max_step)
{
	static const char *const edges[] = { "edge", "edge_sigma", NULL };
	bool has_absolute = false;
	double most, period_px;

	if (meta_number(&in->meta, "max_value", in->type == SAMPLE_UCHAR ? 255 :
	    in->type == SAMPLE_USHORT ? 65535 : INFINITY, &most) < 0)
		return -1;
	free(rectify->channel);
	rectify->channels = in->c;
	rectify->channel = must_alloc(in->c, sizeof(*rectify->channel));
	for (size_t c = 0; c < in->c; c++) {
		has_absolute |= channel_is_named(in->channel[c], absphase_names);
		if (channel_is_named(in->channel[c], edges))
			return fail(in->channel[c], "places in pixels of this camera cannot be "
			    "rectified: unwrap2f, which uses them, comes first");
	}
	if (meta_number(&in->meta, "period_px", MAX_STEP_PX, &period_px) < 0) {
		fail_clear();		/* periods of several phases */
		period_px = MAX_STEP_PX;
	}
	for (size_t c = 0; c < in->c; c++)
		rectify->channel[c] = channel_of(in, c, max_step, fmax(M_PI, 2 * M_PI *
		    MAX_STEP_PX / fabs(period_px)), has_absolute, (float)most);
	return 0;
}

/* ---- whole frames ---- */

/* Is one of the channels a wrapped phase? */
static bool
has_wrapped(const struct rectify *rectify)
{
	for (size_t c = 0; c < rectify->channels; c++)
		if (rectify->channel[c].kind == RECTIFY_WRAPPED)
			return true;
	return false;
}

/* Rectifies each channel in turn. Channels other than float ones and wrapped phases need float
 * copies first; wrapped phases must be floats. */
static int
rectify_floats(struct run *run, const struct rectify *rectify, const struct frame *in,
    struct frame *out)
{
	bool two = has_wrapped(rectify), one = in->head.type != SAMPLE_FLOAT;
	struct frame *planes = NULL;

	if ((one || two) && frame_new_named(in->head.w, in->head.h, two ? 2 : 1, SAMPLE_FLOAT, NULL,
	    &planes) < 0)
		return -1;
	for (size_t c = 0; c < rectify->channels; c++) {
		const struct rectify_channel *channel = &rectify->channel[c];
		bool wrapped = channel->kind == RECTIFY_WRAPPED, own = wrapped || one;
		struct channel_job job = { .map = &rectify->map, .cubic = rectify->cubic,
			.in = in, .out = out, .c = c, .plane = planes };
		struct gathering *gathering = &job.gathering;

		gathering->channel = *channel;
		if (own)
			run_for(run, in->head.h, rectify_rows()->prepare_row, &job);
		gathering->phase = frame_floats(in, c, 0);
		gathering->from[0] = own ? frame_floats(planes, 0, 0) : gathering->phase;
		gathering->from[1] = wrapped ? frame_floats(planes, 1, 0) : NULL;
		gathering->planes = (struct sample_planes){
			(int)((own ? planes : in)->plane[own ? 0 : c].stride / sizeof(float)),
			(int)in->head.w, (int)in->head.h };
		run_for(run, out->head.h, rectify_rows()->gather_row, &job);
	}
	frame_free(planes);
	return 0;
}

/* Rectifies a frame; `out` is allocated. -1 after fail(). */
static int
rectify_frame(struct run *run, const struct rectify *rectify, const struct frame *in,
    struct frame *out)
{
	struct frame *floats;
	int status;

	if (in->head.type == SAMPLE_FLOAT || !has_wrapped(rectify))
		return rectify_floats(run, rectify, in, out);
	if (frame_to_float(in, &floats) < 0)
		return -1;
	status = rectify_floats(run, rectify, floats, out);
	frame_free(floats);
	return status;
}

/* ---- the device: a pass for each channel, and the map as a table ---- */

/* struct body's `passes`. */
static int
rectify_passes(struct run *run, struct passes *passes)
{
	const struct rectify *rectify = run->priv;
	const struct source_map *map = &rectify->map;
	const struct frame_head *in = passes_input(passes);

	if (passes_constant(passes, map->column,
	    2 * map->stride * map->geometry.h * sizeof(*map->column)) < 0)
		return -1;
	for (size_t c = 0; c < rectify->channels; c++) {
		const struct rectify_channel *channel = &rectify->channel[c];
		const struct rectify_block block = { (uint)c, (uint)in->type, channel->kind,
			rectify->cubic, (uint)map->stride, (uint)map->geometry.h,
			channel->max_step, channel->saturated };
		const struct pass pass = { PASS_OF(rectify, block), PASS_PIXELS };

		passes_read(passes, c);
		passes_add(passes, &pass);
	}
	return 0;
}

/* ---- options ---- */

#define SIDE_MOST 32767		/* 16.16 fixed point */
#define SHARED_PX 0.5		/* standard deviation of the interpolation's weights */
#define LOST_MOST 0.2		/* part of the input that may be lost without a warning */

struct parameters {
	const char *calib;
	int side, interpolation;
	struct opt_size size;
	double max_step;
	struct numbers origin;
};

static const char *const sides[] = { "left", "right", NULL };
static const char *const interpolations[] = { "linear", "cubic", NULL };

static const struct opt options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "the two cameras: K1 d1 K2 d2 R T, R1 R2 P1 P2" },
	{ 0, "side", "WORD", OPT_WORD, AT(side), NULL, 0, 0, NULL, "which of them saw the frames",
	  sides },
	{ 0, "size", "WxH", OPT_SIZE, AT(size), NULL, 0, 0, "px",
	  "of the result; the calibration's image_size if not given" },
	{ 0, "interpolation", "WORD", OPT_WORD, AT(interpolation), "linear", 0, 0, NULL,
	  "between 4 samples or 16", interpolations },
	{ 0, "max-step", "X", OPT_NUMBER, AT(max_step), NULL, 0, 1e9, NULL,
	  "samples that differ by more make no pixel; pi for absphase if not given" },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "of the frames on the camera's full frame" },
	{ 0 },
};

static int
whole_frame(struct run *run, struct frame *in)
{
	const struct rectify *rectify = run->priv;
	struct frame *out = NULL;
	int status = 0;

	if (run_wants_device(run)) {
		run->halo = in->head.h;
		status = run_passes(run, in, run_output(run), &out);
	}
	if (status == 0 && !out) {	/* not wanted, or the device cannot do it */
		status = frame_new(run_output(run), &out);
		if (status == 0)
			status = rectify_frame(run, rectify, in, out);
	}
	frame_free(in);
	return run_emit_if(run, status, out);
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
	if (parameters->size.w > SIDE_MOST || parameters->size.h > SIDE_MOST)
		return fail_usage("--size", "is at most %dx%d", SIDE_MOST, SIDE_MOST);
	rectify->cubic = parameters->interpolation == 1;
	return stereo_load(parameters->calib, &rectify->stereo);
}

/* ---- the plan ---- */

/* Fails for frames that reach beyond the calibrated camera: they are another camera's, or of
 * another bin. */
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

static void
describe(const struct rectify *rectify, const struct frame_head *in, struct frame_head *out)
{
	const struct source_geometry *geometry = &rectify->map.geometry;
	/* keys of the camera's own pixels */
	static const char *const gone[] = { "origin_px", "bin", "ref_plane_rad", "c_mm_per_rad" };

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		meta_remove(&out->meta, gone[i]);
	out->w = geometry->w;
	out->h = geometry->h;
	out->type = SAMPLE_FLOAT;
	out->spacing[0] = out->spacing[1] = NAN;
	if (in->type != SAMPLE_FLOAT && !meta_get(&in->meta, "max_value"))
		meta_set_number(&out->meta, "max_value", in->type == SAMPLE_UCHAR ? 255 : 65535);
	for (size_t c = 0; c < rectify->channels; c++)	/* neighbours share samples now */
		if (rectify->channel[c].kind == RECTIFY_SIGMA)
			meta_set_number(&out->meta, "sigma_window_px", SHARED_PX);
	stereo_describe(geometry->stereo, geometry->side, geometry->bin, &out->meta);
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
	    plan_geometry(run, in) < 0)
		return -1;
	describe(rectify, in, out);
	return 0;
}

static void
end(struct run *run)
{
	struct rectify *rectify = run->priv;

	source_map_free(&rectify->map);
	free(rectify->channel);
}

const struct stage stage_rectify = {
	.name = "rectify",
	.summary = "turn the pictures of two cameras until equal points lie on equal rows",
	.hint = "--origin, --size, --side and --max-step",
	.options = options,
	STAGE_MEMORY(rectify),
	.traits = STAGE_ANY_TYPE | STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = end,
};
