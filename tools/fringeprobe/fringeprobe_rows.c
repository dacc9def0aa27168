/*
 * The loops of fringeprobe: over the pixels of images, and over the lines of samples that are kept
 * of them. Only pixels that change as fringes do, the lit ones, count.
 */
#include "fringeprobe.h"

#include <float.h>

#include "base/numbers.h"

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

/* Line l of n that are spread evenly over a length, with those around it, of which lines beyond the
 * image repeat its border. */
static size_t
near_line(size_t l, size_t n, size_t k, size_t length)
{
	size_t at = (2 * l + 1) * length / (2 * n) + k;

	at = at < IMAGES_AROUND ? 0 : at - IMAGES_AROUND;
	return at < length ? at : length - 1;
}

#define NEAR (2 * IMAGES_AROUND + 1)

static void
image_sample(const struct frame *frame, size_t c, struct image *image)
{
	size_t w = frame->head.w, h = frame->head.h, bytes = sample_size(frame->head.type);
	size_t rows = image->lines[0], columns = image->lines[1];
	char *to[2] = { image->near[0], image->near[1] };

	for (size_t l = 0; l < rows; l++)
		for (size_t k = 0; k < NEAR; k++)
			memcpy(to[0] + (l * NEAR + k) * w * bytes,
			    frame_row(frame, c, near_line(l, rows, k, h)), w * bytes);
	for (size_t y = 0; y < h; y++) {
		const char *row = frame_row(frame, c, y);

		for (size_t l = 0; l < columns; l++)
			for (size_t k = 0; k < NEAR; k++)
				memcpy(to[1] + ((l * NEAR + k) * h + y) * bytes,
				    row + near_line(l, columns, k, w) * bytes, bytes);
	}
	find_max(frame, c, image);
}

static void
image_average(const struct image *image, int axis, size_t around, float *to)
{
	size_t length = axis ? image->head.h : image->head.w;
	size_t bytes = sample_size(image->head.type);
	float share = 1 / (float)(2 * around + 1);

	for (size_t l = 0; l < image->lines[axis]; l++) {
		const char *line = (const char *)image->near[axis] + l * NEAR * length * bytes;
		float *at = to + l * length;

		for (size_t x = 0; x < length; x++)
			at[x] = 0;
		for (size_t k = IMAGES_AROUND - around; k <= IMAGES_AROUND + around; k++)
			for (size_t x = 0; x < length; x++)
				at[x] += sample_at(line + k * length * bytes, image->head.type, x);
		for (size_t x = 0; x < length; x++)
			at[x] *= share;
	}
}

static double
median(float *v, size_t n)
{
	return n ? (double)numbers_median(v, n) : (double)NAN;
}

/* By second differences, which fringes of many pixels hardly have: the axis that has fewer. */
static double
image_noise(const struct image *image, float *room)
{
	size_t bytes = sample_size(image->head.type);
	double least = INFINITY;

	for (int axis = 0; axis < 2; axis++) {
		size_t length = axis ? image->head.h : image->head.w, n = 0;

		for (size_t l = 0; l < image->lines[axis]; l += 2) {
			const char *line = (const char *)image->near[axis] +
			    (l * NEAR + IMAGES_AROUND) * length * bytes;

			for (size_t x = 2; x < length; x += 2) {
				float d = sample_at(line, image->head.type, x) -
				    2 * sample_at(line, image->head.type, x - 1) +
				    sample_at(line, image->head.type, x - 2);

				if (!isnan(d))
					room[n++] = fabsf(d);
			}
		}
		if (n)
			least = fmin(least, median(room, n) / (0.6745 * sqrt(6)));
	}
	return isinf(least) ? 0 : least;
}

static double
images_range(struct image *const *image, size_t n, float *room)
{
	size_t seen = 0;

	for (size_t p = 0; p < image[0]->lines[0] * image[0]->head.w; p += 5) {
		float low = INFINITY, high = -INFINITY;

		for (size_t i = 0; i < n; i++) {
			low = fminf(low, image[i]->line[0][p]);
			high = fmaxf(high, image[i]->line[0][p]);
		}
		if (high >= low)
			room[seen++] = high - low;
	}
	return (double)numbers_rank(room, seen, seen * 9 / 10);
}

/* ---- fields: which pixels change as fringes do ---- */

#define LIT_SHARE 0.2f		/* of the range that one in ten pixels exceeds, */
#define SMALL_LIT_SHARE 0.14f	/* or of that of one in 100, if little of the view is lit */
#define LIT_NOISE 6.0f		/* noise, at least */

/* The range of pixel p, its lowest value, and its samples where v is not NULL; NaN where one is no
 * number. */
static float
read_pixel(const struct field *field, size_t p, float *low, float *v)
{
	float high = -FLT_MAX;

	*low = FLT_MAX;
	for (size_t i = 0; i < field->n; i++) {
		float at = field->v[i][p];

		if (!(fabsf(at) < 1e30f))
			return NAN;
		*low = fminf(*low, at);
		high = fmaxf(high, at);
		if (v)
			v[i] = at;
	}
	return high - *low;
}

