/*
 * Phase to depth over a reference plane, or to coordinates through a calibration (methods §8):
 * options, plan, bodies, and the passes of the device. depthfit.c plans the reference,
 * triangulate.c the rays, calib_sigma.c the uncertainty of the calibration; phase2depth_rows.c
 * computes.
 */
#include "phase2depth.h"

#include <float.h>

#include "checks/checks.h"
#include "optics/camera_model.h"
#include "run/check.h"
#include "run/passes.h"
#include "unwrap/absolute.h"
#include "phase2depth.px.h"
#include "phase2depth.block.h"

BODY_ROWS(phase2depth, compute)

/* ---- do the heads of the phases fit each other? ---- */

/* A phase that is known up to whole turns only has a depth over the reference that it was unwrapped
 * with, and over no other one. calibrated: there is no reference. */
static int
anchor_check(const struct run *run, const struct frame_head *in, bool calibrated)
{
	const struct frame_head *ref = run_second_input_head(run, "ref", 0);
	bool relative = phase_anchor_is_relative(&in->meta);

	if (relative && (calibrated || !ref))
		return fail(NULL, "absphase is known up to whole turns only: unwrapq --anchor "
		    "X,Y,RAD or a marker makes it absolute (any RAD, where relative depth will "
		    "do)");
	if (relative && !strcmp(meta_get(&in->meta, "phase_anchor"), "none"))
		return fail(NULL, "absphase may be whole turns off the reference's: give "
		    "unwrapq the same --ref");
	if (ref && relative != phase_anchor_is_relative(&ref->meta))
		return fail("--ref", "%s is absolute, the other known up to whole turns only: give "
		    "unwrapq --anchor for both, or the same --ref", relative ?
		    "the reference" : "the input");
	return 0;
}

/* Both phases must be of the same pixels, and of different axes. */
static int
check_head(const struct frame_head *in, const struct frame_head *across, bool along_y)
{
	static const char *const keys[] = { "origin_px", "bin" };
	const char *axis = meta_get(&across->meta, "axis");

	if (axis && !strcmp(axis, along_y ? "y" : "x"))
		return fail("--across", "is of the same axis, %s, as the input: wanted is the "
		    "absolute phase of the other one (unwrap2f -a %c)", axis, along_y ? 'x' : 'y');
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *own = meta_get(&in->meta, keys[i]);
		const char *its = meta_get(&across->meta, keys[i]);

		if (own && its && strcmp(own, its))
			return fail("--across", "does not go with the input: its %s is %.60s, the "
			    "input's %.60s", keys[i], its, own);
	}
	return !phase_anchor_is_relative(&across->meta) ? 0 : fail("--across", "is known up to "
	    "whole turns only: --anchor or a marker makes it absolute");
}

/* --across, the phase of the other axis, must be of the same pixels and absolute. */
static int
check_across(const struct run *run, const struct triangulation *rays, const struct frame_head *in)
{
	const struct frame_head *across = run_second_input_head(run, "across", 0);
	double period_px;
	size_t channel;

	if (!across)
		return 0;
	if (run_second_input(run, in, "across", "absphase", &channel) < 0 ||
	    check_head(in, across, rays->along_y) < 0 ||
	    meta_number(&across->meta, "period_px", NAN, &period_px) < 0)
		return -1;
	if (!(period_px > 0 && isfinite(period_px)))
		return fail("--across", "has no key period_px: framecat --set period_px=PX says "
		    "what its fringes are");
	return 0;
}

/* ---- the device: one pass, above a measured plane, an ideal one, or by rays ---- */

_Static_assert(PHASE2DEPTH_POWERS == DEPTHFIT_COEFFICIENTS, "as many in the shader");

static void
pack_plane(struct passes *passes, const struct phase2depth *priv,
    struct phase2depth_plane_block *block)
{
	const struct depthfit *above = &priv->above;

