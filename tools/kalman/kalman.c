/*
 * Filters a sequence of depths or phases over time, each pixel by itself (Kalman 1960): which
 * channels it filters, the time between frames, the noise and motion that it measures, its pass on
 * the device, options and plan. kalman_rows.c has the loops, kalman.px.h the formulas.
 */
#include "kalman.h"

#include <ctype.h>
#include <stdio.h>

#include "base/text.h"
#include "run/passes.h"
#include "kalman.px.h"

BODY_ROWS(kalman, filter)

/* ---- the channels that are filtered, and that of their standard deviation ---- */

/* If a frame has several of these, sigma is the standard deviation of the first. */
static const char *const owners[] = { "depth", "z", "absphase", "phase" };

#define OWNERS (sizeof(owners) / sizeof(*owners))

/* A name without the number at its end. */
static void
cut_number(const char *name, char base[CHANNEL_NAME_SIZE])
{
	size_t n = strlen(name);

	while (n > 1 && isdigit((unsigned char)name[n - 1]))
		n--;
	snprintf(base, CHANNEL_NAME_SIZE, "%.*s", (int)n, name);
}

/* The channel to filter where the user names none; NULL: there are several. */
static const char *
usual_channel(const struct frame_head *head)
{
	for (size_t i = 0; i < OWNERS; i++)
		if (head_channel(head, owners[i]) != NO_CHANNEL)
			return owners[i];
	return head->c == 1 ? head->channel[0] : NULL;
}

/* Fails for channels whose means have no meaning. */
static int
check_kind(const char *name, const char *base)
{
	static const char *const parts[] = { "cos", "sin", "nx", "ny", "nz", NULL };
	static const char *const names[] = { "index", "mask", "label", NULL };

	if (word_find(parts, base) >= 0)
		return fail("--channel", "%s is a part of a direction: filter the phase, or the "
		    "depth before its normals", name);
	if (word_find(names, base) >= 0)
		return fail("--channel", "%s counts or names something: there is no mean of it",
		    name);
	return 0;
}

/* Sets the channels to filter. name: of --channel, or NULL. */
static int
find_values(struct run *run, const char *name, const struct frame_head *in,
    struct channels *channels)
{
	const char *given = name;
	char base[CHANNEL_NAME_SIZE], names[300];
	size_t xyz[3];

	if (!name)
		name = usual_channel(in);
	if (!name)
		return fail(NULL, "nothing says which channel to filter, say --channel: input has "
		    "%s", head_channels_hint(in, names));
	if (run_channel(run, in, name, &channels->value[0]) < 0)
		return -1;
	cut_number(name, base);
	if (check_kind(name, base) < 0)
		return -1;
	snprintf(channels->name, sizeof(channels->name), "%s", name);
	channels->angle = !strcmp(base, "phase");
	channels->values = 1;
	if (!head_xyz(in, xyz) || (strcmp(name, "x") && strcmp(name, "y") && strcmp(name, "z")))
		return 0;
	if (given && strcmp(name, "z"))
		return fail("--channel", "x y z are one point, whose ray --channel z keeps");
	channels->values = 3;
	memcpy(channels->value, xyz, sizeof(xyz));
	return 0;
}

/* The name of the standard deviation of the filtered channel; empty: it can have none. */
static void
name_sigma(const struct channels *channels, const struct frame_head *in,
    char sigma[CHANNEL_NAME_SIZE])
{
	char base[CHANNEL_NAME_SIZE];
	const char *owner = usual_channel(in);
	bool own = !owner || !strcmp(owner, channels->name);

	cut_number(channels->name, base);
	sigma[0] = '\0';
	if (strcmp(base, channels->name) && (!strcmp(base, "phase") || !strcmp(base, "absphase")))
		snprintf(sigma, CHANNEL_NAME_SIZE, "sigma%.20s", channels->name + strlen(base));
	else if (own)
		strcpy(sigma, "sigma");
}

