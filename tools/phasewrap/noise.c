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
 */

#define SAMPLED_PIXELS 40000	/* at most, on a grid */
#define AMPLITUDE_RATIO_MOST 1e3	/* of two neighbours */
#define DISTANCES 4		/* 1, 2, 4 and 8 pixels */
#define THINNED 2		/* times the step between samples, of distances above 1 */
/* The variance over a longer distance is that of the images where it is RESIDUAL_RATIO^2 times that
 * of neighbours. What grows more than GROWTH times as fast as over half the distance, or by more
 * than these factors for twice the distance, is no noise. JPEG at quality 90: 3.0, 1.5 and 1.4. */
#define RESIDUAL_RATIO 1.2
#define GROWTH 1.25
#define GROWTH_NEAR 4
#define GROWTH_FAR 2

#define WINDOW_STEP_PX 0.03125	/* small changes from measurement to measurement do not show */

#define PATTERNS 9		/* of residuals: A, and B times cos and sin of 1 to 4 times phi */

/* One of three neighbours. */
struct noise_pixel {
	double *left;		/* the sample of each image, then what the fit leaves of it */
	double level, amplitude;
	double pattern[PATTERNS];
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
	double *explained;	/* the factor of pattern k in image i at k images + i; NULL: none */
};

/* Least squares of A, B cos phi and B sin phi from the images that count. False: they determine
 * none. */
static bool
fit_used(struct noise_set *set)
{
	double m[3][3] = { { 0 } }, inverse[3][3], determinant = 0;

	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { 1, set->fit->model[i].cosine, set->fit->model[i].sine };

		for (size_t a = 0; a < 3 && set->use[i]; a++)
			for (size_t b = 0; b < 3; b++)
				m[a][b] += x[a] * x[b];
	}
	for (size_t a = 0; a < 3; a++)
		for (size_t b = 0; b < 3; b++) {
			size_t p = (a + 1) % 3, q = (a + 2) % 3, r = (b + 1) % 3, s = (b + 2) % 3;

			inverse[b][a] = m[p][r] * m[q][s] - m[p][s] * m[q][r];
		}
	for (size_t a = 0; a < 3; a++)
		determinant += m[0][a] * inverse[a][0];
	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { 1, set->fit->model[i].cosine, set->fit->model[i].sine };
		double v[3] = { 0 };

		for (size_t a = 0; a < 3 && set->use[i]; a++)
			for (size_t b = 0; b < 3; b++)
				v[a] += inverse[a][b] * x[b] / determinant;
		set->weights[i] = (struct phase_shift_weights){
			.mean = (float)(v[0] * (double)set->fringe->n), .c = (float)v[1],
			.s = (float)v[2] };
	}
	return determinant > 1e-3 * pow((double)set->used, 3);
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

static void
find_patterns(double mean, double c, double s, double pattern[PATTERNS])
{
	double amplitude = hypot(c, s), cosine = amplitude > 0 ? c / amplitude : 1;
	double sine = amplitude > 0 ? s / amplitude : 0;

	pattern[0] = mean;
	for (size_t m = 1; m < PATTERNS; m += 2) {
		double turned = c * cosine - s * sine;

		pattern[m] = c;
		pattern[m + 1] = s;
		s = c * sine + s * cosine;
		c = turned;
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
		rise += d * weights[i].mean / (double)fringe->n;
		c += d * weights[i].c;
		s += d * weights[i].s;
	}
	find_patterns(first + rise, c, s, pixel->pattern);
	for (size_t i = 0; i < fringe->n; i++) {
		pixel->left[i] = set->use[i] ? pixel->left[i] - rise -
		    c * fit->model[i].cosine - s * fit->model[i].sine : 0;
		for (size_t k = 0; set->explained && set->use[i] && k < PATTERNS; k++)
			pixel->left[i] -= set->explained[k * fringe->n + i] * pixel->pattern[k];
	}
	pixel->level = set->used == fringe->n ? first + rise : seen / (double)set->used;
	pixel->amplitude = hypot(c, s);
	return pixel->amplitude > 0 && pixel->amplitude >= limits->least_amplitude * set->gain &&
	    first + rise >= limits->least_mean * set->gain;
}

/* The variance at the pixel at (x, y), from it and those at a distance on both sides. False where
 * one of them is of no use. */
static bool
measure(struct noise_set *set, const struct frame *in, size_t x, size_t y, size_t distance,
    struct noise_pixel three[3], struct phase_noise_sample *sample)
{
	const struct capture_fringe *fringe = set->fringe;
	double squares = 0, weights = 0, levels = 0, share[3];

	if (!read_pixels(set, in, x, y, distance, three))
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
	for (size_t i = 0; i < fringe->n; i++) {
		double d = share[0] * three[0].left[i] + share[1] * three[1].left[i] +
		    share[2] * three[2].left[i];

		squares += d * d;
	}
	sample->level = (float)(levels / weights);
	sample->variance = (float)(squares / weights / (double)(set->used - 3));
	return true;
}

/* Memory for the samples of a measurement. */
struct noise_search {
	struct phase_noise_sample *sample;
	struct noise_pixel three[3];
	struct phase_shift_weights *weights;
	bool *use;
	size_t step;			/* pixels from one sample to the next */
	/* of each set: normal equations of the patterns in its images, then their factors */
	struct noise_patterns {
		double a[PATTERNS * PATTERNS], *b;
		bool known;
	} *patterns;
};

