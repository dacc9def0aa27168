#include "options.h"

#include <string.h>

#include "sharp.h"

#define AT(field) offsetof(struct parameters, field)
#define SIGMA_STANDARD 2.0

const struct opt steger_option_table[] = {
	{ 0, "sigma", "PX", OPT_NUMBER, AT(sigma), NULL, 0, 64, "px",
	    "standard deviation of the smoothing: that of the line; 2 if not given", NULL },
	{ 0, "width", "PX", OPT_NUMBER, AT(width), NULL, 0, 220, "px",
	    "the full width of a line with sharp edges, for --sigma", NULL },
	{ 0, "threshold", "T", OPT_TEXT, AT(threshold), "auto", 0, 0, "grey levels per px^2",
	    "the least response of a line; auto: 9 times what noise gives", NULL },
	{ 0, "low", "T", OPT_NUMBER, AT(low), NULL, 0, 1e9, "grey levels per px^2",
	    "the least response of a point of a line; as --threshold if not given", NULL },
	{ 0, "background", "FILE", OPT_FRAME, AT(background), NULL, 0, 0, NULL,
	    "the image without laser, or one for each image; it is subtracted", NULL },
	{ 0, "dark", NULL, OPT_FLAG, AT(dark), NULL, 0, 0, NULL,
	    "the line is darker than what is beside it", NULL },
	{ 0, "roi", "X,Y,W,H", OPT_NUMBERS, AT(roi), NULL, 0, 1e9, "px",
	    "only points of these pixels", NULL },
	{ 0, "per-row", NULL, OPT_FLAG, AT(per_row), NULL, 0, 0, NULL,
	    "the strongest point of each row, as an image of one column", NULL },
	{ 0, "per-column", NULL, OPT_FLAG, AT(per_column), NULL, 0, 0, NULL,
	    "the strongest point of each column, as an image of one row", NULL },
	{ 0, "min-length", "N", OPT_INTEGER, AT(min_length), "5", 1, 1e9, NULL,
	    "lines of fewer points go", NULL },
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	    "red, green or blue of an image in colour, or the name of a channel", NULL },
	{ 0, "asymmetric", NULL, OPT_FLAG, AT(asymmetric), NULL, 0, 0, NULL,
	    "correct for sides of different brightness", NULL },
	{ 0, "sharp", NULL, OPT_FLAG, AT(sharp), NULL, 0, 0, NULL,
	    "correct for the aliasing of edges that are as sharp as pixels, of a line of --width",
	    NULL },
	{ 0, "plain", NULL, OPT_FLAG, AT(plain), NULL, 0, 0, NULL,
	    "the point of Liu 2016, eq 12, alone; for comparison", NULL },
	{ 0, "no-skip", NULL, OPT_FLAG, AT(no_skip), NULL, 0, 0, NULL,
	    "filter every part of the image: the same result, slower", NULL },
	{ 0 },
};

static int
choose_sigma(const struct parameters *p, double *sigma)
{
	if (!isnan(p->sigma) && !isnan(p->width))
		return fail_usage("--width", "asks for a sigma, and --sigma gives another one");
	*sigma = !isnan(p->sigma) ? p->sigma :
	    !isnan(p->width) ? p->width / 2 / sqrt(3) : SIGMA_STANDARD;
	if (*sigma >= DERIVATIVES_SIGMA_LEAST)
		return 0;
	if (!isnan(p->width))
		return fail_usage("--width", "%g px asks for sigma %.2g, below %g: pixels cannot "
		    "carry its derivatives; take --sigma %g", p->width, *sigma,
		    DERIVATIVES_SIGMA_LEAST, DERIVATIVES_SIGMA_LEAST);
	return fail_usage("--sigma", "%g px is below %g: pixels cannot carry its derivatives",
	    p->sigma, DERIVATIVES_SIGMA_LEAST);
}

static int
choose_thresholds(const struct parameters *p, struct line_options *to, bool *automatic)
{
	*automatic = !strcmp(p->threshold, "auto");
	if (*automatic) {
		to->low = isnan(p->low) ? 0 : p->low;
		return 0;
	}
	if (number_parse(p->threshold, &to->high) < 0 || !isfinite(to->high))
		return fail_usage("--threshold", "%s is neither a number nor auto", p->threshold);
	if (!(to->high > 0))
		return fail_usage("--threshold", "%s is not above 0", p->threshold);
	to->low = isnan(p->low) ? to->high : p->low;
	if (to->low > to->high)
		return fail_usage("--low", "%g is above --threshold %g", to->low, to->high);
	return 0;
}

static int
choose_roi(const struct parameters *p, struct line_options *to)
{
	if (!p->roi.n)
		return 0;
	if (p->roi.n != 4)
		return fail_usage("--roi", "has %zu numbers, x,y,w,h are 4", p->roi.n);
	for (size_t i = 0; i < 4; i++) {
		if (p->roi.v[i] != floor(p->roi.v[i]))
			return fail_usage("--roi", "%g is no whole number of pixels", p->roi.v[i]);
		to->roi[i] = (size_t)p->roi.v[i];
	}
	if (!to->roi[2] || !to->roi[3])
		return fail_usage("--roi", "is empty");
	return 0;
}

