/*
 * The loops that look at the pixels of a whole measurement before its rows are computed: which of
 * 2+1 images is the flat one, how much light each exposure has, the camera's noise, and, for
 * --shift auto, sums over the pixels and the ripple of the phase along lines. exposures.c, noise.c
 * and shift_search.c have the methods.
 */
#include "phasewrap.h"

#include <math.h>
#include <string.h>

#include "base/linear.h"
#include "base/px.h"
#include "phasewrap.px.h"

/* ---- the flat one of 2+1 images ---- */

/* NaN takes no part. */
static double
step(double a, double b)
{
	return isnan(a) || isnan(b) ? 0 : fabs(a - b);
}

#define ROUGHNESS(name, type) \
static double \
name(const type *image, const type *below, size_t w) \
{ \
	double sum = 0; \
 \
	for (size_t x = 0; x + 1 < w; x++) \
		sum += step(image[x + 1], image[x]); \
	for (size_t x = 0; below && x < w; x++) \
		sum += step(below[x], image[x]); \
	return sum; \
}
ROUGHNESS(roughness_uchar, uint8_t)
ROUGHNESS(roughness_ushort, uint16_t)
ROUGHNESS(roughness_float, float)

static void
roughness_of_row(void *arg, size_t y)
{
	const struct roughness *rough = arg;
	const struct frame *in = rough->in;
	const void *image = frame_row(in, rough->plane, y);
	const void *below = y + 1 < in->head.h ? frame_row(in, rough->plane, y + 1) : NULL;

	switch (in->head.type) {
	case SAMPLE_UCHAR:
		rough->row[y] = roughness_uchar(image, below, in->head.w);
		break;
	case SAMPLE_USHORT:
		rough->row[y] = roughness_ushort(image, below, in->head.w);
		break;
	case SAMPLE_FLOAT:
		rough->row[y] = roughness_float(image, below, in->head.w);
		break;
	}
}

/* ---- the light of exposures ---- */

#define SHARED_LEAST 16		/* pixels in fringes that are unsaturated in two exposures */

/* Rows begin at different columns, or a fringe would be seen at few phases. */
static size_t
first_column(const struct exposure_look *look, size_t y)
{
	return y / look->step * 5 % 8 * look->step / 8;
}

/* B cos phi and B sin phi of the first fringe set of an exposure; false: it is saturated or
 * missing. */
static bool
amplitude_of(const struct exposure_look *look, size_t e, size_t y, size_t x, double *c, double *s)
{
	const struct capture_fringe *fringe = exposure_fringe(look->wrap, e, 0);
	float first = frame_sample(look->in, fringe->plane[0], y, x);

	*c = *s = 0;
	for (size_t i = 0; i < fringe->n; i++) {
		float v = frame_sample(look->in, fringe->plane[i], y, x);

		if (phasewrap_missing(v) || !(v < look->wrap->limits.max_value))
			return false;
		*c += (double)(look->wrap->fit[0].weights[i].c * (v - first));
		*s += (double)(look->wrap->fit[0].weights[i].s * (v - first));
	}
	return true;
}

static double
exposure_level(const struct exposure_look *look, size_t plane)
{
	double sum = 0, n = 0;

	for (size_t y = 0; y < look->in->head.h; y += look->step)
		for (size_t x = first_column(look, y); x < look->in->head.w; x += look->step) {
			float v = frame_sample(look->in, plane, y, x);

			if (phasewrap_missing(v))
				continue;
			sum += (double)v;
			n++;
		}
	return n > 0 && sum > 0 ? sum / n : 1e-30;
}

static double
exposure_ratio(const struct exposure_look *look, size_t bright, size_t dark, double *moved_rad)
{
	double product = 0, across = 0, square = 0, most = 0;
	size_t n = 0;

	/* first the largest amplitude, then pixels of a quarter of it and more */
	for (int round = 0; round < 2; round++)
		for (size_t y = 0; y < look->in->head.h; y += look->step)
			for (size_t x = first_column(look, y); x < look->in->head.w;
			    x += look->step) {
				double c[2], s[2], own;

				if (!amplitude_of(look, bright, y, x, &c[0], &s[0]) ||
				    !amplitude_of(look, dark, y, x, &c[1], &s[1]))
					continue;
				own = c[0] * c[0] + s[0] * s[0];
				if (round == 0) {
					most = own > most ? own : most;
				} else if (own > 0 && own >= most / 16) {
					product += c[0] * c[1] + s[0] * s[1];
					across += c[0] * s[1] - s[0] * c[1];
					square += own;
					n++;
				}
			}
	*moved_rad = n >= SHARED_LEAST ? fabs(atan2(across, product)) : 0;
	return n >= SHARED_LEAST && product > 0 ? product / square : 0;
}

