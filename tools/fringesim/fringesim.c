/*
 * Simulated captures of a known scene, with their truth: options, patterns, exposures.
 *
 * simulated_scene.c sets up what the camera looks at, laser_capture.c the captures of a laser's
 * line; fringesim_rows.c computes all pixels.
 */
#include "fringesim.h"

#include "fringe/fringes.px.h"
#include "io/safe_file.h"
#include "run/stage.h"

/* ---- options ---- */

enum { AXIS_X, AXIS_Y, AXIS_BOTH };

enum kind { KIND_STEP, KIND_TWO_PLUS_ONE, KIND_SQUARE, KIND_DITHER };

struct parameters {
	struct simulated_scene_options scene;
	struct numbers period, shift;
	long steps, frames;
	int kind, axis, dither;
	struct pattern_spec spec;	/* as far as options give it */
	const char *truth, *corners, *manifest, *lut;
	struct projector_response response;
	struct camera camera;
	double ambient, motion, turn, marker_at;
	bool picture;
};

static const char *const kinds[] = { "step", "2+1", "square", "dither", NULL };
static const char *const axes[] = { "x", "y", "both", NULL };
static const char *const scenes[] = { "plane", "tilt", "steps", "sphere", "relief", "file",
	"board", "cylinder", NULL };
static const char *const dithers[] = { "bayer", "fs", "fs-serpentine", NULL };
static const char *const paints[] = { "checker", "waves", NULL };
static const char *const profiles[] = { "gauss", "bar", NULL };
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
	FLAG_ROW(0, "inverse", spec.inverse, "inverses too"),
	FLAG_ROW(0, "flats", spec.flats, "white, black too"),
	{ 0, "lead", "WORD", OPT_WORD, AT(spec.lead), NULL, 0, 0, NULL,
	  "a frame before each set that shows where it begins", pattern_leads },
	FLAG_ROW(0, "marker", spec.marker,
	    "a bright stripe on black, of known place: unwrapq finds it"),
	{ 0, "marker-at", "PX", OPT_NUMBER, AT(marker_at), NULL, 0, 1e6, "px",
	  "where its middle is; the projector's middle if not given", NULL },
	{ 0, "projector", "WxH", OPT_SIZE, AT(scene.projector), NULL, 0, 0, "px",
	  "projector pixels; the calibration's, else 1920x1080", NULL },
	{ 0, "scene", "WORD", OPT_WORD, AT(scene.scene), NULL, 0, 0, NULL,
	  "what is seen; relief if not given, file with --depth", scenes },
	{ 0, "board", "WxH,MM", OPT_TEXT, AT(scene.board), NULL, 0, 0, NULL,
	  "of --scene board: its points along both sides, and their distance", NULL },
	{ 0, "board-kind", "WORD", OPT_WORD, AT(scene.board_kind), "chess", 0, 0, NULL,
	  "what is printed on it", board_kinds },
	{ 0, "board-pose", "RX,RY,RZ,X,Y,Z", OPT_NUMBERS, AT(scene.board_pose), NULL, 0, 0,
	  "deg, mm", "its rotation vector, and its middle in the camera's frame", NULL },
	{ 0, "corners", "FILE", OPT_FILE, AT(corners), NULL, 0, 0, NULL,
	  "write there where its points are seen", NULL },
	{ 0, "depth", "FILE", OPT_FILE, AT(scene.depth), NULL, 0, 0, NULL, "scene heights", NULL },
	{ 0, "height", "MM", OPT_NUMBER, AT(scene.height), NULL, -1e9, 1e9, "mm", "scene", NULL },
	{ 0, "radius", "MM", OPT_NUMBER, AT(scene.radius), NULL, 1e-9, 1e9, "mm",
	  "sphere, cylinder", NULL },
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
	{ 0, "view", "NAME", OPT_TEXT, AT(scene.view), NULL, 0, 0, NULL,
	  "camera of a pair that sees the scene: left, right, or its name in the file", NULL },
	{ 0, "camera", "NAME", OPT_TEXT, AT(scene.camera), NULL, 0, 0, NULL,
	  "the calibration's camera of that name (fringecal); the first if not given", NULL },
	{ 0, "distance", "MM", OPT_NUMBER, AT(scene.distance), NULL, 1e-9, 1e9, "mm",
	  "of the scene from the camera; where the axes meet if not given", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(scene.origin), NULL, -1e6, 1e6, "px",
	  "of the picture on the calibrated sensor", NULL },
	FLAG_ROW(0, "shadow", scene.shadow, "cast shadows"),
	{ 0, "ambient", "LEVEL", OPT_NUMBER, AT(ambient), "0", 0, 1e6, NULL, "other light", NULL },
	{ 0, "mean", "LEVEL", OPT_NUMBER, AT(response.mean), NULL, 0, 1e6, "grey levels",
	  "of the fringes; 127/255 of full scale if not given", NULL },
	{ 0, "amplitude", "LEVEL", OPT_NUMBER, AT(response.amplitude), NULL, 0, 1e6, "grey levels",
	  "of the fringes; 100/255 of full scale if not given", NULL },
	{ 0, "albedo", "WORD|FILE", OPT_FILE, AT(scene.albedo), "none", 0, 0, NULL,
	  "none, checker, noise, or an image of the picture's size", NULL },
	{ 0, "paint", "WORD", OPT_WORD, AT(scene.paint), NULL, 0, 0, NULL,
	  "the same in colour, which --picture and the truth show", paints },
	FLAG_ROW(0, "picture", picture, "a picture in even light, in place of fringes"),
	{ 0, "noise", "SIGMA", OPT_NUMBER, AT(camera.noise), "0", 0, 1e6, NULL, "read", NULL },
	{ 0, "shot", "GAIN", OPT_NUMBER, AT(camera.shot), "0", 0, 1e6, "grey levels",
	  "shot noise: its variance is GAIN times the signal", NULL },
	{ 'b', "bits", "WORD", OPT_WORD, AT(camera.bits), "8", 0, 0, NULL, "of a sample", depths },
	{ 0, "gamma", "G", OPT_NUMBER, AT(response.gamma), "1", 0.1, 10, NULL, "projector's" },
	{ 0, "lut", "FILE", OPT_FILE, AT(lut), NULL, 0, 0, NULL, "that patterns go through", NULL },
	{ 0, "defocus", "SIGMA", OPT_NUMBER, AT(response.defocus_px), "0", 0, 1e3, "px",
	  "the projector's Gaussian blur, in its pixels", NULL },
	{ 0, "blur", "SIGMA", OPT_NUMBER, AT(scene.blur), NULL, 0, 20, "px",
	  "the camera's Gaussian blur; 0.7 of a board, else 0", NULL },
	FLAG_ROW(0, "laser", scene.laser.on,
	    "the line of the calibration's laser_plane, in place of fringes"),
	{ 0, "profile", "WORD", OPT_WORD, AT(scene.laser.profile), "gauss", 0, 0, NULL,
	  "of the laser's line", profiles },
	{ 0, "thickness", "MM", OPT_NUMBER, AT(scene.laser.thickness), NULL, 1e-9, 1e9, "mm",
	  "of its light: standard deviation, or half of a bar's; 2 px if not given", NULL },
	{ 0, "speckle", "CONTRAST", OPT_NUMBER, AT(scene.laser.speckle), "0", 0, 1, NULL,
	  "multiplicative noise of the line", NULL },
	{ 0, "reflection", "SHARE,MM", OPT_NUMBERS, AT(scene.laser.reflection), NULL, -1e9, 1e9,
	  NULL, "a second line: its share of the light, its distance from the first", NULL },
	{ 0, "laser-from", "X,Y,Z", OPT_NUMBERS, AT(scene.laser.from), NULL, -1e9, 1e9, "mm",
	  "where the light comes from, in the laser's plane: what faces away is dark", NULL },
	{ 0, "stage-step", "MM", OPT_NUMBER, AT(scene.laser.stage_step), NULL, -1e6, 1e6, "mm",
	  "the scene travels along scan_direction from picture to picture", NULL },
	{ 0, "stage-start", "MM", OPT_NUMBER, AT(scene.laser.stage_start), "0", -1e6, 1e6, "mm",
	  "where the travel begins", NULL },
	{ 0, "stage-angle", "DEG", OPT_ANGLE, AT(scene.laser.stage_angle), NULL, -360, 360, NULL,
	  "it turns about the calibration's axis, the cylinder about its own", NULL },
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