/* The output has all channels of the input, except the probability that an order is wrong and the
 * residual of the phases: they belong to one frame. Those that are not filtered, nor `sigma`,
 * pass. */
static void
keep_channels(struct run *run, const char *sigma, const struct frame_head *in,
    struct frame_head *out, struct channels *channels)
{
	char base[CHANNEL_NAME_SIZE];
	bool of_orders = false;
	size_t n = 0;

	cut_number(channels->name, base);
	for (size_t i = 0; i < OWNERS; i++)
		of_orders |= !strcmp(base, owners[i]);
	for (size_t c = 0; c < in->c; c++) {
		bool filtered = false;

		for (size_t i = 0; i < channels->values; i++)
			if (c == channels->value[i]) {
				channels->value_out[i] = n;
				filtered = true;
			}
		if (of_orders && !filtered && (!strcmp(in->channel[c], "p_order") ||
		    !strcmp(in->channel[c], "residual")))
			continue;
		if (n < c)
			memcpy(out->channel[n], in->channel[c], CHANNEL_NAME_SIZE);
		if (!filtered && strcmp(in->channel[c], sigma))
			run_pass(run, n, c);
		n++;
	}
	out->c = n;
}

/*
 * Plans all channels. name: of --channel; NULL: the first of depth, x y z, absphase, phase, or the
 * only channel. use_sigma: the input's standard deviation may be read. `out`, a copy of `in`, gets
 * a channel for that of the result. -1 after fail().
 */
static int
channels_plan(struct run *run, const char *name, bool use_sigma, const struct frame_head *in,
    struct frame_head *out, struct channels *channels)
{
	char sigma[CHANNEL_NAME_SIZE];

	if (find_values(run, name, in, channels) < 0)
		return -1;
	name_sigma(channels, in, sigma);
	channels->sigma_in = sigma[0] && use_sigma ? head_channel(in, sigma) : NO_CHANNEL;
	if (channels->sigma_in != NO_CHANNEL && meta_get(&in->meta, "sigma_frames"))
		return fail(NULL, "%s is that of values which a filter has mixed over frames (key "
		    "sigma_frames): filter once, or give --sigma", sigma);
	keep_channels(run, sigma, in, out, channels);
	channels->sigma_out = sigma[0] ? head_channel(out, sigma) : NO_CHANNEL;
	if (sigma[0])
		meta_set(&out->meta, "sigma_frames", "kalman");
	if (sigma[0] && channels->sigma_out == NO_CHANNEL) {
		channels->sigma_out = out->c;
		return head_add_channels(out, sigma);
	}
	return 0;
}

/* ---- the time from frame to frame: by the key time_s, else 1 a frame ---- */

/* The frame's own time; NaN: it has none. -1 after fail(). */
static int
read_time(const struct frame_head *head, double *time_s)
{
	if (meta_mean(&head->meta, "time_s", time_s) < 0)
		return -1;
	return isinf(*time_s) ? fail(NULL, "key time_s must be a time in seconds") : 0;
}

static void
add_interval(struct frame_clock *clock, double interval)
{
	double sorted[FRAME_CLOCK_INTERVALS];
	size_t n;

	clock->interval[clock->n++ % FRAME_CLOCK_INTERVALS] = interval;
	n = clock->n < FRAME_CLOCK_INTERVALS ? clock->n : FRAME_CLOCK_INTERVALS;
	memcpy(sorted, clock->interval, n * sizeof(*sorted));
	clock->usual = statistics_quantile(sorted, n, 0.5);
}

/*
 * The next frame, `frames` after the last one (more than 1 if some were lost). *elapsed: the time
 * since that one, more than 0; for the first frame that of one frame. A list of times, of the
 * images of a measurement, counts as its mean. Warns once if time does not rise. -1 after fail():
 * only some frames have a time, or it is no number.
 */
