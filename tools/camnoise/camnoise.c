/*
 * Read noise and gain of a camera by photon transfer (EMVA 1288), for phasewrap --sigma: half the
 * mean square of the difference of two images of the same scene is the variance of one, at the mean
 * of their levels. The line through these variances is fringe/phase_noise.c's.
 */
#include <math.h>

#include "fringe/measurement.h"
#include "fringe/phase_noise.h"
#include "io/safe_file.h"
#include "run/stage.h"

struct parameters {
	int channel;
	double max_value, black_level, quantum;		/* NaN: not given */
};

struct priv {
	struct frame *first;	/* of a pair whose second image is to come; one plane */
	struct phase_noise_sample *sample;	/* variances of all pairs so far */
	size_t n, images;
	double quantisation;	/* its variance, grey levels squared */
};

static const char *const channels[] = { "r", "g", "b", NULL };

static const struct opt options[] = {
	{ 0, "channel", "WORD", OPT_WORD, AT(channel), NULL, 0, 0, NULL,
	    "take this one of colour images", channels },
	{ 0, "max-value", "LEVEL", OPT_NUMBER, AT(max_value), NULL, 0, 1e30, "grey levels",
	    "a pixel that reaches it is saturated; else 255, 65535, none for float", NULL },
	{ 0, "black-level", "LEVELS", OPT_NUMBER, AT(black_level), NULL, -1e6, 1e6, "grey levels",
	    "level of an image without light; if not given 0", NULL },
	{ 0, "quantum", "LEVELS", OPT_NUMBER, AT(quantum), NULL, 0, 1e6, "grey levels",
	    "what the camera rounds to a multiple of; if not given 1, and unknown for float" },
	{ 0, "fit-noise", NULL, OPT_STAGE, .help = "camnoise" },	/* of phasewrap */
	{ 0 },
};

#define PAIR_PIXELS_MOST 200000	/* of a pair that are used; they lie on a grid */
#define BRIGHTER_MOST 1.2	/* the variance is within 2 % then */
#define ALIKE_MOST 0.6		/* correlation of the noise of neighbours; demosaicking makes 0.5 */

/* Two images of one scene, of which every step-th pixel is taken. */
struct pair {
	const struct frame *frame[2];
	size_t plane[2], step;
	double black, most, factor;	/* the second is `factor` times as bright as the first */
};

/* The samples of both images; false where one of them is missing or clipped. */
static bool
read_pair(const struct pair *pair, size_t x, size_t y, double v[2])
{
	bool good = true;

	for (size_t i = 0; i < 2; i++) {
		v[i] = (double)frame_sample(pair->frame[i], pair->plane[i], y, x);
		good &= fabs(v[i]) < 1e30 && v[i] < pair->most &&
		    !(pair->frame[0]->head.type != SAMPLE_FLOAT && v[i] == 0);
	}
	return good;
}

/* The second image less the first one, as if that were as bright. */
static double
difference(const struct pair *pair, const double v[2])
{
	return v[1] - pair->black - (v[0] - pair->black) * pair->factor;
}

/* The lamp is never the same: how much brighter is the second image? */
static double
brightness_ratio(const struct pair *pair)
{
	double v[2], sum[2] = { 0 };

	for (size_t y = 0; y < pair->frame[0]->head.h; y += pair->step)
		for (size_t x = 0; x < pair->frame[0]->head.w; x += pair->step)
			if (read_pair(pair, x, y, v)) {
				sum[0] += v[0] - pair->black;
				sum[1] += v[1] - pair->black;
			}
	return sum[0] > 0 && sum[1] > 0 ? sum[1] / sum[0] : 1;
}

/* The correlation of neighbours' differences: near 0 for noise, large between two scenes, or two
 * steps of a fringe. 0 where nothing differs. */
static double
neighbour_correlation(const struct pair *pair)
{
	double v[2], next[2], product = 0, squares = 0;

	for (size_t y = 0; y < pair->frame[0]->head.h; y += pair->step)
		for (size_t x = 0; x + 1 < pair->frame[0]->head.w; x += pair->step)
			if (read_pair(pair, x, y, v) && read_pair(pair, x + 1, y, next)) {
				double a = difference(pair, v), b = difference(pair, next);

				product += a * b;
				squares += (a * a + b * b) / 2;
			}
	return squares > 0 ? product / squares : 0;
}

