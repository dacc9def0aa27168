/* Shifts of images by least squares, and how images fit them. */
#define _GNU_SOURCE
#include "steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fringe/phase_shift_weights.h"

#define PIXELS 4000		/* about, that the shifts are found from */
#define ROUNDS 30
#define SETTLED 1e-4		/* rad */
#define GAIN 0.35		/* by which the amplitude of an image may be off */
#define FRINGES 0.25f		/* of the median amplitude: less is no fringe */

struct weights {		/* parameter = sum w[i] v[i]: A, B cos phase, - B sin phase */
	double w[3][STEPS_MOST];
};

/* False: the shifts determine no phase. */
static bool
solve_weights(const double *shift_rad, size_t n, struct weights *out)
{
	double basis[STEPS_MOST][3], m[3][3] = { 0 }, inverse[3][3];

	for (size_t i = 0; i < n; i++) {
		basis[i][0] = 1;
		basis[i][1] = cos(shift_rad[i]);
		basis[i][2] = sin(shift_rad[i]);
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				m[a][b] += basis[i][a] * basis[i][b];
	}
	if (!(fabs(phase_shift_invert(m, inverse)) > 1e-9))
		return false;
	for (size_t i = 0; i < n; i++)
		for (int a = 0; a < 3; a++) {
			out->w[a][i] = 0;
			for (int b = 0; b < 3; b++)
				out->w[a][i] += inverse[a][b] * basis[i][b];
		}
	return true;
}

static void
fit_pixel(const struct field *field, const struct steps *steps, const struct weights *weights,
    size_t p, double fit[3])
{
	fit[0] = fit[1] = fit[2] = 0;
	for (size_t i = 0; i < steps->n; i++) {
		double v = (double)field->v[steps->image[i]][p];

		for (int a = 0; a < 3; a++)
			fit[a] += weights->w[a][i] * v;
	}
}

/* Every step-th pixel, so that they are not too many. */
static size_t
pixel_step(const struct field *field)
{
	size_t step = field->lit_pixels / PIXELS;

	return step | 1;	/* odd: not the same column in every line */
}

