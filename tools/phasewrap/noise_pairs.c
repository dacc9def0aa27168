/* Photon transfer: half the mean square of the difference of two images of the same scene is the
 * variance of one, at the mean of their levels. */
#include "noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "io/safe_file.h"
#include "limits.h"

#define PIXELS_MOST 200000	/* of a pair that are taken; they lie on a grid */
#define BRIGHTER_MOST 1.2		/* the variance is within 2 % then */
#define ALIKE_MOST 0.6		/* correlation of the noise of neighbours; demosaicking makes 0.5 */

struct pair {
	const struct frame *first, *second;
	size_t first_plane, second_plane, step;
	double black, most;
};

/* Both samples are there and not clipped. */
static bool
read_pair(const struct pair *pair, size_t x, size_t y, double *a, double *b)
{
	bool integer = pair->first->head.type != SAMPLE_FLOAT;

	*a = (double)frame_sample(pair->first, pair->first_plane, y, x);
	*b = (double)frame_sample(pair->second, pair->second_plane, y, x);
	return fabs(*a) < 1e30 && fabs(*b) < 1e30 && *a < pair->most && *b < pair->most &&
	    !(integer && (*a == 0 || *b == 0));
}

/* The lamp is never the same: by which factor the second image is brighter. */
static double
brighter(const struct pair *pair)
{
	double a, b, as = 0, bs = 0;

	for (size_t y = 0; y < pair->first->head.h; y += pair->step)
		for (size_t x = 0; x < pair->first->head.w; x += pair->step)
			if (read_pair(pair, x, y, &a, &b)) {
				as += a - pair->black;
				bs += b - pair->black;
			}
	return as > 0 && bs > 0 ? bs / as : 1;
}

/* The second image less the first one. */
static double
difference(const struct pair *pair, double factor, double a, double b)
{
	return b - pair->black - (a - pair->black) * factor;
}

/* Noise has nothing to do with that of the next pixel; what differs between two scenes, or between
 * two steps of a fringe, has. */
static int
check_scene(const struct pair *pair, double factor, size_t image)
{
	const struct frame_head *head = &pair->first->head;
	double a, b, c, d, product = 0, squares = 0;

	for (size_t y = 0; y < head->h; y += pair->step)
		for (size_t x = 0; x + 1 < head->w; x += pair->step)
			if (read_pair(pair, x, y, &a, &b) && read_pair(pair, x + 1, y, &c, &d)) {
				double here = difference(pair, factor, a, b);
				double next = difference(pair, factor, c, d);

				product += here * next;
				squares += (here * here + next * next) / 2;
			}
	if (product > ALIKE_MOST * squares)
		return fail("--fit-noise", "images %zu and %zu do not show the same: where they "
		    "differ, neighbours differ alike", image - 1, image);
	return 0;
}

static int
measure(const struct pair *pair, struct noise_pairs *pairs)
{
	const struct frame_head *head = &pair->first->head;
	size_t most = (head->w / pair->step + 1) * (head->h / pair->step + 1);
	struct phase_noise_sample *more =
	    reallocarray(pairs->sample, pairs->n + most, sizeof(*more));
	double factor = brighter(pair), a, b;

	if (!more)
		return fail_memory();
	pairs->sample = more;
	if (!(factor > 1 / BRIGHTER_MOST && factor < BRIGHTER_MOST))
		return fail("--fit-noise", "image %zu is %.3g times as bright as image %zu: wanted "
		    "are two of the same light and exposure", pairs->images, factor,
		    pairs->images - 1);
	if (check_scene(pair, factor, pairs->images) < 0)
		return -1;
	for (size_t y = 0; y < head->h; y += pair->step)
		for (size_t x = 0; x < head->w; x += pair->step)
			if (read_pair(pair, x, y, &a, &b)) {
				double d = difference(pair, factor, a, b);

				more[pairs->n++] = (struct phase_noise_sample){
					(float)((a + b) / 2),
					(float)(d * d / (1 + factor * factor)) };
			}
	return 0;
}

static int
measure_planes(const struct noise_options *options, const struct frame *first, size_t first_plane,
    const struct frame *second, size_t second_plane, struct noise_pairs *pairs)
{
	const struct frame_head *head = &first->head;
	struct pair pair = { first, second, first_plane, second_plane, 1,
		isnan(options->black_level) ? 0 : options->black_level,
		limits_usual_most(head->type) };

	if (head->w != second->head.w || head->h != second->head.h ||
	    head->type != second->head.type)
		return fail("--fit-noise", "image %zu is not of the size and type of image %zu",
		    pairs->images, pairs->images - 1);
	if (meta_number(&head->meta, "max_value", pair.most, &pair.most) < 0)
		return -1;
	if (!isnan(options->max_value))
		pair.most = options->max_value;
	/* odd, as in noise_find() */
	pair.step = (size_t)ceil(sqrt((double)head->w * (double)head->h / PIXELS_MOST)) | 1;
	return measure(&pair, pairs);
}

int
noise_pairs_add(const struct noise_options *options, struct frame *in, struct noise_pairs *pairs)
{
	size_t c = 0;
	int status = noise_quantisation(options, &in->head, true, &pairs->quantisation);

	if (status == 0 && in->head.c > 1 && pairs->first)
		status = fail("--fit-noise", "wants images two by two, not %zu behind an odd one",
		    in->head.c);
	for (; c + 1 < in->head.c && status == 0; c += 2) {
		pairs->images += 2;
		status = measure_planes(options, in, c, in, c + 1, pairs);
	}
	if (c < in->head.c && status == 0) {
		pairs->images++;
		if (in->head.c > 1)
			status = fail("--fit-noise", "wants images two by two, not %zu",
			    in->head.c);
		else if (pairs->first)
			status = measure_planes(options, pairs->first, 0, in, 0, pairs);
	}
	if (status < 0 || in->head.c > 1 || pairs->first) {
		frame_free(pairs->first);
		frame_free(in);
		pairs->first = NULL;
	} else {
		pairs->first = in;
	}
	return status;
}

int
noise_pairs_print(const struct noise_options *options, struct noise_pairs *pairs, const char *path)
{
	double black = isnan(options->black_level) ? 0 : options->black_level, read_noise;
	struct phase_noise_model noise;
	struct safe_file *temporary = NULL;
	FILE *file = stdout;
	int n;

	if (pairs->images < 2 || pairs->first)
		return fail("--fit-noise", "wants images of a scene two by two, got %zu",
		    pairs->images);
	if (phase_noise_fit(pairs->sample, pairs->n, pairs->quantisation, &noise) < 0)
		return -1;
	if (!(noise.gain > 0))
		return fail("--fit-noise", "the variance does not grow with the level: take images "
		    "that are dark and bright in parts, or pairs of several exposures");
	read_noise = sqrt(fmax(noise.variance + noise.gain * black - pairs->quantisation, 0));
	if (path && strcmp(path, "-")) {
		file = safe_file_open(path, &temporary);
		if (!file)
			return -1;
	}
	n = fprintf(file, "--read-noise=%.5g --gain=%.5g", read_noise, (double)noise.gain);
	if (n > 0 && black != 0)
		n = fprintf(file, " --black-level=%.9g", black);
	if (n > 0)
		n = fprintf(file, "\n");
	if (file != stdout)
		return safe_file_close(file, path, temporary, n > 0);
	return n > 0 ? 0 : fail_errno("standard output", "could not be written");
}

void
noise_pairs_free(struct noise_pairs *pairs)
{
	frame_free(pairs->first);
	free(pairs->sample);
	*pairs = (struct noise_pairs){ 0 };
}
