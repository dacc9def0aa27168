/*
 * The camera's noise, for the standard deviations of --sigma: as given by options, or found in what
 * the fit leaves of a measurement. camnoise finds it in pairs of images.
 */
#include "phasewrap.h"

#include "base/linear.h"

/* ---- options and planning ---- */

/* Has one of the fringe sets more images than unknowns? */
static bool
leaves_residual(const struct capture_set *captures)
{
	for (size_t k = 0; k < captures->fringes; k++)
		if (captures->fringe[k].n > 3)
			return true;
	return false;
}

void
phase_sigma_set_terms(struct phasewrap *wrap)
{
	size_t n = 0;

	for (size_t k = 0; k < wrap->captures.fringes; k++)
		if (wrap->halves)
			for (size_t h = 0; h < 2; h++)
				wrap->terms[n++] = phase_noise_terms(&wrap->halves[k].fit[h]);
		else
			wrap->terms[n++] = phase_noise_terms(&wrap->fit[k]);
}

int
noise_plan(const struct noise_options *options, const struct frame_head *in,
    struct phasewrap *wrap, bool *search)
{
	const struct capture_set *captures = &wrap->captures;
	double quantisation;

	wrap->sigmas = options->sigma;
	*search = noise_unknown(options);
	if (!options->sigma)
		return 0;
	if (captures->fringes == 0)
		return fail("--sigma", "there are no fringe images, a Gray code has no phase");
	if (*search && !leaves_residual(captures))
		return fail("--sigma", "the fit of three images leaves nothing to find the noise "
		    "from: give --read-noise LEVELS and --gain LEVELS/e (camnoise finds them)");
	if (noise_quantisation(options->quantum, in, !*search, &quantisation) < 0)
		return -1;
	wrap->terms = must_alloc(2 * captures->fringes, sizeof(*wrap->terms));
	phase_sigma_set_terms(wrap);
	wrap->noise = (struct phase_noise_model){ .least = (float)quantisation };
	return *search ? 0 : noise_given(options, quantisation, (double)wrap->limits.max_value,
	    &wrap->noise);
}

/*
 * ---- from what the fit leaves of a measurement ----
 *
 * Harmonics leave something too. But divided by the amplitude it hardly changes across the
 * direction in which the phase varies, so that the second difference of the residuals of three
 * neighbours in that direction, scaled to the amplitude of the middle one, is noise. Its mean
 * square, over the sum of the squares of their weights (six where the amplitudes are the same) and
 * over the degrees of freedom, is the variance at the level of the images with the same weights.
 *
 * Neighbours share noise where a camera has demosaicked the images or a codec has compressed them,
 * and the difference of pixels that are next to each other misses that part. So it is also taken
 * over 2, 4 and 8 pixels (a block of JPEG): there shared noise comes to an end, while harmonics
 * that change over the picture go on growing. Harmonics, light that flickers and steps that are off
 * are one function of phase and brightness in each image besides: that is fitted to the residuals
 * of all pixels and taken out.
 *
 * A filter needs to know how much noise the mean of many pixels keeps. The second difference of the
 * sums of blocks of 4 x 4 pixels tells this in both directions and whatever the shape of the
 * correlation; it is given as the window that leaves as much.
 */

#define SAMPLED_PIXELS 40000	/* at most, on a grid */
#define AMPLITUDE_RATIO_MOST 1e3	/* of two neighbours */
#define DISTANCES 4		/* 1, 2, 4 and 8 pixels */
#define THINNED 2		/* times the step between samples, all but the first time */
/* The variance over a longer distance is that of the images where it and that over 2 pixels differ
 * from that of neighbours by this factor; it is smaller after sharpening. What grows more than
 * GROWTH times as fast as over half the distance, or by more than these factors for twice the
 * distance, is no noise. JPEG at quality 90: 3.0, 1.5 and 1.4. */
#define RESIDUAL_RATIO 1.1
#define GROWTH 1.25
#define GROWTH_NEAR 4
#define GROWTH_FAR 2

#define BLOCK_PX 4		/* side of blocks whose sums show what neighbours share */
/* A window is given where a block's sum varies this many times as much as that of independent
 * pixels. */