/* ---- the camera's noise from what the fit leaves ---- */

#define RATIO_MOST 1e3		/* of two amplitudes */

/* Least squares of A, B cos phi and B sin phi from the images that count. False: they determine
 * none. */
static bool
fit_used(struct noise_set *set)
{
	double m[3][3] = { { 0 } }, inverse[3][3], determinant = 0;

	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { 1, set->fit->model[i].cosine, set->fit->model[i].sine };

		for (size_t a = 0; a < 3 && set->use[i]; a++)
			for (size_t b = 0; b < 3; b++)
				m[a][b] += x[a] * x[b];
	}
	for (size_t a = 0; a < 3; a++)
		for (size_t b = 0; b < 3; b++) {
			size_t p = (a + 1) % 3, q = (a + 2) % 3, r = (b + 1) % 3, s = (b + 2) % 3;

			inverse[b][a] = m[p][r] * m[q][s] - m[p][s] * m[q][r];
		}
	for (size_t a = 0; a < 3; a++)
		determinant += m[0][a] * inverse[a][0];
	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { 1, set->fit->model[i].cosine, set->fit->model[i].sine };
		double v[3] = { 0 };

		for (size_t a = 0; a < 3 && set->use[i]; a++)
			for (size_t b = 0; b < 3; b++)
				v[a] += inverse[a][b] * x[b] / determinant;
		set->weights[i] = (struct phase_shift_weights){
			.mean = (float)(v[0] * (double)set->fringe->n), .c = (float)v[1],
			.s = (float)v[2] };
	}
	return determinant > 1e-3 * pow((double)set->used, 3);
}

/* Which images count in the pixel at (x, y) and its two neighbours. False: too few. */
static bool
choose_images(struct noise_set *set, const struct frame *in, size_t x, size_t y, bool down)
{
	const struct capture_fringe *fringe = set->fringe;

	set->used = 0;
	for (size_t i = 0; i < fringe->n; i++) {
		set->use[i] = true;
		for (size_t k = 0; k < 3; k++)
			set->use[i] &= frame_sample(in, fringe->plane[i], down ? y + k - 1 : y,
			    down ? x : x + k - 1) < set->wrap->limits.max_value;
		set->used += set->use[i];
	}
	if (set->used == fringe->n) {
		for (size_t i = 0; i < fringe->n; i++)
			set->weights[i] = set->fit->weights[i];
		return true;
	}
	return set->wrap->exposures.solves && set->used > 3 && fit_used(set);
}

/* False where a sample is missing or clipped, or there are no fringes. */
static bool
read_pixel(const struct noise_set *set, const struct frame *in, size_t x, size_t y,
    struct noise_pixel *pixel)
{
	const struct measurement_limits *limits = &set->wrap->limits;
	const struct capture_fringe *fringe = set->fringe;
	const struct phase_shift_fit *fit = set->fit;
	const struct phase_shift_weights *weights = set->weights;
	double first = (double)frame_sample(in, fringe->plane[0], y, x), rise = 0, c = 0, s = 0;
	double seen = 0;	/* the sum of the images that count */
	bool integer = in->head.type != SAMPLE_FLOAT;

	for (size_t i = 0; i < fringe->n; i++) {
		double v = (double)frame_sample(in, fringe->plane[i], y, x), d = v - first;

		if (!(fabs(v) < 1e30) || (integer && v == 0))
			return false;
		pixel->left[i] = d;
		seen += set->use[i] ? v : 0;
		rise += d * weights[i].mean / (double)fringe->n;
		c += d * weights[i].c;
		s += d * weights[i].s;
	}
	for (size_t i = 0; i < fringe->n; i++)
		pixel->left[i] = set->use[i] ? pixel->left[i] - rise -
		    c * fit->model[i].cosine - s * fit->model[i].sine : 0;
	pixel->level = set->used == fringe->n ? first + rise : seen / (double)set->used;
	pixel->amplitude = hypot(c, s);
	return pixel->amplitude > 0 && pixel->amplitude >= limits->least_amplitude * set->gain &&
	    first + rise >= limits->least_mean * set->gain;
}

