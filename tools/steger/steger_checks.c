/*
 * What a wrong option, background or channel shows in the first image that has points: the checks
 * of steger, which print one warning.
 */
#include "steger.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define SIGMAS 12	/* difference from the background, in standard deviations of the noise */
#define MOST 0.5	/* part of the pixels that may differ: a line is a small part */
#define OTHER 1.5	/* times as strong: a line's own sides respond 0.45 times as much */
#define NOISES 4	/* threshold, in responses to noise: below 6 there are false points */
#define SCALE_MOST 8	/* of sigma, in search of one that sees the whole line */
#define BRIGHT 0.3	/* of its strongest point: fainter lines are something else */
#define WHOLE 2		/* times as many points, */
#define WHOLE_SHARE 8	/* and at least 1/8 of the image's shorter side */
#define SCRAP 30	/* points; objects cut a laser's line into longer pieces */

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

bool
plausible_role(const struct frame_head *head)
{
	const char *role = meta_get(&head->meta, "role");
	char word[32];

	if (!role || !meta_word(role, 0, word, sizeof(word)))
		return false;
	warn(NULL, "the images are of fringes (key role: %s), and not of a laser's line: "
	    "phasewrap takes these", word);
	return true;
}

int
plausible_background(const struct line_image *image, double noise)
{
	double share;

	if (isnan(noise) && line_noise(image, &noise) < 0)
		return -1;
	noise = fmax(noise, line_noise_least(image));
	share = steger_rows()->differing(image, SIGMAS * noise);
	if (share > MOST)
		warn("--background", "differs from the image by more than %.3g grey levels in %.0f "
		    "%% of the pixels, where a laser's line is few: is it the same view, exposure "
		    "and channel?", SIGMAS * noise, 100 * share);
	return 0;
}

static bool
is_within_noise(const struct plausible *with, double noise)
{
	double sigma = with->line->sigma, answer = noise * sqrt(3 / (16 * M_PI)) / pow(sigma, 3);

	if (with->automatic || !(with->line->low < NOISES * answer))
		return false;
	warn("--threshold", "%.3g is %.2g times what noise of %.3g grey levels answers, and below "
	    "6 times false points come: is it for images of other levels?", with->line->low,
	    with->line->low / answer, noise);
	return true;
}

/* *n: the number of points of the brightest lines of an image of 1/scale of the size; 0 if most of
 * the points in `seen` are elsewhere. */
static int
count_bright(struct run *run, const struct line_image *image, const struct line_options *line,
    double noise, size_t scale, const struct line_points *seen, size_t *n)
{
	struct line_finder *finder;
	struct line_points points;
	double strongest;
	int status;

	*n = 0;
	if (line_finder_new(line, &steger_rows()->line, &finder) < 0)
		return -1;
	status = line_strongest(finder, run, image, &strongest);
	if (status == 0 && BRIGHT * strongest > line_threshold(noise, line->sigma)) {
		line_finder_set_thresholds(finder, BRIGHT * strongest, BRIGHT * strongest);
		status = line_find(finder, run, image, &points);
		if (status == 0 && steger_rows()->hold_most(&points, (double)scale, line->sigma,
		    seen))
			*n = points.n;
	}
	line_finder_free(finder);
	return status;
}

/* *wider: a sigma that sees at least twice the points, *most, of the image's brightest lines; 0:
 * none does. Halves the image again and again instead of doubling sigma. */
static int
find_wider(struct run *run, const struct line_image *image, const struct plausible *with,
    double noise, const struct line_points *seen, double *wider, size_t *most)
{
	size_t shorter = image->w < image->h ? image->w : image->h, least = shorter / WHOLE_SHARE;
	size_t wanted = WHOLE * seen->n > least ? WHOLE * seen->n : least;
	struct line_options line = *with->line;
	struct line_image now = *image;
	float *half = NULL;
	int status = 0;

	*wider = 0;
	line.asymmetric = line.plain = false;
	for (size_t scale = 2; scale <= SCALE_MOST && now.w >= 2 && now.h >= 2; scale *= 2) {
		size_t w = now.w / 2, h = now.h / 2, n = 0;
		float *before = half;

		half = calloc(w * h + 1, sizeof(*half));
		if (half)
			steger_rows()->halve(&now, half);
		else
			status = fail_memory();
		free(before);
		if (status < 0)
			break;
		now = (struct line_image){ .w = w, .h = h, .dark = image->dark,
			.image = { half, w * sizeof(*half), SAMPLE_FLOAT } };
		for (int i = 0; i < 4; i++)
			line.roi[i] /= 2;
		line.min_length = (line.min_length + 1) / 2;
		if (with->line->roi[2] && !(line.roi[2] && line.roi[3]))
			break;
		status = count_bright(run, &now, &line, noise, scale, seen, &n);
		if (status < 0)
			break;
		if (scale * n < wanted)
			continue;
		*wider = (double)scale * line.sigma;
		*most = scale * n;
		wanted = *most + *most / 2;	/* a still larger one has to see many more */
	}
	free(half);
	return status;
}