	block->phase = (uint)above->phase;
	block->degree = (uint)above->degree;
	block->wrapped = above->wrapped;
	block->least = priv->least;
	block->most = priv->most;
	block->has_sigma = priv->sigma != NO_CHANNEL;
	block->has_ref_sigma = priv->ref_sigma != NO_CHANNEL;
	block->sigma = (uint)priv->sigma;
	block->ref_sigma = (uint)priv->ref_sigma;
	if (block->has_sigma)
		passes_read(passes, priv->sigma);
	if (block->has_sigma && block->has_ref_sigma)
		passes_read(passes, priv->ref_sigma);
	passes_read(passes, above->phase);
	for (size_t k = 0; k < above->degree; k++) {
		block->c[k] = (float)above->c[k];
		block->mapped[k] = above->c_map[k] != NO_CHANNEL;
		block->map[k] = (uint)above->c_map[k];
		if (block->mapped[k])
			passes_read(passes, above->c_map[k]);
	}
}

static int
list_plane(struct passes *passes, const struct phase2depth *priv)
{
	const struct depthfit *above = &priv->above;
	struct phase2depth_ideal_block ideal = { above->plane[0], above->plane[1],
		above->plane[2], { 0 } };
	struct phase2depth_plane_block plane = { 0 };
	struct pass pass = { PASS_FOURS };

	if (above->ref != NO_CHANNEL) {
		pack_plane(passes, priv, &plane);
		plane.ref = (uint)above->ref;
		passes_read(passes, above->ref);
		pass.shader = SHADER(phase2depth);
		passes_exact(passes);		/* no doubles, no division */
		pass.block = &plane;
		pass.bytes = sizeof(plane);
	} else {
		if (!passes_float64(passes))
			return passes_refuse(passes, "the device has no doubles");
		pack_plane(passes, priv, &ideal.depth);
		pass.shader = SHADER(phase2depth_ideal);
		pass.block = &ideal;
		pass.bytes = sizeof(ideal);
	}
	passes_add(passes, &pass);
	return 0;
}

static int
list_rays(struct passes *passes, const struct phase2depth *priv)
{
	const struct triangulation *t = &priv->rays;
	struct phase2depth_rays_block block = { .a_code = t->a_code, .a_w = t->a_w,
		.px_per_rad = t->px_per_rad, .code0_px = t->code0_px, .x0 = t->x0,
		.x_per_column = t->x_per_column, .x_per_row = t->x_per_row, .y0 = t->y0,
		.y_per_row = t->y_per_row, .least = priv->least, .most = priv->most,
		.phase = (uint)priv->phase, .distorted = t->distorted, .plain = t->plain,
		.lens_unit = t->lens_unit, .lens = t->lens != NULL,
		.lens_stride = (uint)t->lens_stride,
		.lens_rows = (uint)t->h, .has_sigma = priv->sigma != NO_CHANNEL,
		.sigma = (uint)priv->sigma };
	struct pass pass = { PASS_OF(phase2depth_rays, block), PASS_FOURS };

	if (!passes_float64(passes))
		return passes_refuse(passes, "the device has no doubles");
	memcpy(block.b_code, t->b_code, sizeof(block.b_code));
	memcpy(block.b_w, t->b_w, sizeof(block.b_w));
	memcpy(block.R, t->R, sizeof(block.R));
	memcpy(block.T, t->T, sizeof(block.T));
	memcpy(&block.terms, t->lens_terms, sizeof(block.terms));
	memcpy(&block.exact_terms, t->exact_terms, sizeof(block.exact_terms));
	if (priv->calib_sigma.of.kind >= 0) {
		block.has_calib = 1;
		block.calib_table = t->lens != NULL;	/* after the lens's table */
		block.calib_columns = (uint)priv->calib_sigma.columns;
		block.calib_step_px = (uint)priv->calib_sigma.step_px;
		block.calib_middle_mm = priv->calib_sigma.middle_mm;
		block.calib_per_mm = priv->calib_sigma.per_mm;
		block.calib_offset_mm2 = (float)priv->calib_sigma.offset_mm2;
	}
	passes_read(passes, priv->phase);
	if (block.has_sigma)
		passes_read(passes, priv->sigma);
	if (t->lens && passes_constant(passes, t->lens,
	    2 * t->h * t->lens_stride * sizeof(*t->lens)) < 0)
		return -1;
	if (block.has_calib && passes_constant(passes, priv->calib_sigma.table,
	    CALIB_SIGMA_TERMS * priv->calib_sigma.columns * priv->calib_sigma.rows *
	    sizeof(float)) < 0)
		return -1;
	passes_add(passes, &pass);
	return 0;
}

