#include "unlit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "phasewrap.px.h"
#include "pixel_wave.h"

#define PIXELS 2048		/* on the coarse grid, about */
#define APART 3			/* pixels to the neighbour: cameras mix colours of the next ones */
#define LEAST 100		/* pixels with a phase, from which on a share tells something */
#define SHARE 0.05		/* of them that are unlit */
#define BINS 24			/* of amplitudes, from the fringes' downwards, */
#define PER_OCTAVE 2
#define BIN_LEAST 16		/* pixels that tell noise from light */
#define COHERENT 0.5		/* mean vector of phase differences, of which noise has 1/sqrt n */
#define NOISE_RATIO 2.0		/* amplitudes, squared, to those of the noise that the fit leaves */
#define LIT_RATIO 2.0		/* amplitude of the fringes to that of the noise, at least */

int
unlit_plan(struct unlit *unlit, const struct phasewrap *wrap, const struct frame_head *head)
{
	const struct capture_set *captures = &wrap->captures;
	const struct phasewrap_limits *limits = &wrap->limits;

	unlit_free(unlit);
	unlit->off |= limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    limits->least_mean > 0 || limits->most_misfit < INFINITY || !captures->fringes;
	if (unlit->off)
		return 0;
	unlit->set = 0;
	for (size_t k = 1; k < captures->fringes; k++)
		if (captures->fringe[k].period_px > captures->fringe[unlit->set].period_px)
			unlit->set = k;
	unlit->grid = coarse_grid(head->w, head->h, PIXELS);
	unlit->pixel = calloc(coarse_grid_pixels(&unlit->grid), sizeof(*unlit->pixel));
	return unlit->pixel ? 0 : fail_memory();
}

void
unlit_free(struct unlit *unlit)
{
	free(unlit->pixel);
	unlit->pixel = NULL;
}

/* Bands may share rows: both store the same. */
void
unlit_row(const struct unlit *unlit, const struct phasewrap *wrap, const struct frame *in,
    const struct frame *out, size_t y)
{
	const struct capture_fringe *fringe = &wrap->captures.fringe[unlit->set];
	const float *made;

	if (unlit->off || y % unlit->grid.step)
		return;
	made = frame_floats(out, 0, y);
	for (size_t i = 0; i < unlit->grid.columns; i++) {
		size_t x = i * unlit->grid.step;
		struct unlit_pixel pixel = { .square = NAN };
		struct unlit_pixel *to = &unlit->pixel[coarse_grid_row(&unlit->grid, y) + i];

		if (x + APART < in->head.w && !px_isnan(made[x]) && !px_isnan(made[x + APART])) {
			struct pixel_wave a =
			    pixel_wave_fit(fringe, &wrap->fit[unlit->set], in, y, x);
			struct pixel_wave b =
			    pixel_wave_fit(fringe, &wrap->fit[unlit->set], in, y, x + APART);
			float square = a.cosine * a.cosine + a.sine * a.sine;
			float size = sqrtf(square * (b.cosine * b.cosine + b.sine * b.sine));

			if (size > 0)
				pixel = (struct unlit_pixel){ square,
					(a.cosine * b.cosine + a.sine * b.sine) / size,
					(a.sine * b.cosine - a.cosine * b.sine) / size, a.left };
		}
		__atomic_store(&to->square, &pixel.square, __ATOMIC_RELAXED);
		__atomic_store(&to->cosine, &pixel.cosine, __ATOMIC_RELAXED);
		__atomic_store(&to->sine, &pixel.sine, __ATOMIC_RELAXED);
		__atomic_store(&to->left, &pixel.left, __ATOMIC_RELAXED);
	}
}

/* The amplitude of those valid pixels that have most: above half the mean, twice. */
static float
find_fringes(const struct unlit *unlit, size_t pixels, size_t *valid)
{
	double least = 0;
	float amplitude = 0;

	for (int round = 0; round < 2; round++) {
		double sum = 0;
		size_t n = 0;

		for (size_t p = 0; p < pixels; p++)
			if ((double)unlit->pixel[p].square > least) {
				sum += (double)unlit->pixel[p].square;
				n++;
			}
		if (round == 0)
			*valid = n;
		amplitude = n ? (float)sqrt(sum / (double)n) : 0;
		least = n ? 0.5 * sum / (double)n : 0;
	}
	return *valid >= LEAST ? amplitude : 0;
}

/* Pixels of about one amplitude. */
struct bin {
	double n, square, cosine, sine, left;
};

static bool
is_noise(const struct bin *bin, const struct capture_fringe *fringe)
{
	double images = (double)fringe->n, noise = 4 / images * bin->left;

	if (hypot(bin->cosine, bin->sine) < COHERENT * bin->n)
		return true;
	return fringe->n > 3 && !fringe->two_plus_one && bin->square < NOISE_RATIO * noise;
}

/* The amplitude below which pixels are noise, and how many they are; 0 where none are. */
static float
find_noise(const struct unlit *unlit, const struct capture_fringe *fringe, float fringes,
    size_t pixels, double *n)
{
	struct bin bin[BINS] = { 0 }, some = { 0 };
	float noise = 0;

	for (size_t p = 0; p < pixels; p++) {
		const struct unlit_pixel *pixel = &unlit->pixel[p];
		double octaves = PER_OCTAVE * log2((double)fringes / sqrt((double)pixel->square));
		struct bin *to;

		if (px_isnan(pixel->square))
			continue;
		to = &bin[(size_t)fmin(fmax(octaves, 0), BINS - 1)];
		to->n++;
		to->square += (double)pixel->square;
		to->cosine += (double)pixel->cosine;
		to->sine += (double)pixel->sine;
		to->left += (double)pixel->left;
	}
	*n = 0;
	for (size_t b = BINS; b-- > 0;) {
		some.n += bin[b].n;
		some.square += bin[b].square;
		some.cosine += bin[b].cosine;
		some.sine += bin[b].sine;
		some.left += bin[b].left;
		if (some.n < BIN_LEAST)
			continue;
		if (!is_noise(&some, fringe))
			break;
		*n += some.n;
		noise = fringes * exp2f(-(float)b / PER_OCTAVE);
		some = (struct bin){ 0 };
	}
	return noise;
}

/* With so many digits, for %g. */
static double
round_to(double v, int digits)
{
	double unit = pow(10, floor(log10(v)) + 1 - digits);

	return round(v / unit) * unit;
}

void
unlit_warn(struct unlit *unlit, const struct phasewrap *wrap)
{
	size_t pixels = coarse_grid_pixels(&unlit->grid), valid;
	float fringes, noise;
	double n;

	if (unlit->off)
		return;
	unlit->off = true;
	fringes = find_fringes(unlit, pixels, &valid);
	if (!(fringes > 0))
		return;
	noise = find_noise(unlit, &wrap->captures.fringe[unlit->set], fringes, pixels, &n);
	if (n < SHARE * (double)valid || !(noise * (float)LIT_RATIO < fringes))
		return;
	warn(NULL, "about %.0f %% of the pixels that have a phase are unlit, and it is noise: "
	    "their amplitude is below %g, that of the fringes about %g grey levels: give "
	    "--min-amplitude %g", 100 * n / (double)valid, round_to((double)noise, 2),
	    round_to((double)fringes, 2),
	    round_to(fmax(1.5 * (double)noise, 0.05 * (double)fringes), 1));
}