static int
frame_clock_step(struct frame_clock *clock, const struct frame_head *head, size_t frames,
    double *elapsed)
{
	double time_s, since;

	if (read_time(head, &time_s) < 0)
		return -1;
	if (clock->started && clock->timed == isnan(time_s))
		return fail(NULL, "some frames have the key time_s, and some do not");
	clock->timed = !isnan(time_s);
	since = time_s - clock->last_s;
	if (!clock->started || clock->usual == 0)
		clock->usual = 1;
	if (clock->started && clock->timed && since > 0)
		add_interval(clock, since / (double)frames);
	if (clock->started && clock->timed && !(since > 0) && !clock->warned) {
		warn(NULL, "key time_s does not rise from frame to frame, %.9g s behind %.9g s: "
		    "counted as one frame later", time_s, clock->last_s);
		clock->warned = true;
	}
	*elapsed = clock->started && clock->timed && since > 0 ? since :
	    clock->usual * (double)frames;
	clock->last_s = time_s;
	clock->started = true;
	return 0;
}

/*
 * ---- noise and motion, as a sequence of frames shows them ----
 *
 * Differences of two frames contain both noise and motion. In second differences of three frames,
 * at equal intervals, uniform motion cancels. Medians over a coarse grid of pixels ignore the few
 * whose surface changed; the results are means over frames.
 */

#define PIXELS 10000		/* that are sampled, about */
#define MEMORY 32		/* frames that means are of */
#define UNEVEN 0.02		/* by which intervals of a second difference may differ */
#define NORMAL_MEDIAN 0.67448975	/* of |v|, v normal of variance 1 */
/* Smaller motion cannot be told from none: two standard errors of its mean square, as a multiple of
 * the noise's variance, of one frame. The median of |v| of n pixels has the relative error
 * 1.17 / sqrt(2 n). */
#define UNTOLD 0.1
#define UNTOLD_SLOW 0.014	/* the same, over eight frames */
#define DIGITS 2.4e-7		/* two units in the last place */

static void
noise_free(struct noise *noise)
{
	for (size_t i = 0; i < NOISE_FRAMES; i++)
		free(noise->frame[i]);
	free(noise->work);
	*noise = (struct noise){ 0 };
}

/* Starts anew, for frames of another kind. */
static void
noise_begin(struct noise *noise, const struct frame_head *head)
{
	noise_free(noise);
	noise->grid = coarse_grid(head->w, head->h, PIXELS);
	for (size_t i = 0; i < NOISE_FRAMES; i++)
		noise->frame[i] = must_alloc(coarse_grid_pixels(&noise->grid),
		    sizeof(**noise->frame));
	noise->work = must_alloc(coarse_grid_pixels(&noise->grid), sizeof(*noise->work));
}

/* The variance of one value, from the deviations of all pixels; NaN: too few. */
static double
variance_of(struct noise *noise, const struct channels *channels, enum difference difference)
{
	size_t n = kalman_rows()->list_deviations(noise, channels, difference);
	double median;

	noise->compared = n;
	if (n < MIN_DIFFERENCES)
		return NAN;
	median = statistics_quantile(noise->work, n, 0.5) / NORMAL_MEDIAN;
	return median * median;
}

