/*
 * Checks of captures without light.
 *
 * Noise has an amplitude, too, but its phase is random: it has nothing to do with that of a
 * neighbour, and with four and more steps the fit leaves as much as it takes.
 *
 * `unlit`: many pixels that go on with a phase are noise, as no limit is given. `no-fringes`: all
 * phases are random. `dark-image`: one of three images is black, which no residual shows; but then
 * the amplitude exceeds the mean, as if light were negative somewhere.
 */
#include "checks/checks.h"

#include <math.h>

#include "base/px.h"
#include "fringe/capture_set.h"
#include "fringe/phase_steps.h"

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

/* Sums over pixels. */
struct pixels {
	double n;
	double square;		/* of the amplitude */
	double cosine, sine;	/* of the phase less that of the neighbour */
	double left;		/* what the fit leaves, squared, per degree of freedom */
};

static void
add(struct pixels *to, const struct pixels *pixels)
{
	to->n += pixels->n;
	to->square += pixels->square;
	to->cosine += pixels->cosine;
	to->sine += pixels->sine;
	to->left += pixels->left;
}

/* Have their phases nothing to do with those of the neighbours? */
static bool
is_incoherent(const struct pixels *pixels, double limit)
{
	return hypot(pixels->cosine, pixels->sine) < limit * pixels->n;
}

/* The pixels that are looked at, those that have a phase. */
struct unlit {
	const struct capture_fringe *fringe;	/* the longest period */
	const struct phase_shift_fit *fit;
	bool leaves;		/* the fit leaves something: of three images it does not */
	struct pixels pixel[4 * UNLIT_PIXELS];
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
			struct check_wave a, b;
			double size, left;

