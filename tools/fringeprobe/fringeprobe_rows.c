/*
 * The loops of fringeprobe: over the pixels of images, and over the lines of samples that are kept
 * of them. Only pixels that change as fringes do, the lit ones, count.
 */
#include "fringeprobe.h"

#include <float.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "fringe/step_search.h"

/* ---- images ---- */

/* NaN where it is no level. */
static float
sample_at(const void *row, enum sample type, size_t x)
{
	float v = frame_sample_in(type, row, x);

	return fabsf(v) < 1e30f ? v : NAN;
}

/* The largest sample, and how many are as large. */
static void
find_max(const struct frame *frame, size_t c, struct image *image)
{
	double max = -INFINITY, at = 0;

	for (size_t y = 0; y < frame->head.h; y++) {
		const void *row = frame_row(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x++) {
			double v = (double)sample_at(row, frame->head.type, x);

			if (v > max) {
				max = v;
				at = 0;
			}
			at += v == max;
		}
	}
	image->max = max;
	image->share_max = at / ((double)frame->head.w * (double)frame->head.h);
}

/* Line l of n that are spread evenly over a length. */
static size_t
line_at(size_t l, size_t n, size_t length)
{
	return (2 * l + 1) * length / (2 * n);
}

static void
image_sample(const struct frame *frame, size_t c, struct image *image)
{
	size_t w = frame->head.w, h = frame->head.h;
	size_t rows = image->lines[0], columns = image->lines[1];

	for (size_t l = 0; l < rows; l++) {
		const void *row = frame_row(frame, c, line_at(l, rows, h));

		for (size_t x = 0; x < w; x++)
			image->line[0][l * w + x] = sample_at(row, frame->head.type, x);
	}
	for (size_t y = 0; y < h; y++) {
		const void *row = frame_row(frame, c, y);

		for (size_t l = 0; l < columns; l++)
			image->line[1][l * h + y] =
			    sample_at(row, frame->head.type, line_at(l, columns, w));
	}
	find_max(frame, c, image);
}

/* The mean of the samples about each one that are no NaN, NaN where it is one. */
static void
image_smooth_line(const float *from, size_t length, float *to)
{
	for (size_t x = 0; x < length; x++) {
		size_t half = IMAGES_SMOOTH / 2;
		size_t first = x < half ? 0 : x - half;
		size_t end = x + half + 1 < length ? x + half + 1 : length;
		float sum = 0, n = 0;

		for (size_t k = first; k < end; k++)
			if (!isnan(from[k])) {
				sum += from[k];
				n++;
			}
		to[x] = isnan(from[x]) ? NAN : sum / n;
	}
}

/* ---- fields: which pixels change as fringes do ---- */

#define LIT_SHARE 0.2f	/* of the range that one in ten pixels exceeds, */
#define SMALL_LIT_FACTOR 12	/* or one in 100, if that is this many times as large */
#define MIN_RANGE_SHARE 0.008f	/* of the largest sample: less is noise */
#define MIN_TRIMMED_IMAGES 8	/* this many images: extremes do not count, one may be a photo */

/* The middle and half of the range of pixel p, without the extremes of many. */
static void
find_range(const struct field *field, size_t p, float *mid, float *half)
{
	float low[2] = { FLT_MAX, FLT_MAX }, high[2] = { -FLT_MAX, -FLT_MAX };
	int trim = field->n >= MIN_TRIMMED_IMAGES;

	for (size_t i = 0; i < field->n; i++) {
		float v = field->v[i][p];

		if (!(fabsf(v) < 1e30f)) {
			*mid = *half = NAN;
			return;
		}
		if (v < low[0]) {
			low[1] = low[0];
			low[0] = v;
		} else if (v < low[1]) {
			low[1] = v;
		}
		if (v > high[0]) {
			high[1] = high[0];
			high[0] = v;
		} else if (v > high[1]) {
			high[1] = v;
		}
	}
	*mid = (low[trim] + high[trim]) / 2;
	*half = (high[trim] - low[trim]) / 2;
}

/* Which pixels change as fringes do. */
static void
find_lit(struct field *field)
{
	float *sorted = field->scratch;
	size_t pixels = field->lines * field->length, n = 0, rank[2];
	float most = 0, range[2], limit;

	for (size_t p = 0; p < pixels; p++)
		if (field->half[p] >= 0) {
			sorted[n++] = field->half[p];
			most = fmaxf(most, fabsf(field->mid[p]) + field->half[p]);
		}
	if (n == 0)
		return;
	rank[0] = n * 9 / 10;
	rank[1] = n * 99 / 100;
	numbers_ranks(sorted, n, rank, 2, range);
	limit = fmaxf(LIT_SHARE * range[range[1] > SMALL_LIT_FACTOR * range[0]],
	    MIN_RANGE_SHARE * most);
	for (size_t p = 0; p < pixels; p++) {
		field->lit[p] = field->half[p] > limit;
		field->lit_pixels += field->lit[p];
	}
}