#define BLOCK_RATIO_LEAST 1.2
#define WINDOW_STEP_PX 0.03125	/* small changes from measurement to measurement do not show */

#define PATTERNS 9		/* of residuals: A, and B times cos and sin of 1 to 4 times phi */
#define PATTERNS_EVERY 4	/* every fourth sample is enough to fit them */

/* One of three neighbours. */
struct noise_pixel {
	double *left;		/* the sample of each image, then what the fit leaves of it */
	double level, amplitude;
	double pattern[PATTERNS];	/* three by the fit, the rest by find_patterns() */
};

/* A fringe set of one exposure, for the noise of its images. */
struct noise_set {
	const struct phasewrap *wrap;
	const struct capture_fringe *fringe;
	const struct phase_shift_fit *fit;
	float gain;		/* of the exposure's light: the limits are the longest one's */
	/* of the three neighbours: the images that count, none of which is saturated in any, their
	 * number, and the weights of their fit, mean that of N A as in the fit of all */
	bool *use;
	size_t used;
	struct phase_shift_weights *weights;
	double *difference;	/* of each image: the sum of a block's second differences */
	double *explained;	/* the factor of pattern k in image i at k images + i; NULL: none */
};

/* Least squares of A, B cos phi and B sin phi from the images that count. False: they determine
 * none. */
static bool
fit_used(struct noise_set *set)
{
	double m[9] = { 0 };

	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { 1, set->fit->model[i].cosine, set->fit->model[i].sine };

		for (size_t k = 0; k < 9 && set->use[i]; k++)
			m[k] += x[k / 3] * x[k % 3];
	}
	if (!(matrix3_determinant(m) > 1e-3 * pow((double)set->used, 3)) || !symmetric_invert(3, m))
		return false;
	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { set->use[i], set->use[i] * set->fit->model[i].cosine,
			set->use[i] * set->fit->model[i].sine };
		double v[3];

		matrix3_apply(m, x, v);
		set->weights[i] = (struct phase_shift_weights){
			.mean = (float)(v[0] * (double)set->fringe->n), .c = (float)v[1],
			.s = (float)v[2] };
	}
	return true;
}

/* Reads the pixel at (x, y) and the two at a distance from it, and sets which images count in them.
 * False: too few. */
static bool
read_pixels(struct noise_set *set, const struct frame *in, size_t x, size_t y, size_t distance,
    struct noise_pixel three[3])
{
	const struct capture_fringe *fringe = set->fringe;
	bool down = fringe->axis == 'x';

	set->used = 0;
	for (size_t i = 0; i < fringe->n; i++) {
		set->use[i] = true;
		for (size_t k = 0; k < 3; k++) {
			float v = frame_sample(in, fringe->plane[i],
			    down ? y + k * distance - distance : y,
			    down ? x : x + k * distance - distance);

			three[k].left[i] = (double)v;
			set->use[i] &= v < set->wrap->limits.max_value;
		}
		set->used += set->use[i];
	}
	if (set->used == fringe->n) {
		for (size_t i = 0; i < fringe->n; i++)
			set->weights[i] = set->fit->weights[i];
		return true;
	}
	return set->wrap->exposures.solves && set->used > 3 && fit_used(set);
}

/* B times cos and sin of 2 to 4 times phi, from those of phi. */
static void
find_patterns(double amplitude, double pattern[PATTERNS])
{
	double c = pattern[1], s = pattern[2];
	double cosine = amplitude > 0 ? c / amplitude : 1, sine = amplitude > 0 ? s / amplitude : 0;

	for (size_t m = 3; m < PATTERNS; m += 2) {
		double turned = c * cosine - s * sine;

		pattern[m + 1] = s = c * sine + s * cosine;
		pattern[m] = c = turned;
	}
}

