/*
 * --shift auto: the shifts of each measurement from its images, before its rows are computed. Some
 * 65000 pixels with fringes that are unsaturated in all images give the sums of products of the
 * images; these give the shifts. Of three and four images, whose shifts the sums leave open, the
 * ripple of the phase along lines improves them. The search then says how uncertain they are.
 * survey_rows.c has the loops over pixels.
 */
#include "phasewrap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"
#include "fringe/phase_steps.h"
#include "run/run.h"

#define SHIFT_FREE_LEAST 5	/* images, from which on nothing is assumed of the pixels */
#define SETTLED_RAD 1e-6	/* largest change of a shift in the last round */

/* ---- the pixels, and the sums over them ---- */

#define PIXELS 65536		/* looked at, about */
#define SOFT 0.04f		/* of the least square */

static void
shift_look_free(struct shift_look *look)
{
	free(look->sample);
	free(look->square);
	free(look->scale);
	free(look->taper);
	free(look->share);
	for (size_t b = 0; b < SHIFT_BLOCKS; b++)
		free(look->block[b].product);
}

/* Chooses the grid, and allocates memory for its pixels. */
static int
start_look(struct shift_look *look)
{
	size_t n = look->fringe->n;
	bool good;

	look->grid = coarse_grid(look->in->head.w, look->in->head.h, PIXELS);
	look->sample = calloc(coarse_grid_pixels(&look->grid), n * sizeof(*look->sample));
	look->square = calloc(coarse_grid_pixels(&look->grid), sizeof(*look->square));
	look->share = calloc(look->grid.columns, SHIFT_BLOCKS_ACROSS * sizeof(*look->share));
	good = look->sample && look->square && look->share;
	if (n < SHIFT_FREE_LEAST) {
		look->taper = calloc(coarse_grid_pixels(&look->grid), sizeof(*look->taper));
		good = good && look->taper;
	}
	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		look->block[b].product = calloc(n * n, sizeof(*look->block[b].product));
		good = good && look->block[b].product;
	}
	return good ? 0 : fail_memory();
}

static void
clear_blocks(struct shift_look *look)
{
	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		struct shift_sums *sums = &look->block[b];

		sums->weight = 0;
		memset(sums->image, 0, sizeof(sums->image));
		memset(sums->product, 0,
		    look->fringe->n * look->fringe->n * sizeof(*sums->product));
	}
}

/* The sums of all blocks. */
static void
sum_blocks(struct shift_look *look, struct run *run, bool overlap)
{
	look->overlap = overlap;
	survey_rows()->look_share(look);
	clear_blocks(look);
	run_for(run, SHIFT_BLOCKS, survey_rows()->look_block, look);
}

/* Sums anew, each pixel over the amplitude that these shifts give; overlap: in blocks that pass
 * into each other. -1 after fail(). */
static int
shift_look_weigh(struct shift_look *look, struct run *run, const struct phase_shift_fit *fit,
    float least_amplitude, bool overlap)
{
	struct shift_weighing weighing = { look, fit, look->least * SOFT };
	float least = look->least;

	if (!look->scale)
		look->scale = calloc(coarse_grid_pixels(&look->grid), sizeof(*look->scale));
	if (!look->scale)
		return fail_memory();
	run_for(run, look->grid.rows, survey_rows()->look_weigh, &weighing);
	survey_rows()->look_taper(look, least_amplitude, true);
	look->least = least_amplitude * least_amplitude / 2;
	sum_blocks(look, run, overlap);
	look->least = least;
	return 0;
}

/* Reads the pixels and sums them; `in`, `fringe` and `max_value` are set. -1 after fail();
 * shift_look_free() also then. */
static int
shift_look_begin(struct shift_look *look, struct run *run, float least_amplitude)
{
	if (start_look(look) < 0)
		return -1;
	run_for(run, look->grid.rows, survey_rows()->look_row, look);
	look->least = survey_rows()->look_least(look, least_amplitude);
	if (look->taper)
		survey_rows()->look_taper(look, least_amplitude, false);
	sum_blocks(look, run, false);
	return 0;
}

/*
 * ---- shifts from the sums ----
 *
 * Unknown phase shifts from the images alone, by least squares over pixels and images in turn (Wang
 * and Han 2004, "Advanced iterative algorithm for phase extraction of randomly phase-shifted
 * interferograms"). All that is needed of the images are the sums of their products over the pixels
 * (their Gram matrix), so that a round works on n x n numbers only:
 *
 *	images = M X,  M_i = (1, cos d_i, -sin d_i),  X = (A, B cos phi, B sin phi) of each pixel
 *	given d: X by least squares of each pixel;  given X: each image on X by least squares, whose
 *	coefficients of the last two are the cosine and the sine of its shift
 *
 * A and B may differ from pixel to pixel, and a brightness that is added to a whole image does not
 * matter. That determines n >= 5 shifts: n points (cos d, sin d), known up to a linear map of the
 * plane, lie on one ellipse, which five points fix. Three and four images fit any shifts. Theirs
 * follow if the phases are spread evenly and the amplitude does not depend on them: then the mean
 * square of the difference of two images is in proportion to 1 - cos(d_i - d_j), so that the images
 * are points of a plane, on a circle about whose centre the shifts are angles. The rounds of five
 * and more images begin on the same circle, so that wrong expected shifts do no harm. No images
 * tell the sense in which the phase runs, nor its origin: the expected shifts choose the sense; the
 * first image keeps its shift.
 *
 * "Five" shifts are those over which cos 2d, sin 2d, cos d, sin d and 1 are independent: then no
 * other conic but the circle goes through their points. Others are found as three and four are.
 */

struct shift_found {
	double shift_rad[SHIFT_IMAGES_MOST];
	double error_rad;	/* standard error of the worst one; NaN: the parts are too few */
	double total_rad;	/* with what the images cannot show */
	double settled_rad;	/* largest change in the last round */
	size_t rounds;
	bool assumed;		/* too few different shifts: phases are taken to be spread evenly */
	bool checked;		/* by the phase along lines; set by the caller */
	double sense;		/* how much better the sense fits the expected shifts than the other
				 * one, as a ratio, 1 and more */
};