static void
field_measure(struct field *field)
{
	for (size_t p = 0; p < field->lines * field->length; p++)
		find_range(field, p, &field->mid[p], &field->half[p]);
	find_lit(field);
}

/* ---- carriers: an image's fringes, by where it crosses the middle ---- */

#define HYSTERESIS_SHARE 0.25f	/* of half the range, on both sides of the middle */
#define MAX_GAP_PX 4			/* unlit pixels that end a run */
#define MIDDLE_SHARE 0.5f	/* |v - mid| / half: less is neither bright nor dark */

/* One line's way through bright and dark. */
struct walk {
	const float *v, *mid, *half;
	float *theta;
	float scale;			/* of (v - mid) / half: the image's own contrast */
	int side;			/* 1 bright, -1 dark, 0 not known yet */
	float at;			/* of the last pixel beyond the middle's hysteresis */
	float t;			/* and its value */
	double crossing;		/* place of the last crossing; NaN: none in this run */
	double phase;			/* there */
	size_t crossings;
};

static void
walk_break(struct walk *walk)
{
	walk->side = 0;
	walk->crossing = (double)NAN;
}

/* A crossing between the last pixel on the other side and pixel x; theta between it and the
 * crossing before grows by half a turn. */
static void
walk_cross(struct walk *walk, size_t x, float t)
{
	double share = (double)(walk->t / (walk->t - t));
	double here = (double)walk->at + share * ((double)x - (double)walk->at);

	if (isnan(walk->crossing)) {
		walk->phase = t > 0 ? -M_PI / 2 : M_PI / 2;
	} else {
		double slope = M_PI / (here - walk->crossing);

		for (size_t p = (size_t)ceil(walk->crossing); (double)p <= here; p++)
			walk->theta[p] = (float)(walk->phase +
			    slope * ((double)p - walk->crossing));
		walk->phase += M_PI;
	}
	walk->crossing = here;
	walk->crossings++;
}

static void
walk_step(struct walk *walk, size_t x, struct carrier *carrier)
{
	float t = (walk->v[x] - walk->mid[x]) / walk->half[x] / walk->scale;
	int side = t > HYSTERESIS_SHARE ? 1 : t < -HYSTERESIS_SHARE ? -1 : 0;

	carrier->level += (double)(t * walk->scale);
	carrier->between += fabsf(t) < MIDDLE_SHARE;
	if (!side)
		return;
	if (walk->side && side != walk->side)
		walk_cross(walk, x, t);
	walk->side = side;
	walk->at = (float)x;
	walk->t = t;
}

/* What six in seven of the lit pixels do not exceed: 0.97 of the amplitude of a sinusoid. */
static float
find_scale(const struct field *field, size_t image)
{
	float *t = field->scratch;
	size_t pixels = field->lines * field->length, n = 0, rank;
	float scale = 1;

	for (size_t p = 0; p < pixels; p++)
		if (field->lit[p])
			t[n++] = fabsf(field->v[image][p] - field->mid[p]) / field->half[p];
	rank = n * 6 / 7;
	if (n)
		numbers_ranks(t, n, &rank, 1, &scale);
	return scale > 0.05f ? scale : 0.05f;
}

static size_t
walk_line(const struct field *field, size_t image, size_t l, float scale, struct carrier *carrier)
{
	size_t first = l * field->length, dark = 0, lit = 0;
	struct walk walk = { field->v[image] + first, field->mid + first, field->half + first,
		carrier->theta + first, scale, 0, 0, 0, (double)NAN, 0, 0 };

	for (size_t x = 0; x < field->length; x++) {
		walk.theta[x] = NAN;
		if (field->lit[first + x]) {
			lit++;
			dark = 0;
			walk_step(&walk, x, carrier);
		} else if (++dark == MAX_GAP_PX) {
			walk_break(&walk);
		}
	}
	carrier->per_line += (double)walk.crossings;
	return lit;
}

static void
carrier_measure(const struct field *field, size_t image, struct carrier *out)
{
	size_t pixels = field->lines * field->length, lit_lines = 0;
	double lit = (double)field->lit_pixels;
	float scale = find_scale(field, image);

	out->contrast = (double)scale;
	for (size_t l = 0; l < field->lines; l++)
		lit_lines += walk_line(field, image, l, scale, out) > 0;
	for (size_t p = 0; p < pixels; p++)
		out->known += !isnan(out->theta[p]);
	if (lit > 0) {
		out->density = out->per_line / lit;
		out->between /= lit;
		out->level /= lit;
		out->known /= lit;
		out->per_line /= (double)lit_lines;
	}
}