/* Fits a pixel. False where a sample is missing or clipped, or there are no fringes. */
static bool
fit_pixel(const struct noise_set *set, bool integer, struct noise_pixel *pixel)
{
	const struct measurement_limits *limits = &set->wrap->limits;
	const struct capture_fringe *fringe = set->fringe;
	const struct phase_shift_fit *fit = set->fit;
	const struct phase_shift_weights *weights = set->weights;
	double first = pixel->left[0], rise = 0, c = 0, s = 0;
	double seen = 0;	/* the sum of the images that count */

	for (size_t i = 0; i < fringe->n; i++) {
		double v = pixel->left[i], d = v - first;

		if (!(fabs(v) < 1e30) || (integer && v == 0))
			return false;
		pixel->left[i] = d;
		seen += set->use[i] ? v : 0;
		rise += d * weights[i].mean;
		c += d * weights[i].c;
		s += d * weights[i].s;
	}
	rise /= (double)fringe->n;
	pixel->amplitude = sqrt(c * c + s * s);
	pixel->pattern[0] = first + rise;
	pixel->pattern[1] = c;
	pixel->pattern[2] = s;
	if (set->explained)
		find_patterns(pixel->amplitude, pixel->pattern);
	for (size_t i = 0; i < fringe->n; i++) {
		double left = pixel->left[i] - rise - c * fit->model[i].cosine -
		    s * fit->model[i].sine;

		if (set->explained)
			for (size_t k = 0; k < PATTERNS; k++)
				left -= set->explained[k * fringe->n + i] * pixel->pattern[k];
		pixel->left[i] = set->use[i] ? left : 0;
	}
	pixel->level = set->used == fringe->n ? first + rise : seen / (double)set->used;
	return pixel->amplitude > 0 && pixel->amplitude >= limits->least_amplitude * set->gain &&
	    first + rise >= limits->least_mean * set->gain;
}

/* The variance of the pixels of a block, its first one at (x, y), by the sum of their differences
 * from those at a distance on both sides. False where one of them is of no use. */
static bool
measure(struct noise_set *set, const struct frame *in, size_t x, size_t y, size_t side,
    size_t distance, struct noise_pixel three[3], struct phase_noise_sample *sample)
{
	const struct capture_fringe *fringe = set->fringe;
	double squares = 0, weights = 0, levels = 0, share[3];

	for (size_t p = 0; p < side * side; p++) {
		if (!read_pixels(set, in, x + p % side, y + p / side, distance, three) ||
		    (side > 1 && set->used < fringe->n))
			return false;
		for (size_t k = 0; k < 3; k++)
			if (!fit_pixel(set, in->head.type != SAMPLE_FLOAT, &three[k]))
				return false;
		for (size_t k = 0; k < 3; k++) {
			share[k] = k == 1 ? -2 : fmin(three[1].amplitude / three[k].amplitude,
			    AMPLITUDE_RATIO_MOST);
			weights += share[k] * share[k];
			levels += share[k] * share[k] * three[k].level;
		}
		for (size_t i = 0; i < fringe->n; i++)
			set->difference[i] = share[0] * three[0].left[i] + share[1] *
			    three[1].left[i] + share[2] * three[2].left[i] +
			    (p > 0 ? set->difference[i] : 0);
	}
	for (size_t i = 0; i < fringe->n; i++)
		squares += set->difference[i] * set->difference[i];
	sample->level = (float)(levels / weights);
	sample->variance = (float)(squares / weights / (double)(set->used - 3));
	return true;
}

/* Memory for the samples of a measurement. */
struct noise_search {
	struct phase_noise_sample *sample;
	struct noise_pixel three[3];
	struct phase_shift_weights *weights;
	double *difference;
	bool *use;
	size_t step;			/* pixels from one sample to the next */
	bool explained;			/* the patterns are fitted */
	/* of each set: normal equations of the patterns in its images, then their factors */
	struct noise_patterns {
		double a[PATTERNS * PATTERNS], *b;
		bool known;
	} *patterns;
};

/* Adds a pixel whose images all count. */
static void
add_patterns(struct noise_patterns *to, struct noise_pixel *pixel, size_t images)
{
	find_patterns(pixel->amplitude, pixel->pattern);
	for (size_t k = 0; k < PATTERNS; k++) {
		for (size_t m = 0; m <= k; m++)
			to->a[k * PATTERNS + m] += pixel->pattern[k] * pixel->pattern[m];
		for (size_t i = 0; i < images; i++)
			to->b[k * images + i] += pixel->pattern[k] * pixel->left[i];
	}
}

