/* Phase to depth over a reference plane, or to coordinates through a calibration. */
#include "phase2depth.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "anchor_check.h"
#include "base/fail.h"
#include "checks/checks.h"
#include "depth_rows.h"
#include "depth_sigma.h"
#include "run/stage.h"
#include "shape_row.h"

struct parameters {
	const char *calib, *camera, *frame, *across;
	struct depthfit_options plane;
	struct triangulation_options view;
	double min_depth, max_depth;
	bool as_projector;
	int calibration_sigma;
};

#define AT(field) offsetof(struct parameters, field)

static const char *const ref_words[] = { "ideal", NULL };
static const char *const axes[] = { "x", "y", NULL };
static const char *const sigma_words[] = { "shape", "place", NULL };

static const struct opt options[] = {
	{ 'r', "ref", "FILE", OPT_FRAME, AT(plane.ref), NULL, 0, 0, NULL,
	  "absolute phase of the reference plane, or ideal: a plane by formula", ref_words },
	{ 0, "wrapped", NULL, OPT_FLAG, AT(plane.wrapped), NULL, 0, 0, NULL,
	  "the phases are wrapped ones that differ by less than half a turn", NULL },
	{ 0, "ref-plane", "A,B,C", OPT_NUMBERS, AT(plane.ref_plane), NULL, 0, 0, "rad",
	  "the ideal plane's phase a + b x + c y at full-frame pixels (key ref_plane_rad)", NULL },
	{ 'c', "c", "C1[,C2...]", OPT_NUMBERS, AT(plane.c), NULL, 0, 0, "mm/rad",
	  "depth per phase above the reference, and its powers (key c_mm_per_rad)", NULL },
	{ 0, "c-map", "FILE", OPT_FRAME, AT(plane.c_map), NULL, 0, 0, NULL,
	  "c1, c2, ... for each pixel, as --fit-c writes them", NULL },
	{ 0, "fit-c", "Z1,Z2,...", OPT_NUMBERS, AT(plane.fit_c), NULL, 0, 0, "mm",
	  "find c from one measurement at each of these depths", NULL },
	{ 0, "degree", "N", OPT_INTEGER, AT(plane.degree), "1", 1, POLYFIT_MOST, NULL,
	  "powers that --fit-c finds coefficients of", NULL },
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "camera and projector calibration: x y z instead of depth", NULL },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "the calibration's camera of that name (fringecal); the first if not given", NULL },
	{ 0, "frame", "NAME", OPT_TEXT, AT(frame), NULL, 0, 0, NULL,
	  "coordinates of the calibration's device of that name", NULL },
	{ 0, "across", "FILE", OPT_FRAME, AT(across), NULL, 0, 0, NULL,
	  "absolute phase of the other axis, to check calibration and capture by", NULL },
	{ 'p', "period", "PX", OPT_NUMBER, AT(view.period_px), NULL, FLT_MIN, FLT_MAX, "px",
	  "fringe period on the projector that the phase counts in (key period_px)", NULL },
	{ 'a', "axis", "WORD", OPT_WORD, AT(view.axis), NULL, 0, 0, NULL,
	  "phase gives projector columns (x) or rows (y) (key axis)", axes },
	{ 0, "centered", NULL, OPT_FLAG, AT(view.centered), NULL, 0, 0, NULL,
	  "the phase is 0 in the projector's middle, not in its first column", NULL },
	{ 0, "projector", "W,H", OPT_NUMBERS, AT(view.projector), NULL, 1, 65536, "px",
	  "size of the projector, for --centered (key projector_px)", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(view.origin), NULL, 0, 0, "px",
	  "first pixel on the camera's full frame (key origin_px)", NULL },
	{ 0, "bin", "N[,N]", OPT_NUMBERS, AT(view.bin), NULL, 1, 1000, "px",
	  "a pixel is N x N of the calibration's (key bin)", NULL },
	{ 0, "as-projector", NULL, OPT_FLAG, AT(as_projector), NULL, 0, 0, NULL,
	  "take the second camera of a stereo pair's calibration for the projector", NULL },
	{ 0, "calibration-sigma", "WORD", OPT_WORD, AT(calibration_sigma), NULL, 0, 0, NULL,
	  "channel sigma_calib: what the calibration leaves open of the points' shape, or place",
	  sigma_words },
	{ 0, "min-depth", "Z", OPT_NUMBER, AT(min_depth), NULL, 0, 0, "mm",
	  "nearer is invalid", NULL },
	{ 0, "max-depth", "Z", OPT_NUMBER, AT(max_depth), NULL, 0, 0, "mm",
	  "farther is invalid", NULL },
	{ 0 },
};

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	struct phase2depth *priv = run->priv;

	(void)scratch;
	if (!priv->calibrated) {
		depth_rows(priv, in, out, y0, y1);
		for (size_t y = y0; y < y1; y++) {
			half_turn_row(&priv->jumps, frame_floats(out, 0, y), in->head.w, y);
			reference_check_row(&priv->reference, &priv->above, in, y);
		}
		depthfit_compare(&priv->above, in, priv->same, y0, y1);
	}
	for (size_t y = y0; y < y1; y++) {
		const float *const xyz[3] = { frame_floats(out, 0, y),
			priv->calibrated ? frame_floats(out, 1, y) : NULL,
			priv->calibrated ? frame_floats(out, 2, y) : NULL };

		phase_steps_row(&priv->steps, frame_floats(in, priv->calibrated ? priv->phase :
		    priv->above.phase, y), in->head.w, y);
		if (priv->calibrated)
			shape_row(priv, in, out, y);
		if (priv->calibrated)
			plausible_row(&priv->plausible, &priv->rays,
			    frame_floats(in, priv->phase, y), xyz, y);
		if (priv->sigma != NO_CHANNEL)
			depth_sigma_row(priv, in, out, y);
		if (priv->calib_sigma.of.kind >= 0)
			calib_sigma_row(&priv->calib_sigma, &priv->rays, xyz, frame_floats(out,
			    priv->sigma == NO_CHANNEL ? 3 : 4, y), in->head.w, y);
		passthrough_row(&priv->passthrough, in, out, y);
	}
}