/* ---- growth: how one phase grows with another ---- */

/* Of a line: sums about the means of its runs; a ratio and its weight. */
struct line_sums {
	double aa, ab;
};

struct line_ratio {
	double ratio, weight;
};

/* Sums over one run of pixels. */
struct run_sums {
	double n, a, b, aa, ab;
};

static void
close_run(struct run_sums *run, struct line_sums *line)
{
	if (run->n > 1) {
		line->aa += run->aa - run->a * run->a / run->n;
		line->ab += run->ab - run->a * run->b / run->n;
	}
	*run = (struct run_sums){ 0 };
}

static void
sum_line(size_t length, const float *reference, const float *phase, struct line_sums *line,
    struct growth *out, double *re, double *im)
{
	struct run_sums run = { 0 };

	for (size_t x = 0; x < length; x++) {
		double a = (double)reference[x], b = (double)phase[x];

		if (isnan(a) || isnan(b)) {
			close_run(&run, line);
			continue;
		}
		run.n++;
		run.a += a;
		run.b += b;
		run.aa += a * a;
		run.ab += a * b;
		out->shared++;
		*re += cos(b - a);
		*im += sin(b - a);
	}
	close_run(&run, line);
}

static int
compare_ratios(const void *a, const void *b)
{
	const struct line_ratio *x = a, *y = b;

	return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* The weighted median; sorts the list. */
static double
median_ratio(struct line_ratio *list, size_t n, double weight)
{
	double sum = 0;

	qsort(list, n, sizeof(*list), compare_ratios);
	for (size_t l = 0; l < n; l++) {
		sum += list[l].weight;
		if (2 * sum >= weight)
			return list[l].ratio;
	}
	return (double)NAN;
}

/* Products of residuals two pixels apart, about the mean of the run from x on; its end. */
static size_t
add_run(size_t x, size_t length, const float *reference, const float *phase, double ratio,
    double *common, double *pixels)
{
	double mean = 0;
	size_t end = x;

	for (; end < length && !isnan(reference[end]) && !isnan(phase[end]); end++)
		mean += (double)phase[end] - ratio * (double)reference[end];
	mean /= (double)(end - x);
	for (size_t p = x + 2; p < end; p++)
		*common += ((double)phase[p] - ratio * (double)reference[p] - mean) *
		    ((double)phase[p - 2] - ratio * (double)reference[p - 2] - mean);
	*pixels += (double)(end - x);
	return end;
}

/* The error of a line's ratio by its residuals that are no noise: those two pixels apart have them
 * in common. Of harmonics there are six independent ones in a fringe. */
static double
line_wobble(size_t length, const float *reference, const float *phase, const struct line_sums *line)
{
	double ratio = line->ab / line->aa, common = 0, pixels = 0, spread;

	for (size_t x = 0; x < length;)
		if (isnan(reference[x]) || isnan(phase[x]))
			x++;
		else
			x = add_run(x, length, reference, phase, ratio, &common, &pixels);
	spread = sqrt(line->aa / pixels);
	return common > 0 ?
	    sqrt(common / pixels / (6 * spread * sqrt(12) / (2 * M_PI))) / spread : 0;
}

/* A line in which a fringe was lost counts no more than others: medians over lines. */
static void
find_ratio(size_t lines, size_t length, const float *reference, const float *phase,
    const struct line_sums *line, struct growth *out)
{
	struct line_ratio ratio[IMAGES_LINES], wobble[IMAGES_LINES];
	double weight = 0;
	size_t n = 0;

	for (size_t l = 0; l < lines; l++) {
		const size_t at = l * length;

		if (!(line[l].aa > 0))
			continue;
		ratio[n] = (struct line_ratio){ line[l].ab / line[l].aa, line[l].aa };
		wobble[n] = (struct line_ratio){ line_wobble(length, reference + at, phase + at,
		    &line[l]), line[l].aa };
		weight += line[l].aa;
		n++;
	}
	out->ratio = median_ratio(ratio, n, weight);
	for (size_t l = 0; l < n; l++)
		ratio[l].ratio = fabs(ratio[l].ratio - out->ratio);
	out->error = 1.86 * median_ratio(ratio, n, weight) / sqrt((double)n);
	out->wobble = median_ratio(wobble, n, weight);
	out->spread = sqrt(weight / out->shared);
}

static void
growth_find(size_t lines, size_t length, const float *reference, const float *phase,
    struct growth *out)
{
	struct line_sums line[IMAGES_LINES] = { 0 };
	double re = 0, im = 0;

	*out = (struct growth){ .ratio = (double)NAN, .error = (double)NAN };
	for (size_t l = 0; l < lines; l++)
		sum_line(length, reference + l * length, phase + l * length, &line[l], out, &re,
		    &im);
	if (out->shared > 0) {
		out->offset = atan2(im, re);
		out->coherence = hypot(re, im) / out->shared;
		find_ratio(lines, length, reference, phase, line, out);
	}
}

static void
field_unwrap(size_t lines, size_t length, float most, float *phase)
{
	for (size_t l = 0; l < lines; l++) {
		float last = NAN, turns = 0;

		for (size_t x = 0; x < length; x++) {
			float *at = &phase[l * length + x], wrapped = *at, step;

			if (isnan(wrapped)) {
				last = NAN;
				continue;
			}
			step = isnan(last) ? 0 : wrapped - last;
			turns -= roundf(step / (2 * (float)M_PI));
			step -= 2 * (float)M_PI * roundf(step / (2 * (float)M_PI));
			*at = fabsf(step) > most ? NAN : wrapped + 2 * (float)M_PI * turns;
			last = wrapped;
		}
	}
}

/* ---- steps: least squares of I = A + B cos(phase + shift) ---- */

#define SHIFT_PIXELS 4000	/* about as many pixels determine the shifts */
#define MAX_GAIN_ERROR 0.35	/* the amplitude of an image may be off by this share */
#define MIN_AMPLITUDE_SHARE 0.25f	/* of the median amplitude: less is no fringe */

struct weights {		/* of the images: A, B cos phase, B sin phase */
	double k[3][STEPS_MOST];
};

static void
fit_pixel(const struct field *field, const struct steps *steps, const struct weights *weights,
    size_t p, double fit[3])
{
	fit[0] = fit[1] = fit[2] = 0;
	for (size_t i = 0; i < steps->n; i++) {
		double v = (double)field->v[steps->image[i]][p];

		for (int a = 0; a < 3; a++)
			fit[a] += weights->k[a][i] * v;
	}
}

/* Every step-th pixel, so that they are not too many. */
static size_t
pixel_step(const struct field *field)
{
	size_t step = field->lit_pixels / SHIFT_PIXELS;

	return step | 1;	/* odd: not the same column in every line */
}

static void
steps_gram(const struct field *field, const struct steps *steps)
{
	size_t n = steps->n, seen = 0, step = pixel_step(field);
	double *gram = field->gram;

	for (size_t i = 0; i < n * n; i++)
		gram[i] = 0;
	for (size_t p = 0; p < field->lines * field->length; p++) {
		double v[STEPS_MOST];

		if (!field->lit[p] || seen++ % step)
			continue;
		for (size_t i = 0; i < n; i++)
			v[i] = (double)field->v[steps->image[i]][p];
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++)
				gram[i * n + j] += v[i] * v[j];
	}
}