/* Samples all sets with blocks at this distance. Returns the number of samples. */
static size_t
sample_noise(const struct frame *in, const struct phasewrap *wrap, size_t side, size_t distance,
    struct noise_search *search)
{
	size_t sets = wrap->captures.fringes * wrap->exposures.n, n = 0;
	size_t w = in->head.w, h = in->head.h, step = search->step;
	size_t first = distance + step / 2;

	if (side > 1)		/* blocks of a small picture overlap */
		step = (step > 1 ? 2 * side * step : side) - 1;
	else if (search->explained)
		step = (THINNED * step) | 1;
	for (size_t i = 0; i < sets; i++) {
		size_t e = i / wrap->captures.fringes, k = i % wrap->captures.fringes;
		struct noise_set set = { wrap, exposure_fringe(wrap, e, k), &wrap->fit[k],
			wrap->exposures.gain[e], search->use, 0, search->weights,
			search->difference, NULL };
		struct noise_patterns *patterns = &search->patterns[i];
		size_t right = side - 1 + (set.fringe->axis == 'x' ? 1 : distance);
		size_t down = side - 1 + (set.fringe->axis == 'x' ? distance : 1);

		set.explained = patterns->known ? patterns->b : NULL;
		for (size_t y = first; set.fringe->n > 3 && y + down < h; y += step)
			for (size_t x = first; x + right < w; x += step) {
				if (!measure(&set, in, x, y, side, distance, search->three,
				    &search->sample[n]))
					continue;
				n++;
				if (!search->explained && set.used == set.fringe->n &&
				    n % PATTERNS_EVERY == 0)
					add_patterns(patterns, &search->three[1], set.fringe->n);
			}
		if (!search->explained && symmetric_factor(PATTERNS, patterns->a, 1e-9)) {
			symmetric_solve(PATTERNS, patterns->a, patterns->b, set.fringe->n);
			patterns->known = true;
		}
	}
	search->explained = true;
	return n;
}

/* The longest distance without harmonics: v, the variances at one level, 0 where there are too few
 * samples. */
static size_t
longest_distance(const double v[DISTANCES])
{
	for (size_t k = DISTANCES - 1; k > 0; k--) {
		double growth = v[k] / v[k - 1], before = k > 1 ? v[k - 1] / v[k - 2] : 1;

		if (v[k] > 0 && growth <= (k > 1 ? GROWTH_FAR : GROWTH_NEAR) &&
		    (k == 1 || growth <= GROWTH * fmax(before, 1)))
			return k;
	}
	return 0;
}

/*
 * The variance of second differences of blocks' sums over that of independent pixels, where the
 * correlation over d pixels is q^(d^2): along the difference and, which is alike for all distances,
 * across it.
 */
static double
block_variance(double q, size_t side, size_t distance)
{
	double n = (double)side, along = 0, across = 0;

	for (double d = 1 - n; d < n; d++) {
		double far = d + (double)distance, farther = far + (double)distance;

		across += (1 - fabs(d) / n) * pow(q, d * d);
		along += (1 - fabs(d) / n) * (3 * pow(q, d * d) - 4 * pow(q, far * far) +
		    pow(q, farther * farther)) / 3;
	}
	return along * across;
}

/* The standard deviation of the Gaussian window, in pixels, after which white noise has this ratio
 * of variances of blocks, at the distance of their side, and of pixels at a distance. */
static double
window_of(double ratio, size_t side, size_t distance)
{
	double window_px = 0;

	for (; window_px < (double)side; window_px += WINDOW_STEP_PX) {
		double q = exp(-0.25 / pow(window_px + WINDOW_STEP_PX / 2, 2));

		if (block_variance(q, side, side) >= ratio * block_variance(q, 1, distance))
			break;
	}
	return window_px;
}

/* A ratio of variances, at least this one, that n samples of a normal distribution do not have by
 * chance: three standard deviations. */
