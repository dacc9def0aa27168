/* Simulated captures of a known scene, with their truth. */
#include "stage.h"
#include "fringesim.px.h"

#include <string.h>

#include "light.h"
#include "studio.h"

struct parameters {
	struct studio_options studio;
	struct shots_options shots;
	long frames;
	int bits;
	const char *truth, *manifest;
	struct light light;
	double ambient, noise, shot, exposure, motion, turn;
};

struct priv {
	struct studio studio;
	struct shots shots;
	struct light light;
	double full;			/* the largest sample */
	struct target *truth;
	struct manifest manifest;
	size_t images;			/* written so far */
};

#define AT(field) offsetof(struct parameters, field)

static const char *const kinds[] = { "step", "2+1", NULL };
static const char *const axes[] = { "x", "y", "both", NULL };
static const char *const scenes[] = { "plane", "tilt", "steps", "sphere", "relief", "file", NULL };
static const char *const depths[] = { "8", "12", "16", "float", NULL };

static const struct opt options[] = {
	{ 's', "size", "WxH", OPT_SIZE, AT(studio.size), NULL, 0, 0, "px",
	  "camera pixels; 640x480 unless --depth or --calib say otherwise", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(shots.period), "60", 2, 1e6, "px",
	  "fringe periods in projector pixels", NULL },
	{ 'n', "steps", "N", OPT_INTEGER, AT(shots.steps), NULL, 3, 1000, NULL,
	  "images of each period; 3 if not given", NULL },
	{ 0, "shift", "DEG,...", OPT_ANGLES, AT(shots.shift), NULL, -3600, 3600, "degrees",
	  "phase shifts; -120,0,120 for 3 steps, else 360 n/N", NULL },
	{ 0, "kind", "WORD", OPT_WORD, AT(shots.kind), "step", 0, 0, NULL,
	  "step: equal steps; 2+1: sin, cos and flat", kinds },
	{ 0, "axis", "WORD", OPT_WORD, AT(shots.axis), "x", 0, 0, NULL, "along which the phase varies", axes },
	{ 0, "gray", "WORD", OPT_WORD, AT(shots.gray), NULL, 0, 0, NULL,
	  "Gray code that counts columns, periods or half periods, behind the fringes", manifest_cells },
	{ 0, "inverse", NULL, OPT_FLAG, AT(shots.inverse), NULL, 0, 0, NULL, "inverse Gray images too", NULL },
	{ 0, "flats", NULL, OPT_FLAG, AT(shots.flats), NULL, 0, 0, NULL, "a white and a black image too", NULL },
	{ 0, "projector", "WxH", OPT_SIZE, AT(studio.projector), NULL, 0, 0, "px",
	  "projector pixels; the calibration's, else 1920x1080", NULL },
	{ 0, "scene", "WORD", OPT_WORD, AT(studio.scene), NULL, 0, 0, NULL,
	  "what is seen; file with --depth, else relief if not given", scenes },
	{ 0, "depth", "FILE", OPT_FILE, AT(studio.depth), NULL, 0, 0, NULL, "heights for --scene file", NULL },
	{ 0, "height", "MM", OPT_NUMBER, AT(studio.height), NULL, 0, 0, "mm", "height of the scene", NULL },
	{ 0, "radius", "MM", OPT_NUMBER, AT(studio.radius), NULL, 1e-9, 1e9, "mm", "of the sphere", NULL },
	{ 0, "field", "MM", OPT_NUMBER, AT(studio.field), NULL, 1e-9, 1e9, "mm",
	  "width of the scene; of the picture if not given", NULL },
	{ 0, "pixel", "MM", OPT_NUMBER, AT(studio.pixel), NULL, 1e-9, 1e9, "mm",
	  "side of a camera pixel on the reference plane; 100/width if not given", NULL },
	{ 'c', "c", "MM", OPT_NUMBER, AT(studio.c), NULL, -1e9, 1e9, "mm/rad",
	  "height per radian of the first period; 5 if not given", NULL },
	{ 0, "ref-plane", "A,B,C", OPT_NUMBERS, AT(studio.ref_plane), NULL, 0, 0, "rad, rad/px",
	  "PHI_ref = A + B x + C y; a projector pixel per camera pixel if not given", NULL },
	{ 0, "calib", "FILE", OPT_FILE, AT(studio.calib), NULL, 0, 0, NULL,
	  "calibration: pinhole camera and projector", NULL },
	{ 0, "distance", "MM", OPT_NUMBER, AT(studio.distance), NULL, 1e-9, 1e9, "mm",
	  "of the scene from the camera; where the axes meet if not given", NULL },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(studio.origin), NULL, -1e6, 1e6, "px",
	  "where the picture lies on the calibrated sensor", NULL },
	{ 0, "shadow", NULL, OPT_FLAG, AT(studio.shadow), NULL, 0, 0, NULL,
	  "the scene blocks the projector's light", NULL },
	{ 0, "ambient", "LEVEL", OPT_NUMBER, AT(ambient), "0", 0, 1e6, "grey levels", "other light", NULL },
	{ 0, "mean", "LEVEL", OPT_NUMBER, AT(light.mean), NULL, 0, 1e6, "grey levels",
	  "of the fringes; 127/255 of full scale if not given", NULL },
	{ 0, "amplitude", "LEVEL", OPT_NUMBER, AT(light.amplitude), NULL, 0, 1e6, "grey levels",
	  "of the fringes; 100/255 of full scale if not given", NULL },
	{ 0, "albedo", "WORD|FILE", OPT_FILE, AT(studio.albedo), "none", 0, 0, NULL,
	  "none, checker, noise, or an image of the picture's size", NULL },
	{ 0, "noise", "SIGMA", OPT_NUMBER, AT(noise), "0", 0, 1e6, "grey levels", "read noise", NULL },
	{ 0, "shot", "GAIN", OPT_NUMBER, AT(shot), "0", 0, 1e6, "grey levels",
	  "shot noise: its variance is GAIN times the signal", NULL },
	{ 0, "bits", "WORD", OPT_WORD, AT(bits), "8", 0, 0, NULL, "of a sample", depths },
	{ 0, "gamma", "G", OPT_NUMBER, AT(light.gamma), "1", 0.1, 10, NULL, "the projector's response", NULL },
	{ 0, "defocus", "SIGMA", OPT_NUMBER, AT(light.defocus_px), "0", 0, 1e4, "px",
	  "the projector's Gaussian blur, in its pixels", NULL },
	{ 0, "exposure", "GAIN", OPT_NUMBER, AT(exposure), "1", 0, 1e6, NULL, "factor on all light", NULL },
	{ 0, "motion", "MM", OPT_NUMBER, AT(motion), "0", -1e6, 1e6, "mm",
	  "the scene comes so much nearer from image to image", NULL },
	{ 0, "turn", "DEG", OPT_ANGLE, AT(turn), "0", -360, 360, "degrees",
	  "the scene turns so much from measurement to measurement", NULL },
	{ 0, "frames", "N", OPT_INTEGER, AT(frames), "1", 1, 1000000, NULL, "measurements", NULL },
	{ 0, "seed", "N", OPT_INTEGER, AT(studio.seed), "0", 0, 4294967295.0, NULL, "of all random numbers", NULL },
	{ 0, "truth", "FILE", OPT_FILE, AT(truth), NULL, 0, 0, NULL,
	  "write the true phase, depth and points there", NULL },
	{ 0, "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "write a list of the images there", NULL },
	{ 0 },
};