#define N SHIFT_IMAGES_MOST
#define ROUNDS 1000
#define ROUNDS_OF_PART 100	/* which begin with shifts that are nearly right */
/* A's own share, which an image may have more or less of, is left at 1 where A hardly differs from
 * pixel to pixel: in that part of the square of the amplitude. */
#define EVEN_SHARE 1e-3
#define INDEPENDENT 0.03	/* least eigenvalue of five columns, of which equal steps have 1 */
#define ALIKE 0.01		/* squared distance of two images to the largest one */
#define NOISE_RATIO 4.0		/* of the plane's second mean square to the others */

/* The products about the images' means over all pixels, but those of block `without` (or of all:
 * SHIFT_BLOCKS). False: no pixels are left. */
static bool
sum_gram(const struct shift_sums *block, size_t without, size_t n, double *gram)
{
	double weight = 0, mean[N] = { 0 };

	memset(gram, 0, n * n * sizeof(*gram));
	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		if (b == without)
			continue;
		weight += block[b].weight;
		for (size_t i = 0; i < n; i++)
			mean[i] += block[b].image[i];
		for (size_t i = 0; i < n * n; i++)
			gram[i] += block[b].product[i];
	}
	if (!(weight > 0))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			gram[i * n + j] = gram[i * n + j] / weight -
			    mean[i] / weight * (mean[j] / weight);
	return true;
}

/* The products without the mean of all images in each pixel. */
static void
centre(const double *gram, size_t n, double *out)
{
	double row[N], all = 0;

	for (size_t i = 0; i < n; i++) {
		row[i] = 0;
		for (size_t j = 0; j < n; j++)
			row[i] += gram[i * n + j] / (double)n;
		all += row[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			out[i * n + j] = gram[i * n + j] - row[i] - row[j] + all;
}

/* The images as points of a plane, whose distances are the root mean squares of their differences:
 * an orthonormal basis of the plane, times a root of the products within it. */
static bool
place_images(const double *gram, size_t n, double point[2][N])
{
	struct step_plane plane = step_plane_find(gram, n);
	double inner[2][2], root[3], rest;

	for (size_t k = 0; k < 2; k++) {
		double length = sqrt(step_fit_dot(plane.axis[k], plane.axis[k], n));

		if (!(length > 0) || !isfinite(length))
			return false;
		for (size_t i = 0; i < n; i++)
			plane.axis[k][i] /= length;
	}
	for (size_t a = 0; a < 2; a++)
		for (size_t b = 0; b < 2; b++) {
			inner[a][b] = 0;
			for (size_t i = 0; i < n; i++)
				inner[a][b] += plane.axis[a][i] *
				    step_fit_dot(gram + i * n, plane.axis[b], n);
		}
	rest = 0;
	for (size_t i = 0; i < n; i++)
		rest += gram[i * n + i];
	rest -= inner[0][0] + inner[1][1];
	root[0] = sqrt(inner[0][0]);
	root[1] = inner[0][1] / root[0];
	root[2] = sqrt(inner[1][1] - root[1] * root[1]);
	if (!(root[0] > 0) || !(root[2] > 1e-6 * root[0]) ||
	    (n > 3 && root[2] * root[2] * (double)(n - 3) < NOISE_RATIO * rest))
		return false;
	for (size_t i = 0; i < n; i++) {
		point[0][i] = plane.axis[0][i] * root[0] + plane.axis[1][i] * root[1];
		point[1][i] = plane.axis[1][i] * root[2];
	}
	return true;
}

/* The angles of n points about the centre c of the circle that fits best: least squares of
 * |p|^2 - 2 c p - k. */
static bool
fit_circle(double point[2][N], size_t n, double *angle)
{
	double normal[3][3] = { { 0 } }, inverse[3][3], right[3] = { 0 }, c[2] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double row[3] = { 2 * point[0][i], 2 * point[1][i], 1 };
		double square = (row[0] * row[0] + row[1] * row[1]) / 4;

		for (size_t a = 0; a < 3; a++) {
			right[a] += row[a] * square;
			for (size_t b = 0; b < 3; b++)
				normal[a][b] += row[a] * row[b];
		}
	}
	if (!(phase_shift_invert(normal, inverse) > 0))
		return false;
	for (size_t a = 0; a < 2; a++)
		for (size_t b = 0; b < 3; b++)
			c[a] += inverse[a][b] * right[b];
	for (size_t i = 0; i < n; i++)
		angle[i] = atan2(point[1][i] - c[1], point[0][i] - c[0]);
	return isfinite(angle[0]);
}

/* Of few images no two may show the same, or noise would determine their shift. */
static bool
are_apart(double point[2][N], size_t n)
{
	double least = INFINITY, most = 0;

	for (size_t j = 1; j < n; j++)
		for (size_t i = 0; i < j; i++) {
			double x = point[0][j] - point[0][i], y = point[1][j] - point[1][i];

			least = fmin(least, x * x + y * y);
			most = fmax(most, x * x + y * y);
		}
	return n >= SHIFT_FREE_LEAST || least > ALIKE * most;
}

/* The shifts by the circle. */
static bool
begin_on_circle(const double *gram, size_t n, double *shift_rad)
{
	double own[N * N], point[2][N];

	centre(gram, n, own);
	return place_images(own, n, point) && are_apart(point, n) &&
	    fit_circle(point, n, shift_rad);
}

/* Are the shifts five different ones, so that they follow from the images alone? The normal matrix
 * of the five columns less INDEPENDENT has a Cholesky root then. */
static bool
are_independent(const double *shift_rad, size_t n)
{
	double m[5][5] = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		double d = shift_rad[i];
		double row[5] = { cos(2 * d), sin(2 * d), cos(d), sin(d), M_SQRT1_2 };

		for (size_t a = 0; a < 5; a++)
			for (size_t b = 0; b < 5; b++)
				m[a][b] += row[a] * row[b] * 2 / (double)n;
	}
	for (size_t a = 0; a < 5; a++) {
		m[a][a] -= INDEPENDENT;
		for (size_t k = 0; k < a; k++)
			m[a][a] -= m[a][k] * m[a][k];
		if (!(m[a][a] > 0))
			return false;
		m[a][a] = sqrt(m[a][a]);
		for (size_t b = a + 1; b < 5; b++) {
			for (size_t k = 0; k < a; k++)
				m[b][a] -= m[b][k] * m[a][k];
			m[b][a] /= m[a][a];
		}
	}
	return true;
}