static double
beyond_chance(double ratio, size_t n)
{
	return fmax(ratio, 1 + 3 * sqrt(2 / (double)n));
}

/* The variance of a model at a level. */
static double
variance_at(const struct phase_noise_model *model, double level)
{
	return fmax((double)model->variance + (double)model->gain * level,
	    fmax((double)model->least, 1e-30));
}

static int
search_noise(const struct frame *in, struct phasewrap *wrap, struct noise_search *search)
{
	/* the first over neighbours as they are, the others with the patterns taken out: that takes
	 * out a part of the noise of few images, too, so that only these compare */
	struct phase_noise_model model[1 + DISTANCES], *noise = &wrap->noise;
	double v[DISTANCES] = { 0 }, level = 0, ratio;
	size_t n, samples[DISTANCES] = { 0 }, longest, side;
	bool differs;

	for (size_t k = 0; k <= DISTANCES; k++) {
		n = sample_noise(in, wrap, 1, k > 1 ? (size_t)1 << (k - 1) : 1, search);
		if (k > 0 && n < PHASE_NOISE_SAMPLES_LEAST)
			break;
		if (phase_noise_fit(search->sample, n, noise->least, &model[k]) < 0)
			return -1;
		for (size_t i = 0; i < n && k == 0; i++)
			level += (double)search->sample[i].level / (double)n;
		if (k > 0) {
			v[k - 1] = variance_at(&model[k], level);
			samples[k - 1] = n;
		}
	}
	longest = longest_distance(v);
	ratio = beyond_chance(RESIDUAL_RATIO, samples[longest]);
	differs = fmin(v[1], v[longest]) > ratio * v[0] || fmax(v[1], v[longest]) * ratio < v[0];
	*noise = model[differs ? 1 + longest : 0];
	wrap->noise_distance = differs ? (size_t)1 << longest : 1;
	wrap->noise_window_px = 0;
	side = longest < 2 ? (size_t)1 << longest : BLOCK_PX;
	n = side > 1 ? sample_noise(in, wrap, side, side, search) : 0;
	if (n >= PHASE_NOISE_SAMPLES_LEAST && phase_noise_fit(search->sample, n, 0, model) == 0) {
		ratio = variance_at(model, level) / v[differs ? longest : 0];
		if (ratio > beyond_chance(BLOCK_RATIO_LEAST, n))
			wrap->noise_window_px = window_of(ratio, side, wrap->noise_distance);
	}
	return !(noise->variance > 0) && !(noise->gain > 0) && !(noise->least > 0) ?
	    fail(NULL, "the images have no noise: the fit leaves nothing of them") : 0;
}

int
noise_find(const struct frame *in, struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	size_t w = in->head.w, h = in->head.h, most = 0;
	size_t sets = captures->fringes * wrap->exposures.n;
	struct noise_search search = { 0 };
	double *numbers;
	int status;

	for (size_t k = 0; k < captures->fringes; k++)
		most = captures->fringe[k].n > most ? captures->fringe[k].n : most;
	search.use = must_alloc(most, sizeof(*search.use));
	search.weights = must_alloc(most, sizeof(*search.weights));
	/* odd: an even one meets one colour of a sensor's filters alone, whose noise differs */
	search.step = (size_t)ceil(sqrt((double)w * (double)h * (double)sets / SAMPLED_PIXELS)) | 1;
	search.sample = must_alloc((w / search.step + 1) * (h / search.step + 1) * sets,
	    sizeof(*search.sample));
	search.patterns = must_alloc(sets, sizeof(*search.patterns));
	numbers = must_alloc((4 + PATTERNS * sets) * most, sizeof(*numbers));
	search.difference = numbers + 3 * most;
	for (size_t i = 0; i < sets; i++)
		search.patterns[i].b = numbers + (4 + PATTERNS * i) * most;
	for (size_t k = 0; k < 3; k++)
		search.three[k].left = numbers + k * most;
	status = search_noise(in, wrap, &search);
	free_all(numbers, search.patterns, search.sample, search.weights, search.use);
	return status;
}