static int
list_passes(struct run *run, struct passes *passes)
{
	struct phase2depth *priv = run->priv;

	if (priv->jumps.beyond)
		return passes_refuse(passes, "jumps of a turn are the processor's");
	priv->on_device = true;
	return priv->calibrated ? list_rays(passes, priv) : list_plane(passes, priv);
}

/* ---- options ---- */

struct parameters {
	const char *calib, *camera, *frame, *across;
	struct depthfit_options plane;
	struct triangulation_options view;
	double min_depth, max_depth;
	bool as_projector;
	int calibration_sigma;
};

static const char *const ref_words[] = { "ideal", NULL };
static const char *const axes[] = { "x", "y", NULL };
static const char *const sigma_words[] = { "shape", "place", NULL };

static const struct opt options[] = {
	{ 'r', "ref", "FILE", OPT_FRAME, AT(plane.ref), NULL, 0, 0, NULL,
	  "absolute phase of the reference plane, or ideal: a plane by formula", ref_words },
	FLAG_ROW(0, "wrapped", plane.wrapped,
	    "the phases are wrapped ones that differ by less than half a turn"),
	{ 0, "ref-plane", "A,B,C", OPT_NUMBERS, AT(plane.ref_plane), NULL, 0, 0, "rad",
	  "the ideal plane's phase a + b x + c y at full-frame pixels (key ref_plane_rad)" },
	{ 0, "ref-roi", "X,Y,W,H", OPT_NUMBERS, AT(plane.ref_roi), NULL, 0, 1e6, "px",
	  "without a plate: the plane that fits these pixels of a flat wall" },
	{ 'c', "c", "C1[,C2...]", OPT_NUMBERS, AT(plane.c), NULL, 0, 0, "mm/rad",
	  "depth per phase above the reference, and its powers (key c_mm_per_rad)" },
	{ 0, "c-map", "FILE", OPT_FRAME, AT(plane.c_map), NULL, 0, 0, NULL,
	  "c1, c2, ... for each pixel, as --fit-c writes them" },
	{ 0, "fit-c", "Z1,Z2,...", OPT_NUMBERS, AT(plane.fit_c), NULL, 0, 0, "mm",
	  "find c from one measurement at each of these depths" },
	{ 0, "degree", "N", OPT_INTEGER, AT(plane.degree), "1", 1, POLYFIT_MOST, NULL,
	  "powers that --fit-c finds coefficients of" },
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "camera and projector calibration: x y z instead of depth" },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "the calibration's camera of that name (fringecal); the first if not given" },
	{ 0, "frame", "NAME", OPT_TEXT, AT(frame), NULL, 0, 0, NULL,
	  "coordinates of the calibration's device of that name" },
	{ 0, "across", "FILE", OPT_FRAME, AT(across), NULL, 0, 0, NULL,
	  "absolute phase of the other axis, to check calibration and capture by" },
	{ 'p', "period", "PX", OPT_NUMBER, AT(view.period_px), NULL, FLT_MIN, FLT_MAX, "px",
	  "fringe period on the projector that the phase counts in (key period_px)" },
	{ 'a', "axis", "WORD", OPT_WORD, AT(view.axis), NULL, 0, 0, NULL,
	  "phase gives projector columns (x) or rows (y) (key axis)", axes },
	FLAG_ROW(0, "centered", view.centered,
	    "the phase is 0 in the projector's middle, not in its first column"),
	{ 0, "projector", "W,H", OPT_NUMBERS, AT(view.projector), NULL, 1, 65536, "px",
	  "size of the projector, for --centered (key projector_px)" },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(view.origin), NULL, 0, 0, "px",
	  "first pixel on the camera's full frame (key origin_px)" },
	{ 0, "bin", "N[,N]", OPT_NUMBERS, AT(view.bin), NULL, 1, 1000, "px",
	  "a pixel is N x N of the calibration's (key bin)" },
	FLAG_ROW(0, "as-projector", as_projector,
	    "take the second camera of a stereo pair's calibration for the projector"),
	{ 0, "calibration-sigma", "WORD", OPT_WORD, AT(calibration_sigma), NULL, 0, 0, NULL,
	  "channel sigma_calib: what the calibration leaves open of the points' shape, or place",
	  sigma_words },
	{ 0, "min-depth", "Z", OPT_NUMBER, AT(min_depth), NULL, 0, 0, "mm", "nearer is invalid" },
	{ 0, "max-depth", "Z", OPT_NUMBER, AT(max_depth), NULL, 0, 0, "mm", "farther is invalid" },
	{ 0 },
};