static double
median(float *v, size_t n)
{
	size_t rank = n / 2;
	float out = NAN;

	if (n)
		numbers_ranks(v, n, &rank, 1, &out);
	return (double)out;
}

static void
steps_measure(const struct field *field, struct steps *steps)
{
	struct weights weights;
	size_t pixels = field->lines * field->length, seen = 0, step = pixel_step(field), n = 0;
	float *mean = field->scratch, *amplitude = mean + pixels, *modulation = amplitude + pixels;
	double squares = 0, left[STEPS_MOST] = { 0 };

	steps->pixels = 0;
	steps->residual = steps->noise = steps->amplitude = (double)NAN;
	if (!step_search_weights(steps->shift_rad, steps->n, weights.k))
		return;
	for (int round = 0; round < 2; round++) {
		seen = n = 0;
		for (size_t p = 0; p < pixels; p++) {
			double fit[3], b, off = 0;

			if (!field->lit[p] || seen++ % step)
				continue;
			fit_pixel(field, steps, &weights, p, fit);
			b = hypot(fit[1], fit[2]);
			if (!(b > (double)MIN_AMPLITUDE_SHARE * (round ? steps->amplitude : 0)))
				continue;
			mean[n] = (float)fit[0];
			amplitude[n] = (float)b;
			modulation[n++] = (float)(b / fit[0]);
			for (size_t i = 0; round && i < steps->n; i++) {
				double d = (double)field->v[steps->image[i]][p] - fit[0] -
				    fit[1] * cos(steps->shift_rad[i]) +
				    fit[2] * sin(steps->shift_rad[i]);

				off += d * d;
				left[i] += d * d / (b * b);
			}
			squares += off / (b * b);
		}
		steps->amplitude = median(amplitude, n);
	}
	steps->pixels = n * step;
	steps->mean = median(mean, n);
	steps->modulation = median(modulation, n);
	for (size_t i = 0; i < steps->n; i++)
		steps->misfit[i] = sqrt(left[i] / (double)n);
	if (steps->n > 3) {
		steps->residual = sqrt(squares / (double)n / (double)(steps->n - 3));
		steps->noise = steps->residual * steps->amplitude;
	}
}