/* Which pixels change as fringes do, by their ranges. */
static void
find_lit(struct field *field, const float *range)
{
	float *sorted = field->scratch;
	size_t pixels = field->lines * field->length, n = 0, rank[2];
	float most[2], limit;

	for (size_t p = 0; p < pixels; p++)
		if (range[p] >= 0)
			sorted[n++] = range[p];
	if (n == 0)
		return;
	rank[0] = n * 9 / 10;
	rank[1] = n * 99 / 100;
	numbers_ranks(sorted, n, rank, 2, most);
	limit = fmaxf(LIT_SHARE * most[0], SMALL_LIT_SHARE * most[1]);
	limit = fmaxf(limit, LIT_NOISE * (float)field->noise);
	for (size_t p = 0; p < pixels; p++) {
		field->lit[p] = range[p] > limit;
		if (field->lit[p])
			field->lit_at[field->lit_pixels++] = (uint32_t)p;
	}
}

static void
field_measure(struct field *field)
{
	float low;

	for (size_t p = 0; p < field->lines * field->length; p++)
		field->pair[p] = read_pixel(field, p, &low, NULL);
	find_lit(field, field->pair);
}

/* ---- images that are neither bright nor dark ---- */

#define MIDDLE_SHARE 0.5f	/* of what six in seven of the pixels do not exceed, */
#define MIN_SCALE 0.05f		/* or of this: less is neither bright nor dark */

static double
image_between(const struct field *field, size_t image)
{
	float *t = field->scratch, scale;
	size_t n = field->lit_pixels, between = 0;

	for (size_t k = 0; k < n; k++) {
		float low, range = read_pixel(field, field->lit_at[k], &low, NULL);

		t[k] = fabsf(2 * (field->v[image][field->lit_at[k]] - low) / range - 1);
	}
	scale = numbers_rank(t, n, n * 6 / 7);
	for (size_t k = 0; k < n; k++)
		between += t[k] < MIDDLE_SHARE * fmaxf(scale, MIN_SCALE);
	return n ? (double)between / (double)n : 0;
}

/* ---- sums of products of the images ---- */

#define GRAM_PIXELS 1500	/* of each field, about */

/* Is pixel p below a level in all images? */
static bool
is_usable(const struct field *field, size_t p, double saturated)
{
	for (size_t i = 0; i < field->n; i++)
		if (!((double)field->v[i][p] < saturated))
			return false;
	return true;
}

static double
fields_gram(const struct field field[2], double saturated, double *gram)
{
	size_t n = field[0].n, taken = 0;
	double noise = 0;
	float v[STEPS_MOST];

	for (size_t i = 0; i < n * n; i++)
		gram[i] = 0;
	for (int axis = 0; axis < 2; axis++) {
		const struct field *one = &field[axis];
		size_t usable = 0, seen = 0, step;
		double limit = saturated;

		for (size_t k = 0; k < one->lit_pixels; k++)
			usable += is_usable(one, one->lit_at[k], limit);
		if (10 * usable < one->lit_pixels) {
			limit = INFINITY;
			usable = one->lit_pixels;
		}
		step = usable / GRAM_PIXELS | 1;	/* odd: not one column of all lines */
		for (size_t k = 0; k < one->lit_pixels; k++) {
			size_t p = one->lit_at[k];
			float scale, low;

			if (!is_usable(one, p, limit) || seen++ % step)
				continue;
			scale = 1 / hypotf(read_pixel(one, p, &low, v),
			    LIT_NOISE * (float)one->noise);
			for (size_t i = 0; i < n; i++)
				v[i] *= scale;
			for (size_t i = 0; i < n; i++)
				for (size_t j = 0; j <= i; j++)
					gram[i * n + j] += (double)(v[i] * v[j]);
			noise += one->noise * one->noise * (double)(scale * scale);
			taken++;
		}
	}
	for (size_t i = 0; i < n && taken; i++)
		for (size_t j = 0; j <= i; j++)
			gram[j * n + i] = gram[i * n + j] /= (double)taken;
	return taken ? noise / (double)taken : 0;
}

/* Of the weights of a weighted mean, their squares: more is a mean of nothing. */
#define MAX_WEIGHTS 9
/* What may be left of an image: of the fringes' power, for each square of weights and in all; of
 * its distance from the nearest of the three, which it is not merely near. */
#define LEFT_OF_POWER 0.12
#define MAX_LEFT_OF_POWER 0.42
#define LEFT_OF_DISTANCE 0.6
#define LEFT_OF_NOISE 1.6

static size_t
triple_members(const double *apart, size_t n, size_t j, size_t k, size_t from, size_t to,
    double noise, uint64_t member[4])
{
	const double *to_j = apart + j * n, *to_k = apart + k * n;
	double jj = to_j[j], jk = to_j[k], kk = to_k[k], det = jj * kk - jk * jk;
	double power = fmax(fmax(jj, kk), jj + kk - 2 * jk) / 2;
	size_t members = 0;

	for (size_t l = from; l < to; l++) {
		double ll = apart[l * n + l], jl = to_j[l], kl = to_k[l];
		double a = (jl * kk - kl * jk) / det, b = (kl * jj - jl * jk) / det;
		double left = ll - a * jl - b * kl;
		double weights = 1 + a * a + b * b + (1 - a - b) * (1 - a - b);
		double least = fmin(fmin(ll, ll + jj - 2 * jl), ll + kk - 2 * kl);
		double by_noise = LEFT_OF_NOISE * noise * weights;

		if (weights < MAX_WEIGHTS && left < fmin(LEFT_OF_POWER * weights,
		    MAX_LEFT_OF_POWER) * power + by_noise &&
		    left < LEFT_OF_DISTANCE * least + 0.01 * power + by_noise) {
			member[l / 64] |= (uint64_t)1 << l % 64;
			members++;
		}
	}
	return members;
}