/* ---- planning ---- */

/* Channel sigma, of the input and of a measured reference, if they have one. */
static void
plan_sigma(const struct frame_head *in, struct phase2depth *priv)
{
	bool measured = !priv->calibrated && priv->above.ref != NO_CHANNEL;

	priv->sigma = head_channel(in, "sigma");
	priv->ref_sigma = measured ? head_channel(in, "ref.sigma") : NO_CHANNEL;
	if (priv->sigma != NO_CHANNEL && measured && priv->ref_sigma == NO_CHANNEL &&
	    !priv->warned_ref_sigma)
		warn("--ref", "has no channel sigma: that of the depth is the input's share "
		    "alone");
	priv->warned_ref_sigma |= measured;
}

/* Where --period is not the period that the absolute phase was unwrapped with. */
static void
state_period(const struct parameters *parameters, const struct frame_head *in,
    struct check_facts *facts)
{
	double given_px = parameters->view.period_px, own_px;

	if (isnan(given_px) || !meta_get(&in->meta, "period_px"))
		return;
	if (meta_number(&in->meta, "period_px", given_px, &own_px) < 0) {
		fail_clear();
		return;
	}
	facts->period_option = "--period";
	facts->periods = 1;
	facts->given_px[0] = given_px;
	facts->key_px[0] = own_px == given_px ? NAN : own_px;
}

/* Fills in what the checks know (run/check.h): of points, or of depth above a plane. */
static void
state_facts(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	const struct phase2depth *priv = run->priv;
	const struct triangulation *rays = &priv->rays;
	const struct depthfit *above = &priv->above;
	const struct pinhole *projector = &priv->calib.projector;
	struct check_facts *facts = run_check_facts(run);
	bool ideal = above->ref == NO_CHANNEL && !parameters->plane.ref_roi.n;
	double across_px = rays->along_y ? projector->w : projector->h;

	if (!priv->calibrated) {
		facts->wrapped = above->wrapped;
		facts->above_plane = !above->wrapped && !parameters->plane.fit_c.n;
		facts->plane_rad_per_px[0] = ideal ? above->plane[1] : NAN;
		facts->plane_rad_per_px[1] = ideal ? above->plane[2] : NAN;
		facts->mm_per_rad = above->degree == 1 && above->c_map[0] == NO_CHANNEL ?
		    above->c[0] : NAN;
		return;
	}
	state_period(parameters, in, facts);
	if (priv->calib_reported)
		return;
	if (rays->projector_px[!rays->along_y] > 0)
		across_px = rays->projector_px[!rays->along_y];
	facts->calibration = &priv->calib;
	facts->calibration_path = parameters->calib;
	facts->other_camera = priv->other_camera;
	facts->other_cameras = priv->other_cameras;
	facts->along_y = rays->along_y;
	facts->zero_px = rays->code0_px;
	facts->across_zero_px = parameters->view.centered ? across_px / 2 : 0;
	facts->period_px = rays->px_per_rad * 2 * M_PI;
	memcpy(facts->origin_px, rays->origin_px, sizeof(facts->origin_px));
	memcpy(facts->bin, rays->bin, sizeof(facts->bin));
	memcpy(facts->projector_px, rays->projector_px, sizeof(facts->projector_px));
	facts->origin_stated = rays->placed;
	facts->bin_stated = rays->binned;
	facts->depth_limited = !isnan(parameters->min_depth) || !isnan(parameters->max_depth);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct phase2depth *priv = run->priv;
	const char *result;
	bool calib_sigma = priv->calib_sigma.of.kind >= 0;

	if (!parameters->plane.wrapped && anchor_check(run, in, priv->calibrated) < 0)
		return -1;
	if (!priv->calibrated && depthfit_plan(run, &priv->above, &parameters->plane,
	    &parameters->view.origin, in, out) < 0)
		return -1;
	if (priv->calibrated && (run_channel(run, in, "absphase", &priv->phase) < 0 ||
	    triangulation_plan(run, &priv->rays, &priv->calib, &parameters->view, in, out) < 0 ||
	    triangulation_check_frame(&priv->rays, parameters->calib, &priv->calib, in,
	    &priv->calib_reported) < 0 || check_across(run, &priv->rays, in) < 0))
		return -1;
	state_facts(run, in);
	if (calib_sigma && calib_sigma_plan(run, &priv->calib_sigma, &priv->rays) < 0)
		return -1;
	plan_sigma(in, priv);
	result = calib_sigma ? priv->sigma == NO_CHANNEL ? "x y z sigma_calib" :
	    "x y z sigma sigma_calib" :
	    priv->calibrated ? priv->sigma == NO_CHANNEL ? "x y z" : "x y z sigma" :
	    priv->sigma == NO_CHANNEL ? "depth" : "depth sigma";
	return run_pass_others(run, out, result, parameters->plane.wrapped
	    ? "phase absphase residual depth x y z sigma sigma_calib"
	    : "absphase residual depth x y z sigma sigma_calib", "");
}