/* The least squares of a pixel: (A, B cos phi, B sin phi) are k times its samples. False: the
 * shifts determine no phase. */
static bool
shift_gram_pixels(const double *shift_rad, size_t n, double k[3][N])
{
	double normal[3][3] = { { 0 } }, inverse[3][3];

	for (size_t i = 0; i < n; i++) {
		double row[3] = { 1, cos(shift_rad[i]), -sin(shift_rad[i]) };

		for (size_t a = 0; a < 3; a++)
			for (size_t b = 0; b < 3; b++)
				normal[a][b] += row[a] * row[b];
	}
	if (!(phase_shift_invert(normal, inverse) > 1e-9))
		return false;
	for (size_t i = 0; i < n; i++) {
		double row[3] = { 1, cos(shift_rad[i]), -sin(shift_rad[i]) };

		for (size_t a = 0; a < 3; a++)
			k[a][i] = inverse[a][0] * row[0] + inverse[a][1] * row[1] +
			    inverse[a][2] * row[2];
	}
	return true;
}

/* One round: the pixels from the shifts, the shifts from the pixels. */
static bool
improve(const double *gram, size_t n, struct shift_found *found)
{
	double *shift_rad = found->shift_rad;
	double k[3][N], cross[N][3] = { { 0 } }, square[3][3] = { { 0 } }, inverse[3][3], even;
	double next[N];

	if (!shift_gram_pixels(shift_rad, n, k))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t a = 0; a < 3; a++)
			cross[i][a] = step_fit_dot(gram + i * n, k[a], n);
	for (size_t a = 0; a < 3; a++)
		for (size_t b = 0; b < 3; b++)
			for (size_t i = 0; i < n; i++)
				square[a][b] += k[a][i] * cross[i][b];
	even = EVEN_SHARE * (square[1][1] + square[2][2]);
	square[0][0] += even;
	if (!(phase_shift_invert(square, inverse) > 0))
		return false;
	found->settled_rad = 0;
	for (size_t i = 0; i < n; i++) {
		double t[2] = { 0 };

		cross[i][0] += even;
		for (size_t a = 0; a < 2; a++)
			for (size_t b = 0; b < 3; b++)
				t[a] += inverse[a + 1][b] * cross[i][b];
		next[i] = atan2(-t[1], t[0]);
	}
	for (size_t i = 0; i < n; i++) {
		double moved = remainder(next[i] - next[0] - shift_rad[i] + shift_rad[0], 2 * M_PI);

		found->settled_rad = fmax(found->settled_rad, fabs(moved));
	}
	memcpy(shift_rad, next, n * sizeof(*next));
	return isfinite(next[0]);
}

/* The shifts that the products give; those of a part of the picture begin with those of all. */
static bool
solve_gram(const double *gram, size_t n, bool part, struct shift_found *out)
{
	size_t most = part ? ROUNDS_OF_PART : ROUNDS;
	bool assumed = part ? out->assumed : n < SHIFT_FREE_LEAST;

	out->settled_rad = 0;
	out->rounds = 0;
	out->assumed = assumed;
	if ((!part || assumed) && !begin_on_circle(gram, n, out->shift_rad))
		return false;
	if (assumed)
		return true;
	do {
		if (!improve(gram, n, out))
			return false;
		out->rounds++;
	} while (out->rounds < most && out->settled_rad > SETTLED_RAD);
	if (part || are_independent(out->shift_rad, n))
		return true;
	out->assumed = true;
	out->settled_rad = 0;
	return begin_on_circle(gram, n, out->shift_rad);
}

/* How near the shifts, rotated as a whole, come to the expected ones: n if they are the same. */
static double
likeness(const double *shift_rad, double sense, const double *expected, size_t n)
{
	double c = 0, s = 0;

	for (size_t i = 0; i < n; i++) {
		c += cos(sense * shift_rad[i] - expected[i]);
		s += sin(sense * shift_rad[i] - expected[i]);
	}
	return sqrt(c * c + s * s);
}

/* Gives the shifts the sense of the expected ones, and the first its own. */
static void
align(const double *expected, size_t n, struct shift_found *found)
{
	double as_is = likeness(found->shift_rad, 1, expected, n);
	double mirrored = likeness(found->shift_rad, -1, expected, n), first = found->shift_rad[0];
	double sense = as_is >= mirrored ? 1 : -1;

	found->sense = fmax(as_is, mirrored) / fmax(fmin(as_is, mirrored), 1e-9);
	for (size_t i = 0; i < n; i++)
		found->shift_rad[i] = expected[i] + remainder(expected[0] - expected[i] +
		    sense * (found->shift_rad[i] - first), 2 * M_PI);
}

/* The jackknife: how much the shifts change where one part of the picture after another is left
 * out. */
static double
estimate_error(const struct shift_sums *block, size_t n, const struct shift_found *all)
{
	double gram[N * N], off[SHIFT_BLOCKS][N], worst = 0;
	size_t parts = 0;

	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		struct shift_found part = *all;

		if (!(block[b].weight > 0))
			continue;
		if (!sum_gram(block, b, n, gram) || !solve_gram(gram, n, true, &part))
			return INFINITY;
		align(all->shift_rad, n, &part);
		for (size_t i = 0; i < n; i++)
			off[parts][i] = remainder(part.shift_rad[i] - all->shift_rad[i], 2 * M_PI);
		parts++;
	}
	if (parts < 4)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		double mean = 0, square = 0;

		for (size_t b = 0; b < parts; b++)
			mean += off[b][i] / (double)parts;
		for (size_t b = 0; b < parts; b++)
			square += (off[b][i] - mean) * (off[b][i] - mean);
		worst = fmax(worst, sqrt(square * (double)(parts - 1) / (double)parts));
	}
	return worst;
}

