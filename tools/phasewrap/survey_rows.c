/*
 * The loops that look at the pixels of a whole measurement before its rows are computed: which of
 * 2+1 images is the flat one, how much light each exposure has, and the camera's noise. exposures.c
 * and noise.c have the methods.
 */
#include "phasewrap.h"

#include <math.h>
#include <string.h>

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

const struct survey_rows AT_LEVEL(survey_rows) = {
	.roughness = roughness_of_row,
	.exposure_level = exposure_level,
	.exposure_ratio = exposure_ratio,
	.noise_of_set = noise_of_set,
};