/* Normal equations of an image's cosine and sine of the shift, over some pixels. */
struct shift_sums {
	double cc, cs, ss, cv, sv, vv, n;
};

static void
add_pixel(struct shift_sums *sums, const double fit[3], double v)
{
	double b = hypot(fit[1], fit[2]), c = fit[1] / b, s = fit[2] / b;

	v = (v - fit[0]) / b;
	sums->cc += c * c;
	sums->cs += c * s;
	sums->ss += s * s;
	sums->cv += c * v;
	sums->sv += s * v;
	sums->vv += v * v;
	sums->n++;
}

/* The shift; the gain, and the rms of what is left. */
static double
solve_shift(const struct shift_sums *sums, double *gain, double *left)
{
	double det = sums->cc * sums->ss - sums->cs * sums->cs;
	double c = (sums->ss * sums->cv - sums->cs * sums->sv) / det;
	double s = (sums->cc * sums->sv - sums->cs * sums->cv) / det;

	*gain = hypot(c, s);
	*left = sqrt(fmax(0, sums->vv - c * sums->cv - s * sums->sv) / sums->n);
	return atan2(-s, c);
}

static double
steps_try(const struct field *field, const struct steps *steps, size_t image, double *shift_rad,
    double *drift_rad)
{
	struct weights weights;
	struct shift_sums all = { 0 }, half[2] = { { 0 } };
	size_t pixels = field->lines * field->length, seen = 0, step = pixel_step(field);
	double gain, left, ignored;

	if (!step_search_weights(steps->shift_rad, steps->n, weights.k))
		return (double)NAN;
	for (size_t p = 0; p < pixels; p++) {
		double fit[3], v = (double)field->v[image][p];

		if (!field->lit[p] || seen++ % step)
			continue;
		fit_pixel(field, steps, &weights, p, fit);
		if (!(hypot(fit[1], fit[2]) > (double)MIN_AMPLITUDE_SHARE * steps->amplitude))
			continue;
		add_pixel(&all, fit, v);
		add_pixel(&half[2 * (p % field->length) >= field->length], fit, v);
	}
	*drift_rad = remainder(solve_shift(&half[1], &ignored, &ignored) -
	    solve_shift(&half[0], &ignored, &ignored), 2 * M_PI);
	if (isnan(*drift_rad))		/* one half has no fringes */
		*drift_rad = 0;
	*shift_rad = solve_shift(&all, &gain, &left);
	return fabs(gain - 1) < MAX_GAIN_ERROR ? left : (double)NAN;
}

static void
steps_fill(const struct field *field, const struct steps *steps, float *phase, float *mean,
    float *amplitude)
{
	struct weights weights;
	double least = (double)MIN_AMPLITUDE_SHARE * steps->amplitude;
	bool determined = step_search_weights(steps->shift_rad, steps->n, weights.k);

	for (size_t p = 0; p < field->lines * field->length; p++) {
		double fit[3] = { 0 }, b = 0;
		bool lit;

		if (determined) {
			fit_pixel(field, steps, &weights, p, fit);
			b = hypot(fit[1], fit[2]);
		}
		lit = field->lit[p] && b > least;
		if (phase)
			phase[p] = lit ? (float)atan2(fit[2], fit[1]) : NAN;
		if (mean)
			mean[p] = lit ? (float)fit[0] : NAN;
		if (amplitude)
			amplitude[p] = (float)b;
	}
}

/* ---- sets and their phases ---- */

#define MAX_BROKEN_SHARE 0.2	/* share of pixels at which a rough set's phase is broken */

static bool
fringe_set_period(const struct field *field, struct fringe_set *set)
{
	double grown = 0, pixels = 0;
	size_t lines = 0;

	for (size_t l = 0; l < field->lines; l++) {
		const float *phase = set->phase + l * field->length;
		bool any = false;

		for (size_t x = 1; x < field->length; x++)
			if (!isnan(phase[x - 1]) && !isnan(phase[x])) {
				grown += (double)(phase[x] - phase[x - 1]);
				pixels++;
				any = true;
			}
		lines += any;
	}
	set->period_px = pixels > 0 ? 2 * M_PI * pixels / fabs(grown) : (double)NAN;
	set->fringes = lines ? fabs(grown) / (2 * M_PI) / (double)lines : 0;
	return grown >= 0;
}

