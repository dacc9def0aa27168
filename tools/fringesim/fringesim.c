/* Simulated captures of a known scene, with their truth. */
#include "fringe/compensation.h"
#include "io/safe_file.h"
#include "run/stage.h"

#include <string.h>

#include "exposure.h"

struct parameters {
	struct simulated_scene_options scene;
	struct numbers period, shift;
	long steps, frames;
	int kind, axis, dither;
	struct pattern_spec spec;	/* as far as options give it */
	const char *truth, *manifest, *lut;
	struct projector_response response;
	struct camera camera;
	double ambient, motion, turn, marker_at;
};

struct priv {
	struct simulated_scene simulated;
	struct pattern_spec spec;
	struct patterns patterns;
	struct projector_response response;
	struct lut lut;
	struct target *truth;
	struct manifest manifest;
	size_t images;			/* written so far */
};

#define AT(field) offsetof(struct parameters, field)

enum { AXIS_X, AXIS_Y, AXIS_BOTH };

enum kind { KIND_STEP, KIND_TWO_PLUS_ONE, KIND_SQUARE, KIND_DITHER };

static const char *const kinds[] = { "step", "2+1", "square", "dither", NULL };
static const char *const axes[] = { "x", "y", "both", NULL };
static const char *const scenes[] = { "plane", "tilt", "steps", "sphere", "relief", "file", NULL };
static const char *const dithers[] = { "bayer", "fs", "fs-serpentine", NULL };
static const char *const depths[] = { "8", "12", "16", "float", NULL };

