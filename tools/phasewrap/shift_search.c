/* The search for the shifts of a measurement: which pixels count, and how much; doubts. */
#include "shift_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"
#include "phasewrap.px.h"
#include "shift_gram.h"
#include "step_fit.h"

#define PIXELS 65536		/* looked at, about */
#define LEAST 200		/* of them with fringes */
#define ACROSS 4		/* blocks of SHIFT_BLOCKS beside each other */
#define SECTORS 8		/* of the circle of phases, */
#define SECTOR_LEAST 0.02	/* of the pixels in each: less than a fringe leaves some out */
#define WEIGHINGS 40		/* at most, where the phases are taken to be spread evenly */
#define SOFT 0.04f		/* of the least square of the others */
#define WEIGHED 1e-4		/* rad that a shift may change by in the last round but one */
#define OVERLAP (4 / 3.0)	/* 1 over the root mean square of overlapping blocks' shares */
#define SECTOR_BOUND 0.25f	/* of the least square: a texture counts that has half a fringe */
#define DARK 0.06f		/* of the least square: an eighth of the amplitude in light */
#define GAP 16			/* of a line: as long a dark part divides what is lit */
#define UNCERTAIN (2 * M_PI / 180)
#define SENSE_LEAST 1.1
#define FLICKER 0.004		/* rms of what the fit leaves of the images' mean levels */

/* The pixels that are looked at. */
struct look {
	const struct frame *in;
	const struct capture_fringe *fringe;
	float max_value, least;	/* least: mean square about the mean of a pixel with fringes */
	size_t step, columns, rows;
	float *sample;		/* n of each pixel */
	float *square;		/* the mean square; 0 where the pixel does not count */
	float *scale;		/* of a pixel's fringes in the sums; NULL: as they are */
	float *taper;		/* weight of each pixel; NULL: 1 */
	struct shift_sums block[SHIFT_BLOCKS];
	double *share;		/* [column of blocks][column]: how much of it is theirs */
	bool overlap;		/* blocks pass into each other smoothly */
	double level[SHIFT_IMAGES_MOST];	/* of each image, times the pixels that count */
};

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

/* ---- the pixels ---- */

static void
free_look(struct look *look)
{
	free(look->sample);
	free(look->square);
	free(look->scale);
	free(look->taper);
	free(look->share);
	for (size_t b = 0; b < SHIFT_BLOCKS; b++)
		free(look->block[b].product);
}

static int
start_look(struct look *look)
{
	size_t n = look->fringe->n;
	bool good;

	look->step = coarse_grid_step(look->in->head.w, look->in->head.h, PIXELS);
	look->columns = coarse_grid_count(look->in->head.w, look->step);
	look->rows = coarse_grid_count(look->in->head.h, look->step);
	look->sample = calloc(look->columns * look->rows, n * sizeof(*look->sample));
	look->square = calloc(look->columns * look->rows, sizeof(*look->square));
	look->share = calloc(look->columns, ACROSS * sizeof(*look->share));
	good = look->sample && look->square && look->share;
	if (n < SHIFT_FREE_LEAST) {
		look->taper = calloc(look->columns * look->rows, sizeof(*look->taper));
		good = good && look->taper;
	}
	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		look->block[b].product = calloc(n * n, sizeof(*look->block[b].product));
		good = good && look->block[b].product;
	}
	return good ? 0 : fail_memory();
}

/* Rows begin at other columns: fringes of few pixels would be seen at few phases. */
static size_t
column_of(const struct look *look, size_t row, size_t column)
{
	double place = 0.618 * (double)row;

	return column * look->step + (size_t)((place - floor(place)) * (double)look->step);
}

static void
read_row(void *arg, size_t row)
{
	struct look *look = arg;
	size_t n = look->fringe->n;

	for (size_t column = 0; column < look->columns; column++) {
		size_t x = column_of(look, row, column);
		float *v = look->sample + (row * look->columns + column) * n;
		float mean = 0, square = 0;
		bool counts = x < look->in->head.w;

		for (size_t i = 0; i < n && counts; i++) {
			v[i] = frame_sample(look->in, look->fringe->plane[i], row * look->step, x);
			counts = !phasewrap_missing(v[i]) && v[i] < look->max_value;
			mean += v[i] / (float)n;
		}
		for (size_t i = 0; i < n && counts; i++)
			square += (v[i] - mean) * (v[i] - mean) / (float)n;
		look->square[row * look->columns + column] = counts ? square : 0;
	}
}