/* Float captures are in the levels of 8 bits. */
static const double full_scale[] = { 255, 4095, 65535, 255 };

static const struct body body;

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct shots_options *shots = &parameters->shots;
	struct priv *priv = run->priv;

	run->body = &body;
	priv->full = full_scale[parameters->bits];
	priv->light = parameters->light;
	if (shots->axis == SHOTS_BOTH && parameters->studio.ref_plane.n)
		return fail_usage("--ref-plane", "is for fringes along one axis");
	if (parameters->manifest && !run->output)
		return fail_usage("--manifest", "needs -o, to name the images");
	if (shots_check(shots) < 0 || light_complete(&priv->light, priv->full) < 0)
		return -1;
	if (studio_open(&priv->studio, &parameters->studio, shots->period.v[0],
	    (bool[2]){ shots->axis != SHOTS_Y, shots->axis != SHOTS_X }) < 0)
		return -1;
	return shots_list(shots, priv->studio.rig.projector_px, &priv->shots);
}

/* ---- one image ---- */

struct exposure {
	const struct run *run;
	struct beam beam;
	struct frame *out;
	uint measurement, image;
};

/* The signal in grey levels, without noise. */
static double
signal_at(const struct exposure *exposure, size_t i)
{
	const struct parameters *parameters = exposure->run->parameters;
	const struct studio *studio = &((const struct priv *)exposure->run->priv)->studio;
	const double *column = studio->column[exposure->beam.shot->axis == 'y'];
	double light = 0;

	/* a flat image has no axis and asks for no column */
	if (studio->sight[i] == SIGHT_LIT)
		light = beam_at(&exposure->beam, exposure->beam.shot->axis ? column[i] : 0);
	return parameters->exposure * studio->share[i] * (parameters->ambient + light);
}