/*
 * Finds the shifts of n images, 3 to SHIFT_IMAGES_MOST, I = A + B cos(phi + shift); expected: about
 * what they should be. False: the images determine none, for example where two are alike.
 */
static bool
shift_gram_find(const struct shift_sums block[SHIFT_BLOCKS], size_t n, const double *expected,
    struct shift_found *out)
{
	double gram[N * N];

	if (!sum_gram(block, SHIFT_BLOCKS, n, gram) || !solve_gram(gram, n, false, out))
		return false;
	align(expected, n, out);
	out->error_rad = estimate_error(block, n, out);
	return true;
}

/*
 * ---- three and four images: shifts that leave the phase no ripple ----
 *
 * Wrong shifts give each pixel a linear map of its (cos phi, sin phi), so that the phase found is
 * phi + a cos 2 phi + b sin 2 phi, to first order. A phase that is smooth along rows and columns
 * has no such ripple. Second differences over a quarter of a fringe, in which a ripple is four
 * times as large, tell a and b where a piece of a line has a fringe or more, whatever part of the
 * circle it shows. That determines the shifts of three images. Of four images a and b leave one
 * number open; the images determine it, as they lie in three dimensions: one combination of them is
 * 0.
 */

struct shift_ripple {
	bool known;		/* enough pieces of lines have a fringe */
	double error_rad;	/* of the worst shift: of noise and rough surfaces, from the
				 * scatter over parts of the picture, and of bent ones, from what
				 * one power of the place less changes */
	double systematic_rad;	/* of the worst shift, known or not: of 1.5 % of light from image
				 * to image, and a third harmonic of 2 % */
	double moved_rad;	/* how far the worst shift went */
	double turns;		/* of the phase along a piece, as a mean */
};

#define LINES 64		/* rows and columns that are looked at, about, of each */
#define GROUPS 16		/* of lines, for the jackknife */
#define RIPPLE_ROUNDS 12
#define LEAST_ALL 200		/* second differences, of all pieces */
#define LEAST_PART 1e-3		/* of the ripple's squares that the powers of the place leave */
/* Noise that is stronger at some phases than at others looks like a ripple of this share of its
 * square, at most about, for shifts 20 degrees from equal ones. */
#define UNEVEN_NOISE 0.03

/* Of a good camera and lamp; no phase tells them from wrong shifts. */
#define LIGHT 0.015		/* deviation of the light from image to image */
#define THIRD_HARMONIC 0.02	/* of the fringes' amplitude */

static void
free_lines(struct ripple_lines *lines)
{
	free(lines->line);
	free(lines->sample);
	free(lines->phase);
	free(lines->cosine);
	free(lines->sine);
}

static void
add_lines(struct ripple_lines *lines, bool column)
{
	const struct frame_head *head = &lines->in->head;
	size_t n = column ? head->h : head->w, across = column ? head->w : head->h;
	size_t step = across / LINES ? across / LINES : 1;

	for (size_t at = step / 2; at < across; at += step) {
		lines->line[lines->count++] = (struct ripple_line){ .first = lines->pixels, .n = n,
			.at = at, .column = column };
		lines->pixels += n;
	}
}

static int
make_lines(struct ripple_lines *lines)
{
	size_t pixels;

	/* across / (across / LINES) is less than twice LINES */
	lines->line = calloc(2 * 2 * LINES, sizeof(*lines->line));
	if (!lines->line)
		return fail_memory();
	add_lines(lines, false);
	add_lines(lines, true);
	pixels = lines->pixels;
	lines->sample = reallocarray(NULL, pixels * lines->images, sizeof(*lines->sample));
	lines->phase = reallocarray(NULL, pixels, sizeof(*lines->phase));
	lines->cosine = reallocarray(NULL, pixels, sizeof(*lines->cosine));
	lines->sine = reallocarray(NULL, pixels, sizeof(*lines->sine));
	return lines->sample && lines->phase && lines->cosine && lines->sine ? 0 : fail_memory();
}

struct ripple {
	double v[2];		/* a and b */
	double turns;		/* of a piece's phase, as a mean */
	double left;		/* mean square of what they leave of the second differences */
};

/* a and b from the lines but those of group `without` (GROUPS: of all). */
static bool
solve_ripple(const struct ripple_lines *lines, size_t without, size_t powers, struct ripple *out)
{
	double m[3][3] = { { 0 } }, n = 0, determinant, *v = out->v;

	*out = (struct ripple){ 0 };
	for (size_t k = 0; k < lines->count; k++) {
		const struct ripple_sums *sums = &lines->line[k].sums;

		if (k * GROUPS / lines->count == without)
			continue;
		n += sums->n;
		out->turns += sums->turns;
		for (size_t a = 0; a < 3; a++)
			for (size_t b = 0; b < 3; b++)
				m[a][b] += sums->product[powers - 1][a][b];
	}
	determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
	if (n < LEAST_ALL || !(m[0][0] > LEAST_PART * n) || !(m[1][1] > LEAST_PART * n) ||
	    !(determinant > LEAST_PART * m[0][0] * m[1][1]))
		return false;
	v[0] = (m[1][1] * m[0][2] - m[0][1] * m[1][2]) / determinant;
	v[1] = (m[0][0] * m[1][2] - m[1][0] * m[0][2]) / determinant;
	out->left = fmax(0, m[2][2] - v[0] * m[0][2] - v[1] * m[1][2]) / n;
	out->turns /= n;
	return isfinite(v[0]) && isfinite(v[1]);
}