/* ---- steps: I = A + B cos(phase + shift) ---- */

#define SHIFT_PIXELS 4000	/* about as many pixels determine the shifts */
#define MIN_AMPLITUDE_SHARE 0.25f	/* of the median amplitude: less is no fringe */

static void
fit_pixel(const struct field *field, const struct steps *steps, size_t p, double fit[3])
{
	fit[0] = fit[1] = fit[2] = 0;
	for (size_t i = 0; i < steps->n; i++) {
		double v = (double)field->v[steps->image[i]][p];

		for (int a = 0; a < 3; a++)
			fit[a] += steps->k[a][i] * v;
	}
}

/* Every step-th lit pixel, so that they are about so many. */
static size_t
pixel_step(const struct field *field, size_t pixels)
{
	return field->lit_pixels / pixels | 1;	/* odd: not the same column in every line */
}

static void
steps_measure(const struct field *field, struct steps *steps)
{
	size_t pixels = field->lines * field->length, step = pixel_step(field, SHIFT_PIXELS), n = 0;
	float *mean = field->scratch, *amplitude = mean + pixels, *modulation = amplitude + pixels;
	double squares = 0;

	steps->residual = steps->noise = steps->amplitude = (double)NAN;
	for (int round = 0; round < 2; round++) {
		n = 0;
		for (size_t k = 0; k < field->lit_pixels; k += step) {
			double fit[3], b, off = 0;
			size_t p = field->lit_at[k];

			fit_pixel(field, steps, p, fit);
			b = hypot(fit[1], fit[2]);
			if (!(b > (double)MIN_AMPLITUDE_SHARE * (round ? steps->amplitude : 0)))
				continue;
			mean[n] = (float)fit[0];
			amplitude[n] = (float)b;
			modulation[n++] = (float)(b / fit[0]);
			for (size_t i = 0; round && i < steps->n && steps->n > 3; i++) {
				double d = (double)field->v[steps->image[i]][p] - fit[0] -
				    fit[1] * cos(steps->shift_rad[i]) +
				    fit[2] * sin(steps->shift_rad[i]);

				off += d * d;
			}
			squares += off / (b * b);
		}
		steps->amplitude = median(amplitude, n);
	}
	steps->mean = median(mean, n);
	steps->modulation = median(modulation, n);
	if (steps->n > 3) {
		steps->residual = sqrt(squares / (double)n / (double)(steps->n - 3));
		steps->noise = steps->residual * steps->amplitude;
	}
}

static double
steps_drift(const struct field *field, const struct steps *steps, size_t image)
{
	size_t step = pixel_step(field, SHIFT_PIXELS);
	double cc[2] = { 0 }, cs[2] = { 0 }, ss[2] = { 0 }, cv[2] = { 0 }, sv[2] = { 0 }, shift[2];

	for (size_t k = 0; k < field->lit_pixels; k += step) {
		size_t p = field->lit_at[k], half = 2 * (p % field->length) >= field->length;
		double fit[3], b, c, s, v;

		fit_pixel(field, steps, p, fit);
		b = hypot(fit[1], fit[2]);
		if (!(b > (double)MIN_AMPLITUDE_SHARE * steps->amplitude))
			continue;
		c = fit[1] / b;
		s = fit[2] / b;
		v = ((double)field->v[image][p] - fit[0]) / b;
		cc[half] += c * c;
		cs[half] += c * s;
		ss[half] += s * s;
		cv[half] += c * v;
		sv[half] += s * v;
	}
	if (!(cc[0] > 0 && cc[1] > 0))
		return 0;
	for (size_t h = 0; h < 2; h++)
		shift[h] = atan2(cs[h] * cv[h] - cc[h] * sv[h], ss[h] * cv[h] - cs[h] * sv[h]);
	return remainder(shift[1] - shift[0], 2 * M_PI);
}

static void
steps_fill(const struct field *field, const struct steps *steps, float *phase, float *mean,
    float *amplitude)
{
	double least = (double)MIN_AMPLITUDE_SHARE * steps->amplitude;

	for (size_t p = 0; p < field->lines * field->length; p++) {
		double fit[3], b;
		bool lit;

		fit_pixel(field, steps, p, fit);
		b = hypot(fit[1], fit[2]);
		lit = field->lit[p] && b > least;
		if (phase)
			phase[p] = lit ? (float)atan2(fit[2], fit[1]) : NAN;
		if (mean)
			mean[p] = lit ? (float)fit[0] : NAN;
		if (amplitude)
			amplitude[p] = lit || !phase ? (float)b : NAN;
	}
}

/* ---- what the pixels of some steps look like ---- */