/* Adds the differences of the last three frames, at equal intervals, to the means. */
static void
add_differences(struct noise *noise, const struct channels *channels, double elapsed)
{
	double second = variance_of(noise, channels, DIFFERENCE_SECOND), moved, drift, n;

	if (isnan(second) || isnan(noise->first))
		return;
	drift = (variance_of(noise, channels, DIFFERENCE_OVER_TWO) - noise->first) *
	    noise->usual / (1.5 * elapsed * elapsed);
	moved = 2 * (noise->first - second) * noise->usual / (elapsed * elapsed);
	noise->means++;
	n = (double)(noise->means < MEMORY ? noise->means : MEMORY);
	noise->variance += (second - noise->variance) / n;
	noise->moved += (moved - noise->moved) / n;
	noise->drift += (drift - noise->drift) / n;
	if (noise->even + 1 < NOISE_FRAMES)
		return;
	/* of random motion (2 s^2 + 8 m^2 - 2 s^2 - m^2) / 2 s^2 */
	drift = (variance_of(noise, channels, DIFFERENCE_OVER_EIGHT) - noise->first) *
	    noise->usual / (3.5 * elapsed * elapsed);
	if (isnan(drift))
		return;
	noise->slow_means++;
	noise->slow += (drift - noise->slow) / (double)(noise->slow_means < MEMORY ?
	    noise->slow_means : MEMORY);
}

/* Adds a frame, `elapsed` after the last one. *alike: its values equal those of the last one. */
static void
noise_add(struct noise *noise, const struct frame *in, const struct channels *channels,
    double elapsed, bool *alike)
{
	double rounding;

	kalman_rows()->take_samples(noise, in, channels);
	rounding = fmax(DIGITS * kalman_rows()->largest_value(noise, channels),
	    (double)KALMAN_LEAST_SIGMA);
	noise->rounding = rounding * rounding;
	noise->usual = channels->sigma_in == NO_CHANNEL ? 1 :
	    statistics_quantile(noise->work, kalman_rows()->list_variances(noise), 0.5);
	noise->frames++;
	*alike = noise->frames > 1 && kalman_rows()->is_repeated(noise, channels);
	if (*alike)
		noise->frames = 1;
	if (noise->frames < 2)
		return;
	noise->first = variance_of(noise, channels, DIFFERENCE_FIRST);
	noise->even = noise->frames > 2 && fabs(elapsed - noise->elapsed) <= UNEVEN * elapsed ?
	    noise->even + 1 : 1;
	if (noise->even > 1)
		add_differences(noise, channels, elapsed);
	noise->elapsed = elapsed;
}

/* The noise's variance, as a multiple of the frames' own where they carry it: from second
 * differences, else from first ones, which motion increases; NaN: not known yet. */
static double
noise_variance(const struct noise *noise)
{
	double variance = noise->means ? noise->variance : noise->first;

	return noise->frames > 1 || noise->means ? variance : NAN;
}

/* A mean square of motion over this many frames, the least that can be told from none. */
static double
least_told(const struct noise *noise, double untold, size_t means)
{
	double n = (double)(means < MEMORY ? means : MEMORY);
	double pixels = fmin((double)noise->compared, PIXELS);

	return untold * noise->variance * noise->usual / sqrt(n * pixels / PIXELS);
}

/* The mean square of motion per time; 0 if it cannot be told from none. */
static double
noise_motion(const struct noise *noise)
{
	return noise->means && noise->moved * noise->elapsed * noise->elapsed >
	    least_told(noise, UNTOLD, noise->means) ? noise->moved : 0;
}

/* The same over eight frames, which tell slower motion; 0 before the ninth. */
static double
noise_slow_motion(const struct noise *noise)
{
	return noise->slow_means && noise->slow * noise->elapsed * noise->elapsed >
	    least_told(noise, UNTOLD_SLOW, noise->slow_means) ? noise->slow : 0;
}

/* ---- checks of the values and of the motion that was given ---- */

#define MIN_VALUES 100		/* that are not 0 */
#define ZEROS 0.02		/* part of the values that are 0 */
#define FAR 0.25		/* of the median magnitude: smaller values are near 0 */
#define FEW 0.05		/* values near 0, as a part of the zeros */
#define WRONG 4			/* factor by which a given motion is wrong */
#define LAGS 0.3		/* motion in a frame that a mean shows, in its noise */
#define LAGGING 4		/* frames of that motion in a row */
#define DROWNED 8		/* motion in a frame that leaves the noise as it is, in its noise */