static const struct opt options[] = {
	{ 's', "size", "WxH", OPT_SIZE, AT(scene.size), NULL, 0, 0, "px",
	  "camera pixels; 640x480 unless --depth or --calib say otherwise", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(period), "60", 1, 1e6, "px", "fringes", NULL },
	{ 'n', "steps", "N", OPT_INTEGER, AT(steps), NULL, 3, 1000, NULL, "3 if not given", NULL },
	{ 0, "shift", "DEG,...", OPT_ANGLES, AT(shift), NULL, -3600, 3600, NULL,
	  "own shifts; -120,0,120 for 3 steps, else 360 n/N", NULL },
	{ 'k', "kind", "WORD", OPT_WORD, AT(kind), "step", 0, 0, NULL,
	  "equal steps, of sinusoids or in two levels, or sin, cos and flat", kinds },
	{ 0, "dither", "WORD", OPT_WORD, AT(dither), "fs-serpentine", 0, 0, NULL,
	  "how -k dither does it", dithers },
	{ 'a', "axis", "WORD", OPT_WORD, AT(axis), "x", 0, 0, NULL, "phase varies along", axes },
	{ 'g', "gray", "WORD", OPT_WORD, AT(spec.gray_cell), NULL, 0, 0, NULL,
	  "Gray planes behind the fringes, which count", manifest_cells },
	{ 0, "inverse", NULL, OPT_FLAG, AT(spec.inverse), NULL, 0, 0, NULL, "inverses too", NULL },
	{ 0, "flats", NULL, OPT_FLAG, AT(spec.flats), NULL, 0, 0, NULL, "white, black too", NULL },
	{ 0, "marker", NULL, OPT_FLAG, AT(spec.marker), NULL, 0, 0, NULL,
	  "a bright stripe on black, of known place: unwrapq finds it", NULL },
	{ 0, "marker-at", "PX", OPT_NUMBER, AT(marker_at), NULL, 0, 1e6, "px",
	  "where its middle is; the projector's middle if not given", NULL },
	{ 0, "projector", "WxH", OPT_SIZE, AT(scene.projector), NULL, 0, 0, "px",
	  "projector pixels; the calibration's, else 1920x1080", NULL },
	{ 0, "scene", "WORD", OPT_WORD, AT(scene.scene), NULL, 0, 0, NULL,
	  "what is seen; relief if not given, file with --depth", scenes },
	{ 0, "depth", "FILE", OPT_FILE, AT(scene.depth), NULL, 0, 0, NULL, "scene heights", NULL },
	{ 0, "height", "MM", OPT_NUMBER, AT(scene.height), NULL, -1e9, 1e9, "mm", "scene", NULL },
	{ 0, "radius", "MM", OPT_NUMBER, AT(scene.radius), NULL, 1e-9, 1e9, "mm", "sphere", NULL },
	{ 0, "field", "MM", OPT_NUMBER, AT(scene.field), NULL, 1e-9, 1e9, "mm",
	  "width of the scene; of the picture if not given", NULL },
	{ 0, "pixel", "MM", OPT_NUMBER, AT(scene.pixel), NULL, 1e-9, 1e9, "mm",
	  "of a camera pixel on the scene; 100/width if not given", NULL },
	{ 'c', "c", "MM", OPT_NUMBER, AT(scene.c), NULL, -1e9, 1e9, "mm/rad",
	  "height per radian of the first period; 5 if not given", NULL },
	{ 0, "ref-plane", "A,B,C", OPT_NUMBERS, AT(scene.ref_plane), NULL, 0, 0, "rad, rad/px",
	  "PHI_ref = A + B x + C y; a projector pixel per camera pixel if not given", NULL },
	{ 0, "calib", "FILE", OPT_FILE, AT(scene.calib), NULL, 0, 0, NULL,
	  "pinhole camera and projector", NULL },
	{ 0, "distance", "MM", OPT_NUMBER, AT(scene.distance), NULL, 1e-9, 1e9, "mm",
	  "of the scene from the camera; where the axes meet if not given", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(scene.origin), NULL, -1e6, 1e6, "px",
	  "of the picture on the calibrated sensor", NULL },
	{ 0, "shadow", NULL, OPT_FLAG, AT(scene.shadow), NULL, 0, 0, NULL, "cast shadows", NULL },
	{ 0, "ambient", "LEVEL", OPT_NUMBER, AT(ambient), "0", 0, 1e6, NULL, "other light", NULL },
	{ 0, "mean", "LEVEL", OPT_NUMBER, AT(response.mean), NULL, 0, 1e6, "grey levels",
	  "of the fringes; 127/255 of full scale if not given", NULL },
	{ 0, "amplitude", "LEVEL", OPT_NUMBER, AT(response.amplitude), NULL, 0, 1e6, "grey levels",
	  "of the fringes; 100/255 of full scale if not given", NULL },
	{ 0, "albedo", "WORD|FILE", OPT_FILE, AT(scene.albedo), "none", 0, 0, NULL,
	  "none, checker, noise, or an image of the picture's size", NULL },
	{ 0, "noise", "SIGMA", OPT_NUMBER, AT(camera.noise), "0", 0, 1e6, NULL, "read", NULL },
	{ 0, "shot", "GAIN", OPT_NUMBER, AT(camera.shot), "0", 0, 1e6, "grey levels",
	  "shot noise: its variance is GAIN times the signal", NULL },
	{ 'b', "bits", "WORD", OPT_WORD, AT(camera.bits), "8", 0, 0, NULL, "of a sample", depths },
	{ 0, "gamma", "G", OPT_NUMBER, AT(response.gamma), "1", 0.1, 10, NULL, "projector's",
	    NULL },
	{ 0, "lut", "FILE", OPT_FILE, AT(lut), NULL, 0, 0, NULL, "that patterns go through", NULL },
	{ 0, "defocus", "SIGMA", OPT_NUMBER, AT(response.defocus_px), "0", 0, 1e3, "px",
	  "the projector's Gaussian blur, in its pixels", NULL },
	{ 0, "exposure", "GAIN", OPT_NUMBER, AT(camera.exposure), "1", 0, 1e6, NULL, "gain", NULL },
	{ 0, "motion", "MM", OPT_NUMBER, AT(motion), "0", -1e6, 1e6, "mm",
	  "the scene comes so much nearer from image to image", NULL },
	{ 0, "turn", "DEG", OPT_ANGLE, AT(turn), "0", -360, 360, NULL,
	  "the scene turns so much from measurement to measurement", NULL },
	{ 0, "frames", "N", OPT_INTEGER, AT(frames), "1", 1, 1000000, NULL, "measurements", NULL },
	{ 0, "seed", "N", OPT_INTEGER, AT(camera.seed), "0", 0, 4e9, NULL, "of noise", NULL },
	{ 0, "truth", "FILE", OPT_FILE, AT(truth), NULL, 0, 0, NULL, "write it there", NULL },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL, "of images", NULL },
	{ 0 },
};