/* Adds the variances of a pair of planes. */
static int
add_planes(const struct run *run, const struct frame *first, size_t first_plane,
    const struct frame *second, size_t second_plane)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct frame_head *head = &first->head;
	struct pair pair = { .frame = { first, second }, .plane = { first_plane, second_plane } };
	size_t most;

	if (head->w != second->head.w || head->h != second->head.h ||
	    head->type != second->head.type)
		return fail(NULL, "image %zu is not of the size and type of image %zu",
		    priv->images, priv->images - 1);
	if (run_number(run, parameters->max_value, head, "max_value",
	    measurement_full_scale(head->type), &pair.most) < 0)
		return -1;
	pair.black = isnan(parameters->black_level) ? 0 : parameters->black_level;
	/* odd: an even one meets one colour of a sensor's filters alone, whose noise differs */
	pair.step = (size_t)ceil(sqrt((double)head->w * (double)head->h / PAIR_PIXELS_MOST)) | 1;
	pair.factor = brightness_ratio(&pair);
	if (!(pair.factor > 1 / BRIGHTER_MOST && pair.factor < BRIGHTER_MOST))
		return fail(NULL, "image %zu is %.3g times as bright as image %zu: wanted are two "
		    "of the same light and exposure", priv->images, pair.factor,
		    priv->images - 1);
	if (neighbour_correlation(&pair) > ALIKE_MOST)
		return fail(NULL, "images %zu and %zu do not show the same: where they differ, "
		    "neighbours differ alike", priv->images - 1, priv->images);
	most = (head->w / pair.step + 1) * (head->h / pair.step + 1);
	priv->sample = must_resize(priv->sample, priv->n + most, sizeof(*priv->sample));
	for (size_t y = 0; y < head->h; y += pair.step)
		for (size_t x = 0; x < head->w; x += pair.step) {
			double v[2], d;

			if (!read_pair(&pair, x, y, v))
				continue;
			d = difference(&pair, v);
			priv->sample[priv->n++] = (struct phase_noise_sample){
				(float)((v[0] + v[1]) / 2),
				(float)(d * d / (1 + pair.factor * pair.factor)) };
		}
	return 0;
}

/* One image of a pair, or several pairs as the planes of a frame. */
static int
take_frame(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t planes = in->head.c;
	int status = noise_quantisation(parameters->quantum, &in->head, true, &priv->quantisation);

	if (status == 0 && planes > 1 && (priv->first || planes % 2))
		status = fail(NULL, priv->first ? "wants images two by two, not %zu behind an odd "
		    "one" : "wants images two by two, not %zu", planes);
	for (size_t c = 0; c + 1 < planes && status == 0; c += 2) {
		priv->images += 2;
		status = add_planes(run, in, c, in, c + 1);
	}
	if (planes > 1 || status < 0) {
		frame_free(in);
		return status;
	}
	priv->images++;
	if (!priv->first) {
		priv->first = in;
		return 0;
	}
	status = add_planes(run, priv->first, 0, in, 0);
	frame_free(priv->first);
	frame_free(in);
	priv->first = NULL;
	return status;
}

/* Prints the words for phasewrap --sigma. */
static int
print(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double black = isnan(parameters->black_level) ? 0 : parameters->black_level, read_noise;
	const char *path = run->output && strcmp(run->output, "-") ? run->output : NULL;
	struct phase_noise_model noise;
	struct safe_file *temporary = NULL;
	FILE *file = stdout;
	int n;

	if (priv->images < 2 || priv->first)
		return fail(NULL, "wants images of a scene two by two, got %zu", priv->images);
	if (phase_noise_fit(priv->sample, priv->n, priv->quantisation, &noise) < 0)
		return -1;
	if (!(noise.gain > 0))
		return fail(NULL, "the variance does not grow with the level: take images that are "
		    "dark and bright in parts, or pairs of several exposures");
	read_noise = sqrt(fmax(noise.variance + noise.gain * black - priv->quantisation, 0));
	if (path)
		file = safe_file_open(path, &temporary);
	if (!file)
		return -1;
	n = fprintf(file, "--read-noise=%.5g --gain=%.5g", read_noise, (double)noise.gain);
	if (n > 0 && black != 0)
		n = fprintf(file, " --black-level=%.9g", black);
	if (n > 0)
		n = fprintf(file, "\n");
	if (path)
		return safe_file_close(file, path, temporary, n > 0);
	return n > 0 ? 0 : fail_errno("standard output", "could not be written");
}

static int
init(struct run *run)
{
	static const struct body body = { .frame = take_frame, .end = print,
		.no_passes = "it looks at few pixels" };
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	run->colour = parameters->channel < 0 ? COLOUR_GREY : COLOUR_RED + parameters->channel;
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	frame_free(priv->first);
	free(priv->sample);
}

const struct stage stage_camnoise = {
	.name = "camnoise",
	.summary = "a camera's read noise and gain from pairs of images of one scene",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE | STAGE_SINK,
	.init = init,
	.release = release,
};
