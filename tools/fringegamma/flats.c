#include "flats.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define SAMPLES 1024
#define HIGHEST 10
#define FITS 0.004		/* of the range of light */

/* What offset + gain level^gamma leaves, as a sum of squares, at the best offset and gain. */
static double
left_of(const struct flats *flats, double gamma, double *offset, double *gain)
{
	double n = (double)flats->n, x = 0, y = 0, xx = 0, xy = 0, left = 0;

	for (size_t i = 0; i < flats->n; i++) {
		double p = pow(flats->level[i], gamma);

		x += p;
		y += flats->light[i];
		xx += p * p;
		xy += p * flats->light[i];
	}
	*gain = (n * xy - x * y) / (n * xx - x * x);
	*offset = (y - *gain * x) / n;
	for (size_t i = 0; i < flats->n; i++) {
		double d = flats->light[i] - *offset - *gain * pow(flats->level[i], gamma);

		left += d * d;
	}
	return left;
}

/* The error of gamma, by what is left, and by how the light changes with it once offset and gain
 * have taken theirs. */
static double
gamma_error(const struct flats *flats, double left, double range)
{
	const double d = 1e-3;
	double offset, gain, more, curve[2], noise;

	more = left_of(flats, flats->gamma + d, &offset, &gain);
	curve[0] = more - left;
	more = left_of(flats, flats->gamma - d, &offset, &gain);
	curve[1] = more - left;
	noise = fmax(left / fmax((double)flats->n - 3, 1),
	    pow(flats->light_error * range, 2));
	return sqrt(noise * 2 * d * d / fmax(curve[0] + curve[1], 1e-300));
}

static void
fit_gamma(struct flats *flats)
{
	double least = INFINITY, from = 0.3, width = 5.7, offset, gain;
	double range = flats->light[flats->n - 1] - flats->light[0];

	for (int round = 0; round < 8; round++) {
		double start = from;

		for (int i = 0; i <= 32; i++) {
			double gamma = start + width * i / 32;
			double left = left_of(flats, gamma, &offset, &gain);

			if (left < least) {
				least = left;
				flats->gamma = gamma;
			}
		}
		width /= 8;
		from = fmax(0.3, flats->gamma - width / 2);
	}
	flats->left = sqrt(least / (double)flats->n) / range;
	flats->gamma_error = gamma_error(flats, least, range);
	flats->fits = flats->left <= FITS;
}

/* The mean of image i over all pixels, and its standard error by the parts of the picture; each
 * pixel's own mean over the images is taken off for the latter. */
static double
light_of(const struct pixels *pixels, size_t i, double *error)
{
	double sum = 0, squares = 0, all = 0;

	for (size_t at = 0; at < pixels->n; at++)
		sum += pixels->v[at * pixels->images + i];
	for (size_t at = 0; at < pixels->n; at++)
		for (size_t n = 0; n < pixels->images; n++)
			all += pixels->v[at * pixels->images + n];
	for (size_t at = 0; at < pixels->n; at++) {
		const double *v = pixels->v + at * pixels->images;
		double mean = 0, d;

		for (size_t n = 0; n < pixels->images; n++)
			mean += v[n];
		/* a brighter pixel is brighter in every image */
		d = v[i] - (all > 0 ? mean * sum / (all / (double)pixels->images) /
		    (double)pixels->images : 0);
		squares += d * d;
	}
	*error = sqrt(squares) / (double)pixels->n;
	return sum / (double)pixels->n;
}

/* By level. */
static void
sort(struct flats *flats)
{
	for (size_t i = 1; i < flats->n; i++)
		for (size_t j = i; j > 0 && flats->level[j] < flats->level[j - 1]; j--) {
			double level = flats->level[j], light = flats->light[j];

			flats->level[j] = flats->level[j - 1];
			flats->light[j] = flats->light[j - 1];
			flats->level[j - 1] = level;
			flats->light[j - 1] = light;
		}
}

static int
check(const struct flats *flats, double full)
{
	for (size_t i = 1; i < flats->n; i++) {
		if (flats->level[i] == flats->level[i - 1])
			return fail("--levels", "has %g twice", flats->level[i] * full);
		if (!(flats->light[i] > flats->light[i - 1]))
			return fail(NULL, "the flats do not rise: level %g gives %.2f, level %g "
			    "gives %.2f", flats->level[i - 1] * full, flats->light[i - 1],
			    flats->level[i] * full, flats->light[i]);
	}
	return 0;
}

int
flats_fit(const struct pixels *pixels, const struct numbers *level, double full, struct flats *out)
{
	double largest = 0;

	*out = (struct flats){ .n = level->n };
	out->level = reallocarray(NULL, level->n, sizeof(double));
	out->light = reallocarray(NULL, level->n, sizeof(double));
	if (!out->level || !out->light)
		return fail_memory();
	for (size_t i = 0; i < level->n; i++) {
		double error;

		out->level[i] = level->v[i] / full;
		out->light[i] = light_of(pixels, i, &error);
		largest = fmax(largest, error);
	}
	sort(out);
	if (check(out, full) < 0)
		return -1;
	out->light_error = largest / (out->light[level->n - 1] - out->light[0]);
	fit_gamma(out);
	return 0;
}

void
flats_free(struct flats *flats)
{
	free(flats->level);
	free(flats->light);
	*flats = (struct flats){ 0 };
}

bool
flats_harmonics(const struct flats *flats, struct response_levels levels,
    struct response_harmonics *out)
{
	double sum[HIGHEST + 1] = { 0 };

	*out = (struct response_harmonics){ .highest = HIGHEST };
	if (levels.mean - levels.amplitude < flats->level[0] - 1e-9 ||
	    levels.mean + levels.amplitude > flats->level[flats->n - 1] + 1e-9)
		return false;
	for (int i = 0; i < SAMPLES; i++) {
		double phase = 2 * M_PI * (i + 0.5) / SAMPLES;
		double at = levels.mean + levels.amplitude * cos(phase);
		double light = flats->fits ? pow(fmax(at, 0), flats->gamma) :
		    response_curve(flats->level, flats->light, flats->n, at);

		for (int k = 1; k <= HIGHEST; k++)
			sum[k] += light * cos(k * phase);
	}
	for (int k = 2; k <= HIGHEST; k++) {
		out->cosine[k] = sum[k] / sum[1];
		out->error[k] = fmax(flats->light_error, 1e-9);
	}
	return true;
}