/* What a pixel must have to belong to the fringes: a quarter of what those in light have. */
static float
least_square(const struct look *look, float least_amplitude)
{
	double least = 0;

	for (int round = 0; round < 2; round++) {
		double sum = 0, n = 0;

		for (size_t p = 0; p < look->columns * look->rows; p++)
			if (look->square[p] > least) {
				sum += (double)look->square[p];
				n++;
			}
		least = n > 0 ? (round ? 0.25 : 0.5) * sum / n : 0;
	}
	return fmaxf((float)least, least_amplitude * least_amplitude / 2);
}

/* Weighs n pixels, `apart` in the picture, with a taper from 1 in the middle of what is lit to 0 at
 * its ends and beyond. It ends where `gap` pixels are dark; two beside each other begin it, for a
 * single one may be noise. */
static void
taper_line(float *taper, const float *square, size_t n, size_t apart, float bound, size_t gap)
{
	for (size_t i = 0; i < n;) {
		size_t first = i, end;

		while (first + 1 < n &&
		    !(square[first * apart] >= bound && square[(first + 1) * apart] >= bound))
			first++;
		if (first + 1 >= n)
			first = n;
		for (; i < first; i++)
			taper[i * apart] = 0;
		end = first < n ? first + 2 : n;
		for (size_t k = first + 1; k + 1 < n && k < end + gap; k++)
			if (square[k * apart] >= bound && square[(k + 1) * apart] >= bound)
				end = k + 2;
		for (; i < end; i++) {
			double at = ((double)(i - first) + 0.5) / (double)(end - first);

			taper[i * apart] *= (float)(sin(M_PI * at) * sin(M_PI * at));
		}
	}
}

/* Three and four images count on phases that are spread evenly, which a broken number of fringes is
 * not: a taper makes them so, over what is lit of each row and each column, for fringes on a round
 * part in the dark end as abruptly as at a border. Parts count one by one once the amplitudes are
 * known: before that pixels of some phases look dark. */
static void
find_taper(struct look *look, float least_amplitude, bool known)
{
	float bound = fmaxf(look->least * DARK, least_amplitude * least_amplitude / 2);
	size_t w = look->columns, h = look->rows;

	for (size_t p = 0; p < w * h; p++)
		look->taper[p] = 1;
	for (size_t row = 0; row < h; row++)
		taper_line(look->taper + row * w, look->square + row * w, w, 1, bound,
		    known ? w / GAP + 1 : w);
	for (size_t column = 0; column < w; column++)
		taper_line(look->taper + column, look->square + column, h, w, bound,
		    known ? h / GAP + 1 : h);
}

static void
clear_blocks(struct look *look)
{
	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		struct shift_sums *sums = &look->block[b];

		sums->weight = 0;
		memset(sums->image, 0, sizeof(sums->image));
		memset(sums->product, 0,
		    look->fringe->n * look->fringe->n * sizeof(*sums->product));
	}
}

/* The share of place i of n that belongs to a block: all or nothing, or, where the blocks overlap,
 * one that falls smoothly to the middles of the next ones. */
static double
share_of(const struct look *look, size_t block, size_t i, size_t n)
{
	double at, apart, c;

	if (!look->overlap)
		return i >= block * n / ACROSS && i < (block + 1) * n / ACROSS;
	at = ((double)i + 0.5) / (double)n * ACROSS - 0.5;
	at = fmin(fmax(at, 0), ACROSS - 1);
	apart = fabs(at - (double)block);
	c = apart < 1 ? cos(M_PI / 2 * apart) : 0;
	return c * c;
}

static void
sum_block(void *arg, size_t b)
{
	struct look *look = arg;
	struct shift_sums *sums = &look->block[b];
	size_t n = look->fringe->n;
	double own[SHIFT_IMAGES_MOST];

	for (size_t row = 0; row < look->rows; row++) {
		double of_row = share_of(look, b / ACROSS, row, look->rows);

		for (size_t column = 0; of_row > 0 && column < look->columns; column++) {
			size_t p = row * look->columns + column;
			const float *v = look->sample + p * n;
			double weight = of_row * look->share[b % ACROSS * look->columns + column];
			double mean = 0;

			if (weight <= 0 || !(look->square[p] > 0) ||
			    !(look->square[p] >= look->least))
				continue;
			weight *= look->taper ? (double)look->taper[p] : 1;
			for (size_t i = 0; i < n; i++) {
				mean += look->scale ? (double)v[i] / (double)n : 0;
				own[i] = (double)v[i];
			}
			for (size_t i = 0; i < n && look->scale; i++)
				own[i] = (own[i] - mean) * (double)look->scale[p];
			sums->weight += weight;
			for (size_t i = 0; i < n; i++) {
				sums->image[i] += weight * own[i];
				for (size_t j = 0; j < n; j++)
					sums->product[i * n + j] += weight * own[i] * own[j];
			}
		}
	}
}