/* One round: the pixels' phases from the shifts, the shifts from these. The largest change. */
static double
refine(const struct field *field, struct steps *steps)
{
	struct weights weights;
	double cc = 0, cs = 0, ss = 0, cv[STEPS_MOST] = { 0 }, sv[STEPS_MOST] = { 0 }, change = 0;
	double next[STEPS_MOST];
	size_t pixels = field->lines * field->length, seen = 0, step = pixel_step(field);

	if (!solve_weights(steps->shift_rad, steps->n, &weights))
		return 0;
	for (size_t p = 0; p < pixels; p++) {
		double fit[3];

		if (!field->lit[p] || seen++ % step)
			continue;
		fit_pixel(field, steps, &weights, p, fit);
		cc += fit[1] * fit[1];
		cs += fit[1] * fit[2];
		ss += fit[2] * fit[2];
		for (size_t i = 0; i < steps->n; i++) {
			double v = (double)field->v[steps->image[i]][p] - fit[0];

			cv[i] += fit[1] * v;
			sv[i] += fit[2] * v;
		}
	}
	if (!(cc * ss - cs * cs > 1e-9 * cc * ss))
		return 0;
	for (size_t i = 0; i < steps->n; i++)
		next[i] = atan2(cc * sv[i] - cs * cv[i], ss * cv[i] - cs * sv[i]);
	for (size_t i = steps->n; i-- > 0;) {
		double shift = remainder(next[i] - next[0], 2 * M_PI);

		change = fmax(change, fabs(remainder(shift - steps->shift_rad[i], 2 * M_PI)));
		steps->shift_rad[i] = shift;
	}
	return change;
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

int
steps_measure(const struct field *field, struct steps *steps)
{
	struct weights weights;
	size_t pixels = field->lines * field->length, seen = 0, step = pixel_step(field), n = 0;
	float *mean = malloc(3 * pixels * sizeof(*mean)), *amplitude, *modulation;
	double squares = 0, left[STEPS_MOST] = { 0 };

	if (!mean)
		return fail_memory();
	amplitude = mean + pixels;
	modulation = amplitude + pixels;
	steps->pixels = 0;
	steps->residual = steps->noise = steps->amplitude = (double)NAN;
	if (!solve_weights(steps->shift_rad, steps->n, &weights)) {
		free(mean);
		return 0;
	}
	for (int round = 0; round < 2; round++) {
		seen = n = 0;
		for (size_t p = 0; p < pixels; p++) {
			double fit[3], b, off = 0;

			if (!field->lit[p] || seen++ % step)
				continue;
			fit_pixel(field, steps, &weights, p, fit);
			b = hypot(fit[1], fit[2]);
			if (!(b > (double)FRINGES * (round ? steps->amplitude : 0)))
				continue;
			mean[n] = (float)fit[0];
			amplitude[n] = (float)b;
			modulation[n++] = (float)(b / fit[0]);
			for (size_t i = 0; round && i < steps->n; i++) {
				double d = (double)field->v[steps->image[i]][p] - fit[0] -
				    fit[1] * cos(steps->shift_rad[i]) -
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
	free(mean);
	return 0;
}

int
steps_fit(const struct field *field, struct steps *steps)
{
	for (int round = 0; round < ROUNDS && steps->n > 3; round++)
		if (refine(field, steps) < SETTLED)
			break;
	return steps_measure(field, steps);
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
	return atan2(s, c);
}

double
steps_try(const struct field *field, const struct steps *steps, size_t image, double *shift_rad,
    double *drift_rad)
{
	struct weights weights;
	struct shift_sums all = { 0 }, half[2] = { { 0 } };
	size_t pixels = field->lines * field->length, seen = 0, step = pixel_step(field);
	double gain, left, ignored;

	if (!solve_weights(steps->shift_rad, steps->n, &weights))
		return (double)NAN;
	for (size_t p = 0; p < pixels; p++) {
		double fit[3], v = (double)field->v[image][p];

		if (!field->lit[p] || seen++ % step)
			continue;
		fit_pixel(field, steps, &weights, p, fit);
		if (!(hypot(fit[1], fit[2]) > (double)FRINGES * steps->amplitude))
			continue;
		add_pixel(&all, fit, v);
		add_pixel(&half[2 * (p % field->length) >= field->length], fit, v);
	}
	*drift_rad = remainder(solve_shift(&half[1], &ignored, &ignored) -
	    solve_shift(&half[0], &ignored, &ignored), 2 * M_PI);
	if (isnan(*drift_rad))		/* one half has no fringes */
		*drift_rad = 0;
	*shift_rad = solve_shift(&all, &gain, &left);
	return fabs(gain - 1) < GAIN ? left : (double)NAN;
}

int
steps_amplitude(const struct field *field, const struct steps *steps, float *amplitude)
{
	struct weights weights;

	if (!solve_weights(steps->shift_rad, steps->n, &weights))
		return fail(NULL, "the shifts determine no phase");
	for (size_t p = 0; p < field->lines * field->length; p++) {
		double fit[3];

		fit_pixel(field, steps, &weights, p, fit);
		amplitude[p] = (float)hypot(fit[1], fit[2]);
	}
	return 0;
}

int
steps_phase(const struct field *field, const struct steps *steps, float *phase, float *mean)
{
	struct weights weights;
	size_t pixels = field->lines * field->length;
	double least = (double)FRINGES * steps->amplitude;

	if (!solve_weights(steps->shift_rad, steps->n, &weights))
		return fail(NULL, "the shifts determine no phase");
	for (size_t p = 0; p < pixels; p++) {
		double fit[3];
		bool lit = field->lit[p];

		fit_pixel(field, steps, &weights, p, fit);
		lit = lit && hypot(fit[1], fit[2]) > least;
		if (phase)
			phase[p] = lit ? (float)atan2(-fit[2], fit[1]) : NAN;
		if (mean)
			mean[p] = lit ? (float)fit[0] : NAN;
	}
	return 0;
}