struct priv {
	struct simulated_scene simulated;
	struct pattern_spec spec;
	struct patterns patterns;
	struct projector_response response;
	struct lut lut;
	struct target *truth, *corners;
	struct manifest manifest;
	size_t images;			/* written so far */
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

/* Options of fringes, which a laser's line and a picture have no use for. */
static int
check_light(const struct parameters *parameters)
{
	const struct pattern_spec *spec = &parameters->spec;
	const struct simulated_scene_options *scene = &parameters->scene;
	const char *foreign = scene->laser.on && parameters->picture ? "--picture" :
	    parameters->picture && !isnan(scene->laser.stage_angle) ? "--stage-angle" :
	    spec->gray_cell != CELL_NONE ? "--gray" : spec->flats ? "--flats" :
	    spec->marker ? "--marker" : parameters->manifest ? "--manifest" :
	    parameters->corners ? "--corners" : parameters->lut ? "--lut" :
	    parameters->kind != KIND_STEP ? "--kind" : parameters->steps > 0 ? "--steps" :
	    parameters->shift.n ? "--shift" : parameters->motion != 0 ? "--motion" :
	    scene->laser.on && parameters->turn != 0 ? "--turn" :
	    parameters->response.defocus_px > 0 ? "--defocus" : !isnan(parameters->response.mean) ?
	    "--mean" : scene->laser.on && scene->projector.w ? "--projector" : NULL;

	if (foreign && (scene->laser.on || parameters->picture))
		return fail_usage(foreign, "has no meaning with %s", scene->laser.on ? "--laser" :
		    "--picture");
	return laser_options_check(&scene->laser, scene->calib, scene->shadow,
	    scene->scene == SCENE_CYLINDER, parameters->frames);
}

static int
check_use(const struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct pattern_spec *spec = &parameters->spec;

	if (check_light(parameters) < 0)
		return -1;
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
	if (safe_file_same(parameters->corners, run->output) ||
	    safe_file_same(parameters->corners, parameters->truth) ||
	    safe_file_same(parameters->corners, parameters->manifest))
		return fail_usage("--corners", "is a file that another option writes");
	if (parameters->corners && parameters->scene.scene != SCENE_BOARD)
		return fail_usage("--corners", "is only for --scene board");
	if (parameters->scene.scene == SCENE_BOARD &&
	    (parameters->turn != 0 || parameters->motion != 0))
		return fail_usage("--scene", "a board stands still: no --turn and no --motion");
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
	if (check_use(run) < 0)
		return -1;
	if (parameters->scene.laser.on && isnan(priv->response.amplitude))
		priv->response.amplitude = camera_full(camera) * 150 / 255;
	if (!parameters->scene.laser.on && projector_response_complete(&priv->response,
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

/* ---- exposures ---- */

void
camera_describe(const struct camera *camera, struct frame_head *head)
{
	head->type = camera->bits == CAMERA_8 ? SAMPLE_UCHAR :
	    camera->bits == CAMERA_FLOAT ? SAMPLE_FLOAT : SAMPLE_USHORT;
	if (camera->bits == CAMERA_12)
		meta_set(&head->meta, "max_value", "4095");
}

/* Makes dithered pattern i as fringegen does, as large as the projector; along an axis that the rig
 * knows no projector pixels of, as large as the picture. -1 after fail(). */
static int
make_dithered(struct run *run, size_t i, struct dithered *dithered)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	const struct pattern *pattern = &priv->patterns.pattern[i];
	const struct rig *rig = &priv->simulated.rig;
	struct pattern_spec of_two_levels = priv->spec;
	bool down = pattern->axis == 'y';
	struct frame_head head;
	float *level;
	size_t n;
	int status;

	of_two_levels.bits = BITS_1;
	of_two_levels.w = rig->calib || rig->used[0] ? (size_t)rig->projector_px[0] : rig->w;
	of_two_levels.h = rig->calib || rig->used[1] ? (size_t)rig->projector_px[1] : rig->h;
	n = down ? of_two_levels.h : of_two_levels.w;
	patterns_head(&of_two_levels, &priv->patterns, i, &head);
	level = must_alloc(n, sizeof(*level));
	status = frame_new_if(0, &head, &dithered->image);
	for (size_t u = 0; status == 0 && u < n; u++)
		level[u] = fringes_sine(patterns_turn((double)u, pattern->period_px,
		    pattern->shift_rad), 0.5f, 0.5f);
	if (status == 0)
		status = levels_fill(run, dithered->image, 0, level, down,
		    (enum dither)parameters->dither);
	free(level);
	return status;
}

/* With the camera's blur. */
static void
expose_blurred(struct run *run, struct exposure *exposure)
{
	const struct simulated_scene *simulated = exposure->simulated;
	const struct rig *rig = &simulated->rig;
	struct camera_blur *blur = &exposure->blur;
	double sum = 0;

	blur->n = (2 * rig->margin + 1) * rig->samples;
	blur->weight = must_alloc(blur->n, sizeof(*blur->weight));
	blur->line = must_alloc(simulated->columns * simulated->rows, sizeof(*blur->line));
	for (size_t k = 0; k < blur->n; k++) {
		double off = rig_sample(rig, k) / simulated->blur;

		blur->weight[k] = exp(-off * off / 2);
		sum += blur->weight[k];
	}
	for (size_t k = 0; k < blur->n; k++)
		blur->weight[k] /= sum;
	run_for(run, simulated->rows, fringesim_rows()->blur_row, exposure);
	run_for(run, rig->h, fringesim_rows()->expose_blurred_row, exposure);
	free(blur->weight);
	free(blur->line);
}

/* Fills `out` on all of the run's threads. -1 after fail(). */
static int
expose(struct run *run, struct exposure *exposure)
{
	const struct rig *rig = &exposure->simulated->rig;
	struct dithered *dithered = &exposure->dithered;

	dithered->sigma_px = exposure->projected.response->defocus_px;
	if (exposure->projected.pattern->wave == WAVE_DITHERED &&
	    make_dithered(run, exposure->capture.image, dithered) < 0)
		return -1;
	if (rig->samples > 1)
		expose_blurred(run, exposure);
	else
		run_for(run, rig->h, fringesim_rows()->expose_row, exposure);
	frame_free(dithered->image);
	return 0;
}

/* ---- images of fringes ---- */

/* A stage turns the scene about the cylinder's axis, which is parallel to y, behind the reference
 * plane. */
static struct rig_stage
turntable_stage(const struct rig *rig, double turn_rad)
{
	double c = cos(turn_rad), s = sin(turn_rad), z = rig->distance + rig->scene->radius;

	return (struct rig_stage){ .R = { c, 0, -s, 0, 1, 0, s, 0, c },
		.t = { s * z, 0, z - c * z }, .turns = true };
}

/* The key stage_deg, rounded to 1e-9, where the options turn the stage. */
static void
turntable_describe(const struct laser_options *options, uint32_t measurement,
    struct frame_head *head)
{
	double degrees = measurement * options->stage_angle * 180 / M_PI;

	if (!isnan(degrees))
		meta_set_number(&head->meta, "stage_deg", round(degrees * 1e9) / 1e9);
}

/* The first look in a measurement writes the truth, if it is wanted. */
static int
look_at_scene(struct run *run, const struct rig_pose *pose, uint32_t measurement, bool first)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *truth = NULL;
	int status = 0;

	if (first && priv->truth) {
		status = simulated_scene_new_truth(&priv->simulated, &truth);
		if (status == 0)
			turntable_describe(&parameters->scene.laser, measurement, &truth->head);
	}
	if (status == 0)
		simulated_scene_look(&priv->simulated, run, pose, truth);
	if (status == 0 && truth)
		status = target_put(priv->truth, truth);
	frame_free(truth);
	return status;
}

static int
describe_image(const struct run *run, struct camera_capture capture, struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	if (parameters->frames > 1 && meta_setf(&head->meta, "name", "set%04u_%s",
	    capture.measurement, priv->patterns.pattern[capture.image].name) < 0)
		return -1;
	turntable_describe(&parameters->scene.laser, capture.measurement, head);
	if (compensation_describe(&head->meta, parameters->lut, 1) < 0)
		return -1;
	camera_describe(&parameters->camera, head);
	head->w = priv->simulated.rig.w;
	head->h = priv->simulated.rig.h;
	simulated_scene_describe(&priv->simulated, head);
	return 0;
}

static int
take_image(struct run *run, struct camera_capture capture)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct exposure exposure = { .camera = &parameters->camera,
		.simulated = &priv->simulated, .capture = capture,
		.ambient = parameters->ambient };
	struct frame_head head;
	int status;

	patterns_head(&priv->spec, &priv->patterns, capture.image, &head);
	status = describe_image(run, capture, &head) < 0 ? -1 : frame_new(&head, &exposure.out);
	if (status == 0 && parameters->manifest)
		status = manifest_add(&priv->manifest, &head, run->output, priv->images++);
	head_free(&head);
	projected_pattern_init(&exposure.projected, &priv->response,
	    &priv->patterns.pattern[capture.image]);
	if (status == 0)
		status = expose(run, &exposure);
	return run_emit_if(run, status, exposure.out);
}

/* ---- pictures in even light, in place of fringes: in colour where the scene is painted so ---- */

/* One channel: the surface's share of that colour, in light that comes from everywhere. */
static int
expose_channel(struct run *run, struct camera_capture capture, struct frame *out)
{
	static const struct pattern none = { 0 };
	static const struct projector_response dark = { 0 };
	const struct parameters *parameters = run->parameters;
	struct simulated_scene *simulated = &((struct priv *)run->priv)->simulated;
	struct exposure exposure = { .camera = &parameters->camera, .simulated = simulated,
		.projected = { .pattern = &none, .response = &dark }, .capture = capture,
		.ambient = parameters->ambient, .out = out, .plane = capture.image };

	memset(simulated->visibility, VISIBILITY_DARK, simulated->columns * simulated->rows);
	if (!(exposure.ambient > 0))
		exposure.ambient = camera_full(&parameters->camera) * 200 / 255;
	return expose(run, &exposure);
}

static int
describe_picture(const struct run *run, uint32_t measurement, size_t channels,
    struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	const struct rig *rig = &priv->simulated.rig;

	if (head_init(head, rig->w, rig->h, channels, SAMPLE_FLOAT) < 0)
		return -1;
	if (channels > 1)
		head_set_channels(head, "r g b");
	if (parameters->frames > 1)
		meta_setf(&head->meta, "name", "set%04u_picture", measurement);
	else
		meta_set(&head->meta, "name", "picture");
	camera_describe(&parameters->camera, head);
	simulated_scene_describe(&priv->simulated, head);
	meta_remove(&head->meta, "projector_px");	/* no pattern was shown */
	return 0;
}

/* Takes the picture of a measurement and hands it on: channels r g b, or image. -1 after fail(). */
static int
take_picture(struct run *run, uint32_t measurement)
{
	const struct parameters *parameters = run->parameters;
	struct simulated_scene *simulated = &((struct priv *)run->priv)->simulated;
	const struct rig_pose pose = { .turn_rad = measurement * parameters->turn };
	size_t channels = simulated->paint == PAINT_COLOURS ? SCENE_COLOURS : 1;
	struct frame_head head;
	struct frame *out;
	int status;

	if (describe_picture(run, measurement, channels, &head) < 0)
		return -1;
	status = frame_new(&head, &out);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t k = 0; k < channels && status == 0; k++) {
		simulated->colour = k;
		status = look_at_scene(run, &pose, measurement, k == 0);
		if (status == 0)
			status = expose_channel(run, (struct camera_capture){ measurement,
			    (uint32_t)k, simulated->pair.side }, out);
	}
	return run_emit_if(run, status, out);
}