/* The variance at the pixel at (x, y), from it and its neighbours on both sides. False where one of
 * them is of no use. */
static bool
measure(struct noise_set *set, const struct frame *in, size_t x, size_t y,
    struct noise_pixel three[3], struct phase_noise_sample *sample)
{
	const struct capture_fringe *fringe = set->fringe;
	bool down = fringe->axis == 'x';
	double squares = 0, weights = 0, levels = 0, share[3];

	if (!choose_images(set, in, x, y, down))
		return false;
	for (size_t k = 0; k < 3; k++)
		if (!read_pixel(set, in, down ? x : x + k - 1, down ? y + k - 1 : y,
		    &three[k]))
			return false;
	for (size_t k = 0; k < 3; k++) {
		share[k] = k == 1 ? -2 : fmin(three[1].amplitude / three[k].amplitude, RATIO_MOST);
		weights += share[k] * share[k];
		levels += share[k] * share[k] * three[k].level;
	}
	for (size_t i = 0; i < fringe->n; i++) {
		double d = share[0] * three[0].left[i] + share[1] * three[1].left[i] +
		    share[2] * three[2].left[i];

		squares += d * d;
	}
	sample->level = (float)(levels / weights);
	sample->variance = (float)(squares / weights / (double)(set->used - 3));
	return true;
}

static size_t
noise_of_set(struct noise_set *set, const struct frame *in, size_t step,
    struct noise_pixel three[3], struct phase_noise_sample *sample)
{
	size_t n = 0;

	for (size_t y = 1 + step / 2; y + 1 < in->head.h; y += step)
		for (size_t x = 1 + step / 2; x + 1 < in->head.w; x += step)
			n += measure(set, in, x, y, three, &sample[n]);
	return n;
}

/* ---- --shift auto: which pixels count, how much, and the sums over them ---- */

#define SECTORS 8		/* of the circle of phases */
#define SECTOR_BOUND 0.25f	/* of the least square: a texture of half a fringe counts */
#define GAP 16			/* a dark part of 1 / GAP of a line divides what is lit */

static void
look_row(void *arg, size_t row)
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

/* A pixel belongs to the fringes from a quarter of the mean square in light on. */
static float
look_least(const struct shift_look *look, float least_amplitude)
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

/* Weighs n pixels, `apart` in the picture, with a taper from 1 in the middle of a lit part to 0 at
 * its ends and outside. Two lit neighbours begin a part, as a single one may be noise; `gap` dark
 * pixels end it. */
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

/* Three and four images need phases that are spread evenly, which those of a broken number of
 * fringes are not. A taper makes them so, over the lit part of each row and each column, as fringes
 * on a part in the dark end as abruptly as at a border. Once the amplitudes are known each lit part
 * has its own taper; before, pixels of some phases look dark. */
static void
look_taper(struct shift_look *look, float least_amplitude, bool known)
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

/* The share of place i of n that belongs to a block: all or nothing, or, where the blocks overlap,
 * one that falls smoothly to the middles of the next ones. */
static double
share_of(const struct shift_look *look, size_t block, size_t i, size_t n)
{
	double at, apart, c;

	if (!look->overlap)
		return i >= block * n / SHIFT_BLOCKS_ACROSS &&
		    i < (block + 1) * n / SHIFT_BLOCKS_ACROSS;
	at = ((double)i + 0.5) / (double)n * SHIFT_BLOCKS_ACROSS - 0.5;
	at = fmin(fmax(at, 0), SHIFT_BLOCKS_ACROSS - 1);
	apart = fabs(at - (double)block);
	c = apart < 1 ? cos(M_PI / 2 * apart) : 0;
	return c * c;
}