static bool
fringe_set_rough(const struct field *field, const struct fringe_set *set)
{
	size_t steps = 0, broken = 0;

	for (size_t p = 1; p < field->lines * field->length; p++)
		if (p % field->length && !isnan(set->mean[p]) && !isnan(set->mean[p - 1])) {
			steps++;
			broken += isnan(set->phase[p]);
		}
	return steps == 0 || (double)broken > MAX_BROKEN_SHARE * (double)steps;
}

static double
mean_difference(const struct field *field, const float *a, const float *b)
{
	double squares = 0, n = 0;

	for (size_t p = 0; p < field->lines * field->length; p++)
		if (!isnan(a[p]) && !isnan(b[p])) {
			squares += (double)((a[p] - b[p]) * (a[p] - b[p]));
			n++;
		}
	return n >= FRINGE_SET_PIXELS_LEAST ? sqrt(squares / n) : (double)NAN;
}

/* ---- 2+1: a circle about the flat image ---- */

#define MAX_RADIUS_SCATTER 0.3	/* rms, of the mean radius, at most */
#define MAX_ELLIPTICITY 0.25		/* three equal steps have 0.5 */
#define MAX_CENTRE_OFFSET 0.25	/* of the radius: the centre may be so far off the flat image */
#define MIN_SECTOR_SHARE 0.05	/* share of the pixels in each sector, at least */

#define SECTORS 8		/* of a circle */

/* Sums over the pixels that should lie on a circle. */
struct circle {
	double x, y, r, rr, xx, xy, n, amplitude, mean;
	double sector[SECTORS];
};

static void
add_to_circle(struct circle *circle, double sine, double cosine, double flat)
{
	double x = cosine / flat, y = sine / flat;
	int sector = (int)((atan2(y, x) / (2 * M_PI) + 0.5) * SECTORS);

	circle->x += x;
	circle->y += y;
	circle->r += hypot(x, y);
	circle->rr += x * x + y * y;
	circle->xx += x * x - y * y;
	circle->xy += 2 * x * y;
	circle->amplitude += hypot(sine, cosine);
	circle->mean += flat;
	circle->sector[sector < SECTORS ? sector : SECTORS - 1]++;
	circle->n++;
}

/* Do the pixels lie on a circle, all around it? */
static bool
is_circle(const struct circle *circle)
{
	double n = circle->n, r = circle->r / n;

	for (int i = 0; i < SECTORS; i++)
		if (circle->sector[i] < MIN_SECTOR_SHARE * n)
			return false;
	return n > 0 && hypot(circle->xx, circle->xy) < MAX_ELLIPTICITY * circle->rr &&
	    circle->rr / n - r * r < MAX_RADIUS_SCATTER * MAX_RADIUS_SCATTER * r * r &&
	    hypot(circle->x, circle->y) / n < MAX_CENTRE_OFFSET * r;
}

static bool
two_plus_one_fill(const struct field *field, struct fringe_set *set)
{
	size_t n = 0, flat = set->flat - 1;
	struct circle circle = { 0 };
	const float *v[3];

	for (size_t k = 0; k < 3; k++)
		if (k != flat)
			v[n++] = field->v[set->steps.image[flat == 1 ? 2 - k : k]];
	v[2] = field->v[set->steps.image[flat]];
	for (size_t p = 0; p < field->lines * field->length; p++) {
		double sine = (double)(v[0][p] - v[2][p]), cosine = (double)(v[1][p] - v[2][p]);
		bool lit = field->lit[p] && v[2][p] > 0;

		if (lit)
			add_to_circle(&circle, sine, cosine, (double)v[2][p]);
		set->phase[p] = lit ? (float)atan2(sine, cosine) : NAN;
		set->mean[p] = lit ? v[2][p] : NAN;
	}
	set->steps.amplitude = circle.amplitude / circle.n;
	set->steps.mean = circle.mean / circle.n;
	set->steps.modulation = circle.r / circle.n;
	set->steps.residual = set->steps.noise = (double)NAN;
	return is_circle(&circle);
}

/* ---- beats of two phases ---- */

static void
beat_origin(size_t pixels, const float *p, const float *q, const double count[3], double sums[3])
{
	double re = sums[0], im = sums[1], n = sums[2];

	for (size_t x = 0; x < pixels; x++)
		if (!isnan(p[x]) && !isnan(q[x])) {
			double off = (count[0] * (double)p[x] - count[1] * (double)q[x]) / count[2];

			re += cos(off);
			im += sin(off);
			n++;
		}
	sums[0] = re;
	sums[1] = im;
	sums[2] = n;
}