/* The direction in which the shifts of four images may move: not all by the same, and so that the
 * constant combination stays. */
static void
find_direction(const double constant[FOUR], const double *shift_rad, double direction[FOUR])
{
	double square[FOUR * FOUR], value[FOUR], vector[FOUR * FOUR];

	for (size_t a = 0; a < FOUR; a++)
		for (size_t b = 0; b < FOUR; b++)
			square[a * FOUR + b] = 1.0 / FOUR + constant[a] * constant[b] *
			    cos(shift_rad[a] - shift_rad[b]);
	symmetric_eigen(FOUR, square, value, vector);
	memcpy(direction, vector + FOUR * (FOUR - 1), FOUR * sizeof(*direction));
}

/* The inverse of J, the ripple of each shift's error: the least one, or that along the
 * direction. */
static bool
invert(double J[2][FOUR], const double *direction, size_t n, double error[FOUR][2])
{
	double square[3] = { 0 }, along[2] = { 0 }, determinant;

	for (size_t i = 0; i < n; i++) {
		square[0] += J[0][i] * J[0][i];
		square[1] += J[0][i] * J[1][i];
		square[2] += J[1][i] * J[1][i];
		for (size_t a = 0; a < 2; a++)
			along[a] += direction ? J[a][i] * direction[i] : 0;
	}
	determinant = direction ? along[0] * along[0] + along[1] * along[1] :
	    square[0] * square[2] - square[1] * square[1];
	if (!(determinant > 0))
		return false;
	for (size_t i = 0; i < n; i++) {
		error[i][0] = direction ? direction[i] * along[0] / determinant :
		    (square[2] * J[0][i] - square[1] * J[1][i]) / determinant;
		error[i][1] = direction ? direction[i] * along[1] / determinant :
		    (square[0] * J[1][i] - square[1] * J[0][i]) / determinant;
	}
	for (size_t i = n; i-- > 0;)
		for (size_t a = 0; a < 2; a++)
			error[i][a] -= error[0][a];
	return true;
}

/* The shifts' errors of a ripple a = 1 and b = 1, the first shift's being 0. False: a ripple tells
 * none. */
static bool
linearise(const struct ripple_lines *lines, const double *shift_rad, const double *constant,
    double error[FOUR][2])
{
	double J[2][FOUR], direction[FOUR];

	for (size_t i = 0; i < lines->images; i++) {
		double s = sin(shift_rad[i]), c = cos(shift_rad[i]);
		const double k[2] = { lines->weight[0][i], lines->weight[1][i] };

		/* of a shift that is too large by 1: of what makes (cos phi, sin phi) found out of
		 * the true ones, less the identity, half the sum of the off-diagonal elements, and
		 * half the difference of the others */
		J[0][i] = (k[0] * c + k[1] * s) / 2;
		J[1][i] = (k[1] * c - k[0] * s) / 2;
	}
	if (constant)
		find_direction(constant, shift_rad, direction);
	return invert(J, constant ? direction : NULL, lines->images, error);
}

static bool
find_weights(struct ripple_lines *lines, const double *shift_rad)
{
	double k[3][SHIFT_IMAGES_MOST];

	if (!shift_gram_pixels(shift_rad, lines->images, k))
		return false;
	memcpy(lines->weight, k[1], lines->images * sizeof(**k));
	memcpy(lines->weight[1], k[2], lines->images * sizeof(**k));
	return true;
}

/* Takes the shifts of four images to the nearest ones for which the combination is constant. */
static void
keep_constant(const double constant[FOUR], double *shift_rad)
{
	double first = shift_rad[0];

	for (int round = 0; round < 3; round++) {
		double left[2] = { 0 }, J[2][FOUR], square[4] = { 0 };

		for (size_t i = 0; i < FOUR; i++) {
			double c = constant[i] * cos(shift_rad[i]);
			double s = constant[i] * sin(shift_rad[i]);

			left[0] += c;
			left[1] += s;
			J[0][i] = -s;
			J[1][i] = c;
			square[0] += s * s;
			square[2] -= s * c;
			square[3] += c * c;
		}
		if (!symmetric_factor(2, square, 1e-9))
			return;
		symmetric_solve(2, square, left, 1);
		for (size_t i = 0; i < FOUR; i++)
			shift_rad[i] -= J[0][i] * left[0] + J[1][i] * left[1];
	}
	for (size_t i = FOUR; i-- > 0;)
		shift_rad[i] += first - shift_rad[0];
}

/* The largest change of a shift for a ripple. */
static double
worst(const struct ripple_lines *lines, double error[FOUR][2], const double ripple[2],
    bool independent)
{
	double most = 0;

	for (size_t i = 0; i < lines->images; i++) {
		double a = error[i][0] * ripple[0], b = error[i][1] * ripple[1];

		most = fmax(most, independent ? hypot(a, b) : fabs(a + b));
	}
	return most;
}

/* The ripple's standard error: by the jackknife, by the change with one power of the place less,
 * and by noise that looks like a ripple. */
static double
find_error(const struct ripple_lines *lines, double error[FOUR][2], const struct ripple *ripple,
    size_t powers)
{
	struct ripple part[GROUPS], less = { 0 };
	double mean[2] = { 0 }, all[2] = { 0 };

	if (!solve_ripple(lines, GROUPS, powers - 1, &less))
		return INFINITY;
	for (size_t g = 0; g < GROUPS; g++) {
		if (!solve_ripple(lines, g, powers, &part[g]))
			return INFINITY;
		for (size_t a = 0; a < 2; a++)
			mean[a] += part[g].v[a] / GROUPS;
	}
	for (size_t a = 0; a < 2; a++) {
		for (size_t g = 0; g < GROUPS; g++)
			all[a] += (part[g].v[a] - mean[a]) * (part[g].v[a] - mean[a]);
		all[a] = sqrt(all[a] * (GROUPS - 1) / GROUPS +
		    (less.v[a] - ripple->v[a]) * (less.v[a] - ripple->v[a]) +
		    UNEVEN_NOISE * ripple->left * UNEVEN_NOISE * ripple->left);
	}
	return worst(lines, error, all, true);
}

