/*
 * Checks of a laser's lines (steger): do the points look like those of a laser, or does a wrong
 * option, background or channel show in them? The stage counts and measures (struct laser_line);
 * all but pairs and the images' role are judged in the first image that has points.
 */
#include "checks/checks.h"

#include <math.h>

#include "frame/meta.h"

#define DIFFERING_SHARE 0.5	/* of the pixels: a line is a small part */
#define MIN_NOISES 4		/* threshold, in responses to noise: below 6 some are false */

/* A row of the checks that look at the first image with points. */
#define LINE_CHECK(what, text, its_rank, ...) \
	const struct check check_line_##what = { \
		.name = text, .rank = its_rank, .looks = CHECK_RESULTS | CHECK_FIRST, \
		.explains = CHECK_NAMES(__VA_ARGS__), .judge = what##_judge \
	}

static bool
images_judge(const struct check_facts *, const struct check_sample *sample, struct check_line *line)
{
	const char *role = meta_get(&sample->in.frame.head.meta, "role");
	char word[32];

	return role && meta_word(role, 0, word, sizeof(word)) && check_fire(line, NULL, "the "
	    "images are of fringes (key role: %s), and not of a laser's line: phasewrap takes "
	    "these", word);
}

const struct check check_line_images = {
	.name = "line-images", .rank = 1, .looks = CHECK_INPUT | CHECK_FIRST, .judge = images_judge
};

static bool
background_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	const struct laser_line *of = facts->line;

	return of->differing_share > DIFFERING_SHARE && check_fire(line, "--background", "differs "
	    "from the image by more than %.3g grey levels in %.0f %% of the pixels, where a "
	    "laser's line is few: is it the same view, exposure and channel?",
	    of->differing_levels, 100 * of->differing_share);
}

LINE_CHECK(background, "line-background", 2, NULL);

static bool
threshold_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	const struct laser_line *of = facts->line;
	double answer = of->noise * sqrt(3 / (16 * M_PI)) / pow(of->sigma_px, 3);

	line->undecided = of->points == 0;
	return !line->undecided && of->threshold_given && of->threshold < MIN_NOISES * answer &&
	    check_fire(line, "--threshold", "%.3g is %.2g times what noise of %.3g grey levels "
	    "answers, and below 6 times false points come: is it for images of other levels?",
	    of->threshold, of->threshold / answer, of->noise);
}

LINE_CHECK(threshold, "line-threshold", 1, "line-sigma", "line-pieces", "line-sign");

static bool
sigma_judge(const struct check_facts *facts, const struct check_sample *, struct check_line *line)
{
	const struct laser_line *of = facts->line;

	if (of->pairs_px > 0)
		return check_fire(line, NULL, "points come in pairs %.1f px apart, as at the edges "
		    "of a line that is too wide for sigma %g: try --sigma %.1f", of->pairs_px,
		    of->sigma_px, of->pairs_sigma_px);
	return of->wider_sigma_px > 0 && check_fire(line, NULL, "sigma %g sees %zu points, and %g "
	    "about %zu of a bright line: is it wider, or saturated? try --sigma %g", of->sigma_px,
	    of->points, of->wider_sigma_px, of->wider_points, of->wider_sigma_px);
}

const struct check check_line_sigma = {
	.name = "line-sigma", .rank = 2, .looks = CHECK_RESULTS,
	.explains = CHECK_NAMES("line-direction", "line-pieces", "line-sign"), .judge = sigma_judge
};

/* Are most points those of short lines, and more than a line through the image has? */
static bool
pieces_judge(const struct check_facts *facts, const struct check_sample *, struct check_line *line)
{
	const struct laser_line *of = facts->line;

	line->undecided = of->points == 0;
	return of->short_points > of->side_px && 2 * of->short_points > of->points &&
	    check_fire(line, NULL, "%zu of %zu points are in lines of less than %d, of which there "
	    "are %zu, where a laser has few long ones: noise or patterns? --threshold, "
	    "--min-length, --background, --channel and --sigma (%g) choose", of->short_points,
	    of->points, LASER_SHORT_POINTS, of->lines, of->sigma_px);
}

LINE_CHECK(pieces, "line-pieces", 2, "line-sign");

/* One point a row drops most of a line that runs along rows. The same of columns. */
static bool
direction_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	const struct laser_line *of = facts->line;

	line->undecided = of->points == 0;
	if (of->per_row && of->columns > 2 * of->rows)
		return check_fire(line, "--per-row", "the line is in %zu rows and %zu columns: it "
		    "runs along the rows, each of which keeps one point; --per-column?", of->rows,
		    of->columns);
	return of->per_column && of->rows > 2 * of->columns && check_fire(line, "--per-column",
	    "the line is in %zu columns and %zu rows: it runs along the columns, each of which "
	    "keeps one point; --per-row?", of->columns, of->rows);
}

LINE_CHECK(direction, "line-direction", 1, NULL);

static bool
sign_judge(const struct check_facts *facts, const struct check_sample *, struct check_line *line)
{
	const struct laser_line *of = facts->line;

	line->undecided = of->points == 0;
	return of->other_strongest > 0 && check_fire(line, NULL, "%s lines answer up to %.3g, "
	    "those that were found up to %.3g: %s%s%s?", of->dark ? "bright" : "dark",
	    of->other_strongest, of->strongest, of->dark ? "is --dark right" :
	    "is the line dark (--dark)", of->background_given ? ", or --background exchanged with "
	    "the image" : "", of->channel_given ? ", or is --channel that of the laser's colour" :
	    "");
}

LINE_CHECK(sign, "line-sign", 1, NULL);