/* ---- Gray planes ---- */

#define MIN_SEEN_PIXELS 12	/* pixels where a plane changes and another does not */
#define MAX_ALIKE_SHARE 0.12	/* share of pixels that are alike in a plane and its inverse */
/* A phase runs back that falls by more, rad, over this many pixels on both sides. */
#define BACK_PIXELS 4
#define BACK_RAD -0.1f
#define MIN_FOLD_STEPS 3	/* steps one after another, both ways: the value turns back */

static void
gray_threshold(const struct gray_search *search, size_t i)
{
	const struct field *field = &search->sets->field[search->axis];

	for (size_t p = 0; p < field->lines * field->length; p++) {
		float mean = search->fringe ? search->fringe->mean[p] : field->mid[p];

		search->bit[i][p] = field->v[i][p] > (isnan(mean) ? field->mid[p] : mean);
	}
}

/* The bit of plane k of a code in pixel p. */
static unsigned
plane_bit(const struct gray_search *search, const struct gray_code *code, size_t k, size_t p)
{
	const struct field *field = &search->sets->field[search->axis];
	unsigned bit = search->bit[code->plane[k]][p];

	if (code->inverses)
		bit = field->v[code->plane[k]][p] > field->v[code->inverse[k]][p];
	return bit ^ code->inverted[k];
}

/* The value of all its planes. */
static unsigned
code_value(const struct gray_search *search, const struct gray_code *code, size_t p)
{
	unsigned value = 0, last = 0;

	for (size_t k = 0; k < code->n; k++) {
		last ^= plane_bit(search, code, k, p);
		value = 2 * value + last;
	}
	return value;
}

static bool
gray_is_opposite(const struct gray_search *search, size_t i, size_t j)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length, alike = 0;

	for (size_t p = 0; p < pixels; p++)
		alike += field->lit[p] && search->bit[i][p] == search->bit[j][p];
	return (double)alike < MAX_ALIKE_SHARE * (double)field->lit_pixels;
}

/* Does the phase fall about pixel p, as over a steep relief? */
static bool
runs_back(const struct gray_search *search, size_t p)
{
	size_t length = search->sets->field[search->axis].length, x = p % length;
	const float *phase = search->fringe ? search->fringe->phase : NULL;
	size_t before = x < BACK_PIXELS ? x : BACK_PIXELS;
	size_t behind = length - 1 - x < BACK_PIXELS ? length - 1 - x : BACK_PIXELS;

	return phase && phase[p + behind] - phase[p - before] < BACK_RAD;
}

static void
gray_count_changes(const struct gray_search *search, const struct gray_code *code,
    struct changes *out)
{
	const struct field *field = &search->sets->field[search->axis];

	*out = (struct changes){ .lines = field->lines };
	for (size_t l = 0; l < field->lines; l++) {
		unsigned last = 0;
		bool lit = false;
		size_t in_row[2] = { 0 }, most[2] = { 0 };

		for (size_t x = 0; x < field->length; x++) {
			size_t p = l * field->length + x;
			unsigned value;

			if (!field->lit[p]) {
				lit = false;
				continue;
			}
			value = code_value(search, code, p);
			if (lit && (value == last + 1 || value + 1 == last)) {
				bool down = (value + 1 == last) != runs_back(search, p);

				*(down ? &out->down : &out->up) += 1;
				in_row[down]++;
				in_row[!down] = 0;
				if (in_row[down] > most[down])
					most[down] = in_row[down];
			} else {
				out->other += lit && value != last;
			}
			last = value;
			lit = true;
		}
		out->folded += most[0] >= MIN_FOLD_STEPS && most[1] >= MIN_FOLD_STEPS;
	}
}

static void
gray_find_edges(const struct gray_search *search, const struct gray_code *code, struct edges *edges)
{
	const struct field *field = &search->sets->field[search->axis];
	double seen[GRAY_MOST][GRAY_MOST] = { 0 };
	double lines = (double)field->lines;

	*edges = (struct edges){ .n = code->n };
	for (size_t p = 1; p < field->lines * field->length; p++) {
		unsigned bit[2][GRAY_MOST];

		if (p % field->length == 0 || !field->lit[p] || !field->lit[p - 1])
			continue;
		for (size_t k = 0; k < code->n; k++)
			for (size_t side = 0; side < 2; side++)
				bit[side][k] = plane_bit(search, code, k, p - side);
		for (size_t a = 0; a < code->n; a++) {
			if (bit[0][a] == bit[1][a])
				continue;
			edges->in_line[a] += 1 / lines;
			for (size_t b = 0; b < code->n; b++)
				if (b != a && bit[0][b] == bit[1][b]) {
					seen[a][b]++;
					edges->bright[a][b] += bit[0][b];
				}
		}
	}
	for (size_t a = 0; a < code->n; a++)
		for (size_t b = 0; b < code->n; b++)
			edges->bright[a][b] = seen[a][b] < MIN_SEEN_PIXELS ? (double)NAN :
			    edges->bright[a][b] / seen[a][b];
}