/* ---- measurements ---- */

static int
put_corners(struct priv *priv)
{
	struct frame *table;
	int status;

	if (!priv->corners)
		return 0;
	if (simulated_scene_corners(&priv->simulated, &table) < 0)
		return -1;
	status = target_put(priv->corners, table);
	frame_free(table);
	return status;
}

static int
measure(struct run *run, uint32_t measurement)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double before = (double)measurement * (double)priv->patterns.n;

	if (parameters->picture)
		return take_picture(run, measurement);
	if (put_corners(priv) < 0)
		return -1;
	for (uint32_t i = 0; i < priv->patterns.n; i++) {
		struct rig_stage stage = turntable_stage(&priv->simulated.rig,
		    measurement * parameters->scene.laser.stage_angle);
		struct rig_pose pose = { measurement * parameters->turn,
			(before + i) * parameters->motion,
			isnan(parameters->scene.laser.stage_angle) ? NULL : &stage };

		if ((i == 0 || parameters->motion != 0) &&
		    look_at_scene(run, &pose, measurement, i == 0) < 0)
			return -1;
		if (take_image(run, (struct camera_capture){ measurement, i,
		    priv->simulated.pair.side }) < 0)
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
	if (parameters->corners &&
	    !(priv->corners = target_open(parameters->corners, run->force, NULL)))
		status = -1;
	if (parameters->scene.laser.on && status == 0)
		status = laser_scan_take(run, &(struct laser_scan){ &parameters->camera,
		    &parameters->scene.laser, &priv->simulated, priv->response.amplitude,
		    parameters->ambient, parameters->frames, priv->truth });
	for (long i = 0; i < parameters->frames && status == 0 && !parameters->scene.laser.on; i++)
		status = measure(run, (uint32_t)i);
	if (priv->truth && target_close(priv->truth, status == 0) < 0)
		status = -1;
	if (priv->corners && target_close(priv->corners, status == 0) < 0)
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

const struct stage stage_fringesim = {
	.name = "fringesim",
	.summary = "simulate captures of a known scene, with their truth",
	.options = options,
	.usual = "size period steps gray scene depth calib truth",
	STAGE_MEMORY(priv),
	.traits = STAGE_SOURCE | STAGE_ANY_TYPE,
	.example = { "fringesim -s 1024x768 -p 60,63 -n 3 --projector 1200x800 -q", NULL,
	    "images" },
	.init = init,
	.release = end,
};