/* By how much light that differs from image to image and a third harmonic change the worst
 * shift. */
static double
find_systematic(const struct ripple_lines *lines, const double *shift_rad, double error[FOUR][2])
{
	double gain[FOUR][2], harmonic[2] = { 0 }, most = 0;
	/* the number that the ripple leaves open comes from the difference of two images */
	double open = lines->images == FOUR ? 2 * LIGHT * LIGHT : 0;

	for (size_t i = 0; i < lines->images; i++) {
		double s = sin(shift_rad[i]), c = cos(shift_rad[i]);
		double s3 = sin(3 * shift_rad[i]), c3 = cos(3 * shift_rad[i]);
		const double k[2] = { lines->weight[0][i], lines->weight[1][i] };

		/* the ripple of a shift that is off by 1 (linearise), a quarter further on */
		gain[i][0] = (k[0] * s - k[1] * c) / 2;
		gain[i][1] = (k[0] * c + k[1] * s) / 2;
		/* what sin(phi - found) makes of cos 3(phi + shift), as far as it turns twice */
		harmonic[0] += (k[0] * s3 + k[1] * c3) / 2;
		harmonic[1] += (k[0] * c3 - k[1] * s3) / 2;
	}
	for (size_t j = 0; j < lines->images; j++) {
		double third = error[j][0] * harmonic[0] + error[j][1] * harmonic[1];
		double square = open + THIRD_HARMONIC * third * THIRD_HARMONIC * third;

		for (size_t i = 0; i < lines->images; i++) {
			double light = error[j][0] * gain[i][0] + error[j][1] * gain[i][1];

			square += LIGHT * light * LIGHT * light;
		}
		most = fmax(most, square);
	}
	return sqrt(most);
}

static void
refine(struct run *run, struct ripple_lines *lines, double *shift_rad, struct shift_ripple *out)
{
	double error[FOUR][2], constant[FOUR], next[FOUR], moved = INFINITY;
	size_t n = lines->images, powers = RIPPLE_POWERS;
	struct ripple ripple;

	memcpy(next, shift_rad, n * sizeof(*next));
	for (size_t round = 0; round < RIPPLE_ROUNDS && moved > SETTLED_RAD; round++) {
		if (round > 0 && n == FOUR)
			keep_constant(constant, next);
		if (!find_weights(lines, next))
			return;
		run_for(run, lines->count, survey_rows()->ripple_sum, lines);
		if (round == 0 && n == FOUR)
			survey_rows()->ripple_constant(lines, constant);
		while (powers > 1 && !solve_ripple(lines, GROUPS, powers, &ripple))
			powers--;
		if (!linearise(lines, next, n == FOUR ? constant : NULL, error))
			return;
		out->systematic_rad = find_systematic(lines, next, error);
		if (powers == 1)
			return;
		moved = worst(lines, error, ripple.v, false);
		for (size_t i = 0; i < n; i++)
			next[i] -= error[i][0] * ripple.v[0] + error[i][1] * ripple.v[1];
	}
	out->error_rad = hypot(find_error(lines, error, &ripple, powers), moved);
	if (n == FOUR)
		keep_constant(constant, next);
	for (size_t i = 0; i < n; i++) {
		out->moved_rad = fmax(out->moved_rad,
		    fabs(remainder(next[i] - shift_rad[i], 2 * M_PI)));
		shift_rad[i] = next[i];
	}
	out->known = isfinite(out->moved_rad);
	out->turns = ripple.turns;
}

/*
 * Improves the shifts of three or four images, I = A + B cos(phi + shift), but for the first one.
 * max_value: a sample that reaches it is saturated; least_square: mean square about the mean of a
 * pixel with fringes. Without enough pieces of lines (`known`) shift_rad stays. -1 after fail().
 */
static int
shift_ripple_refine(struct run *run, const struct frame *in, const struct capture_fringe *fringe,
    float max_value, float least_square, double *shift_rad, struct shift_ripple *out)
{
	struct ripple_lines lines = { .in = in, .fringe = fringe, .max_value = max_value,
		.least_square = least_square, .images = fringe->n };
	int status;

	*out = (struct shift_ripple){ 0 };
	status = make_lines(&lines);
	if (status == 0) {
		run_for(run, lines.count, survey_rows()->ripple_read, &lines);
		refine(run, &lines, shift_rad, out);
	}
	free_lines(&lines);
	return status;
}

/* ---- the search, and what is doubtful about its result ---- */

#define PIXELS_LEAST 200	/* with fringes */
#define SECTOR_LEAST 0.02	/* of them in each sector: less than a fringe leaves some out */
#define WEIGHINGS 40		/* at most, where the phases are taken to be spread evenly */
#define WEIGHED_RAD 1e-4	/* that a shift may change by in the last round but one */
#define OVERLAP (4 / 3.0)	/* 1 over the root mean square of overlapping blocks' shares */
#define UNCERTAIN_RAD (2 * M_PI / 180)	/* by what the picture shows */
#define UNCERTAIN_TOTAL_RAD (5 * M_PI / 180)	/* with what it cannot show */
#define FEW_TURNS 3.0		/* of the phase along a lit piece of a line */
#define SENSE_LEAST 1.1		/* struct shift_found's sense */
#define FLICKER 0.004		/* rms of what the fit leaves of the images' mean levels */

