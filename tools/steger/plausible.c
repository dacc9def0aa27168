#include "plausible.h"

#include <math.h>

#include "options.h"

#define PIXELS 20000		/* looked at, about */
#define LEAST 100
#define SIGMAS 12		/* of a line that is found by default: lines are a small part */
#define MOST 0.5		/* of the pixels */
#define OTHER 1.5		/* times as strong: a line's own sides answer 0.45 times itself */

static double
difference(const struct line_image *image, size_t y, size_t x)
{
	const struct line_plane *a = &image->image, *b = &image->background;

	return (double)frame_sample_in(a->type, (const unsigned char *)a->v + y * a->stride, x) -
	    (double)frame_sample_in(b->type, (const unsigned char *)b->v + y * b->stride, x);
}

/* The share of pixels that differ from the background by more than `least`. */
static double
differing(const struct line_image *image, double least)
{
	size_t step = (size_t)sqrt((double)image->w * (double)image->h / PIXELS) + 1, n = 0,
	    differ = 0;

	for (size_t y = 0; y < image->h; y += step)
		for (size_t x = 0; x < image->w; x += step) {
			double d = fabs(difference(image, y, x));

			n += isfinite(d);
			differ += isfinite(d) && d > least;
		}
	return n >= LEAST ? (double)differ / (double)n : 0;
}

int
plausible_other(struct run *run, struct line_finder *finder, const struct line_image *image,
    double strongest, double *other)
{
	struct line_image turned = *image;

	turned.dark = !image->dark;
	if (line_strongest(finder, run, &turned, other) < 0)
		return -1;
	if (!(*other > OTHER * strongest))
		*other = 0;
	return 0;
}

static int
check_background(const struct line_image *image, double noise)
{
	double share;

	if (isnan(noise) && line_noise(image, &noise) < 0)
		return -1;
	noise = fmax(noise, line_noise_least(image));
	share = differing(image, SIGMAS * noise);
	if (share > MOST)
		warn("--background", "differs from the image by more than %.3g grey levels in %.0f "
		    "%% of the pixels, where a laser's line is few: is it the same view, exposure "
		    "and channel?", SIGMAS * noise, 100 * share);
	return 0;
}

int
plausible_image(struct run *run, struct line_finder *finder, const struct line_image *image,
    const struct line_points *points, double noise)
{
	double strongest = 0, other;

	if (image->background.v && check_background(image, noise) < 0)
		return -1;
	for (size_t i = 0; i < points->n; i++)
		strongest = fmax(strongest, (double)points->v[i].response);
	if (plausible_other(run, finder, image, strongest, &other) < 0)
		return -1;
	if (points->n && other > 0)
		warn(NULL, "%s lines answer up to %.3g, those that were found up to %.3g: %s%s",
		    image->dark ? "bright" : "dark", other, strongest, image->dark ?
		    "is --dark right" : "is the line dark (--dark)",
		    image->background.v ? ", or --background exchanged with the image?" : "?");
	return 0;
}