#define LOOK_AMPLITUDE 0.25f	/* of what 6 in 10 do not exceed: less is no fringe */
#define MIN_BIN_SHARE 0.012	/* of the pixels */
#define PHASES_PIXELS 300	/* of each field: enough to fill the bins */
#define WINDOWS 6		/* of a line, in each of which a phase goes one way */

/* The fit of the lit pixels of some lines. */
struct looked {
	const struct field *field;
	size_t lines, length, lit, n;
	float *a, *c, *s, *b;		/* A, B cos, B sin, B; b is 0: no fringe */
	float *list;			/* room for a value of each pixel */
	double turn;			/* mean change of the phase */
};

static void
look_fit(const struct field *field, const struct steps *steps, size_t thin, struct looked *out)
{
	size_t pixels = field->lines * field->length, n = 0;
	float limit = 0;
	double re = 0, im = 0;

	*out = (struct looked){ .field = field, .length = field->length,
		.lines = (field->lines - thin / 2 + thin - 1) / thin, .a = field->scratch,
		.c = field->scratch + pixels, .s = field->scratch + 2 * pixels, .b = field->pair,
		.list = field->pair + pixels };
	for (size_t p = 0; p < out->lines * out->length; p++) {
		size_t at = (p / out->length * thin + thin / 2) * out->length + p % out->length;
		float a = 0, c = 0, s = 0;

		out->b[p] = 0;
		if (!field->lit[at])
			continue;
		for (size_t i = 0; i < steps->n; i++) {
			float v = field->v[steps->image[i]][at];

			a += (float)steps->k[0][i] * v;
			c += (float)steps->k[1][i] * v;
			s += (float)steps->k[2][i] * v;
		}
		out->a[p] = a;
		out->c[p] = c;
		out->s[p] = s;
		out->list[n++] = out->b[p] = sqrtf(c * c + s * s);
	}
	out->lit = n;
	limit = LOOK_AMPLITUDE * numbers_rank(out->list, n, n * 6 / 10);
	for (size_t p = 0; p < out->lines * out->length; p++) {
		float scale;

		if (!(out->b[p] > limit)) {
			out->b[p] = 0;
			continue;
		}
		out->n++;
		scale = 1 / out->b[p];
		out->c[p] *= scale;
		out->s[p] *= scale;
		if (p % out->length && out->b[p - 1] > 0) {
			re += (double)(out->c[p] * out->c[p - 1] + out->s[p] * out->s[p - 1]);
			im += (double)(out->s[p] * out->c[p - 1] - out->c[p] * out->s[p - 1]);
		}
	}
	out->turn = out->n ? fabs(atan2(im, re)) : 0;
}

/* 1.48 median absolute deviations of n values, which are overwritten. */
static double
scatter(float *v, size_t n)
{
	float middle = (float)median(v, n);

	for (size_t i = 0; i < n; i++)
		v[i] = fabsf(v[i] - middle);
	return 1.4826 * median(v, n);
}

static float
wrapped(float rad)
{
	return rad - 2 * (float)M_PI * roundf(rad / (2 * (float)M_PI));
}

/* The share of the phase's changes over some pixels that go one way within a window. */
static double
directed(const struct looked *at, const float *phase, size_t lag)
{
	size_t window = at->length > lag ? (at->length - lag) / WINDOWS : 0;
	double net = 0, all = 0;

	for (size_t l = 0; l < at->lines; l++)
		for (size_t w = 0; w < WINDOWS; w++) {
			size_t first = l * at->length + w * window;
			double sum = 0;

			for (size_t p = first; p < first + window; p++)
				if (at->b[p] > 0 && at->b[p + lag] > 0) {
					double d = (double)wrapped(phase[p + lag] - phase[p]);

					sum += d;
					all += fabs(d);
				}
			net += fabs(sum);
		}
	return all > 0 ? net / all : 0;
}

/* The bins of the phase that are filled, and how far phases are multiples of 90, 60 degrees. */
static void
look_bins(const struct looked *at, const float *phase, struct look *out)
{
	double bin[PHASE_BINS] = { 0 }, re[2] = { 0 }, im[2] = { 0 }, n = (double)at->n;
	bool filled[PHASE_BINS];

	for (size_t p = 0; p < at->lines * at->length; p++) {
		double c = (double)at->c[p], s = (double)at->s[p], c2, s2, c4, s4;
		int k;

		if (!(at->b[p] > 0))
			continue;
		k = (int)((double)phase[p] * PHASE_BINS / (2 * M_PI) + PHASE_BINS / 2);
		bin[k < 0 ? 0 : k < PHASE_BINS ? k : PHASE_BINS - 1]++;
		c2 = c * c - s * s;
		s2 = 2 * c * s;
		c4 = c2 * c2 - s2 * s2;
		s4 = 2 * c2 * s2;
		re[0] += c4;
		im[0] += s4;
		re[1] += c4 * c2 - s4 * s2;
		im[1] += c4 * s2 + s4 * c2;
	}
	out->bins = out->runs = 0;
	for (size_t k = 0; k < PHASE_BINS; k++) {
		filled[k] = bin[k] > MIN_BIN_SHARE * n;
		out->bins += filled[k];
	}
	for (size_t k = 0; k < PHASE_BINS; k++)
		out->runs += filled[k] && !filled[(k + PHASE_BINS - 1) % PHASE_BINS];
	out->runs += out->bins == PHASE_BINS;
	out->four = hypot(re[0], im[0]) / n;
	out->six = hypot(re[1], im[1]) / n;
}