/* Warns of zeros if hardly any other value is near 0: they probably mean that there is no value. If
 * depth grows towards the camera, 0 may be a plane behind the object. Returns true after a
 * warning. */
static bool
plausible_zeros(struct noise *noise, const struct frame_head *head, const char *name)
{
	const char *z_axis = meta_get(&head->meta, "z_axis");
	size_t zeros, n, near = 0;
	double usual;

	if (z_axis && !strcmp(z_axis, "towards"))
		return false;
	n = kalman_rows()->list_magnitudes(noise, &zeros);
	if (n < MIN_VALUES || !((double)zeros > ZEROS * (double)(n + zeros)))
		return false;
	usual = statistics_quantile(noise->work, n, 0.5);
	for (size_t i = 0; i < n; i++)
		near += noise->work[i] < FAR * usual;
	if ((double)near > FEW * (double)zeros)
		return false;
	warn(NULL, "%.3g %% of %s are 0, and hardly any near it: if that stands for none, framecat "
	    "--invalid 0 makes it NaN; it is filtered as a value", 100 * (double)zeros /
	    (double)(n + zeros), name);
	return true;
}

/* Do the last frame and the average of all frames move by more than was given? A jump is in one
 * frame only. Noise of a few quantization steps has no drift: it differs equally over one frame and
 * over two, while the medians of its first and second differences disagree. */
static bool
is_moving(struct kalman *kalman, double moved, double motion, double noise)
{
	const struct noise *all = &kalman->noise;
	double now = sqrt(fmax(0, 2 * (all->first - all->variance) * all->usual));
	double drift = sqrt(all->means ? fmax(all->drift, 0) : 0) * kalman->clock.usual;

	if (moved > WRONG * motion && fmin(fmin(moved, now), drift) > LAGS * noise)
		kalman->lags++;
	else
		kalman->lags = 0;
	return kalman->lags >= LAGGING;
}

/* Warns if the given motion of a frame is not that of the frames. noise: its standard deviation.
 * Returns true after a warning. */
static bool
plausible_motion(struct kalman *kalman, const char *option, double motion, double noise)
{
	double moved = sqrt(noise_motion(&kalman->noise)) * kalman->clock.usual;

	if (is_moving(kalman, moved, motion, noise))
		warn(option, "%s moves by %.3g a frame, and not by %.3g: it is shown late",
		    kalman->channels.name, moved, motion);
	else if (motion > DROWNED * noise && motion > WRONG * moved)
		warn(option, "%.3g a frame is %.3g times the noise of %s, and it moves by %.3g: "
		    "hardly anything is filtered", motion, motion / noise, kalman->channels.name,
		    moved);
	else
		return false;
	return true;
}

/* ---- the device: one pass ---- */

static int
kalman_passes(struct run *run, struct passes *passes)
{
	const struct kalman *kalman = run->priv;
	struct pass pass = { PASS_OF(kalman, kalman->block), PASS_FOURS };

	for (size_t i = 0; i < kalman->channels.values; i++)
		passes_read(passes, kalman->channels.value[i]);
	if (kalman->channels.sigma_in != NO_CHANNEL)
		passes_read(passes, kalman->channels.sigma_in);
	passes_add(passes, &pass);
	return 0;
}

/* ---- options ---- */

#define LEAST_MOTION 0.05	/* per frame, as a multiple of the noise, where it is measured */
#define WRONG_SIGMA 4		/* factor by which a given sigma is wrong */
#define WRONG_AFTER 4		/* frames that it is compared with */

struct parameters {
	const char *channel;
	double sigma, motion, speed, gate;
	long repeat, keep;
};

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

/* Warns if the frames show another noise than the sigma that was given. */
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