/* The sums of all blocks. */
static void
sum_blocks(struct look *look, struct run *run, bool overlap)
{
	look->overlap = overlap;
	for (size_t b = 0; b < ACROSS; b++)
		for (size_t column = 0; column < look->columns; column++)
			look->share[b * look->columns + column] =
			    share_of(look, b, column, look->columns);
	clear_blocks(look);
	run_for(run, SHIFT_BLOCKS, sum_block, look);
}

/* The share of the pixels whose phases lie in the emptiest of the sectors; *used: the pixels. */
static double
emptiest_sector(const struct look *look, const struct phase_shift_fit *fit, size_t *used)
{
	size_t n = look->fringe->n, count[SECTORS] = { 0 }, least = SIZE_MAX;
	float bound = look->least * SECTOR_BOUND;

	*used = 0;
	for (size_t p = 0; p < look->columns * look->rows; p++) {
		const float *v = look->sample + p * n;
		double c = 0, s = 0;

		if (!(look->square[p] > 0) || !(look->square[p] >= bound))
			continue;
		for (size_t i = 0; i < n; i++) {
			c += (double)fit->weights[i].c * (double)(v[i] - v[0]);
			s += (double)fit->weights[i].s * (double)(v[i] - v[0]);
		}
		count[(size_t)((atan2(s, c) / (2 * M_PI) + 0.5) * SECTORS) % SECTORS]++;
		++*used;
	}
	for (size_t i = 0; i < SECTORS; i++)
		least = count[i] < least ? count[i] : least;
	return *used ? (double)least / (double)*used : 0;
}

/* ---- the shifts ---- */

struct weighing {
	struct look *look;
	const struct phase_shift_fit *fit;
	float soft;
};

/* The amplitude that the shifts found give each pixel, over which its fringes are taken, so that
 * its share in the sums depends neither on its amplitude nor on its phase. Where the mean square is
 * less than `soft` that falls to nothing: a bound would take a texture just there at some phases
 * only. */
static void
weigh_row(void *arg, size_t row)
{
	const struct weighing *weighing = arg;
	struct look *look = weighing->look;
	size_t n = look->fringe->n;

	for (size_t p = row * look->columns; p < (row + 1) * look->columns; p++) {
		const float *v = look->sample + p * n;
		float c = 0, s = 0;

		if (!(look->square[p] > 0))
			continue;
		for (size_t i = 0; i < n; i++) {
			c += weighing->fit->weights[i].c * (v[i] - v[0]);
			s += weighing->fit->weights[i].s * (v[i] - v[0]);
		}
		look->square[p] = fmaxf((c * c + s * s) / 2, 1e-30f);
		look->scale[p] = sqrtf(look->square[p]) / (look->square[p] + weighing->soft);
	}
}

/* The sums with these weights. */
static int
weigh(struct look *look, struct run *run, const struct phase_shift_fit *fit, float least_amplitude,
    bool overlap)
{
	struct weighing weighing = { look, fit, look->least * SOFT };
	float least = look->least;

	if (!look->scale)
		look->scale = calloc(look->columns * look->rows, sizeof(*look->scale));
	if (!look->scale)
		return fail_memory();
	run_for(run, look->rows, weigh_row, &weighing);
	find_taper(look, least_amplitude, true);
	look->least = least_amplitude * least_amplitude / 2;
	sum_blocks(look, run, overlap);
	look->least = least;
	return 0;
}

static void
print(const struct capture_fringe *fringe, const struct shift_found *found)
{
	char set[CAPTURE_SET_NAME_SIZE], list[SHIFT_IMAGES_MOST * 16];
	size_t used = 0;

	for (size_t i = 0; i < fringe->n; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, " %.2f",
		    fringe->shift_rad[i] * 180 / M_PI);
	note(capture_set_name(fringe, set), "found the shifts%s degrees, +- %.2g, in %zu rounds%s",
	    list, found->error_rad * 180 / M_PI, found->rounds, found->assumed ?
	    ", if the amplitude does not depend on the phase" : "");
}

/* What the fit with the shifts found leaves of the images' mean levels, as a root mean square over
 * the mean of all: light that differs from image to image, and not from pixel to pixel. */
