#include "response.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

#define TWO_PI 6.28318530717958647692
#define SAMPLES 1024
#define GAMMA_LEAST 0.3
#define GAMMA_MOST 6.0
#define BLUR_MOST 0.3		/* of the period: hardly a fundamental is left */
#define FLOOR 2e-4		/* of the fundamental: what models leave of real harmonics anyway */
#define FITS 0.05		/* of the harmonics may be left */

/* ---- a gamma ---- */

void
response_predict(struct response_levels levels, double gamma, double blur, long highest,
    double *out)
{
	double sum[RESPONSE_HIGHEST + 1] = { 0 };

	for (int i = 0; i < SAMPLES; i++) {
		double c = cos(TWO_PI * (i + 0.5) / SAMPLES), before = 1, wave = c;
		double light = pow(fmax(levels.mean + levels.amplitude * c, 0), gamma);

		for (long k = 1; k <= highest; k++) {
			double next = 2 * c * wave - before;

			sum[k] += light * wave;
			before = wave;
			wave = next;
		}
	}
	for (long k = 2; k <= highest; k++)
		out[k] = sum[k] / sum[1] *
		    exp(-0.5 * TWO_PI * TWO_PI * (double)(k * k - 1) * blur * blur);
}

static double
weight(const struct response_harmonics *h, long k)
{
	return h->error[k] > 0 ? 1 / (h->error[k] * h->error[k] + FLOOR * FLOOR) : 0;
}

/* The sum of squares that a blur leaves of harmonics without one, in units of their errors. */
static double
left_of(const struct response_harmonics *h, const double *sharp, double blur)
{
	double sum = 0;

	for (long k = 2; k <= h->highest; k++) {
		double d = h->cosine[k] - sharp[k] *
		    exp(-0.5 * TWO_PI * TWO_PI * (double)(k * k - 1) * blur * blur);

		sum += weight(h, k) * d * d;
	}
	return sum;
}

/* The best blur for a gamma: over a grid, then finer about the best of it. */
static double
best_blur(const struct response_harmonics *h, const double *sharp, bool wanted, double *left)
{
	double best = 0, width = BLUR_MOST;

	*left = left_of(h, sharp, 0);
	for (int round = 0; wanted && round < 7; round++) {
		double from = fmax(0, best - width), to = best + width;

		for (int i = 0; i <= 24; i++) {
			double blur = from + (to - from) * i / 24, found = left_of(h, sharp, blur);

			if (found < *left) {
				*left = found;
				best = blur;
			}
		}
		width /= 8;
	}
	return best;
}

static double
try_gamma(struct response_levels levels, const struct response_harmonics *h, bool blurs,
    double gamma, double *blur)
{
	double sharp[RESPONSE_HIGHEST + 1], left;

	response_predict(levels, gamma, 0, h->highest, sharp);
	*blur = best_blur(h, sharp, blurs, &left);
	return left;
}

/* The errors of gamma and blur by how the harmonics change with them. */
static void
find_errors(struct response_levels levels, const struct response_harmonics *h,
    struct response_gamma *fit)
{
	double by[3][RESPONSE_HIGHEST + 1], gg = 0, gb = 0, bb = 0, det;
	const double d = 1e-3;
	double blur = fmax(fit->blur, 0.005);	/* its derivative is 0 at 0 */

	response_predict(levels, fit->gamma, blur, h->highest, by[0]);
	response_predict(levels, fit->gamma + d, blur, h->highest, by[1]);
	response_predict(levels, fit->gamma, blur + d, h->highest, by[2]);
	for (long k = 2; k <= h->highest; k++) {
		double w = h->error[k] > 0 ? 1 / fmax(h->error[k] * h->error[k], 1e-16) : 0;
		double g = (by[1][k] - by[0][k]) / d, b = (by[2][k] - by[0][k]) / d;

		gg += w * g * g;
		gb += w * g * b;
		bb += w * b * b;
	}
	det = fit->finds_blur ? gg * bb - gb * gb : gg;
	fit->gamma_error = det > 0 ? sqrt((fit->finds_blur ? bb : 1) / det) : INFINITY;
	fit->blur_error = fit->finds_blur && det > 0 ? sqrt(gg / det) : 0;
}

/* What is left, sines too, over what there is. */
static double
share_left(struct response_levels levels, const struct response_harmonics *h,
    const struct response_gamma *fit)
{
	double predicted[RESPONSE_HIGHEST + 1], left = 0, all = 0;

	response_predict(levels, fit->gamma, fit->blur, h->highest, predicted);
	for (long k = 2; k <= h->highest; k++) {
		double d = h->cosine[k] - predicted[k];

		if (!(h->error[k] > 0))
			continue;
		left += d * d + h->sine[k] * h->sine[k];
		all += h->cosine[k] * h->cosine[k] + h->sine[k] * h->sine[k];
	}
	return sqrt(left / fmax(all, FLOOR * FLOOR));
}