/* Sets noise and motion of this frame, given or measured. */
static void
set_noise(const struct run *run, struct kalman *kalman)
{
	const struct parameters *parameters = run->parameters;
	struct kalman_block *block = &kalman->block;
	bool carried = kalman->channels.sigma_in != NO_CHANNEL, measures;
	double usual = kalman->clock.usual, measured = noise_variance(&kalman->noise);
	double given = carried ? 1 : parameters->sigma * parameters->sigma, motion, least, moved;

	measures = !carried && isnan(parameters->sigma);
	if (!measures)
		check_sigma(kalman, given, measured);
	else
		given = measured > kalman->noise.rounding ? measured : kalman->noise.rounding;
	if (measures && isnan(measured))
		given = 0;
	/* variances have that of the noise as unit */
	block->per_square = given > 0 ? (float)(1 / given) : 0;
	block->unit = given > 0 ? (float)sqrt(given) : NAN;
	least = LEAST_MOTION / usual * sqrt(carried ? kalman->noise.usual : given);
	if (!isnan(parameters->speed)) {
		motion = moved = parameters->speed;
	} else if (!isnan(parameters->motion)) {
		motion = moved = parameters->motion / usual;
	} else {
		/* the gain's least motion is not stated: a scene that stands still has none */
		moved = sqrt(noise_motion(&kalman->noise));
		motion = fmax(moved, least);
		moved = fmax(moved, sqrt(noise_slow_motion(&kalman->noise)));
	}
	if ((!isnan(parameters->speed) || !isnan(parameters->motion)) && !kalman->warned_motion &&
	    kalman->noise.means >= WRONG_AFTER)
		kalman->warned_motion = plausible_motion(kalman, isnan(parameters->speed) ?
		    "--motion" : "--speed", motion * usual,
		    sqrt(carried ? kalman->noise.usual : given));
	if (given > 0)
		block->motion = (float)(motion / sqrt(given));
	else		/* no difference of frames yet: at most one was filtered */
		block->motion = (float)(LEAST_MOTION / usual);
	block->moved = given > 0 ? (float)(moved / sqrt(given)) : 0;
}

static int
survey(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct kalman *kalman = run->priv;
	size_t input = run_inputs(run) + 1;
	double elapsed = 1;
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

/* Forgets what was filtered before if the scale of the values has changed. */
static void
take_scale(struct run *run, const struct frame_head *in)
{
	static const char *const keys[] = { "period_px", "axis", "length_unit", "z_axis",
		"phase_anchor", "origin_px", "bin", "c_mm_per_rad", NULL };
	struct kalman *kalman = run->priv;
	char *scale = must_strdup(kalman->channels.name);
	bool same;

	for (size_t i = 0; keys[i]; i++) {
		const char *value = meta_get(&in->meta, keys[i]);
		char *longer = must_format("%s|%s", scale, value ? value : "");

		free(scale);
		scale = longer;
	}
	same = kalman->scale && !strcmp(kalman->scale, scale) && kalman->w == in->w &&
	    kalman->h == in->h;
	free(kalman->scale);
	kalman->scale = scale;
	kalman->w = in->w;
	kalman->h = in->h;
	if (same)
		return;
	run_forget_state(run);
	noise_begin(&kalman->noise, in);
}

/* Warns about the camera's images of patterns, which differ from frame to frame. */
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
	    channels) < 0)
		return -1;
	take_scale(run, in);
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
	static const struct body body = { .survey = survey, .rows = kalman_filter,
		.passes = kalman_passes };
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (!isnan(parameters->motion) && !isnan(parameters->speed))
		return fail_usage("--speed", "says what --motion says: give one of them");
	return 0;
}

/* -v: noise and motion of the last frame, and their effect on a still pixel in the long run. */
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
}

const struct stage stage_kalman = {
	.name = "kalman",
	.summary = "filter depth or phase over the frames of a sequence",
	.options = options,
	STAGE_MEMORY(kalman),
	.traits = STAGE_UNITS,
	.example = { "kalman", "depth", "steady" },
	.init = init,
	.plan = plan,
	.release = end,
};