static int
choose_patterns(const struct parameters *parameters, const struct rig *rig, struct priv *priv)
{
	struct pattern_spec *spec = &priv->spec;

	*spec = parameters->spec;
	spec->bits = BITS_8;		/* the projector's; with 1 the captures would be marked */
	spec->w = (size_t)rig->projector_px[0];
	spec->h = (size_t)rig->projector_px[1];
	spec->family = parameters->kind == KIND_TWO_PLUS_ONE ? FAMILY_SIN_COS_FLAT : FAMILY_SHIFTS;
	spec->wave = parameters->kind == KIND_SQUARE ? WAVE_SQUARE :
	    parameters->kind == KIND_DITHER ? WAVE_DITHERED : WAVE_SINE;
	memcpy(spec->along, rig->used, sizeof(spec->along));
	if (patterns_shifts(spec, &parameters->shift, parameters->steps) < 0 ||
	    patterns_periods(spec, &parameters->period, &(struct numbers){ 0 }) < 0 ||
	    (spec->marker && patterns_marker(spec, parameters->marker_at) < 0))
		return -1;
	return patterns_plan(spec, &priv->patterns);
}

static int
check_use(const struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct pattern_spec *spec = &parameters->spec;

	if (parameters->kind == KIND_TWO_PLUS_ONE &&
	    (parameters->shift.n || parameters->steps > 0))
		return fail_usage("--kind", "2+1 takes neither --steps nor --shift");
	if (parameters->dither != DITHER_FS_SERPENTINE && parameters->kind != KIND_DITHER)
		return fail_usage("--dither", "needs --kind dither");
	if (parameters->kind == KIND_DITHER && parameters->response.defocus_px > DITHERED_SIGMA)
		return fail_usage("--defocus", "is at most %d px for dithered patterns, not %g",
		    DITHERED_SIGMA, parameters->response.defocus_px);
	if (spec->inverse && spec->gray_cell == CELL_NONE)
		return fail_usage("--inverse", "needs --gray");
	if (!isnan(parameters->marker_at) && !spec->marker)
		return fail_usage("--marker-at", "needs --marker");
	if (parameters->axis == AXIS_BOTH && parameters->scene.ref_plane.n)
		return fail_usage("--ref-plane", "is for fringes along one axis");
	if (safe_file_same(parameters->truth, run->output))
		return fail_usage("--truth", "is the file that -o writes");
	if (safe_file_same(parameters->manifest, run->output) ||
	    safe_file_same(parameters->manifest, parameters->truth))
		return fail_usage("--manifest", "is a file that -o or --truth writes");
	if (parameters->manifest && (!run->output || !strcmp(run->output, "-")))
		return fail_usage("--manifest", "wants files to name: give -o FILE, or -o FOLDER/");
	return parameters->turn == 0 || parameters->frames > 1 ? 0 :
	    fail_usage("--turn", "turns the scene between measurements: give --frames");
}

static const struct body body;

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct camera *camera = &parameters->camera;
	struct priv *priv = run->priv;
	bool along[2] = { parameters->axis != AXIS_Y, parameters->axis != AXIS_X };

	priv->simulated.both = parameters->kind == KIND_DITHER;
	run->body = &body;
	priv->response = parameters->response;
	if (check_use(run) < 0 || projector_response_complete(&priv->response,
	    camera_full(camera)) < 0)
		return -1;
	if (parameters->lut && lut_load(parameters->lut, &priv->lut) < 0)
		return -1;
	priv->response.lut = parameters->lut ? &priv->lut : NULL;
	if (simulated_scene_open(&priv->simulated, &parameters->scene, parameters->period.v[0],
	    (uint32_t)camera->seed, along) < 0)
		return -1;
	return choose_patterns(parameters, &priv->simulated.rig, priv);
}

