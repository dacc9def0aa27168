#include "uneven.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define SAMPLES 360
#define HIGHEST 10
#define LEAST_COHERENCE 0.3	/* of phases beside each other; noise has less than 0.05 */
#define WORST_ERROR 0.5		/* of a gamma that is worth printing */

/* Averages over phases: of cos(m phi) and sin(m phi), and their covariance with the amplitude's
 * logarithm; m from 0 to 5. Of even phases and sinusoids all are 0 but for m = 0. */
struct averages {
	double density[6][2], amplitude[6][2], logarithm, n;
};

static void
add(struct averages *averages, double phase, double logarithm)
{
	averages->n++;
	averages->logarithm += logarithm;
	for (int m = 1; m <= 5; m++) {
		double c = cos(m * phase), s = sin(m * phase);

		averages->density[m][0] += c;
		averages->density[m][1] += s;
		averages->amplitude[m][0] += logarithm * c;
		averages->amplitude[m][1] += logarithm * s;
	}
}

static void
finish(struct averages *averages)
{
	averages->logarithm /= averages->n;
	for (int m = 1; m <= 5; m++)
		for (int i = 0; i < 2; i++) {
			averages->density[m][i] /= averages->n;
			averages->amplitude[m][i] = averages->amplitude[m][i] / averages->n -
			    averages->logarithm * averages->density[m][i];
		}
}

static struct averages
predict(struct response_levels levels, double gamma)
{
	struct averages averages = { 0 };
	double harmonic[RESPONSE_HIGHEST + 1];

	response_predict(levels, gamma, 0, HIGHEST, harmonic);
	for (int i = 0; i < SAMPLES; i++) {
		double phase = 2 * M_PI * (i + 0.5) / SAMPLES, re = cos(phase), im = sin(phase);

		for (long k = 2; k <= HIGHEST; k++) {
			double c = cos((double)k * phase), s = sin((double)k * phase);

			if (k % 3 == 0)
				continue;
			re += harmonic[k] * c;
			im += k % 3 == 1 ? harmonic[k] * s : -harmonic[k] * s;
		}
		add(&averages, atan2(im, re), 0.5 * log(re * re + im * im));
	}
	finish(&averages);
	return averages;
}

static double
density_of(struct response_levels levels, double gamma)
{
	return predict(levels, gamma).density[3][0];
}

static double
amplitude_of(struct response_levels levels, double gamma)
{
	return predict(levels, gamma).amplitude[3][0];
}

/* What there is where harmonics give nothing is how uneven phases, or brightness, are anyway. */
static double
scatter(double (*of)[2])
{
	static const int others[] = { 1, 2, 4, 5 };
	double sum = of[3][1] * of[3][1];

	for (int i = 0; i < 4; i++)
		sum += of[others[i]][0] * of[others[i]][0] + of[others[i]][1] * of[others[i]][1];
	return sqrt(sum / 9);
}

/* A gamma and its error out of a statistic and its own. */
static double
solve(double (*statistic)(struct response_levels, double), struct response_levels levels,
    double seen, double scatter_seen, double *error)
{
	double gamma = response_solve(statistic, levels, seen);
	double slope = (statistic(levels, gamma + 0.01) - statistic(levels, gamma - 0.01)) / 0.02;

	*error = fmax(scatter_seen / slope, 1e-6);
	return gamma;
}

static struct averages
average(const struct pixels *pixels, const double shift_rad[3])
{
	struct averages averages = { 0 };

	for (size_t i = 0; i < pixels->n; i++) {
		const double *v = pixels->v + 3 * i;
		double c = 0, s = 0;

		for (size_t n = 0; n < 3; n++) {
			c += 2.0 / 3 * v[n] * cos(shift_rad[n]);
			s -= 2.0 / 3 * v[n] * sin(shift_rad[n]);
		}
		/* of images with shifts d, d + 120, d + 240 degrees the phase phi + d has the
		 * harmonics of cos(phi + d) */
		add(&averages, atan2(s, c) + shift_rad[0], log(fmax(hypot(c, s), 1e-30)));
	}
	finish(&averages);
	return averages;
}

static double
phase_at(const struct frame *in, const size_t plane[3], const double shift_rad[3], size_t x,
    size_t y)
{
	double c = 0, s = 0;

	for (size_t n = 0; n < 3; n++) {
		double v = (double)frame_sample(in, plane[n], y, x);

		c += v * cos(shift_rad[n]);
		s -= v * sin(shift_rad[n]);
	}
	return atan2(s, c);
}

/* How much a pixel's phase says of that beside it, right or below: 1 where they differ by the same
 * everywhere, 0 where they have nothing to do with each other. Of every third row. */
static double
coherence(const struct frame *in, const size_t plane[3], const double shift_rad[3])
{
	double sum[2][2] = { { 0 } }, n = 0;

	for (size_t y = 0; y + 1 < in->head.h; y += 3)
		for (size_t x = 0; x + 1 < in->head.w; x++) {
			double here = phase_at(in, plane, shift_rad, x, y);
			double right = phase_at(in, plane, shift_rad, x + 1, y) - here;
			double below = phase_at(in, plane, shift_rad, x, y + 1) - here;

			if (!isfinite(right + below))
				continue;
			sum[0][0] += cos(right);
			sum[0][1] += sin(right);
			sum[1][0] += cos(below);
			sum[1][1] += sin(below);
			n++;
		}
	return fmax(hypot(sum[0][0], sum[0][1]), hypot(sum[1][0], sum[1][1])) / fmax(n, 1);
}

int
uneven_fit(const struct frame *in, const size_t plane[3], const struct pixels *pixels,
    const double shift_rad[3], struct response_levels levels, struct uneven_gamma *out)
{
	struct averages seen;
	double density_error, amplitude_error, a, b, together = coherence(in, plane, shift_rad);

	if (together < LEAST_COHERENCE)
		return fail(NULL, "these images have no fringes of 3 steps: the phase of a pixel "
		    "says %.2f of that beside it", together);

	for (int n = 1; n < 3; n++)
		if (fabs(fabs(remainder(shift_rad[n] - shift_rad[n - 1], 2 * M_PI)) -
		    2 * M_PI / 3) > 1e-6)
			return fail(NULL, "three steps give a gamma only where they are 120 "
			    "degrees apart");
	seen = average(pixels, shift_rad);
	out->by_density = solve(density_of, levels, seen.density[3][0], scatter(seen.density),
	    &density_error);
	out->by_amplitude = solve(amplitude_of, levels, seen.amplitude[3][0],
	    scatter(seen.amplitude), &amplitude_error);
	if (isnan(out->by_density) || isnan(out->by_amplitude))
		return fail(NULL, "no gamma from 0.3 to 6 makes of even phases what these are: "
		    "three steps are too few here");
	a = 1 / (density_error * density_error);
	b = 1 / (amplitude_error * amplitude_error);
	out->gamma = (a * out->by_density + b * out->by_amplitude) / (a + b);
	out->gamma_error = sqrt(1 / (a + b));
	/* two answers that differ by more than their errors say that these are too small */
	out->gamma_error = fmax(out->gamma_error,
	    fabs(out->by_density - out->by_amplitude) * fmin(a, b) / (a + b));
	if (!(out->gamma_error < WORST_ERROR))
		return fail(NULL, "the phases of three steps are too uneven for a gamma (%.2f by "
		    "their density, %.2f by their amplitude): take seven steps or more",
		    out->by_density, out->by_amplitude);
	return 0;
}