			if (px_isnan(phase[x]) || px_isnan(phase[x + NEIGHBOUR_PX]))
				continue;
			a = check_wave(unlit->fringe, unlit->fit, &rows->frame, i, x, &left);
			b = check_wave(unlit->fringe, unlit->fit, &rows->frame, i,
			    x + NEIGHBOUR_PX, NULL);
			size = sqrt((a.cosine * a.cosine + a.sine * a.sine) *
			    (b.cosine * b.cosine + b.sine * b.sine));
			if (size > 0)
				unlit->pixel[unlit->pixels++] = (struct pixels){ 1,
					a.cosine * a.cosine + a.sine * a.sine,
					(a.cosine * b.cosine + a.sine * b.sine) / size,
					(a.sine * b.cosine - a.cosine * b.sine) / size, left };
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

/* Does the fit leave as much as it takes? */
static bool
is_left(const struct unlit *unlit, const struct pixels *pixels)
{
	double noise = 4 / (double)unlit->fringe->n * pixels->left;

	return unlit->leaves && pixels->square < MAX_NOISE_RATIO * noise;
}

/* The amplitude below which pixels are noise, and how many they are; 0 where none are. */
static double
find_noise(const struct unlit *unlit, double fringes, double *n)
{
	struct pixels bin[BINS] = { 0 }, some = { 0 };
	double noise = 0;

	for (size_t p = 0; p < unlit->pixels; p++) {
		double octaves = log2(fringes / sqrt(unlit->pixel[p].square));
		double place = fmin(fmax(BINS_PER_OCTAVE * octaves, 0), BINS - 1);

		add(&bin[(size_t)place], &unlit->pixel[p]);
	}
	*n = 0;
	for (size_t b = BINS; b-- > 0;) {
		add(&some, &bin[b]);
		if (some.n < MIN_BIN_PIXELS)
			continue;
		if (!is_incoherent(&some, MIN_COHERENCE) && !is_left(unlit, &some))
			break;
		*n += some.n;
		noise = fringes * exp2(-(double)b / BINS_PER_OCTAVE);
		some = (struct pixels){ 0 };
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
	unlit->leaves = unlit->fringe->n > 3 && !unlit->fringe->two_plus_one;
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
unlit_applies(const struct check_facts *facts, const struct check_heads *)
{
	return facts->captures && facts->captures->fringes && facts->fit &&
	    !facts->several_exposures && !(facts->min_amplitude > 0) &&
	    !(facts->min_modulation > 0) && !(facts->min_mean > 0);
}

const struct check check_unlit = {
	.name = "unlit", .rank = 2, .looks = CHECK_INPUT | CHECK_OUTPUT, .applies = unlit_applies,
	.channels = check_phase_channels, .judge = unlit_judge
};

/* ---- no-fringes ---- */

#define LINE_SHARE 0.05		/* of the pixels, at most, are brighter than half the range; */
#define LINE_ROWS 0.5		/* such pixels lie in this share of the rows, */
#define LINE_WIDTH 0.1		/* side by side: the first and the last in a row, in widths */

/* Do the images show a laser's line, in a narrow part of most rows, and nothing else as bright? */
static bool
shows_line(const struct check_rows *rows, size_t plane)
{
	size_t w = rows->frame.head.w, bright = 0, lit = 0;
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < rows->frame.head.h; i++)
		for (size_t x = 0; x < w; x++) {
			double v = (double)frame_sample(&rows->frame, plane, i, x);

			least = fmin(least, v);
			most = fmax(most, v);
		}
	for (size_t i = 0; i < rows->frame.head.h; i++) {
		size_t first = w, last = 0;

		for (size_t x = 0; x < w; x++)
			if (2 * (double)frame_sample(&rows->frame, plane, i, x) > least + most) {
				first = first < x ? first : x;
				last = x;
				bright++;
			}
		lit += first < w && (double)(last - first) < LINE_WIDTH * (double)w;
	}
	return (double)bright < LINE_SHARE * (double)(w * rows->frame.head.h) &&
	    (double)lit > LINE_ROWS * (double)rows->frame.head.h;
}

static bool
no_fringes_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct unlit unlit;
	struct pixels all = { 0 };

	if (!look_at_longest(facts, sample, NO_FRINGES_PIXELS, &unlit))
		return false;
	for (size_t p = 0; p < unlit.pixels; p++)
		add(&all, &unlit.pixel[p]);
	if (!is_incoherent(&all, MIN_COHERENCE_OF_ALL) || (unlit.leaves && !is_left(&unlit, &all)))
		return false;
	if (shows_line(&sample->in, unlit.fringe->plane[0]))
		return check_fire(line, NULL, "there are no fringes, but a narrow bright line: "
		    "images of a laser's line are for steger and laser2xyz");
	return check_fire(line, NULL, "there are no fringes: phases are random, of an amplitude of "
	    "about %g grey levels: was the projector on, and the exposure long enough?",
	    round_to(sqrt(all.square / all.n), 2));
}

const struct check check_no_fringes = {
	.name = "no-fringes", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT,
	.explains = CHECK_NAMES("steps", "direction", "unlit"), .applies = unlit_applies,
	.channels = check_phase_channels, .judge = no_fringes_judge
};

/* ---- dark-image ---- */

#define DARK_PIXELS 256		/* sampled, about */
#define DARK_LEAST 32		/* of them are lit */
#define DARK_MEAN 0.2		/* of the brightest image's, at most */
#define DARK_LIT 0.5		/* of that, in its brightest image, has a pixel that counts */
#define DARK_RATIO 1.03		/* of amplitude to mean, in the mean: light has at most 1 */

/* Three images of a period, at the pixels of a grid. */
struct three {
	const struct capture_fringe *fringe;
	const struct phase_shift_fit *fit;
	const struct check_rows *rows;
	struct check_grid grid;
};

static void
find_means(const struct three *three, double mean[3])
{
	double n = 0;

	memset(mean, 0, 3 * sizeof(*mean));
	for (size_t i = 0; i < three->grid.rows; i++)
		for (size_t x = check_grid_shift(&three->grid, i); x < three->rows->frame.head.w;
		    x += three->grid.step, n++)
			for (size_t k = 0; k < 3; k++) {
				double v = (double)frame_sample(&three->rows->frame,
				    three->fringe->plane[k], i, x);

				mean[k] += isnan(v) ? 0 : v;
			}
	for (size_t k = 0; k < 3; k++)
		mean[k] /= n;
}

/* Of amplitude to mean, over the pixels that are as bright as that in some image. */
static double
find_ratio(const struct three *three, double lit)
{
	double ratio = 0, n = 0;

	for (size_t i = 0; i < three->grid.rows; i++)
		for (size_t x = check_grid_shift(&three->grid, i); x < three->rows->frame.head.w;
		    x += three->grid.step) {
			double sum = 0, brightest = 0;
			struct check_wave wave;

			for (size_t k = 0; k < 3; k++) {
				double v = (double)frame_sample(&three->rows->frame,
				    three->fringe->plane[k], i, x);

				sum += v;
				brightest = fmax(brightest, v);
			}
			if (isnan(sum) || brightest < lit)
				continue;
			wave = check_wave(three->fringe, three->fit, &three->rows->frame, i, x,
			    NULL);
			ratio += 3 * hypot(wave.cosine, wave.sine) / sum;
			n++;
		}
	return n < DARK_LEAST ? 0 : ratio / n;
}

static bool
is_three(const struct capture_fringe *fringe)
{
	return fringe->n == 3 && !fringe->two_plus_one;
}

static bool
dark_image_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	for (size_t k = 0; k < facts->captures->fringes; k++) {
		struct three three = { &facts->captures->fringe[k], &facts->fit[k], &sample->in,
			check_grid(&sample->in, DARK_PIXELS) };
		char set[CAPTURE_SET_NAME_SIZE];
		size_t least = 0, most = 0;
		double mean[3];

		if (!is_three(three.fringe))
			continue;
		find_means(&three, mean);
		for (size_t i = 1; i < 3; i++) {
			least = mean[i] < mean[least] ? i : least;
			most = mean[i] > mean[most] ? i : most;
		}
		if (mean[least] < DARK_MEAN * mean[most] &&
		    find_ratio(&three, DARK_LIT * mean[most]) > DARK_RATIO)
			return check_fire(line, capture_set_name(three.fringe, set), "image %zu is "
			    "dark: its mean is %.3g, that of image %zu %.3g; the phases are wrong",
			    least + 1, mean[least], most + 1, mean[most]);
	}
	return false;
}

static bool
dark_image_applies(const struct check_facts *facts, const struct check_heads *)
{
	bool three = false;

	for (size_t k = 0; facts->captures && k < facts->captures->fringes; k++)
		three |= is_three(&facts->captures->fringe[k]);
	return three && facts->fit && !facts->several_exposures;
}

const struct check check_dark_image = {
	.name = "dark-image", .rank = 1, .looks = CHECK_INPUT,
	.explains = CHECK_NAMES("saturation", "direction", "unlit"), .applies = dark_image_applies,
	.channels = check_fringe_channels, .judge = dark_image_judge
};