/* How two values differ over so many pixels: the scatter of a logarithm of the amplitude's ratio,
 * of that over the mean's, or of the mean's difference over the amplitude. */
enum scatter_of { AMPLITUDE, MODULATION, MEAN };

static double
scatter_over(const struct looked *at, size_t lag, enum scatter_of what, size_t *pairs)
{
	size_t n = 0;

	for (size_t l = 0; l < at->lines; l++)
		for (size_t p = l * at->length; p + lag < (l + 1) * at->length; p++) {
			float b = at->b[p], c = at->b[p + lag];
			float from = at->a[p], to = at->a[p + lag];

			if (!(b > 0) || !(c > 0))
				continue;
			if (what == MODULATION && !(from > 0 && to > 0))
				continue;
			at->list[n++] = what == AMPLITUDE ? logf(c / b) :
			    what == MODULATION ? logf(c * from / (b * to)) :
			    2 * (to - from) / (b + c);
		}
	*pairs = n;
	return n ? scatter(at->list, n) / sqrt(2) : 0;
}

/* How mean and amplitude differ over a quarter of a period, without a texture that both share. */
static bool
look_scatter(const struct looked *at, size_t lag, struct look *out)
{
	size_t n = 0, pairs;
	double texture, share;

	out->amplitude_scatter = scatter_over(at, lag, AMPLITUDE, &pairs);
	if (pairs < FRINGE_SET_PIXELS_LEAST)
		return false;
	out->mean_scatter = scatter_over(at, lag, MEAN, &pairs);
	texture = scatter_over(at, lag, MODULATION, &n);
	if (10 * n < 9 * pairs)
		return true;
	n = 0;
	for (size_t p = 0; p < at->lines * at->length; p++)
		if (at->b[p] > 0)
			at->list[n++] = at->a[p] / at->b[p];
	share = median(at->list, n);
	out->amplitude_scatter = fmin(out->amplitude_scatter, texture);
	out->mean_scatter = fmin(out->mean_scatter, share * texture);
	return true;
}

static bool
steps_look(const struct field field[2], const struct steps *steps, size_t thin, struct look *out)
{
	struct looked axes[2];
	const struct looked *at;
	float *phase;
	size_t n = 0, lag, lags[6];
	double rate, most;

	for (int axis = 0; axis < 2; axis++)
		look_fit(&field[axis], steps, thin < field[axis].lines ? thin : 1, &axes[axis]);
	*out = (struct look){ .axis = axes[1].turn > axes[0].turn };
	at = &axes[out->axis];
	if (at->n < FRINGE_SET_PIXELS_LEAST)
		return false;
	phase = at->field->scratch + 3 * at->field->lines * at->length;
	for (size_t p = 0; p < at->lines * at->length; p++)
		phase[p] = at->b[p] > 0 ? atan2f(at->s[p], at->c[p]) : 0;
	for (size_t p = 1; p < at->lines * at->length; p++)
		if (p % at->length && at->b[p] > 0 && at->b[p - 1] > 0)
			at->list[n++] = wrapped(phase[p] - phase[p - 1]);
	rate = median(at->list, n);
	rate = fmax(fabs(rate), 1e-4);
	out->period_px = 2 * M_PI / rate;
	out->fringes = (double)at->length / out->period_px;
	most = at->length / 8 > 2 ? (double)(at->length / 8) : 2;
	lag = (size_t)fmin(fmax(round(out->period_px / 4), 1), most);
	n = 0;
	for (size_t p = 0; p < at->lines * at->length; p++)
		if (at->b[p] > 0)
			at->list[n++] = at->b[p];
	out->noise = at->field->noise * sqrt(2 / (double)steps->n) / median(at->list, n);
	out->share = (double)at->n / (double)at->lit;
	look_bins(at, phase, out);
	lags[0] = 1;
	lags[1] = 2;
	lags[2] = 4;
	for (size_t k = 3; k < 6; k++)
		lags[k] = at->length / (k == 3 ? 40 : k == 4 ? 20 : 10);
	for (size_t k = 0; k < 6; k++)
		if (lags[k] > 0)
			out->directed = fmax(out->directed, directed(at, phase, lags[k]));
	return look_scatter(at, lag, out);
}

static size_t
steps_phases(const struct field field[2], const struct steps *steps)
{
	size_t bin[PHASE_BINS] = { 0 }, n = 0, filled = 0;

	for (int axis = 0; axis < 2; axis++) {
		const struct field *one = &field[axis];
		size_t step = pixel_step(one, PHASES_PIXELS);

		for (size_t k = 0; k < one->lit_pixels; k += step, n++) {
			double fit[3];
			int at;

			fit_pixel(one, steps, one->lit_at[k], fit);
			at = (int)((atan2(fit[2], fit[1]) / (2 * M_PI) + 0.5) * PHASE_BINS);
			bin[at < PHASE_BINS ? at : 0]++;
		}
	}
	for (size_t k = 0; k < PHASE_BINS; k++)
		filled += 125 * bin[k] > n;
	return filled;
}

/* ---- Gray planes ---- */

