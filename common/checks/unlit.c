/*
 * Checks of captures without light.
 *
 * Noise has an amplitude, too, but its phase is random: it has nothing to do with that of a
 * neighbour, and with four and more steps the fit leaves as much as it takes.
 *
 * `unlit`: many pixels that go on with a phase are noise, as no limit is given. `no-fringes`: all
 * phases are random.
 */
#include "checks/checks.h"

#include <math.h>

#include "base/px.h"
#include "fringe/capture_set.h"
#include "fringe/phase_shift_weights.h"

#define UNLIT_PIXELS 512	/* sampled, about */
#define NO_FRINGES_PIXELS 256
#define NEIGHBOUR_PX 3		/* cameras mix colours of the next ones */
#define MIN_PIXELS 100		/* with a phase, from which on a share tells something */
#define MIN_UNLIT_SHARE 0.05	/* of the pixels that have a phase */
#define BINS 24			/* of amplitudes, from the fringes' downwards */
#define BINS_PER_OCTAVE 2
#define MIN_BIN_PIXELS 16	/* that tell noise from light */
/* The mean vector of phase differences between neighbours; noise has 1/sqrt n. */
#define MIN_COHERENCE 0.5	/* of pixels of one amplitude */
#define MIN_COHERENCE_OF_ALL 0.2	/* short and steep fringes among them */
#define MAX_NOISE_RATIO 2.0	/* squared amplitudes to those of what the fit leaves */
#define MIN_LIT_RATIO 2.0	/* of the fringes' amplitude to that of the noise */

/* What the images of one pixel hold. */
struct wave {
	double cosine, sine;	/* amplitude times that of the phase */
	double left;		/* what the fit leaves, squared, per degree of freedom; 0: none */
};

/* with_left: what the fit leaves is wanted. */
static struct wave
fit_wave(const struct capture_fringe *fringe, const struct phase_shift_fit *fit,
    const struct frame *in, size_t i, size_t x, bool with_left)
{
	double first = (double)frame_sample(in, fringe->plane[0], i, x), mean = 0;
	struct wave wave = { 0 };

	for (size_t k = 1; k < fringe->n; k++) {
		double v = (double)frame_sample(in, fringe->plane[k], i, x) - first;

		mean += v / (double)fringe->n;
		wave.cosine += v * (double)fit->weights[k].c;
		wave.sine += v * (double)fit->weights[k].s;
	}
	if (!with_left || fringe->two_plus_one || fringe->n < 4)
		return wave;
	for (size_t k = 0; k < fringe->n; k++) {
		double v = (double)frame_sample(in, fringe->plane[k], i, x) - first;
		double left = v - mean - wave.cosine * (double)fit->model[k].cosine -
		    wave.sine * (double)fit->model[k].sine;

		wave.left += left * left / (double)(fringe->n - 3);
	}
	return wave;
}

/* A pixel with a phase. */
struct unlit_pixel {
	double square;		/* of the amplitude */
	double cosine, sine;	/* of the phase less that of the neighbour */
	double left;
};

struct unlit {
	const struct capture_fringe *fringe;	/* the longest period */
	const struct phase_shift_fit *fit;
	struct unlit_pixel pixel[4 * UNLIT_PIXELS];
	size_t pixels;
};

static void
look(struct unlit *unlit, const struct check_sample *sample, size_t about)
{
	const struct check_rows *rows = &sample->in;
	struct check_grid grid = check_grid(rows, about);
	size_t most = sizeof(unlit->pixel) / sizeof(*unlit->pixel);

	for (size_t i = 0; i < grid.rows; i++) {
		const float *phase = frame_floats(&sample->out.frame, 0, i);

		for (size_t x = check_grid_shift(&grid, i);
		    x + NEIGHBOUR_PX < rows->frame.head.w && unlit->pixels < most; x += grid.step) {
			struct wave a, b;
			double size;

			if (px_isnan(phase[x]) || px_isnan(phase[x + NEIGHBOUR_PX]))
				continue;
			a = fit_wave(unlit->fringe, unlit->fit, &rows->frame, i, x, true);
			b = fit_wave(unlit->fringe, unlit->fit, &rows->frame, i, x + NEIGHBOUR_PX,
			    false);
			size = sqrt((a.cosine * a.cosine + a.sine * a.sine) *
			    (b.cosine * b.cosine + b.sine * b.sine));
			if (size > 0)
				unlit->pixel[unlit->pixels++] = (struct unlit_pixel){
					a.cosine * a.cosine + a.sine * a.sine,
					(a.cosine * b.cosine + a.sine * b.sine) / size,
					(a.sine * b.cosine - a.cosine * b.sine) / size, a.left };
		}
	}
}

/* The amplitude of those pixels that have most: above half the mean, twice. */
static double
find_fringes(const struct unlit *unlit)
{
	double least = 0, amplitude = 0;

	for (int round = 0; round < 2; round++) {
		double sum = 0;
		size_t n = 0;

		for (size_t p = 0; p < unlit->pixels; p++)
			if (unlit->pixel[p].square > least) {
				sum += unlit->pixel[p].square;
				n++;
			}
		amplitude = n ? sqrt(sum / (double)n) : 0;
		least = n ? 0.5 * sum / (double)n : 0;
	}
	return amplitude;
}