static void
after(struct run *run)
{
	struct phase2depth *priv = run->priv;

	if (phase_steps_warn(&priv->steps))
		priv->plausible.off = priv->reference.off = true;
	if (priv->calibrated)
		plausible_warn(&priv->plausible, priv->rays.along_y);
	else
		reference_check_warn(&priv->reference);
	if (priv->plausible.off)	/* its line tells enough */
		run_explain_check(run, "epipolar");
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct phase2depth *priv = run->priv;
	const char *result;
	bool calib_sigma = priv->calib_sigma.of.kind >= 0;
	int status;

	if (!parameters->plane.wrapped && anchor_check(run, in, priv->calibrated) < 0)
		return -1;
	if (!priv->calibrated)
		status = depthfit_plan(run, &priv->above, &parameters->plane,
		    &parameters->view.origin, in, out);
	else
		status = run_channel(run, in, "absphase", &priv->phase) < 0 ? -1 :
		    triangulation_plan(run, &priv->rays, &priv->calib, &parameters->view, in, out) <
		    0 ? -1 : plausible_plan(&priv->plausible, &priv->calib, &priv->rays, in);
	if (status < 0 || phase_steps_plan(&priv->steps, in) < 0 ||
	    phase_steps_frame_memory(&priv->steps, run) < 0 ||
	    (priv->calibrated && (plausible_frame_memory(&priv->plausible, run) < 0 ||
	    across_plan(run, &priv->calib, &priv->rays, parameters->view.centered, in) < 0)) ||
	    (!priv->calibrated && !parameters->plane.fit_c.n &&
	    (reference_check_plan(&priv->reference, &priv->above, in) < 0 ||
	    run_frame_memory(run, &priv->reference.kept,
		reference_check_bytes(&priv->reference)) < 0)) ||
	    (calib_sigma && calib_sigma_plan(run, &priv->calib_sigma, &priv->rays) < 0))
		return -1;
	depth_sigma_plan(in, priv);
	result = calib_sigma ? priv->sigma == NO_CHANNEL ? "x y z sigma_calib" :
	    "x y z sigma sigma_calib" :
	    priv->calibrated ? priv->sigma == NO_CHANNEL ? "x y z" : "x y z sigma" :
	    priv->sigma == NO_CHANNEL ? "depth" : "depth sigma";
	return passthrough_plan(run, &priv->passthrough, out, result, parameters->plane.wrapped
	    ? "phase absphase residual depth x y z sigma sigma_calib"
	    : "absphase residual depth x y z sigma sigma_calib", "");
}

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