struct response_gamma
response_fit(struct response_levels levels, const struct response_harmonics *h)
{
	struct response_gamma fit = { .gamma = 1 };
	double least = INFINITY, width = GAMMA_MOST - GAMMA_LEAST, from = GAMMA_LEAST;
	size_t measured = 0;

	for (long k = 2; k <= h->highest; k++)
		measured += h->error[k] > 0;
	fit.finds_blur = measured > 1;
	for (int round = 0; round < 6; round++) {
		double to = fmin(from + width, GAMMA_MOST);

		for (int i = 0; i <= 32; i++) {
			double gamma = from + (to - from) * i / 32, blur;
			double left = try_gamma(levels, h, fit.finds_blur, gamma, &blur);

			if (left < least) {
				least = left;
				fit.gamma = gamma;
				fit.blur = blur;
			}
		}
		width /= 8;
		from = fmax(GAMMA_LEAST, fit.gamma - width / 2);
	}
	find_errors(levels, h, &fit);
	fit.left = share_left(levels, h, &fit);
	fit.fits = fit.left <= FITS;
	return fit;
}

double
response_solve(double (*statistic)(struct response_levels, double gamma),
    struct response_levels levels, double wanted)
{
	double low = GAMMA_LEAST, high = GAMMA_MOST;

	if (!(statistic(levels, low) < wanted && wanted < statistic(levels, high)))
		return NAN;
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (statistic(levels, middle) < wanted)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- tables ---- */

void
response_table_gamma(double gamma, double *level)
{
	for (size_t i = 0; i < RESPONSE_ROWS; i++)
		level[i] = pow((double)i / (RESPONSE_ROWS - 1), 1 / gamma);
}

/* The light of the polynomial at x = (level - mean)/amplitude. */
static double
polynomial(const struct response_harmonics *h, double x)
{
	double before = 1, wave = x, sum = x;

	for (long k = 2; k <= h->highest; k++) {
		double next = 2 * x * wave - before;

		sum += h->cosine[k] * next;
		before = wave;
		wave = next;
	}
	return sum;
}

int
response_table_harmonics(struct response_levels levels, const struct response_harmonics *h,
    double *level)
{
	double dark = polynomial(h, -1), bright = polynomial(h, 1), last = dark;

	for (int i = 1; i <= SAMPLES; i++) {
		double light = polynomial(h, 2.0 * i / SAMPLES - 1);

		if (!(light > last))
			return fail(NULL, "the harmonics are no response that rises from level to "
			    "level, such as one that is dark for several: take flats for a table");
		last = light;
	}
	for (size_t i = 0; i < RESPONSE_ROWS; i++) {
		double wanted = dark + (bright - dark) * (double)i / (RESPONSE_ROWS - 1);
		double low = -1, high = 1;

		for (int step = 0; step < 50; step++) {
			double middle = (low + high) / 2;

			*(polynomial(h, middle) < wanted ? &low : &high) = middle;
		}
		level[i] = levels.mean + levels.amplitude * (low + high) / 2;
	}
	return 0;
}

/* The slope at point i: harmonic means keep the curve monotone. */
static double
slope_at(const double *at, const double *light, size_t n, size_t i)
{
	size_t a = i > 0 ? i - 1 : 0, b = i + 1 < n ? i : n - 2;
	double wide = at[b + 1] - at[b], before = at[a + 1] - at[a];
	double right = (light[b + 1] - light[b]) / wide, left = (light[a + 1] - light[a]) / before;
	double w1 = 2 * wide + before, w2 = wide + 2 * before;

	return left * right > 0 ? (w1 + w2) / (w1 / left + w2 / right) : 0;
}

double
response_curve(const double *at, const double *light, size_t n, double level)
{
	size_t i = 0;
	double h, t, m0, m1;

	level = fmax(at[0], fmin(level, at[n - 1]));
	while (i + 2 < n && level >= at[i + 1])
		i++;
	h = at[i + 1] - at[i];
	t = (level - at[i]) / h;
	m0 = slope_at(at, light, n, i);
	m1 = slope_at(at, light, n, i + 1);
	return light[i] * (1 + 2 * t) * (1 - t) * (1 - t) + h * m0 * t * (1 - t) * (1 - t) +
	    light[i + 1] * t * t * (3 - 2 * t) + h * m1 * t * t * (t - 1);
}

void
response_table_flats(const double *at, const double *light, size_t n, double *level)
{
	for (size_t i = 0; i < RESPONSE_ROWS; i++) {
		double wanted =
		    light[0] + (light[n - 1] - light[0]) * (double)i / (RESPONSE_ROWS - 1);
		double low = at[0], high = at[n - 1];

		for (int step = 0; step < 50; step++) {
			double middle = (low + high) / 2;

			*(response_curve(at, light, n, middle) < wanted ? &low : &high) = middle;
		}
		level[i] = (low + high) / 2;
	}
}

/* ---- what harmonics do ---- */

double
response_phase_error(const struct response_harmonics *h, size_t steps)
{
	double squares = 0;

	for (int i = 0; i < SAMPLES; i++) {
		double phase = TWO_PI * i / SAMPLES, re = 1, im = 0, error;

		for (long k = 2; k <= h->highest; k++) {
			double c = h->cosine[k], s = h->sine[k];
			double up = (double)(k - 1) * phase, down = (double)(k + 1) * phase;

			if ((size_t)(k - 1) % steps == 0) {	/* (c - i s) e^(ik phi) */
				re += c * cos(up) + s * sin(up);
				im += c * sin(up) - s * cos(up);
			}
			if ((size_t)(k + 1) % steps == 0) {	/* (c + i s) e^(-ik phi) */
				re += c * cos(down) + s * sin(down);
				im += s * cos(down) - c * sin(down);
			}
		}
		error = atan2(im, re);
		squares += error * error;
	}
	return sqrt(squares / SAMPLES);
}