int
shift_search_plan(struct shift_search *search, const struct phasewrap *wrap, struct meta *meta)
{
	size_t n = 0, k = 0;
	int status;

	shift_search_free(search);
	if (!search->on)
		return 0;
	for (size_t f = 0; f < wrap->captures.fringes; f++) {
		const struct capture_fringe *fringe = &wrap->captures.fringe[f];

		if (fringe->two_plus_one)
			return fail("--shift", "auto is for steps, and these are 2+1 images");
		if (fringe->n > SHIFT_IMAGES_MOST)
			return fail("--shift", "auto finds those of %d images at most, not %zu",
			    SHIFT_IMAGES_MOST, fringe->n);
		n += fringe->n;
	}
	if (n == 0)
		return fail("--shift", "without fringe images there are none to find");
	search->expected = calloc(n, sizeof(*search->expected));
	if (!search->expected)
		return fail_memory();
	for (size_t f = 0; f < wrap->captures.fringes; f++)
		for (size_t i = 0; i < wrap->captures.fringe[f].n; i++)
			search->expected[k++] = wrap->captures.fringe[f].shift_rad[i];
	status = meta_set_numbers(meta, "found_shift_rad", search->expected, n);
	return status;
}

void
shift_search_free(struct shift_search *search)
{
	free(search->expected);
	search->expected = NULL;
}

static void
print_shifts(const struct capture_fringe *fringe, const struct shift_found *found)
{
	char set[CAPTURE_SET_NAME_SIZE], list[SHIFT_IMAGES_MOST * 16], light[64] = "";
	bool free_of_pixels = fringe->n >= SHIFT_FREE_LEAST;
	size_t used = 0;

	if (free_of_pixels)
		snprintf(light, sizeof(light), " by the pixels and up to %.2g by the light",
		    found->total_rad * 180 / M_PI);
	for (size_t i = 0; i < fringe->n; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, " %.2f",
		    fringe->shift_rad[i] * 180 / M_PI);
	note(capture_set_name(fringe, set),
	    "found the shifts%s degrees, +- %.2g%s, in %zu rounds%s", list,
	    (free_of_pixels ? found->error_rad : found->total_rad) * 180 / M_PI, light,
	    found->rounds, found->assumed ?
	    ", if the amplitude does not depend on the phase" : "");
}

/* What the fit with the shifts found leaves of the images' mean levels, as a root mean square over
 * the mean of all: light that differs from image to image, and not from pixel to pixel. */
static double
flicker_of(const struct shift_look *look, const struct phase_shift_fit *fit)
{
	const double *level = look->level;
	double mean = 0, c = 0, s = 0, square = 0, own = 0;
	size_t n = look->fringe->n;

	for (size_t i = 0; i < n; i++)
		own += level[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = level[i] - level[0];

		mean += d * (double)fit->weights[i].mean / (double)n;
		c += d * (double)fit->weights[i].c;
		s += d * (double)fit->weights[i].s;
	}
	for (size_t i = 0; i < n; i++) {
		double left = level[i] - level[0] - mean - c * (double)fit->model[i].cosine -
		    s * (double)fit->model[i].sine;

		square += left * left;
	}
	return n > 3 && own > 0 ? sqrt(square / (double)(n - 3)) / own : 0;
}

/* The error of the shifts of n images, in rad, by light of which the fit leaves `flicker`. In 60
 * simulated sets of 5 to 12 images, whose light differed by 0 to 3 %, the worst shift was off by
 * 0.3 to 2 degrees for each per cent. The fit has n - 3 values to tell the light from; with two of
 * them it may leave a third of the flicker. */
static double
light_error(size_t n, double flicker)
{
	return 2 * flicker * (1 + 4.0 / (double)(n - 3));
}

static void
warn_doubts(struct shift_search *search, const struct capture_fringe *fringe,
    const struct shift_found *found, double flicker)
{
	char set[CAPTURE_SET_NAME_SIZE];
	bool lamp = fringe->n >= SHIFT_FREE_LEAST && flicker > FLICKER;

	capture_set_name(fringe, set);
	if (search->warned)
		return;
	if (found->assumed && !found->checked) {
		warn("--shift", "no lit part of the picture has a fringe and more across: the "
		    "shifts found for %s may be many degrees off: give them, or take five "
		    "different ones and more", set);
		search->warned = true;
	} else if (!(found->error_rad <= UNCERTAIN_RAD) ||
	    (found->total_rad > UNCERTAIN_TOTAL_RAD && !lamp)) {
		warn("--shift", "the shifts found for %s are uncertain by %.2g degrees%s", set,
		    found->total_rad * 180 / M_PI, found->assumed ?
		    ": five different ones and more tell better" : "");
		search->warned = true;
	} else if (lamp || flicker > FLICKER) {
		warn("--shift", "the images of %s differ in brightness by %.1f %%, as a whole: if "
		    "it is the lamp or the exposure, the shifts found are off by up to %.2g "
		    "degrees", set, 100 * flicker, found->total_rad * 180 / M_PI);
		search->warned = true;
	} else if (found->sense < SENSE_LEAST) {
		warn("--shift", "the shifts found for %s are as near to the expected ones in one "
		    "sense as in the other: the phase may run backwards", set);
		search->warned = true;
	}
}

/* Solves the fit of a set with the shifts found, whose sense is that of the captures. */
static int
apply(struct phasewrap *wrap, size_t k, const struct shift_found *found)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];

	for (size_t i = 0; i < fringe->n; i++)
		fringe->shift_rad[i] = wrap->sign * found->shift_rad[i];
	phase_shift_weights_free(&wrap->fit[k]);
	return phase_shift_weights_solve(fringe, wrap->sign, wrap->origin_rad, &wrap->fit[k]);
}

/* Finds the shifts by the sums as they are. */
static int
find_once(struct phasewrap *wrap, size_t k, const double *own, const struct shift_look *look,
    struct shift_found *found)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];
	char set[CAPTURE_SET_NAME_SIZE];

	capture_set_name(fringe, set);
	if (!shift_gram_find(look->block, fringe->n, own, found))
		return fail("--shift", "the images of %s tell no shifts: too few pixels have "
		    "fringes, or images are alike", set);
	if (!(found->settled_rad <= SETTLED_RAD))
		return fail("--shift", "the shifts of %s do not settle: they still change by %.2g "
		    "degrees after %zu rounds: give them", set, found->settled_rad * 180 / M_PI,
		    found->rounds);
	return apply(wrap, k, found);
}