static void
look_share(struct shift_look *look)
{
	for (size_t b = 0; b < SHIFT_BLOCKS_ACROSS; b++)
		for (size_t column = 0; column < look->grid.columns; column++)
			look->share[b * look->grid.columns + column] =
			    share_of(look, b, column, look->grid.columns);
}

static void
look_block(void *arg, size_t b)
{
	struct shift_look *look = arg;
	struct shift_sums *sums = &look->block[b];
	size_t n = look->fringe->n;
	double own[SHIFT_IMAGES_MOST];

	for (size_t row = 0; row < look->grid.rows; row++) {
		double of_row = share_of(look, b / SHIFT_BLOCKS_ACROSS, row, look->grid.rows);

		for (size_t column = 0; of_row > 0 && column < look->grid.columns; column++) {
			size_t p = row * look->grid.columns + column;
			const float *v = look->sample + p * n;
			double weight = of_row *
			    look->share[b % SHIFT_BLOCKS_ACROSS * look->grid.columns + column];
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

static double
look_emptiest_sector(const struct shift_look *look, const struct phase_shift_fit *fit,
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

/* Each pixel's fringes are taken over the amplitude that the shifts found give it, so that its
 * share in the sums depends neither on its amplitude nor on its phase. Where the mean square is
 * below `soft` the share falls to nothing; with a sharp bound a texture near it would count at some
 * phases only. */
static void
look_weigh(void *arg, size_t row)
{
	const struct shift_weighing *weighing = arg;
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

/* ---- --shift auto: the ripple of the phase along lines ---- */

enum moment { ONE, PLACE, COSINE = RIPPLE_POWERS, SINE, PHASE, MOMENTS };

#define LEAST_TURNS 1.0		/* of the phase along a piece */
#define LEAST_PLACES 8		/* of a piece, with second differences */
#define STEEP_RAD 1.5		/* a second difference of more is a step of the surface */

static void
ripple_read(void *arg, size_t k)
{
	const struct ripple_lines *lines = arg;
	const struct ripple_line *line = &lines->line[k];

	for (size_t i = 0; i < line->n; i++) {
		float *v = lines->sample + (line->first + i) * lines->images;
		bool counts = true;

		for (size_t m = 0; m < lines->images && counts; m++) {
			v[m] = frame_sample(lines->in, lines->fringe->plane[m],
			    line->column ? i : line->at, line->column ? line->at : i);
			counts = !phasewrap_missing(v[m]) && v[m] < lines->max_value;
		}
		if (!counts)
			v[0] = NAN;
	}
}

/* The phases of a line, by the shifts at hand. */
static void
find_phase(const struct ripple_lines *lines, const struct ripple_line *line)
{
	for (size_t p = line->first; p < line->first + line->n; p++) {
		const float *v = lines->sample + p * lines->images;
		double c = 0, s = 0, square;

		for (size_t m = 1; m < lines->images; m++) {
			c += lines->weight[0][m] * (double)(v[m] - v[0]);
			s += lines->weight[1][m] * (double)(v[m] - v[0]);
		}
		square = c * c + s * s;
		if (!(square / 2 >= (double)lines->least_square) || !(square > 0)) {
			lines->phase[p] = NAN;
			continue;
		}
		lines->phase[p] = (float)atan2(s, c);
		lines->cosine[p] = (float)((c * c - s * s) / square);
		lines->sine[p] = (float)(2 * c * s / square);
	}
}

static double
second_difference(const float *v, size_t lag)
{
	return (double)v[2 * lag] - 2 * (double)v[lag] + (double)v[0];
}

/* Takes moment k, and what is in proportion to it, out of the following ones. */
static void
eliminate(double m[MOMENTS][MOMENTS], size_t k)
{
	for (size_t a = k + 1; a < MOMENTS; a++)
		for (size_t b = k + 1; b < MOMENTS; b++)
			m[a][b] -= m[k][k] > 0 ? m[k][a] * m[k][b] / m[k][k] : 0;
}

/* Adds a piece of n pixels that all have a phase. */
static void
add_piece(const struct ripple_lines *lines, size_t first, size_t n, struct ripple_sums *sums)
{
	const float *phase = lines->phase + first;
	double turns = 0, m[MOMENTS][MOMENTS] = { { 0 } };
	size_t lag;

	for (size_t i = 1; i < n; i++)
		turns += remainder((double)(phase[i] - phase[i - 1]), 2 * M_PI) / (2 * M_PI);
	turns = fabs(turns);
	if (!(turns >= LEAST_TURNS))
		return;
	lag = (size_t)fmax(1, round((double)n / turns / 4));
	for (size_t i = 0; i + 2 * lag < n; i++) {
		double x = 2 * (double)(i + lag) / (double)n - 1;
		double row[MOMENTS] = { 1, x, x * x,
			second_difference(lines->cosine + first + i, lag),
			second_difference(lines->sine + first + i, lag),
			remainder(second_difference(phase + i, lag), 2 * M_PI) };

		for (size_t a = 0; a < MOMENTS && fabs(row[PHASE]) < STEEP_RAD; a++)
			for (size_t b = 0; b < MOMENTS; b++)
				m[a][b] += row[a] * row[b];
	}
	if (m[ONE][ONE] < LEAST_PLACES)
		return;
	sums->n += m[ONE][ONE];
	sums->turns += m[ONE][ONE] * turns;
	for (size_t k = 0; k < RIPPLE_POWERS; k++) {
		eliminate(m, k);
		for (size_t a = 0; a < 3; a++)
			for (size_t b = 0; b < 3; b++)
				sums->product[k][a][b] += m[COSINE + a][COSINE + b];
	}
}

static void
ripple_sum(void *arg, size_t k)
{
	const struct ripple_lines *lines = arg;
	struct ripple_line *line = &lines->line[k];
	size_t end = line->first + line->n;

	find_phase(lines, line);
	line->sums = (struct ripple_sums){ 0 };
	for (size_t p = line->first; p < end;) {
		size_t first = p;

		while (p < end && !px_isnan(lines->phase[p]))
			p++;
		if (p > first)
			add_piece(lines, first, p - first, &line->sums);
		else
			p++;
	}
}

static void
ripple_constant(const struct ripple_lines *lines, double constant[FOUR])
{
	double gram[FOUR * FOUR] = { 0 }, mean[FOUR] = { 0 }, value[FOUR], vector[FOUR * FOUR];
	double n = 0, trace = 0;

	for (size_t p = 0; p < lines->pixels; p++) {
		double d[FOUR], c = 0, s = 0, amplitude;

		if (px_isnan(lines->phase[p]))
			continue;
		for (size_t a = 0; a < FOUR; a++) {
			d[a] = (double)(lines->sample[p * FOUR + a] - lines->sample[p * FOUR]);
			c += lines->weight[0][a] * d[a];
			s += lines->weight[1][a] * d[a];
		}
		amplitude = hypot(c, s);
		for (size_t a = 0; a < FOUR; a++) {
			d[a] /= amplitude;
			mean[a] += d[a];
		}
		for (size_t a = 0; a < FOUR * FOUR; a++)
			gram[a] += d[a / FOUR] * d[a % FOUR];
		n++;
	}
	for (size_t a = 0; a < FOUR * FOUR && n > 0; a++)
		gram[a] -= mean[a / FOUR] * mean[a % FOUR] / n;
	for (size_t a = 0; a < FOUR; a++)
		trace += gram[a * (FOUR + 1)];
	/* the sum of all images is another such combination: it must not be the least */
	for (size_t a = 0; a < FOUR * FOUR; a++)
		gram[a] += trace;
	symmetric_eigen(FOUR, gram, value, vector);
	memcpy(constant, vector + FOUR * (FOUR - 1), FOUR * sizeof(*constant));
}

const struct survey_rows AT_LEVEL(survey_rows) = {
	.roughness = roughness_of_row,
	.exposure_level = exposure_level,
	.exposure_ratio = exposure_ratio,
	.noise_of_set = noise_of_set,
	.look_row = look_row,
	.look_least = look_least,
	.look_taper = look_taper,
	.look_share = look_share,
	.look_block = look_block,
	.look_weigh = look_weigh,
	.look_emptiest_sector = look_emptiest_sector,
	.ripple_read = ripple_read,
	.ripple_sum = ripple_sum,
	.ripple_constant = ripple_constant,
};