#define SAMPLED_PIXELS 1000	/* about so many tell how many images have two levels */
#define CLEAR_LEAST 0.6f	/* |bit| of a pixel that is clearly bright or dark */
#define CLEAR_MOST 1.35f
#define PLANE_LEAST 0.55f	/* the same of a pixel of a plane, which may be blurred */
#define PLANE_MOST 1.6f
#define RANGE_NOISE 6.0f	/* of the noise: a range that has two levels */
#define SEEN_NOISE 5.0f
#define SEEN_SHARE 0.12f	/* of the range that one in four pixels exceeds */
#define SEEN_FEW_SHARE 0.3f	/* the same where there are fewer than 5 images */
#define MEASURED_SHARE 0.45f	/* of what the light lets expect: less range is that of one level */
#define EDGE_BIT 0.45f		/* beyond it on both sides of an edge */
#define SIDE_BIT 0.25f		/* beyond it the side is clear */
#define MAX_EDGE_GAP_PX 12
#define MIN_LINE_PIXELS 8	/* seen ones, of a line that counts */

/* The values of a pixel in rising order, but for one image's. */
static size_t
sorted_values(const struct gray_search *search, int axis, size_t p, size_t without, float *v)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n; i++) {
		float at = search->sets->field[axis].v[search->image[i].image][p];
		size_t k = n;

		if (i == without)
			continue;
		for (; k > 0 && v[k - 1] > at; k--)
			v[k] = v[k - 1];
		v[k] = at;
		n++;
	}
	return n;
}

static float
sorted_median(const float *v, size_t n)
{
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* The levels of n sorted values: medians of what is near the extremes, or of two means. */
static void
two_levels(const float *v, size_t n, bool far, float *low, float *high)
{
	*low = v[0];
	*high = v[n - 1];
	for (int round = 0; round < (far ? 1 : 3); round++) {
		float range = *high - *low, cut = *low + range * (far ? 0.3f : 0.5f);
		float from = *low + range * (far ? 0.7f : 0.5f);
		size_t dark = 0, bright = n;

		while (dark < n && v[dark] <= cut)
			dark++;
		while (bright > dark && v[bright - 1] >= from)
			bright--;
		if (dark > 0)
			*low = sorted_median(v, dark);
		if (bright < n)
			*high = sorted_median(v + bright, n - bright);
	}
}

static void
gray_two_valued(const struct gray_search *search, size_t without, double *share)
{
	const struct field *both = search->sets->field;
	size_t step = (both[0].lit_pixels + both[1].lit_pixels) / SAMPLED_PIXELS | 1;
	size_t seen = 0, n = search->n;
	double counted[2] = { 0 };
	float v[GRAY_IMAGES_MOST], low, high;

	for (size_t i = 0; i < 2 * n; i++)
		share[i] = 0;
	for (int axis = 0; axis < 2; axis++) {
		const struct field *field = &both[axis];

		for (size_t p = 0; p < field->lines * field->length; p++) {
			size_t most;

			if (!field->lit[p] || seen++ % step)
				continue;
			most = sorted_values(search, axis, p, without, v);
			for (int far = 0; far < 2; far++) {
				two_levels(v, most, far, &low, &high);
				if (high - low <= RANGE_NOISE * (float)field->noise)
					continue;
				counted[far]++;
				for (size_t i = 0; i < n; i++) {
					float at = field->v[search->image[i].image][p];
					float bit = fabsf(2 * at - low - high) / (high - low);

					share[(size_t)far * n + i] += i != without &&
					    bit > CLEAR_LEAST && bit < CLEAR_MOST;
				}
			}
		}
	}
	for (size_t i = 0; i < 2 * n; i++)
		share[i] = counted[i / n] < 50 ? 0 : share[i] / counted[i / n];
}

/* Where one level is seen only: both by the light, in proportion to it. */
static void
levels_by_light(struct gray_search *search, const float *light)
{
	const struct field *field = &search->sets->field[search->axis];
	float *middle = field->scratch, *range = middle + field->lines * field->length;
	float *low = search->low[search->axis], *high = search->high[search->axis], mid, half;
	bool *seen = search->seen[search->axis];
	size_t n = 0;

	for (size_t p = 0; p < field->lines * field->length; p++)
		if (seen[p] && light[p] > RANGE_NOISE * (float)field->noise) {
			middle[n] = (low[p] + high[p]) / 2 / light[p];
			range[n++] = (high[p] - low[p]) / light[p];
		}
	if (n < 100)
		return;
	mid = (float)median(middle, n);
	half = (float)median(range, n) / 2;
	for (size_t p = 0; p < field->lines * field->length; p++) {
		if (field->lit[p] && (!seen[p] ||
		    high[p] - low[p] < MEASURED_SHARE * 2 * half * light[p])) {
			low[p] = (mid - half) * light[p];
			high[p] = (mid + half) * light[p];
			seen[p] = true;
		}
		seen[p] = seen[p] && high[p] - low[p] > SEEN_NOISE * (float)field->noise;
	}
}

/* The same linear between the nearest pixels of a line that have both. */
static void
levels_by_lines(struct gray_search *search)
{
	const struct field *field = &search->sets->field[search->axis];

	for (size_t l = 0; l < field->lines; l++) {
		float *low = search->low[search->axis] + l * field->length;
		float *high = search->high[search->axis] + l * field->length;
		bool *seen = search->seen[search->axis] + l * field->length;
		const bool *lit = field->lit + l * field->length;
		size_t last = SIZE_MAX, n = 0;

		for (size_t x = 0; x < field->length; x++)
			n += seen[x];
		for (size_t x = 0; x <= field->length && n > 5; x++) {
			bool end = x == field->length;

			if (!end && !seen[x])
				continue;
			for (size_t k = last + 1; k < x; k++) {
				size_t a = last == SIZE_MAX ? x : last, b = end ? last : x;
				float t = a == b ? 0 : (float)(k - a) / (float)(b - a);

				low[k] = low[a] + t * (low[b] - low[a]);
				high[k] = high[a] + t * (high[b] - high[a]);
				seen[k] = lit[k];
			}
			last = x;
		}
	}
}

static void
gray_levels(struct gray_search *search, const float *light)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length, n = 0;
	float *low = search->low[search->axis], *high = search->high[search->axis], usual, least;
	float v[GRAY_IMAGES_MOST];

	for (size_t p = 0; p < pixels; p++) {
		if (!field->lit[p])
			continue;
		sorted_values(search, search->axis, p, SIZE_MAX, v);
		two_levels(v, search->n, search->far, &low[p], &high[p]);
		field->scratch[n++] = high[p] - low[p];
	}
	usual = numbers_rank(field->scratch, n, n * 3 / 4);
	least = search->n < 5 ? SEEN_FEW_SHARE * usual :
	    fmaxf(SEEN_SHARE * usual, SEEN_NOISE * (float)field->noise);
	for (size_t p = 0; p < pixels; p++)
		search->seen[search->axis][p] = field->lit[p] && high[p] - low[p] > least;
	if (light)
		levels_by_light(search, light);
	else
		levels_by_lines(search);
	search->seen_pixels[search->axis] = search->seen_lines[search->axis] = 0;
	for (size_t l = 0; l < field->lines; l++) {
		n = 0;
		for (size_t x = 0; x < field->length; x++)
			n += search->seen[search->axis][l * field->length + x];
		search->seen_pixels[search->axis] += n;
		search->seen_lines[search->axis] += n > MIN_LINE_PIXELS;
	}
}