/* Are there enough pixels, of all phases? */
static int
check_phases(const struct shift_look *look, const struct phase_shift_fit *fit, const char *set)
{
	size_t used;
	double share = survey_rows()->look_emptiest_sector(look, fit, &used);

	if (used < PIXELS_LEAST)
		return fail("--shift", "too few pixels of %s have fringes, to tell the shifts: "
		    "give them", set);
	return share >= SECTOR_LEAST ? 0 : fail("--shift", "the phases of %s leave a part of the "
	    "circle out: of less than a fringe nothing tells the shifts from the phase: give them",
	    set);
}

static double
farthest(const double *a, const double *b, size_t n)
{
	double far = 0;

	for (size_t i = 0; i < n; i++)
		far = fmax(far, fabs(remainder(a[i] - b[i], 2 * M_PI)));
	return far;
}

/* Three and four images: takes the shifts that leave the phase no ripple, if they are more certain
 * than those by the even spread of the phases. */
static int
smooth(struct run *run, struct phasewrap *wrap, size_t k, const struct shift_look *look,
    float least_amplitude, struct shift_found *found)
{
	struct shift_found better = *found;
	struct shift_ripple ripple;

	if (shift_ripple_refine(run, look->in, look->fringe, look->max_value,
	    shift_look_dark(look, least_amplitude), better.shift_rad, &ripple) < 0)
		return -1;
	found->checked = ripple.known;
	if (!ripple.known || (ripple.error_rad > found->error_rad &&
	    ripple.moved_rad < 2 * ripple.error_rad)) {
		found->total_rad = hypot(found->error_rad, ripple.systematic_rad);
		return 0;
	}
	*found = better;
	found->checked = true;
	/* a surface may bend as a ripple of so few turns does */
	found->error_rad = ripple.turns < FEW_TURNS ?
	    hypot(ripple.error_rad, ripple.moved_rad) : ripple.error_rad;
	found->total_rad = hypot(found->error_rad, ripple.systematic_rad);
	return apply(wrap, k, found);
}

/* Finds the shifts of a fringe set from the pixels read. */
static int
search_set(struct shift_search *search, struct run *run, struct phasewrap *wrap, size_t k,
    const double *expected, struct shift_look *look, float least_amplitude)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];
	char set[CAPTURE_SET_NAME_SIZE];
	double own[SHIFT_IMAGES_MOST];
	struct shift_found found, before;
	double moved = 0, flicker;

	capture_set_name(fringe, set);
	for (size_t i = 0; i < fringe->n; i++) {
		own[i] = wrap->sign * expected[i];
		look->level[i] = 0;
		for (size_t b = 0; b < SHIFT_BLOCKS; b++)
			look->level[i] += look->block[b].image[i];
	}
	if (find_once(wrap, k, own, look, &found) < 0 ||
	    check_phases(look, &wrap->fit[k], set) < 0)
		return -1;
	for (size_t round = 0; fringe->n < SHIFT_FREE_LEAST && round < WEIGHINGS; round++) {
		bool last = round == WEIGHINGS - 1 || (round > 0 && moved < WEIGHED_RAD);

		before = found;
		if (shift_look_weigh(look, run, &wrap->fit[k], least_amplitude, last) < 0 ||
		    find_once(wrap, k, own, look, &found) < 0)
			return -1;
		moved = farthest(found.shift_rad, before.shift_rad, fringe->n);
		found.rounds = round + 1;
		found.error_rad *= OVERLAP;
		if (last)
			break;
	}
	found.total_rad = found.error_rad;
	if (check_phases(look, &wrap->fit[k], set) < 0)
		return -1;
	if (found.assumed && fringe->n >= SHIFT_FREE_LEAST)
		return fail("--shift", "the %zu images of %s have no five shifts that are "
		    "different enough to be found: give them, or take images over the whole turn",
		    fringe->n, set);
	if ((fringe->n < SHIFT_FREE_LEAST && smooth(run, wrap, k, look, least_amplitude, &found) <
	    0))
		return -1;
	flicker = flicker_of(look, &wrap->fit[k]);
	if (fringe->n >= SHIFT_FREE_LEAST)
		found.total_rad = hypot(found.error_rad, light_error(fringe->n, flicker));
	if (search->verbose)
		print_shifts(fringe, &found);
	warn_doubts(search, fringe, &found, flicker);
	return 0;
}

static int
find_set(struct shift_search *search, struct run *run, struct phasewrap *wrap, size_t k,
    const double *expected, const struct frame *in)
{
	struct shift_look look = { .in = in, .fringe = &wrap->captures.fringe[k],
		.max_value = wrap->limits.max_value };
	float least_amplitude = wrap->limits.least_amplitude;
	int status;

	/* fewer grey levels do not tell fringes from noise */
	if (in->head.type != SAMPLE_FLOAT)
		least_amplitude = fmaxf(least_amplitude, 2);
	status = shift_look_begin(&look, run, least_amplitude);
	if (status == 0)
		status = search_set(search, run, wrap, k, expected, &look, least_amplitude);
	shift_look_free(&look);
	return status;
}

int
shift_search_run(struct shift_search *search, struct run *run, struct phasewrap *wrap,
    const struct frame *in)
{
	size_t n = 0, k = 0;
	double *shift_rad;
	int status = 0;

	if (!search->on)
		return 0;
	for (size_t f = 0; f < wrap->captures.fringes && status == 0; f++) {
		status = find_set(search, run, wrap, f, search->expected + n, in);
		n += wrap->captures.fringe[f].n;
	}
	if (status < 0)
		return -1;
	shift_rad = calloc(n, sizeof(*shift_rad));
	if (!shift_rad)
		return fail_memory();
	for (size_t f = 0; f < wrap->captures.fringes; f++)
		for (size_t i = 0; i < wrap->captures.fringe[f].n; i++)
			shift_rad[k++] = wrap->captures.fringe[f].shift_rad[i];
	status = meta_set_numbers(run_output_meta(run), "found_shift_rad", shift_rad, n);
	free(shift_rad);
	return status;
}