static const struct body map = { .rows = rows, .after = after, .passes = phase2depth_passes };
static const struct body wrapped = { .survey = survey, .rows = rows, .after = after,
	.passes = phase2depth_passes };
static const struct body fit = { .frame = fit_frame, .end = fit_end };

/* Options of the one way of measuring have no meaning in the other. */
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

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct phase2depth *priv = run->priv;

	if (check_ways(parameters) < 0 || triangulation_check(&parameters->view) < 0)
		return -1;
	if (parameters->min_depth > parameters->max_depth)
		return fail_usage("--min-depth", "%g is more than --max-depth %g: no depth lies "
		    "between", parameters->min_depth, parameters->max_depth);
	priv->least = isnan(parameters->min_depth) ? -FLT_MAX : (float)parameters->min_depth;
	priv->most = isnan(parameters->max_depth) ? FLT_MAX : (float)parameters->max_depth;
	priv->same = calloc(1, sizeof(*priv->same));
	if (!priv->same)
		return fail_memory();
	run->body = parameters->plane.fit_c.n ? &fit : parameters->plane.wrapped ? &wrapped : &map;
	run->sink = parameters->plane.fit_c.n && !run->output;	/* it prints two lines */
	priv->calibrated = parameters->calib;
	priv->calib_sigma.of.kind = parameters->calibration_sigma;
	priv->plausible.limited = !isnan(parameters->min_depth) || !isnan(parameters->max_depth);
	if (!parameters->calib)
		return 0;
	if (calib_load_device(parameters->calib, parameters->camera, parameters->frame,
	    &priv->calib) < 0 || plausible_calib(&priv->plausible, parameters->calib,
	    parameters->as_projector, &priv->calib) < 0)
		return -1;
	return priv->calib_sigma.of.kind < 0 ? 0 : point_variance_load(&priv->calib_sigma.of,
	    parameters->calib, parameters->camera, parameters->frame);
}

static void
end(struct run *run)
{
	struct phase2depth *priv = run->priv;

	/* init was called, and every frame of the input was seen */
	if (priv->same && !fail_message() && !priv->on_device)
		depthfit_warn(priv->same, priv->above.wrapped);
	if (!fail_message())
		half_turn_warn(&priv->jumps);
	half_turn_free(&priv->jumps);
	passthrough_free(&priv->passthrough);
	depthfit_free(&priv->above);
	reference_check_free(&priv->reference);
	triangulation_free(&priv->rays);
	calib_sigma_free(&priv->calib_sigma);
	plausible_free(&priv->plausible);
	phase_steps_free(&priv->steps);
	free(priv->same);
}

static const struct check *const checks[] = { &check_epipolar, NULL };

STAGE(phase2depth) = {
	.name = "phase2depth",
	.summary = "absolute phase to depth over a plane, or to calibrated coordinates",
	.operands = "[FILE ...]",
	.hint = "--origin, --ref, --min-depth and --max-depth",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct phase2depth),
	.checks = checks,
	.traits = STAGE_UNITS | STAGE_CONCURRENT,
	.agree = AGREE_RELATIVE,
	.tolerance = 1e-6,
	.example = { "phase2depth --ref ideal", "whole", "depth" },
	.init = init,
	.plan = plan,
	.release = end,
};