/* The side of each pixel, which stays until the other one is clear. */
static void
fill_sides(const struct gray_search *search, size_t i)
{
	const struct field *field = &search->sets->field[search->axis];
	const float *bit = search->image[i].bit[search->axis];
	signed char side = 0;

	for (size_t p = 0; p < field->lines * field->length; p++) {
		if (p % field->length == 0)
			side = 0;
		if (search->seen[search->axis][p] && fabsf(bit[p]) > SIDE_BIT)
			side = bit[p] > 0 ? 1 : -1;
		search->image[i].side[search->axis][p] = side ? side : bit[p] > 0 ? 1 : -1;
	}
}

static void
gray_bits(const struct gray_search *search, size_t i)
{
	const struct field *field = &search->sets->field[search->axis];
	const float *v = field->v[search->image[i].image];
	const float *low = search->low[search->axis], *high = search->high[search->axis];

	for (size_t p = 0; p < field->lines * field->length; p++)
		search->image[i].bit[search->axis][p] = search->seen[search->axis][p] ?
		    (2 * v[p] - low[p] - high[p]) / (high[p] - low[p]) : 0;
	fill_sides(search, i);
}

static void
gray_difference(const struct gray_search *search, size_t i, size_t inverse)
{
	const struct field *field = &search->sets->field[search->axis];
	float *bit = search->image[i].bit[search->axis];

	for (size_t p = 0; p < field->lines * field->length; p++)
		bit[p] = (bit[p] - search->image[inverse].bit[search->axis][p]) / 2;
	fill_sides(search, i);
}

static void
gray_measure(const struct gray_search *search, size_t i)
{
	struct gray_image *image = &search->image[i];
	double count = 0, two = 0, beyond = 0, bright = 0, dark = 0, level = 0, sum = 0;
	double histogram[64] = { 0 };
	size_t at = 0;

	for (int axis = 0; axis < 2; axis++) {
		const struct field *field = &search->sets->field[axis];

		for (size_t p = 0; p < field->lines * field->length; p++) {
			float bit = image->bit[axis][p], size = fabsf(bit);

			if (!search->seen[axis][p])
				continue;
			count++;
			two += size > PLANE_LEAST && size < PLANE_MOST;
			beyond += size > PLANE_MOST;
			bright += bit > 0.4f;
			dark += bit < -0.4f;
			level += (double)fmaxf(-1, fminf(1, bit));
			histogram[size < 1.95f ? (size_t)(size * 32) : 63]++;
		}
	}
	count = fmax(count, 1);
	while (at < 63 && (sum += histogram[at]) < 0.86 * count)
		at++;
	image->contrast = ((double)at + 0.5) / 32;
	image->two_valued = two / count;
	image->beyond = beyond / count;
	image->same = fmax(bright, dark) / count;
	image->level = level / count;
}