/* Warns if most points are those of short lines, and more than a line through the image has. */
static bool
are_scraps(const struct line_image *image, const struct line_points *points, double sigma)
{
	size_t side = image->w > image->h ? image->w : image->h, scraps = 0, length = 0;

	for (size_t i = 0; i < points->n; i++) {
		length++;
		if (i + 1 < points->n && points->v[i + 1].line == points->v[i].line)
			continue;
		scraps += length < SCRAP ? length : 0;
		length = 0;
	}
	if (scraps <= side || 2 * scraps <= points->n)
		return false;
	warn(NULL, "%zu of %zu points are in lines of less than %d, of which there are %zu, where "
	    "a laser has few long ones: noise or patterns? --threshold, --min-length, "
	    "--background, --channel and --sigma (%g) choose", scraps, points->n, SCRAP,
	    points->lines, sigma);
	return true;
}

/* Counts the rows, or columns, that have a point. */
static size_t
count_places(const struct line_points *points, bool columns, size_t n, bool *seen)
{
	size_t places = 0;

	for (size_t i = 0; i < n; i++)
		seen[i] = false;
	for (size_t i = 0; i < points->n; i++) {
		double at = (double)(columns ? points->v[i].u : points->v[i].v) + 0.5;
		size_t place = at > 0 ? (size_t)at : 0;

		place = place < n ? place : n - 1;
		places += !seen[place];
		seen[place] = true;
	}
	return places;
}

/* Warns if the line runs along rows: one point a row drops most of it. The same for columns. */
static int
check_direction(const struct line_image *image, const struct line_points *points,
    const struct plausible *with)
{
	bool *seen = calloc(image->w > image->h ? image->w : image->h, sizeof(*seen));
	size_t columns, rows;

	if (!seen)
		return fail_memory();
	columns = count_places(points, true, image->w, seen);
	rows = count_places(points, false, image->h, seen);
	free(seen);
	if (with->per_row && columns > 2 * rows)
		warn("--per-row", "the line is in %zu rows and %zu columns: it runs along the "
		    "rows, each of which keeps one point; --per-column?", rows, columns);
	if (with->per_column && rows > 2 * columns)
		warn("--per-column", "the line is in %zu columns and %zu rows: it runs along "
		    "the columns, each of which keeps one point; --per-row?", columns, rows);
	return 0;
}

/* Warns if lines of the other sign respond much more. */
static int
check_sign(struct run *run, struct line_finder *finder, const struct line_image *image,
    const struct line_points *points, bool channel)
{
	double strongest = 0, other;

	for (size_t i = 0; i < points->n; i++)
		strongest = fmax(strongest, (double)points->v[i].response);
	if (plausible_other(run, finder, image, strongest, &other) < 0)
		return -1;
	if (other > 0)
		warn(NULL, "%s lines answer up to %.3g, those that were found up to %.3g: %s%s%s?",
		    image->dark ? "bright" : "dark", other, strongest, image->dark ?
		    "is --dark right" : "is the line dark (--dark)",
		    image->background.v ? ", or --background exchanged with the image" : "",
		    channel ? ", or is --channel that of the laser's colour" : "");
	return 0;
}

int
plausible_points(struct run *run, struct line_finder *finder, const struct line_image *image,
    const struct line_points *points, const struct plausible *with)
{
	double noise, wider;
	size_t more = 0;

	if ((with->per_row || with->per_column) && check_direction(image, points, with) < 0)
		return -1;
	if (line_noise(image, &noise) < 0)
		return -1;
	if (is_within_noise(with, noise))
		return 0;
	if (find_wider(run, image, with, fmax(noise, line_noise_least(image)), points, &wider,
	    &more) < 0)
		return -1;
	if (wider > 0)
		warn(NULL, "sigma %g sees %zu points, and %g about %zu of a bright line: is it "
		    "wider, or saturated? try --sigma %g", with->line->sigma, points->n, wider,
		    more, wider);
	if (wider > 0 || are_scraps(image, points, with->line->sigma))
		return 0;
	return check_sign(run, finder, image, points, with->channel);
}
