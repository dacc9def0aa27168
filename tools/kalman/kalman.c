/* Filters a sequence of depths or phases over time, each pixel by itself. */
#define _GNU_SOURCE
#include "kalman.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plausible.h"
#include "run/stage.h"

#define LEAST_MOTION 0.05	/* per frame, over the noise, where it is measured */
#define WRONG_SIGMA 4		/* a given sigma that is off by more gets a warning */
#define WRONG_AFTER 4		/* frames that it is held against */

struct parameters {
	const char *channel;
	double sigma, motion, speed, gate;
	long repeat, keep;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	  "what to filter; z: points x y z [depth, z, absphase or phase]", NULL },
	{ 0, "sigma", "S", OPT_NUMBER, AT(sigma), NULL, 1e-15, 1e15, "the channel's",
	  "noise of one frame, instead of channel sigma; else measured", NULL },
	{ 0, "motion", "M", OPT_NUMBER, AT(motion), NULL, 0, 1e15, "the channel's",
	  "how far a surface moves in a frame; else measured", NULL },
	{ 0, "speed", "V", OPT_NUMBER, AT(speed), NULL, 0, 1e15, "the channel's per s",
	  "the same in a second, of frames that carry time_s", NULL },
	{ 0, "gate", "K", OPT_NUMBER, AT(gate), "3", 1, 1000, "standard deviations",
	  "a value farther off is an outlier", NULL },
	{ 0, "repeat", "N", OPT_INTEGER, AT(repeat), "2", 1, 1000, "frames",
	  "so many outliers in a row are a change of the surface", NULL },
	{ 0, "keep", "N", OPT_INTEGER, AT(keep), "10", 0, 1000000, "frames",
	  "a pixel that is missing for longer begins anew", NULL },
	{ 0 },
};

/* ---- before each frame ---- */

/* The variance of noise in the unit of the state's, and what a unit of it is worth. */
static void
set_unit(struct kalman_block *block, double variance)
{
	bool known = variance > 0;

	block->per_square = known ? (float)(1 / variance) : 0;
	block->unit = known ? (float)sqrt(variance) : NAN;
}

/* Is the sigma that was given what the frames show? */
static void
check_sigma(struct kalman *kalman, double given, double measured)
{
	double ratio = sqrt(measured / given);

	if (kalman->warned || kalman->noise.means < WRONG_AFTER ||
	    !(measured > kalman->noise.rounding))
		return;
	if (ratio <= WRONG_SIGMA && ratio >= 1.0 / WRONG_SIGMA)
		return;
	kalman->warned = true;
	if (kalman->channels.sigma_in != NO_CHANNEL)
		warn(NULL, "the noise of %s is %.3g times its channel sigma", kalman->channels.name,
		    ratio);
	else
		warn(NULL, "the noise of %s is %.3g, --sigma is %.3g", kalman->channels.name,
		    sqrt(measured), sqrt(given));
}

/* Noise and motion of this frame, given or measured. */
static void
set_noise(const struct run *run, struct kalman *kalman)
{
	const struct parameters *parameters = run->parameters;
	struct kalman_block *block = &kalman->block;
	bool carried = kalman->channels.sigma_in != NO_CHANNEL, measures;
	double usual = kalman->clock.usual, measured = noise_variance(&kalman->noise);
	double given = carried ? 1 : parameters->sigma * parameters->sigma, motion, least;

	measures = !carried && isnan(parameters->sigma);
	if (!measures)
		check_sigma(kalman, given, measured);
	else
		given = measured > kalman->noise.rounding ? measured : kalman->noise.rounding;
	if (measures && isnan(measured))
		given = 0;
	set_unit(block, given);
	least = LEAST_MOTION / usual * sqrt(carried ? kalman->noise.usual : given);
	motion = fmax(sqrt(noise_motion(&kalman->noise)), least);
	if (!isnan(parameters->speed))
		motion = parameters->speed;
	else if (!isnan(parameters->motion))
		motion = parameters->motion / usual;
	if ((!isnan(parameters->speed) || !isnan(parameters->motion)) && !kalman->warned_motion &&
	    kalman->noise.means >= WRONG_AFTER)
		kalman->warned_motion = plausible_motion(kalman, isnan(parameters->speed) ?
		    "--motion" : "--speed", motion * usual,
		    sqrt(carried ? kalman->noise.usual : given));
	if (given > 0)
		block->motion = (float)(motion / sqrt(given));
	else		/* no difference of frames tells the noise yet: at most one was filtered */
		block->motion = (float)(LEAST_MOTION / usual);
}

static int
survey(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct kalman *kalman = run->priv;
	size_t input = run_inputs(run) + 1;
	double elapsed;
	bool alike;

	if (input == kalman->input)	/* planned again, as for the device */
		return 0;
	if (frame_clock_step(&kalman->clock, &in->head, input - kalman->input, &elapsed) < 0)
		return -1;
	if (!isnan(parameters->speed) && !kalman->clock.timed)
		return fail("--speed", "the frames have no key time_s");
	kalman->input = input;
	noise_add(&kalman->noise, in, &kalman->channels, elapsed, &alike);
	if (alike && !kalman->repeated)
		warn(NULL, "a frame has the values of the one before it, bit by bit: does the "
		    "sequence hold it twice?");
	kalman->repeated |= alike;
	kalman->warned_zeros = kalman->warned_zeros ||
	    plausible_zeros(&kalman->noise, &in->head, kalman->channels.name);
	kalman->block.elapsed = (float)elapsed;
	kalman->block.keep = (float)(((double)parameters->keep + 1.5) * kalman->clock.usual);
	set_noise(run, kalman);
	return 0;
}