/* ---- bodies ---- */

static int
fit_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct phase2depth *priv = run->priv;

	if (parameters->plane.wrapped &&
	    half_turn_survey(run, in, &priv->above, &priv->jumps) < 0) {
		frame_free(in);
		return -1;
	}
	if (priv->jumps.beyond) {
		frame_free(in);
		return fail("--fit-c", "the difference to the reference exceeds half a turn: "
		    "neighbours are a whole turn apart: unwrapq both phases");
	}
	return depthfit_add(in, &parameters->plane, &priv->above);
}

static int
fit_end(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct phase2depth *priv = run->priv;

	return depthfit_finish(run, &parameters->plane, &priv->above);
}

static int
survey(struct run *run, const struct frame *in)
{
	struct phase2depth *priv = run->priv;

	return half_turn_survey(run, in, &priv->above, &priv->jumps);
}

static int
find_plane(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct phase2depth *priv = run->priv;

	return depthfit_find_plane(run, in, &parameters->plane, &priv->above);
}

static const struct body map = { .rows = phase2depth_compute, .passes = list_passes };
static const struct body wrapped = { .survey = survey, .rows = phase2depth_compute,
	.passes = list_passes };
static const struct body over_wall = { .survey = find_plane, .rows = phase2depth_compute,
	.passes = list_passes };
static const struct body fit = { .frame = fit_frame, .end = fit_end };

/* Options of one way of measuring have no meaning in the other. */
static int
check_ways(const struct parameters *parameters)
{
	const struct triangulation_options *view = &parameters->view;
	const char *lost = !isnan(view->period_px) ? "--period" : view->axis >= 0 ? "--axis" :
	    view->centered ? "--centered" : view->projector.n ? "--projector" :
	    view->bin.n ? "--bin" : parameters->as_projector ? "--as-projector" :
	    parameters->camera ? "--camera" : parameters->frame ? "--frame" :
	    parameters->across ? "--across" :
	    parameters->calibration_sigma >= 0 ? "--calibration-sigma" : NULL;

	if (depthfit_check(&parameters->plane, parameters->calib) < 0)
		return -1;
	if (parameters->as_projector && (parameters->camera || parameters->frame))
		return fail_usage("--as-projector", "does not go with --camera or --frame");
	return parameters->calib || !lost ? 0 : fail_usage(lost, "is only for --calib");
}