static double
noise_at(const struct exposure *exposure, size_t x, size_t y, double signal)
{
	const struct parameters *parameters = exposure->run->parameters;
	const struct rig *rig = &((const struct priv *)exposure->run->priv)->studio.rig;
	uint hash = fringesim_hash((uint)parameters->studio.seed, exposure->measurement, exposure->image,
	    (uint)(int32_t)((double)x + rig->origin_px[0]),
	    (uint)(int32_t)((double)y + rig->origin_px[1]));

	if (parameters->noise == 0 && parameters->shot == 0)
		return 0;
	return (double)fringesim_noise(fringesim_normal(hash), (float)signal, (float)parameters->noise,
	    (float)parameters->shot);
}

static void
expose_row(void *arg, size_t y)
{
	const struct exposure *exposure = arg;
	const struct priv *priv = exposure->run->priv;
	void *row = frame_row(exposure->out, 0, y);

	for (size_t x = 0; x < exposure->out->head.w; x++) {
		double signal = signal_at(exposure, y * exposure->out->head.w + x);
		double level = signal + noise_at(exposure, x, y, signal);
		double sample = fmin(fmax(floor(level + 0.5), 0), priv->full);

		if (exposure->out->head.type == SAMPLE_FLOAT)
			((float *)row)[x] = (float)level;
		else if (exposure->out->head.type == SAMPLE_USHORT)
			((uint16_t *)row)[x] = (uint16_t)sample;
		else
			((uint8_t *)row)[x] = (uint8_t)sample;
	}
}

static int
describe(const struct run *run, const struct shot *shot, long measurement, struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	char prefix[32] = "";

	if (parameters->frames > 1)
		snprintf(prefix, sizeof(prefix), "set%04ld_", measurement);
	if (shot_describe(&priv->shots, shot, prefix, &head->meta) < 0 ||
	    (priv->full == 4095 && meta_set_number(&head->meta, "max_value", priv->full) < 0))
		return -1;
	return studio_describe(&priv->studio, head);
}

static int
expose(struct run *run, long measurement, size_t image)
{
	static const enum sample types[] = { SAMPLE_UCHAR, SAMPLE_USHORT, SAMPLE_USHORT, SAMPLE_FLOAT };
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct shot *shot = &priv->shots.shot[image];
	struct exposure exposure = { .run = run, .measurement = (uint)measurement, .image = (uint)image };
	struct frame_head head;
	int status = -1;

	if (head_init(&head, priv->studio.rig.w, priv->studio.rig.h, 1, types[parameters->bits]) < 0)
		return -1;
	if (describe(run, shot, measurement, &head) == 0)
		status = frame_new(&head, &exposure.out);
	if (status == 0 && parameters->manifest)
		status = manifest_add(&priv->manifest, &head, run->output, priv->images++);
	head_free(&head);
	if (status < 0)
		return -1;
	beam_init(&exposure.beam, &priv->light, &priv->shots, shot, parameters->shots.period.v[0]);
	run_for(run, priv->studio.rig.h, expose_row, &exposure);
	return run_emit(run, exposure.out);
}

/* ---- measurements ---- */

static int
measure(struct run *run, long measurement)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double before = (double)measurement * (double)priv->shots.n;
	int status = 0;

	for (size_t i = 0; i < priv->shots.n; i++) {
		struct rig_pose pose = { (double)measurement * parameters->turn,
			(before + (double)i) * parameters->motion };
		struct frame *truth = NULL;

		if (i == 0 && priv->truth && studio_new_truth(&priv->studio, &truth) < 0)
			return -1;
		if (i == 0 || parameters->motion != 0)
			studio_look(&priv->studio, run, &pose, truth);
		status = truth ? target_put(priv->truth, truth) : 0;
		frame_free(truth);
		if (status < 0 || expose(run, measurement, i) < 0)
			return -1;
	}
	return 0;
}

static int
flow(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	int status = 0;

	(void)in;
	if (parameters->truth && !(priv->truth = target_open(parameters->truth, run->force, NULL)))
		return -1;
	for (long i = 0; i < parameters->frames && status == 0; i++)
		status = measure(run, i);
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

	studio_close(&priv->studio);
	shots_free(&priv->shots);
	manifest_free(&priv->manifest);
}

static const struct body body = { .flow = flow };

STAGE(fringesim) = {
	.name = "fringesim",
	.summary = "simulate captures of a known scene, with their truth",
	.operands = "",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SOURCE | STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.init = init,
	.end = end,
};