static double
flicker_of(const struct look *look, const struct phase_shift_fit *fit)
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

static void
warn_doubts(struct shift_search *search, const struct capture_fringe *fringe,
    const struct shift_found *found, double flicker)
{
	char set[CAPTURE_SET_NAME_SIZE];

	capture_set_name(fringe, set);
	if (search->warned)
		return;
	if (!(found->error_rad <= UNCERTAIN)) {
		warn("--shift", "the shifts found for %s are uncertain by %.2g degrees%s", set,
		    found->error_rad * 180 / M_PI, found->assumed ?
		    ": five different ones and more tell better" : "");
		search->warned = true;
	} else if (flicker > FLICKER) {
		warn("--shift", "the images of %s differ in brightness by %.1f %%, as a whole: if "
		    "it is the lamp or the exposure, the shifts found are off by a degree and more",
		    set, 100 * flicker);
		search->warned = true;
	} else if (found->sense < SENSE_LEAST) {
		warn("--shift", "the shifts found for %s are as near to the expected ones in one "
		    "sense as in the other: the phase may run backwards", set);
		search->warned = true;
	}
}

/* Solves the fit of a set with the shifts that were found, whose sense is that of the captures. */
static int
apply(struct phasewrap *wrap, size_t k, const struct shift_found *found)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];

	for (size_t i = 0; i < fringe->n; i++)
		fringe->shift_rad[i] = wrap->sign * found->shift_rad[i];
	phase_shift_weights_free(&wrap->fit[k]);
	return phase_shift_weights_solve(fringe, wrap->sign, wrap->origin_rad, &wrap->fit[k]);
}

/* By the sums as they are. */
static int
find_once(struct phasewrap *wrap, size_t k, const double *own, const struct look *look,
    struct shift_found *found)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];
	char set[CAPTURE_SET_NAME_SIZE];

	capture_set_name(fringe, set);
	if (!shift_gram_find(look->block, fringe->n, own, found))
		return fail("--shift", "the images of %s tell no shifts: too few pixels have "
		    "fringes, or images are alike", set);
	if (!shift_gram_settled(found))
		return fail("--shift", "the shifts of %s do not settle: they still change by %.2g "
		    "degrees after %zu rounds: give them", set, found->settled_rad * 180 / M_PI,
		    found->rounds);
	return apply(wrap, k, found);
}

/* Are there enough pixels, of all phases? */
static int
check_phases(const struct look *look, const struct phase_shift_fit *fit, const char *set)
{
	size_t used;
	double share = emptiest_sector(look, fit, &used);

	if (used < LEAST)
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

static int
find(struct shift_search *search, struct run *run, struct phasewrap *wrap, size_t k,
    const double *expected, struct look *look, float least_amplitude)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];
	char set[CAPTURE_SET_NAME_SIZE];
	double own[SHIFT_IMAGES_MOST];
	struct shift_found found, before;
	double moved = 0;

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
		bool last = round == WEIGHINGS - 1 || (round > 0 && moved < WEIGHED);

		before = found;
		if (weigh(look, run, &wrap->fit[k], least_amplitude, last) < 0 ||
		    find_once(wrap, k, own, look, &found) < 0)
			return -1;
		moved = farthest(found.shift_rad, before.shift_rad, fringe->n);
		found.rounds = round + 1;
		found.error_rad *= OVERLAP;
		if (last)
			break;
	}
	if (check_phases(look, &wrap->fit[k], set) < 0)
		return -1;
	if (search->verbose)
		print(fringe, &found);
	warn_doubts(search, fringe, &found, flicker_of(look, &wrap->fit[k]));
	return 0;
}

static int
find_set(struct shift_search *search, struct run *run, struct phasewrap *wrap, size_t k,
    const double *expected, const struct frame *in)
{
	struct look look = { .in = in, .fringe = &wrap->captures.fringe[k],
		.max_value = wrap->limits.max_value };
	float least_amplitude = wrap->limits.least_amplitude;
	int status = start_look(&look);

	/* fewer grey levels do not tell fringes from noise */
	if (in->head.type != SAMPLE_FLOAT)
		least_amplitude = fmaxf(least_amplitude, 2);
	if (status == 0) {
		run_for(run, look.rows, read_row, &look);
		look.least = least_square(&look, least_amplitude);
		if (look.taper)
			find_taper(&look, least_amplitude, false);
		sum_blocks(&look, run, false);
		status = find(search, run, wrap, k, expected, &look, least_amplitude);
	}
	free_look(&look);
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