/* ---- planning ---- */

/* What the values mean: where that changes, what was filtered before has another scale. */
static int
take_scale(struct run *run, const struct frame_head *in)
{
	static const char *const keys[] = { "period_px", "axis", "length_unit", "z_axis",
		"phase_anchor", "origin_px", "bin", "c_mm_per_rad", NULL };
	struct kalman *kalman = run->priv;
	char *scale = strdup(kalman->channels.name);
	bool same;

	for (size_t i = 0; keys[i] && scale; i++) {
		const char *value = meta_get(&in->meta, keys[i]);
		char *longer;

		if (asprintf(&longer, "%s|%s", scale, value ? value : "") < 0)
			longer = NULL;
		free(scale);
		scale = longer;
	}
	if (!scale)
		return fail_memory();
	same = kalman->scale && !strcmp(kalman->scale, scale) && kalman->w == in->w &&
	    kalman->h == in->h;
	free(kalman->scale);
	kalman->scale = scale;
	kalman->w = in->w;
	kalman->h = in->h;
	if (same)
		return 0;
	run_forget_state(run);
	return noise_begin(&kalman->noise, in);
}

/* Are these the camera's images of patterns, which differ from frame to frame? */
static void
warn_image(struct kalman *kalman, const struct frame_head *in)
{
	const char *role = meta_get(&in->meta, "role");
	char word[32];

	if (!role || kalman->warned_image || !meta_word(role, 0, word, sizeof(word)) ||
	    strncmp(kalman->channels.name, "image", 5))
		return;
	warn(NULL, "the frames are images of patterns (key role: %s), which differ from step to "
	    "step: phasewrap makes the phases that are to be filtered of them", word);
	kalman->warned_image = true;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct kalman *kalman = run->priv;
	struct channels *channels = &kalman->channels;
	struct kalman_block *block = &kalman->block;

	if (channels_plan(run, parameters->channel, isnan(parameters->sigma), in, out,
	    channels) < 0 || take_scale(run, in) < 0)
		return -1;
	warn_image(kalman, in);
	run->state = channels->values + KALMAN_STATES;
	block->values = (uint)channels->values;
	block->value0 = block->value1 = block->value2 = (uint)channels->value[0];
	block->out0 = block->out1 = block->out2 = (uint)channels->value_out[0];
	if (channels->values == 3) {
		block->out1 = (uint)channels->value_out[1];
		block->out2 = (uint)channels->value_out[2];
		block->value1 = (uint)channels->value[1];
		block->value2 = (uint)channels->value[2];
	}
	block->sigma_in = channels->sigma_in == NO_CHANNEL ? KALMAN_NONE :
	    (uint)channels->sigma_in;
	block->sigma_out = channels->sigma_out == NO_CHANNEL ? KALMAN_NONE :
	    (uint)channels->sigma_out;
	block->angle = channels->angle;
	block->gate = (float)(parameters->gate * parameters->gate);
	block->repeat = (float)parameters->repeat;
	return 0;
}

static int
init(struct run *run)
{
	static const struct body body = { .survey = survey, .rows = kalman_rows,
		.passes = kalman_passes };
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (!isnan(parameters->motion) && !isnan(parameters->speed))
		return fail_usage("--speed", "says what --motion says: give one of them");
	return 0;
}

/* What the last frame was filtered with, and what that does to a still pixel. */
static void
report(const struct kalman *kalman)
{
	const struct kalman_block *block = &kalman->block;
	double drift = (double)block->motion * kalman->clock.usual, r = 1, predicted, gain;

	if (kalman->channels.sigma_in != NO_CHANNEL)
		r = kalman->noise.usual;
	if (drift == 0) {
		note(NULL, "%s: noise %.3g, motion 0 a frame: the mean of all frames",
		    kalman->channels.name, (double)block->unit * sqrt(r));
		return;
	}
	predicted = drift * drift / 2 + drift * sqrt(drift * drift / 4 + r);
	gain = predicted / (predicted + r);
	note(NULL, "%s: noise %.3g, motion %.3g a frame; in the long run gain %.3g, noise of a "
	    "still pixel times %.3g, delay %.3g frames", kalman->channels.name,
	    (double)block->unit * sqrt(r), (double)block->unit * drift, gain,
	    sqrt(gain / (2 - gain)), (1 - gain) / gain);
}

static void
end(struct run *run)
{
	struct kalman *kalman = run->priv;

	if (run->verbose && kalman->input)
		report(kalman);
	noise_free(&kalman->noise);
	free(kalman->scale);
	free(kalman->channels.source);
}

STAGE(kalman) = {
	.name = "kalman",
	.summary = "filter depth or phase over the frames of a sequence",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct kalman),
	.traits = STAGE_UNITS,
	.agree = AGREE_EXACT,
	.example = { "kalman", "depth", "steady" },
	.init = init,
	.plan = plan,
	.release = end,
};
