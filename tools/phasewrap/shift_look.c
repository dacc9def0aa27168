/* The pixels that --shift auto looks at: which count, how much, and the sums over them. */
#include "shift_look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "phasewrap.px.h"

#define PIXELS 65536		/* looked at, about */
#define ACROSS 4		/* blocks of SHIFT_BLOCKS beside each other */
#define SECTORS 8		/* of the circle of phases */
#define SOFT 0.04f		/* of the least square of the others */
#define SECTOR_BOUND 0.25f	/* of the least square: a texture counts that has half a fringe */
#define DARK 0.06f		/* of the least square: an eighth of the amplitude in light */
#define GAP 16			/* of a line: as long a dark part divides what is lit */

void
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

static int
start(struct shift_look *look)
{
	size_t n = look->fringe->n;
	bool good;

	look->grid = coarse_grid(look->in->head.w, look->in->head.h, PIXELS);
	look->sample = calloc(coarse_grid_pixels(&look->grid), n * sizeof(*look->sample));
	look->square = calloc(coarse_grid_pixels(&look->grid), sizeof(*look->square));
	look->share = calloc(look->grid.columns, ACROSS * sizeof(*look->share));
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
read_row(void *arg, size_t row)
{
	struct shift_look *look = arg;
	size_t n = look->fringe->n, y = row * look->grid.step;

	for (size_t column = 0; column < look->grid.columns; column++) {
		size_t x = column * look->grid.step + coarse_grid_shift(&look->grid, y);
		float *v = look->sample + (row * look->grid.columns + column) * n;
		float mean = 0, square = 0;
		bool counts = x < look->in->head.w;

		for (size_t i = 0; i < n && counts; i++) {
			v[i] = frame_sample(look->in, look->fringe->plane[i], y, x);
			counts = !phasewrap_missing(v[i]) && v[i] < look->max_value;
			mean += v[i] / (float)n;
		}
		for (size_t i = 0; i < n && counts; i++)
			square += (v[i] - mean) * (v[i] - mean) / (float)n;
		look->square[row * look->grid.columns + column] = counts ? square : 0;
	}
}

/* What a pixel must have to belong to the fringes: a quarter of what those in light have. */
static float
least_square(const struct shift_look *look, float least_amplitude)
{
	double least = 0;

	for (int round = 0; round < 2; round++) {
		double sum = 0, n = 0;

		for (size_t p = 0; p < coarse_grid_pixels(&look->grid); p++)
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

float
shift_look_dark(const struct shift_look *look, float least_amplitude)
{
	return fmaxf(look->least * DARK, least_amplitude * least_amplitude / 2);
}

/* Three and four images count on phases that are spread evenly, which a broken number of fringes is
 * not: a taper makes them so, over what is lit of each row and each column, for fringes on a round
 * part in the dark end as abruptly as at a border. Parts count one by one once the amplitudes are
 * known: before that pixels of some phases look dark. */
static void
find_taper(struct shift_look *look, float least_amplitude, bool known)
{
	float bound = shift_look_dark(look, least_amplitude);
	size_t w = look->grid.columns, h = look->grid.rows;

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

/* The share of place i of n that belongs to a block: all or nothing, or, where the blocks overlap,
 * one that falls smoothly to the middles of the next ones. */
static double
share_of(const struct shift_look *look, size_t block, size_t i, size_t n)
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
	struct shift_look *look = arg;
	struct shift_sums *sums = &look->block[b];
	size_t n = look->fringe->n;
	double own[SHIFT_IMAGES_MOST];

	for (size_t row = 0; row < look->grid.rows; row++) {
		double of_row = share_of(look, b / ACROSS, row, look->grid.rows);

		for (size_t column = 0; of_row > 0 && column < look->grid.columns; column++) {
			size_t p = row * look->grid.columns + column;
			const float *v = look->sample + p * n;
			double weight = of_row *
			    look->share[b % ACROSS * look->grid.columns + column];
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
sum_blocks(struct shift_look *look, struct run *run, bool overlap)
{
	look->overlap = overlap;
	for (size_t b = 0; b < ACROSS; b++)
		for (size_t column = 0; column < look->grid.columns; column++)
			look->share[b * look->grid.columns + column] =
			    share_of(look, b, column, look->grid.columns);
	clear_blocks(look);
	run_for(run, SHIFT_BLOCKS, sum_block, look);
}

double
shift_look_emptiest_sector(const struct shift_look *look, const struct phase_shift_fit *fit,
    size_t *used)
{
	size_t n = look->fringe->n, count[SECTORS] = { 0 }, least = SIZE_MAX;
	float bound = look->least * SECTOR_BOUND;

	*used = 0;
	for (size_t p = 0; p < coarse_grid_pixels(&look->grid); p++) {
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

struct weighing {
	struct shift_look *look;
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
	struct shift_look *look = weighing->look;
	size_t n = look->fringe->n;

	for (size_t p = row * look->grid.columns; p < (row + 1) * look->grid.columns; p++) {
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

int
shift_look_weigh(struct shift_look *look, struct run *run, const struct phase_shift_fit *fit,
    float least_amplitude, bool overlap)
{
	struct weighing weighing = { look, fit, look->least * SOFT };
	float least = look->least;

	if (!look->scale)
		look->scale = calloc(coarse_grid_pixels(&look->grid), sizeof(*look->scale));
	if (!look->scale)
		return fail_memory();
	run_for(run, look->grid.rows, weigh_row, &weighing);
	find_taper(look, least_amplitude, true);
	look->least = least_amplitude * least_amplitude / 2;
	sum_blocks(look, run, overlap);
	look->least = least;
	return 0;
}

int
shift_look_begin(struct shift_look *look, struct run *run, float least_amplitude)
{
	if (start(look) < 0)
		return -1;
	run_for(run, look->grid.rows, read_row, look);
	look->least = least_square(look, least_amplitude);
	if (look->taper)
		find_taper(look, least_amplitude, false);
	sum_blocks(look, run, false);
	return 0;
}
