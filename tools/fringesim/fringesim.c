/* Simulated captures of a known scene, with their truth. */
#include "fringe/compensation.h"
#include "io/safe_file.h"
#include "run/stage.h"

#include <string.h>

#include "exposure.h"
#include "laser_capture.h"
#include "options.h"
#include "turntable.h"

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

/* Options of fringes, which a laser's line has no use for. */
static int
check_laser(const struct parameters *parameters)
{
	const struct pattern_spec *spec = &parameters->spec;
	const struct simulated_scene_options *scene = &parameters->scene;
	const char *foreign = spec->gray_cell != CELL_NONE ? "--gray" : spec->flats ? "--flats" :
	    spec->marker ? "--marker" : parameters->manifest ? "--manifest" :
	    parameters->corners ? "--corners" : parameters->lut ? "--lut" :
	    parameters->kind != KIND_STEP ? "--kind" : parameters->steps > 0 ? "--steps" :
	    parameters->shift.n ? "--shift" : parameters->motion != 0 ? "--motion" :
	    parameters->turn != 0 ? "--turn" : parameters->response.defocus_px > 0 ? "--defocus" :
	    !isnan(parameters->response.mean) ? "--mean" : scene->projector.w ? "--projector" :
	    NULL;

	if (scene->laser.on && foreign)
		return fail_usage(foreign, "has no meaning with --laser");
	return laser_options_check(&scene->laser, scene->calib, scene->shadow,
	    scene->scene == SCENE_CYLINDER, parameters->frames);
}

static int
check_use(const struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct pattern_spec *spec = &parameters->spec;

	if (check_laser(parameters) < 0)
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

/* ---- one image ---- */

static int
describe(const struct run *run, struct camera_capture capture, struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	if (parameters->frames > 1 && meta_setf(&head->meta, "name", "set%04u_%s",
	    capture.measurement, priv->patterns.pattern[capture.image].name) < 0)
		return -1;
	if (turntable_describe(&parameters->scene.laser, capture.measurement, head) < 0 ||
	    compensation_describe(&head->meta, parameters->lut, 1) < 0)
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
	int status;

	if (put_corners(priv) < 0)
		return -1;
	for (uint32_t i = 0; i < priv->patterns.n; i++) {
		struct rig_stage stage = turntable_stage(&priv->simulated.rig,
		    measurement * parameters->scene.laser.stage_angle);
		struct rig_pose pose = { measurement * parameters->turn,
			(before + i) * parameters->motion,
			isnan(parameters->scene.laser.stage_angle) ? NULL : &stage };
		struct frame *truth = NULL;

		if (i == 0 && priv->truth && (simulated_scene_new_truth(&priv->simulated,
		    &truth) < 0 || turntable_describe(&parameters->scene.laser,
		    measurement, &truth->head) < 0)) {
			frame_free(truth);
			return -1;
		}
		if (i == 0 || parameters->motion != 0)
			simulated_scene_look(&priv->simulated, run, &pose, truth);
		status = truth ? target_put(priv->truth, truth) : 0;
		frame_free(truth);
		if (status < 0 || expose(run, (struct camera_capture){ measurement, i,
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
		status = laser_scan(run, &(struct laser_scan){ &parameters->camera,
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

STAGE(fringesim) = {
	.name = "fringesim",
	.summary = "simulate captures of a known scene, with their truth",
	.operands = "",
	.options = fringesim_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE | STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.example = { "fringesim -s 1024x768 -p 60,63 -n 3 --projector 1200x800 -q", NULL,
	    "images" },
	.init = init,
	.release = end,
};