/* Adds a pixel whose images all count. */
static void
add_patterns(struct noise_patterns *to, const struct noise_pixel *pixel, size_t images)
{
	for (size_t k = 0; k < PATTERNS; k++) {
		for (size_t m = 0; m <= k; m++)
			to->a[k * PATTERNS + m] += pixel->pattern[k] * pixel->pattern[m];
		for (size_t i = 0; i < images; i++)
			to->b[k * images + i] += pixel->pattern[k] * pixel->left[i];
	}
}

/* Samples all sets with pixels at this distance. Returns the number of samples. */
static size_t
sample_noise(const struct frame *in, const struct phasewrap *wrap, size_t distance,
    struct noise_search *search)
{
	size_t sets = wrap->captures.fringes * wrap->exposures.n, n = 0;
	size_t w = in->head.w, h = in->head.h, step = search->step;
	size_t first = distance + step / 2;

	step = distance > 1 ? (THINNED * step) | 1 : step;
	for (size_t i = 0; i < sets; i++) {
		size_t e = i / wrap->captures.fringes, k = i % wrap->captures.fringes;
		struct noise_set set = { wrap, exposure_fringe(wrap, e, k), &wrap->fit[k],
			wrap->exposures.gain[e], search->use, 0, search->weights, NULL };
		struct noise_patterns *patterns = &search->patterns[i];
		size_t right = set.fringe->axis == 'x' ? 1 : distance;
		size_t down = set.fringe->axis == 'x' ? distance : 1;

		set.explained = patterns->known ? patterns->b : NULL;
		for (size_t y = first; set.fringe->n > 3 && y + down < h; y += step)
			for (size_t x = first; x + right < w; x += step) {
				if (!measure(&set, in, x, y, distance, search->three,
				    &search->sample[n]))
					continue;
				n++;
				if (distance == 1 && set.used == set.fringe->n)
					add_patterns(patterns, &search->three[1], set.fringe->n);
			}
		if (distance == 1 && symmetric_factor(PATTERNS, patterns->a, 1e-9)) {
			symmetric_solve(PATTERNS, patterns->a, patterns->b, set.fringe->n);
			patterns->known = true;
		}
	}
	return n;
}

/* Which distance's noise is that of a single pixel: v, the variances at one level, 0 where there
 * are too few samples. */
static size_t
choose_distance(const double v[DISTANCES])
{
	for (size_t k = DISTANCES - 1; k > 0; k--) {
		double growth = v[k] / v[k - 1], before = k > 1 ? v[k - 1] / v[k - 2] : 1;

		if (v[k] > 0 && growth <= (k > 1 ? GROWTH_FAR : GROWTH_NEAR) &&
		    (k == 1 || growth <= GROWTH * fmax(before, 1)))
			return v[k] > RESIDUAL_RATIO * RESIDUAL_RATIO * v[0] ? k : 0;
	}
	return 0;
}

/*
 * The standard deviation of the Gaussian window, in pixels, behind which white noise has this ratio
 * of variances at neighbours and at a distance: with the correlation q of neighbours it is q^(d^2)
 * over d pixels, and a second difference over d has (3 - 4 q^(d^2) + q^(4 d^2))/3 of its variance.
 */
static double
window_of(double ratio, double distance)
{
	double window_px = 0;

	for (; window_px < distance; window_px += WINDOW_STEP_PX) {
		double q = exp(-0.25 / pow(window_px + WINDOW_STEP_PX / 2, 2));
		double far = pow(q, distance * distance);

		if (3 - 4 * q + pow(q, 4) <= ratio * (3 - 4 * far + pow(far, 4)))
			break;
	}
	return window_px;
}

static int
search_noise(const struct frame *in, struct phasewrap *wrap, struct noise_search *search)
{
	struct phase_noise_model model[DISTANCES], *noise = &wrap->noise;
	double v[DISTANCES] = { 0 }, level = 0;
	size_t chosen;

	for (size_t k = 0; k < DISTANCES; k++) {
		size_t n = sample_noise(in, wrap, (size_t)1 << k, search);

		if (k > 0 && n < PHASE_NOISE_SAMPLES_LEAST)
			break;
		if (phase_noise_fit(search->sample, n, noise->least, &model[k]) < 0)
			return -1;
		for (size_t i = 0; i < n && k == 0; i++)
			level += (double)search->sample[i].level / (double)n;
		v[k] = fmax((double)model[k].variance + (double)model[k].gain * level,
		    fmax((double)noise->least, 1e-30));
	}
	chosen = choose_distance(v);
	wrap->noise_distance = (size_t)1 << chosen;
	wrap->noise_window_px = chosen ?
	    window_of(v[0] / v[chosen], (double)wrap->noise_distance) : 0;
	*noise = model[chosen];
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
	for (size_t i = 0; i < sets; i++)
		search.patterns[i].b = must_alloc(PATTERNS * most, sizeof(double));
	for (size_t k = 0; k < 3; k++)
		search.three[k].left = must_alloc(most, sizeof(*search.three[k].left));
	status = search_noise(in, wrap, &search);
	for (size_t k = 0; k < 3; k++)
		free(search.three[k].left);
	for (size_t i = 0; i < sets; i++)
		free(search.patterns[i].b);
	free(search.patterns);
	free(search.sample);
	free(search.weights);
	free(search.use);
	return status;
}