static void
gray_values(const struct gray_search *search, const struct gray_code *code, float *value)
{
	const struct field *field = &search->sets->field[search->axis];

	for (size_t p = 0; p < field->lines * field->length; p++)
		value[p] = field->lit[p] && !isnan(search->fringe->phase[p]) ?
		    (float)code_value(search, code, p) : NAN;
}

static void
gray_find_origin(const struct gray_search *search, struct gray_code *code, const float *value)
{
	const struct field *field = &search->sets->field[search->axis];
	const float *phase = search->fringe->phase;
	double re = 0, im = 0, n = 0;
	float sign = code->falls ? -1 : 1;

	for (size_t p = 1; p < field->lines * field->length; p++) {
		float from = code->falls ? value[p] : value[p - 1];
		float to = code->falls ? value[p - 1] : value[p];
		double at;

		if (p % field->length == 0 || isnan(from) || isnan(to))
			continue;
		at = (double)(sign * (phase[p - 1] + phase[p]) / 2);
		if (code->cell == GRAY_CELL_COLUMN)
			at = (double)(sign * phase[p]) -
			    2 * M_PI * (double)value[p] / code->cells;
		else if (to != from + 1 || (code->cell == GRAY_CELL_HALF && (long)to % 2))
			continue;
		re += cos(at);
		im += sin(at);
		n++;
	}
	code->edge_rad = atan2(im, re);
	code->edge_coherence = n > 0 ? hypot(re, im) / n : 0;
}

/* ---- light ---- */

static void
unlit_flat_amplitude(const struct field *field, const struct fringe_set *set, float *amplitude)
{
	const size_t *image = set->steps.image;
	size_t flat = set->flat - 1, sine = flat == 0, cosine = flat == 2 ? 1 : 2;

	for (size_t p = 0; p < field->lines * field->length; p++)
		amplitude[p] = hypotf(field->v[image[sine]][p] - field->v[image[flat]][p],
		    field->v[image[cosine]][p] - field->v[image[flat]][p]);
}

static size_t
unlit_divide(const struct field *field, const float *all, float least, float *amplitude)
{
	size_t pixels = field->lines * field->length, lit = 0, unlit = 0;

	for (size_t p = 0; p < pixels; p++)
		if (!field->lit[p] && !(all[p] > least))
			amplitude[pixels - ++unlit] = isnan(all[p]) ? 0 : all[p];
		else
			amplitude[lit++] = all[p];
	return lit;
}

static double
saturated_share(const struct field *field, const enum image_kind *kind, size_t n, double level)
{
	double seen = 0, reached = 0;

	for (size_t p = 0; p < field->lines * field->length; p++) {
		bool at = false;

		for (size_t i = 0; i < n && field->lit[p]; i++)
			at = at || (kind[i] == KIND_FRINGE && (double)field->v[i][p] >= level);
		seen += field->lit[p];
		reached += at;
	}
	return seen > 0 ? reached / seen : 0;
}

const struct fringeprobe_rows AT_LEVEL(fringeprobe_rows) = {
	.image_sample = image_sample,
	.image_smooth_line = image_smooth_line,
	.field_measure = field_measure,
	.carrier_measure = carrier_measure,
	.growth_find = growth_find,
	.field_unwrap = field_unwrap,
	.steps_gram = steps_gram,
	.steps_measure = steps_measure,
	.steps_try = steps_try,
	.steps_fill = steps_fill,
	.fringe_set_period = fringe_set_period,
	.fringe_set_rough = fringe_set_rough,
	.mean_difference = mean_difference,
	.two_plus_one_fill = two_plus_one_fill,
	.beat_origin = beat_origin,
	.gray_threshold = gray_threshold,
	.gray_is_opposite = gray_is_opposite,
	.gray_count_changes = gray_count_changes,
	.gray_find_edges = gray_find_edges,
	.gray_values = gray_values,
	.gray_find_origin = gray_find_origin,
	.unlit_flat_amplitude = unlit_flat_amplitude,
	.unlit_divide = unlit_divide,
	.saturated_share = saturated_share,
};