/* run->colour from the word; every other word is the name of a channel. */
static void
choose_colour(struct run *run, const char *channel)
{
	static const char *const names[] = { "red", "green", "blue" }, *const letters = "rgb";

	run->colour = channel ? COLOUR_KEEP : COLOUR_GREY;
	for (size_t i = 0; channel && i < 3; i++) {
		if (!strcmp(channel, names[i]) || (channel[0] == letters[i] && !channel[1]))
			run->colour = COLOUR_RED + (int)i;
	}
}

int
steger_options(struct run *run, struct line_options *to, bool *automatic)
{
	const struct parameters *p = run->parameters;

	if (choose_sigma(p, &to->sigma) < 0 || choose_thresholds(p, to, automatic) < 0 ||
	    choose_roi(p, to) < 0)
		return -1;
	if (p->per_row && p->per_column)
		return fail_usage("--per-column", "excludes --per-row");
	if (p->plain && p->asymmetric)
		return fail_usage("--asymmetric", "excludes --plain");
	if (p->sharp && (p->plain || p->asymmetric))
		return fail_usage("--sharp", "excludes --%s", p->plain ? "plain" : "asymmetric");
	if (p->sharp && isnan(p->width))
		return fail_usage("--sharp", "needs the line's --width");
	if (p->sharp && p->width > SHARP_WIDTH_MOST)
		return fail_usage("--sharp", "a line of %g px needs no such correction: %d px at "
		    "most", p->width, SHARP_WIDTH_MOST);
	to->min_length = (size_t)p->min_length;
	to->plain = p->plain;
	to->asymmetric = p->asymmetric;
	to->all_tiles = p->no_skip;
	choose_colour(run, p->channel);
	return 0;
}

int
steger_channel(const struct run *run, const struct frame_head *in, const char *name, size_t *c)
{
	char hint[300];

	if (run->colour >= COLOUR_RED && run->colour <= COLOUR_BLUE)
		name = NULL;
	if (name)
		return run_channel(run, in, name, c);
	*c = 0;
	/* second inputs stand behind the image's own channels and have a dot in their names */
	if (in->c > 1 && !strchr(in->channel[1], '.'))
		return fail(NULL, "the input has the channels %s: name one with --channel",
		    head_channels_hint(in, hint));
	return 0;
}

int
steger_check_roi(const struct line_options *options, const struct frame_head *in)
{
	const size_t *roi = options->roi;

	if (roi[2] && (roi[0] >= in->w || roi[1] >= in->h || roi[2] > in->w - roi[0] ||
	    roi[3] > in->h - roi[1]))
		return fail("--roi", "%zu,%zu,%zu,%zu is not within the image of %zux%zu", roi[0],
		    roi[1], roi[2], roi[3], in->w, in->h);
	return 0;
}

int
steger_set_keys(struct meta *meta, const struct line_options *options,
    const struct line_image *image, double noise)
{
	return meta_set_numbers(meta, "image_size_px",
	    (double[2]){ (double)image->w, (double)image->h }, 2) < 0 ||
	    meta_set_number(meta, "line_sigma_px", options->sigma) < 0 ||
	    meta_setf(meta, "line_threshold", "%.6g", options->high) < 0 ||
	    (options->low < options->high &&
	    meta_setf(meta, "line_low", "%.6g", options->low) < 0) ||
	    (!isnan(noise) && meta_setf(meta, "line_noise", "%.6g", noise) < 0) ? -1 : 0;
}

/* The greatest common divisor of `common` and a plane's samples; common is 0 for none yet. */
static size_t
common_divisor(const struct line_image *image, const struct line_plane *plane, size_t common)
{
	for (size_t y = 0; y < image->h && common != 1; y++) {
		const unsigned char *row = (const unsigned char *)plane->v + y * plane->stride;

		for (size_t x = 0; x < image->w && common != 1; x++) {
			size_t v = (size_t)frame_sample_in(plane->type, row, x);

			while (v) {
				size_t rest = common % v;

				common = v;
				v = rest;
			}
		}
	}
	return common;
}

/* What a level of the camera is in samples of 16 bits: those of 8 to 15 bits come shifted up, or
 * times 257. */
static double
level_step(const struct line_image *image)
{
	size_t common = 0, shift = 256;

	if (image->image.type != SAMPLE_USHORT || (image->background.v &&
	    image->background.type != SAMPLE_USHORT))
		return 1;
	common = common_divisor(image, &image->image, common);
	if (image->background.v)
		common = common_divisor(image, &image->background, common);
	if (common % 257 == 0)
		return common ? 257 : 1;
	while (common % shift)
		shift /= 2;
	return (double)shift;
}

double
line_noise_least(const struct line_image *image)
{
	double least = HUGE_VAL, largest = -HUGE_VAL, whole;

	whole = level_step(image) / sqrt(12);
	if (image->image.type != SAMPLE_FLOAT)
		return image->background.v ? whole * M_SQRT2 : whole;
	for (size_t y = 0; y < image->h; y++) {
		const void *start = (const unsigned char *)image->image.v + y * image->image.stride;
		const float *row = start;

		for (size_t x = 0; x < image->w; x++) {
			if (!isfinite(row[x]))
				continue;
			least = fmin(least, (double)row[x]);
			largest = fmax(largest, (double)row[x]);
		}
	}
	return largest > least ? (largest - least) * 1e-4 : 1e-30;
}

double
steger_sigma_for_edges(double distance, double sigma)
{
	/* they answer some two sigma within the bar's ends; half its width over the root of 3 is
	 * the least that sees one line */
	return (distance / 2 + 2 * sigma) / sqrt(3);
}