/* Pixels of about one amplitude. */
struct bin {
	double n, square, cosine, sine, left;
};

static bool
is_incoherent(const struct bin *bin, double limit)
{
	return hypot(bin->cosine, bin->sine) < limit * bin->n;
}

/* Does the fit leave as much as it takes? Of three images it leaves nothing. */
static bool
is_left(const struct bin *bin, const struct capture_fringe *fringe)
{
	double noise = 4 / (double)fringe->n * bin->left;

	return fringe->n > 3 && !fringe->two_plus_one && bin->square < MAX_NOISE_RATIO * noise;
}

static void
add_pixel(struct bin *bin, const struct unlit_pixel *pixel)
{
	bin->n++;
	bin->square += pixel->square;
	bin->cosine += pixel->cosine;
	bin->sine += pixel->sine;
	bin->left += pixel->left;
}

/* The amplitude below which pixels are noise, and how many they are; 0 where none are. */
static double
find_noise(const struct unlit *unlit, double fringes, double *n)
{
	struct bin bin[BINS] = { 0 }, some = { 0 };
	double noise = 0;

	for (size_t p = 0; p < unlit->pixels; p++) {
		const struct unlit_pixel *pixel = &unlit->pixel[p];
		double octaves = BINS_PER_OCTAVE * log2(fringes / sqrt(pixel->square));

		add_pixel(&bin[(size_t)fmin(fmax(octaves, 0), BINS - 1)], pixel);
	}
	*n = 0;
	for (size_t b = BINS; b-- > 0;) {
		some.n += bin[b].n;
		some.square += bin[b].square;
		some.cosine += bin[b].cosine;
		some.sine += bin[b].sine;
		some.left += bin[b].left;
		if (some.n < MIN_BIN_PIXELS)
			continue;
		if (!is_incoherent(&some, MIN_COHERENCE) && !is_left(&some, unlit->fringe))
			break;
		*n += some.n;
		noise = fringes * exp2(-(double)b / BINS_PER_OCTAVE);
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

/* Looks at about so many pixels of the longest period. False: too few have a phase. */
static bool
look_at_longest(const struct check_facts *facts, const struct check_sample *sample, size_t about,
    struct unlit *unlit)
{
	const struct capture_set *captures = facts->captures;

	unlit->fringe = captures->fringe;
	unlit->fit = facts->fit;
	unlit->pixels = 0;
	for (size_t k = 1; k < captures->fringes; k++)
		if (captures->fringe[k].period_px > unlit->fringe->period_px) {
			unlit->fringe = &captures->fringe[k];
			unlit->fit = &facts->fit[k];
		}
	look(unlit, sample, about);
	return unlit->pixels >= MIN_PIXELS;
}

/* ---- unlit ---- */

static bool
unlit_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct unlit unlit;
	double fringes, noise, n;

	if (!look_at_longest(facts, sample, UNLIT_PIXELS, &unlit))
		return false;
	fringes = find_fringes(&unlit);
	noise = find_noise(&unlit, fringes, &n);
	if (n < MIN_UNLIT_SHARE * (double)unlit.pixels || !(noise * MIN_LIT_RATIO < fringes))
		return false;
	return check_fire(line, NULL, "about %.0f %% of the pixels that have a phase are unlit, "
	    "and it is noise: their amplitude is below %g, that of the fringes about %g grey "
	    "levels: give --min-amplitude %g", 100 * n / (double)unlit.pixels, round_to(noise, 2),
	    round_to(fringes, 2), round_to(fmax(1.5 * noise, 0.05 * fringes), 1));
}

static bool
unlit_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	(void)heads;
	return facts->captures && facts->captures->fringes && facts->fit &&
	    !facts->several_exposures && !(facts->min_amplitude > 0) &&
	    !(facts->min_modulation > 0) && !(facts->min_mean > 0);
}

static void
unlit_channels(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *out)
{
	check_fringe_channels(facts, heads, in, out);
	out[0] = true;
}

const struct check check_unlit = {
	.name = "unlit", .rank = 2, .looks = CHECK_INPUT | CHECK_OUTPUT, .applies = unlit_applies,
	.channels = unlit_channels, .judge = unlit_judge
};

/* ---- no-fringes ---- */

static bool
no_fringes_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct unlit unlit;
	struct bin all = { 0 };

	if (!look_at_longest(facts, sample, NO_FRINGES_PIXELS, &unlit))
		return false;
	for (size_t p = 0; p < unlit.pixels; p++)
		add_pixel(&all, &unlit.pixel[p]);
	if (!is_incoherent(&all, MIN_COHERENCE_OF_ALL) ||
	    (unlit.fringe->n > 3 && !unlit.fringe->two_plus_one && !is_left(&all, unlit.fringe)))
		return false;
	return check_fire(line, NULL, "there are no fringes: phases are random, of an amplitude of "
	    "about %g grey levels: was the projector on, and the exposure long enough?",
	    round_to(sqrt(all.square / all.n), 2));
}

static const char *const no_fringes_explain[] = { "steps", "direction", "unlit", NULL };

const struct check check_no_fringes = {
	.name = "no-fringes", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT,
	.explains = no_fringes_explain, .applies = unlit_applies, .channels = unlit_channels,
	.judge = no_fringes_judge
};