/* Where a line of bits crosses zero between two pixels: the middle one of the crossings. */
static float
crossing_between(const float *bit, const bool *seen, size_t from, size_t to)
{
	float place = (float)(from + to) / 2;

	for (size_t round = 0, n = 0, wanted = SIZE_MAX; round < 2; round++, wanted = n / 2, n = 0)
		for (size_t x = from, next; x < to; x = next) {
			for (next = x + 1; !seen[next]; next++)
				;
			if ((bit[x] <= 0) == (bit[next] <= 0))
				continue;
			if (n++ == wanted)
				return (float)x + (float)(next - x) * bit[x] / (bit[x] - bit[next]);
		}
	return place;
}

static size_t
gray_edges(const struct gray_search *search, size_t i, struct gray_edge *to)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t n = 0;

	for (size_t l = 0; l < field->lines; l++) {
		size_t first = l * field->length, last = 0, since = 0;
		const float *bit = search->image[i].bit[search->axis] + first;
		const bool *seen = search->seen[search->axis] + first;
		int side = 0;

		for (size_t x = 0; x < field->length; x++) {
			size_t gap = 2 * ++since + 2;

			if (!seen[x]) {
				since--;
				continue;
			}
			if (fabsf(bit[x]) <= EDGE_BIT)
				continue;
			gap = gap > MAX_EDGE_GAP_PX ? gap : MAX_EDGE_GAP_PX;
			if (side && (bit[x] > 0) != (side > 0) && x - last <= gap) {
				float at = crossing_between(bit, seen, last, x);

				to[n++] = (struct gray_edge){ (unsigned)(first + (size_t)at), at };
			}
			side = bit[x] > 0 ? 1 : -1;
			last = x;
			since = 0;
		}
	}
	return n;
}

static double
gray_alike(const struct gray_search *search, size_t i, size_t j)
{
	const struct field *field = &search->sets->field[search->axis];
	const signed char *a = search->image[i].side[search->axis];
	const signed char *b = search->image[j].side[search->axis];
	const bool *seen = search->seen[search->axis];
	size_t same = 0;

	for (size_t p = 0; p < field->lines * field->length; p++)
		same += seen[p] & (a[p] == b[p]);
	return search->seen_pixels[search->axis] ?
	    2 * (double)same / (double)search->seen_pixels[search->axis] - 1 : 0;
}

static void
gray_values(const struct gray_search *search, const size_t *plane, const bool *flip, size_t n,
    bool held)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length;
	unsigned *value = search->value;

	for (size_t p = 0; p < pixels; p++)
		value[p] = 0;
	for (size_t k = 0; k < n; k++) {
		const signed char *side = search->image[plane[k]].side[search->axis];
		const float *now = search->image[plane[k]].bit[search->axis];

		for (size_t p = 0; p < pixels; p++) {
			unsigned bit = (held ? side[p] > 0 : now[p] > 0) ^ (unsigned)flip[k];

			value[p] = 2 * value[p] + (bit ^ (value[p] & 1));
		}
	}
}

static double
gray_follow(const struct gray_search *search, size_t i, const float *place,
    double factor, double *sigmas)
{
	const struct field *field = &search->sets->field[search->axis];
	const float *bit = search->image[i].bit[search->axis];
	double n = 0, x = 0, y = 0, xx = 0, xy[IMAGES_LINES] = { 0 }, yy[IMAGES_LINES] = { 0 };
	double all[2] = { 0 }, left = 0;

	*sigmas = 0;
	for (int round = 0; round < 2; round++) {
		for (size_t p = 0; p < field->lines * field->length; p++) {
			double a = (double)bit[p], b;

			if (isnan(place[p]))
				continue;
			b = -cos(M_PI * factor * (double)place[p]);
			if (round == 0) {
				n++;
				x += a;
				y += b;
			} else {
				xx += (a - x) * (a - x);
				xy[p / field->length] += (a - x) * (b - y);
				yy[p / field->length] += (b - y) * (b - y);
			}
		}
		x /= n;
		y /= n;
		if (n < 200)
			return 0;
		if (round == 0)
			continue;
	}
	for (size_t l = 0; l < field->lines; l++) {
		all[0] += xy[l];
		all[1] += yy[l];
	}
	for (size_t l = 0; l < field->lines; l++)
		left += pow(xy[l] - all[0] / all[1] * yy[l], 2);
	*sigmas = all[0] / sqrt(left);
	return all[0] / sqrt(xx * all[1]);
}

const struct fringeprobe_rows AT_LEVEL(fringeprobe_rows) = {
	.image_sample = image_sample,
	.image_noise = image_noise,
	.image_average = image_average,
	.images_range = images_range,
	.field_measure = field_measure,
	.image_between = image_between,
	.fields_gram = fields_gram,
	.triple_members = triple_members,
	.steps_look = steps_look,
	.steps_phases = steps_phases,
	.steps_measure = steps_measure,
	.steps_drift = steps_drift,
	.steps_fill = steps_fill,
	.gray_two_valued = gray_two_valued,
	.gray_levels = gray_levels,
	.gray_bits = gray_bits,
	.gray_difference = gray_difference,
	.gray_measure = gray_measure,
	.gray_edges = gray_edges,
	.gray_alike = gray_alike,
	.gray_values = gray_values,
	.gray_follow = gray_follow,
};
