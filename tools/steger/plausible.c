#include "plausible.h"

#include <math.h>
#include <stdlib.h>

#include "options.h"
#include "steger_loops.h"

#define PIXELS 20000		/* looked at, about */
#define LEAST 100
#define SIGMAS 12		/* of a line that is found by default: lines are a small part */
#define MOST 0.5		/* of the pixels */
#define OTHER 1.5		/* times as strong: a line's own sides answer 0.45 times itself */
#define NOISES 4		/* times what noise answers: below 6 false points come */
#define SCALE_MOST 8		/* of sigma, in search of one that sees the whole line */
#define BRIGHT 0.3		/* of its strongest point: what is fainter is something else */
#define WHOLE 2			/* times as many points */
#define WHOLE_SHARE 8		/* and at least 1/8 of the image's shorter side */
#define ACROSS 3		/* sigma of a line's middle are its points */
#define PLACES 400		/* of points that were seen, about, are looked for in wide lines */
#define SCRAP 30		/* points; objects cut a laser's line into longer pieces */

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
	share = differing(image, SIGMAS * noise);
	if (share > MOST)
		warn("--background", "differs from the image by more than %.3g grey levels in %.0f "
		    "%% of the pixels, where a laser's line is few: is it the same view, exposure "
		    "and channel?", SIGMAS * noise, 100 * share);
	return 0;
}

/* ---- points ---- */

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

/* An image of half the size, its pixels means of four; NaN where one of them is. */
struct half {
	size_t w, h;
	float *v;
};

static double
level(const struct line_image *image, size_t y, size_t x)
{
	const struct line_plane *a = &image->image;

	return image->background.v ? difference(image, y, x) :
	    (double)frame_sample_in(a->type, (const unsigned char *)a->v + y * a->stride, x);
}

static int
halve(const struct line_image *image, struct half *half)
{
	*half = (struct half){ image->w / 2, image->h / 2, NULL };
	half->v = calloc(half->w * half->h + 1, sizeof(*half->v));
	if (!half->v)
		return fail_memory();
	for (size_t y = 0; y < half->h; y++)
		for (size_t x = 0; x < half->w; x++)
			half->v[y * half->w + x] = (float)((level(image, 2 * y, 2 * x) +
			    level(image, 2 * y, 2 * x + 1) + level(image, 2 * y + 1, 2 * x) +
			    level(image, 2 * y + 1, 2 * x + 1)) / 4);
	return 0;
}

/* Is a point of an image within a line of an image of 1/scale of the size? */
static bool
is_within(const struct line_point *point, const struct line_points *wide, double scale,
    double sigma)
{
	double reach = ACROSS * sigma;
	double u = ((double)point->u + 0.5) / scale - 0.5;
	double v = ((double)point->v + 0.5) / scale - 0.5;

	for (size_t k = 0; k < wide->n; k++) {
		double du = (double)wide->v[k].u - u, dv = (double)wide->v[k].v - v;

		if (du * du + dv * dv <= reach * reach)
			return true;
	}
	return false;
}

/* Are most of the points that were seen within lines of an image of 1/scale of the size? Something
 * else that is bright and wide has none of them. */
static bool
hold_most(const struct line_points *wide, double scale, double sigma,
    const struct line_points *seen)
{
	size_t step = seen->n / PLACES + 1, within = 0, n = 0;

	for (size_t i = 0; i < seen->n; i += step, n++)
		within += is_within(&seen->v[i], wide, scale, sigma);
	return 2 * within > n;
}

/* The points of the brightest lines of an image of 1/scale of the size; 0 where most of those that
 * were seen are elsewhere. */
static int
count_bright(struct run *run, const struct line_image *image, const struct line_options *line,
    double noise, size_t scale, const struct line_points *seen, size_t *n)
{
	struct line_finder *finder;
	struct line_points points;
	double strongest;
	int status;

	*n = 0;
	if (line_finder_new(line, &steger_loops, &finder) < 0)
		return -1;
	status = line_strongest(finder, run, image, &strongest);
	if (status == 0 && BRIGHT * strongest > line_threshold(noise, line->sigma)) {
		line_finder_set_thresholds(finder, BRIGHT * strongest, BRIGHT * strongest);
		status = line_find(finder, run, image, &points);
		if (status == 0 && hold_most(&points, (double)scale, line->sigma, seen))
			*n = points.n;
	}
	line_finder_free(finder);
	return status;
}

/* A sigma that sees twice the points and more of the image's brightest lines, which *most says; 0:
 * none does. The image is halved, again and again, in place of doubling sigma. */
static int
find_wider(struct run *run, const struct line_image *image, const struct plausible *with,
    double noise, const struct line_points *seen, double *wider, size_t *most)
{
	size_t shorter = image->w < image->h ? image->w : image->h, least = shorter / WHOLE_SHARE;
	size_t wanted = WHOLE * seen->n > least ? WHOLE * seen->n : least;
	struct line_options line = *with->line;
	struct line_image now = *image;
	struct half half = { 0 };
	int status = 0;

	*wider = 0;
	line.asymmetric = line.plain = false;
	for (size_t scale = 2; scale <= SCALE_MOST && now.w >= 2 && now.h >= 2; scale *= 2) {
		float *before = half.v;
		size_t n = 0;

		status = halve(&now, &half);
		free(before);
		if (status < 0)
			break;
		now = (struct line_image){ .w = half.w, .h = half.h, .dark = image->dark,
			.image = { half.v, half.w * sizeof(*half.v), SAMPLE_FLOAT } };
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
		wanted = *most + *most / 2;	/* a larger one yet has to see much more */
	}
	free(half.v);
	return status;
}

/* Most of the points are those of short lines, and more than a line through the image has. */
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

/* Rows, or columns, that have a point. */
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

/* One point a row drops most of a line that runs along rows. */
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

/* Lines of the other sign. */
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