/* Refuses calibrations that cannot measure. *reported: a line told of a fault in the file. */
static int
check_devices(const char *path, const struct calib *calib, bool as_projector, bool *reported)
{
	const struct pinhole *camera = &calib->camera, *projector = &calib->projector;

	if (calib->two_cameras && !as_projector)
		return fail(path, "is of two cameras (R1 and R2 stand there, and nothing names a "
		    "projector): wanted are camera_K, projector_K, R_cam_to_proj and "
		    "T_cam_to_proj, or others of man phase2depth; --as-projector takes the second "
		    "camera for a projector");
	if (check_baseline(calib) == 0)
		return fail(path, "camera and projector are in one place, T is 0: nothing can be "
		    "measured from there");
	*reported = true;
	if (calib->contradiction[0])
		warn(path, "%s", calib->contradiction);
	else if (device_check_tangential(path, camera, "camera") &&
	    device_check_tangential(path, projector, "projector") &&
	    device_check_skew(path, camera, "camera") &&
	    device_check_skew(path, projector, "projector") &&
	    device_check_resolution(path, camera, DEVICE_CAMERA, "camera", camera->w, camera->h) &&
	    (as_projector || device_check_resolution(path, projector, DEVICE_PROJECTOR,
	    "projector", projector->w, projector->h)) &&
	    device_check_fold(path, camera, "camera") &&
	    device_check_fold(path, projector, "projector"))
		*reported = false;
	return 0;
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct phase2depth *priv = run->priv;

	if (check_ways(parameters) < 0)
		return -1;
	if (parameters->min_depth > parameters->max_depth)
		return fail_usage("--min-depth", "%g is more than --max-depth %g: no depth lies "
		    "between", parameters->min_depth, parameters->max_depth);
	priv->least = isnan(parameters->min_depth) ? -FLT_MAX : (float)parameters->min_depth;
	priv->most = isnan(parameters->max_depth) ? FLT_MAX : (float)parameters->max_depth;
	priv->same = must_alloc(1, sizeof(*priv->same));
	run->body = parameters->plane.fit_c.n ? &fit : parameters->plane.wrapped ? &wrapped :
	    parameters->plane.ref_roi.n ? &over_wall : &map;
	run->sink = parameters->plane.fit_c.n && !run->output;	/* it prints two lines */
	priv->calibrated = parameters->calib;
	priv->calib_sigma.of.kind = parameters->calibration_sigma;
	if (!parameters->calib)
		return 0;
	if (calib_load_device(parameters->calib, parameters->camera, parameters->frame,
	    &priv->calib) < 0 ||
	    check_devices(parameters->calib, &priv->calib, parameters->as_projector,
	    &priv->calib_reported) < 0)
		return -1;
	if (parameters->across)
		priv->other_camera = calib_load_others(parameters->calib, parameters->camera,
		    parameters->frame, &priv->other_cameras);
	return priv->calib_sigma.of.kind < 0 ? 0 : point_variance_load(&priv->calib_sigma.of,
	    parameters->calib, parameters->camera, parameters->frame);
}

static void
end(struct run *run)
{
	struct phase2depth *priv = run->priv;

	/* after init, and after every frame of the input */
	if (priv->same && !fail_message() && !priv->on_device)
		depthfit_warn(priv->same, priv->above.wrapped);
	if (!fail_message())
		half_turn_warn(&priv->jumps);
	half_turn_free(&priv->jumps);
	depthfit_free(&priv->above);
	triangulation_free(&priv->rays);
	calib_sigma_free(&priv->calib_sigma);
	free(priv->same);
	free(priv->other_camera);
}

static const struct check *const checks[] = { &check_phase_samples, &check_period_key,
	&check_units, &check_calibration, &check_coordinates, &check_turned, &check_rig_fault,
	&check_epipolar, &check_reference_plane, NULL };

const struct stage stage_phase2depth = {
	.name = "phase2depth",
	.summary = "absolute phase to depth over a plane, or to calibrated coordinates",
	.hint = "--origin, --ref, --min-depth and --max-depth",
	.options = options,
	.usual = "ref ref-roi c wrapped fit-c calib across origin min-depth max-depth",
	STAGE_MEMORY(phase2depth),
	.checks = checks,
	.traits = STAGE_UNITS | STAGE_CONCURRENT,
	.agree = AGREE_RELATIVE,
	.tolerance = 1e-6,
	.example = { "phase2depth --ref ideal", "whole", "depth" },
	.init = init,
	.plan = plan,
	.release = end,
};