/* ---- one image ---- */

static int
describe(const struct run *run, struct camera_capture capture, struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	if (parameters->frames > 1 && meta_setf(&head->meta, "name", "set%04u_%s",
	    capture.measurement, priv->patterns.pattern[capture.image].name) < 0)
		return -1;
	if (compensation_describe(&head->meta, parameters->lut, 1) < 0)
		return -1;
	if (parameters->camera.bits == CAMERA_12 && meta_set(&head->meta, "max_value", "4095") < 0)
		return -1;
	head->w = priv->simulated.rig.w;
	head->h = priv->simulated.rig.h;
	head->type = camera_type(&parameters->camera);
	return simulated_scene_describe(&priv->simulated, head);
}

static int
expose(struct run *run, struct camera_capture capture)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct exposure exposure = { .camera = &parameters->camera,
		.simulated = &priv->simulated, .capture = capture, .ambient = parameters->ambient,
		.how = (enum dither)parameters->dither };
	struct frame_head head;
	int status;

	if (patterns_head(&priv->spec, &priv->patterns, capture.image, &head) < 0)
		return -1;
	status = describe(run, capture, &head) < 0 ? -1 : frame_new(&head, &exposure.out);
	if (status == 0 && parameters->manifest)
		status = manifest_add(&priv->manifest, &head, run->output, priv->images++);
	head_free(&head);
	if (status < 0) {
		frame_free(exposure.out);
		return -1;
	}
	projected_pattern_init(&exposure.projected, &priv->response,
	    &priv->patterns.pattern[capture.image]);
	if (exposure_fill(run, &exposure, &priv->spec, &priv->patterns) == 0)
		return run_emit(run, exposure.out);
	frame_free(exposure.out);
	return -1;
}

/* ---- measurements ---- */

static int
measure(struct run *run, uint32_t measurement)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double before = (double)measurement * (double)priv->patterns.n;
	int status;

	for (uint32_t i = 0; i < priv->patterns.n; i++) {
		struct rig_pose pose = { measurement * parameters->turn,
			(before + i) * parameters->motion };
		struct frame *truth = NULL;

		if (i == 0 && priv->truth && simulated_scene_new_truth(&priv->simulated,
		    &truth) < 0)
			return -1;
		if (i == 0 || parameters->motion != 0)
			simulated_scene_look(&priv->simulated, run, &pose, truth);
		status = truth ? target_put(priv->truth, truth) : 0;
		frame_free(truth);
		if (status < 0 || expose(run, (struct camera_capture){ measurement, i }) < 0)
			return -1;
	}
	return 0;
}

static int
start(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	int status = 0;

	if (parameters->truth && !(priv->truth = target_open(parameters->truth, run->force, NULL)))
		return -1;
	for (long i = 0; i < parameters->frames && status == 0; i++)
		status = measure(run, (uint32_t)i);
	if (priv->truth && target_close(priv->truth, status == 0) < 0)
		status = -1;
	if (status == 0 && parameters->manifest)
		status = manifest_write(parameters->manifest, &priv->manifest);
	return status;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	simulated_scene_close(&priv->simulated);
	patterns_spec_free(&priv->spec);
	patterns_free(&priv->patterns);
	manifest_free(&priv->manifest);
	lut_free(&priv->lut);
}

static const struct body body = { .start = start };

STAGE(fringesim) = {
	.name = "fringesim",
	.summary = "simulate captures of a known scene, with their truth",
	.operands = "",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE | STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.example = { "fringesim -s 1024x768 -p 60,63 -n 3 --projector 1200x800 -q", NULL,
	    "images" },
	.init = init,
	.release = end,
};
