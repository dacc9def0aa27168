/* Lines of samples, and the fringes of single images in them. */
#define _GNU_SOURCE
#include "field.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIT 0.2f		/* of the range that one in ten pixels exceeds, */
#define SMALL 12		/* or one in 100, if that is so many times as large */
#define LEAST_RANGE 0.008f	/* of the largest sample: less is noise */
#define TRIM 8			/* images, from which on the extremes do not count: a photo */
#define HYSTERESIS 0.25f	/* of half the range, on both sides of the middle */
#define GAP 4			/* unlit pixels that end a run */
#define BETWEEN 0.5f

/* The middle and half of the range of pixel p, without the extremes of many. */
static void
find_range(const struct field *field, size_t p, float *mid, float *half)
{
	float low[2] = { FLT_MAX, FLT_MAX }, high[2] = { -FLT_MAX, -FLT_MAX };
	int trim = field->n >= TRIM;

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

static int
find_lit(struct field *field)
{
	size_t pixels = field->lines * field->length, n = 0, rank[2];
	float *sorted = malloc(pixels * sizeof(*sorted)), most = 0, range[2], limit;

	if (!sorted)
		return fail_memory();
	for (size_t p = 0; p < pixels; p++)
		if (field->half[p] >= 0) {
			sorted[n++] = field->half[p];
			most = fmaxf(most, fabsf(field->mid[p]) + field->half[p]);
		}
	if (n == 0) {
		free(sorted);
		return 0;
	}
	rank[0] = n * 9 / 10;
	rank[1] = n * 99 / 100;
	numbers_ranks(sorted, n, rank, 2, range);
	free(sorted);
	limit = fmaxf(LIT * range[range[1] > SMALL * range[0]], LEAST_RANGE * most);
	for (size_t p = 0; p < pixels; p++) {
		field->lit[p] = field->half[p] > limit;
		field->lit_pixels += field->lit[p];
	}
	return 0;
}

int
field_new(struct image *const *image, size_t n, int axis, struct field *field)
{
	size_t pixels;

	*field = (struct field){ .axis = axis, .n = n, .lines = image[0]->lines[axis] };
	field->length = axis ? image[0]->head.h : image[0]->head.w;
	pixels = field->lines * field->length;
	field->v = calloc(n, sizeof(*field->v));
	field->mid = calloc(pixels, sizeof(*field->mid));
	field->half = calloc(pixels, sizeof(*field->half));
	field->lit = calloc(pixels, sizeof(*field->lit));
	if (!field->v || !field->mid || !field->half || !field->lit)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		field->v[i] = image[i]->line[axis];
	for (size_t p = 0; p < pixels; p++)
		find_range(field, p, &field->mid[p], &field->half[p]);
	return find_lit(field);
}

void
field_free(struct field *field)
{
	free(field->v);
	free(field->mid);
	free(field->half);
	free(field->lit);
	*field = (struct field){ 0 };
}

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
	int side = t > HYSTERESIS ? 1 : t < -HYSTERESIS ? -1 : 0;

	carrier->level += (double)(t * walk->scale);
	carrier->between += fabsf(t) < BETWEEN;
	if (!side)
		return;
	if (walk->side && side != walk->side)
		walk_cross(walk, x, t);
	walk->side = side;
	walk->at = (float)x;
	walk->t = t;
}

/* What six in seven of the lit pixels do not exceed: 0.97 of the amplitude of a sinusoid. */
static int
find_scale(const struct field *field, size_t image, float *scale)
{
	size_t pixels = field->lines * field->length, n = 0, rank;
	float *t = malloc(pixels * sizeof(*t));

	if (!t)
		return fail_memory();
	for (size_t p = 0; p < pixels; p++)
		if (field->lit[p])
			t[n++] = fabsf(field->v[image][p] - field->mid[p]) / field->half[p];
	rank = n * 6 / 7;
	*scale = 1;
	if (n)
		numbers_ranks(t, n, &rank, 1, scale);
	if (!(*scale > 0.05f))
		*scale = 0.05f;
	free(t);
	return 0;
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
		} else if (++dark == GAP) {
			walk_break(&walk);
		}
	}
	carrier->per_line += (double)walk.crossings;
	return lit;
}

int
carrier_find(const struct field *field, size_t image, struct carrier *out)
{
	size_t pixels = field->lines * field->length, lit_lines = 0;
	double lit = (double)field->lit_pixels;
	float scale;

	*out = (struct carrier){ .theta = malloc(pixels * sizeof(float)) };
	if (!out->theta)
		return fail_memory();
	if (find_scale(field, image, &scale) < 0)
		return -1;
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
	return 0;
}

void
carrier_free(struct carrier *carrier)
{
	free(carrier->theta);
	carrier->theta = NULL;
}

/* Sums over one run of pixels. */
struct run_sums {
	double n, a, b, aa, ab;
};

struct line_sums {
	double aa, ab;		/* about the means of the line's runs */
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

struct line_ratio {
	double ratio, weight;
};

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
static int
find_ratio(size_t lines, size_t length, const float *reference, const float *phase,
    const struct line_sums *line, struct growth *out)
{
	struct line_ratio *ratio = calloc(2 * lines, sizeof(*ratio)), *wobble;
	double weight = 0;
	size_t n = 0;

	if (!ratio)
		return fail_memory();
	wobble = ratio + lines;
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
	free(ratio);
	return 0;
}

int
growth_find(size_t lines, size_t length, const float *reference, const float *phase,
    struct growth *out)
{
	struct line_sums *line = calloc(lines, sizeof(*line));
	double re = 0, im = 0;
	int status = 0;

	*out = (struct growth){ .ratio = (double)NAN, .error = (double)NAN };
	if (!line)
		return fail_memory();
	for (size_t l = 0; l < lines; l++)
		sum_line(length, reference + l * length, phase + l * length, &line[l], out, &re,
		    &im);
	if (out->shared > 0) {
		out->offset = atan2(im, re);
		out->coherence = hypot(re, im) / out->shared;
		status = find_ratio(lines, length, reference, phase, line, out);
	}
	free(line);
	return status;
}

void
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
