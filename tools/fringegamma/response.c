/*
 * The projector's response: the light that it shows for a level. From harmonics, as a gamma and a
 * blur or as their polynomial; from flats; from the uneven phases of three steps.
 *
 * A sinusoid of levels m + b cos p becomes f(m + b cos p) = sum of C_k cos(k p), so that f is the
 * sum of C_k T_k((level - m)/b), T_k Chebyshev's polynomials; the projector's blur by sigma pixels
 * leaves exp(-2 pi^2 k^2 sigma^2/T^2) of harmonic k.
 */
#include "fringegamma.h"

#define TWO_PI 6.28318530717958647692
#define SAMPLES 1024		/* of a turn, or of a response */

/* ---- a gamma and a blur from harmonics ---- */

#define MIN_GAMMA 0.3
#define MAX_GAMMA 6.0
#define MAX_BLUR 0.3		/* of the period: hardly a fundamental is left */
#define MODEL_ERROR 2e-4	/* of the fundamental: models leave so much of real harmonics */
#define MAX_HARMONICS_LEFT 0.05	/* of the harmonics */

/* How much a blur leaves of harmonic k, over the fundamental. */
static double
blur_factor(double blur, long k)
{
	return exp(-0.5 * TWO_PI * TWO_PI * (double)(k * k - 1) * blur * blur);
}

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
		out[k] = sum[k] / sum[1] * blur_factor(blur, k);
}

/* The sum of squares, in units of their errors, by which the harmonics differ from blurred ones. */
static double
left_of(const struct response_harmonics *h, const double *sharp, double blur)
{
	double sum = 0;

	for (long k = 2; k <= h->highest; k++) {
		double d = h->cosine[k] - sharp[k] * blur_factor(blur, k), error = h->error[k];

		if (error > 0)
			sum += 1 / (error * error + MODEL_ERROR * MODEL_ERROR) * d * d;
	}
	return sum;
}

/* Finds the best blur for a gamma: on a grid, then on finer ones about the best. */
static double
best_blur(const struct response_harmonics *h, const double *sharp, bool wanted, double *left)
{
	double best = 0, width = MAX_BLUR;

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

/* Finds the errors of gamma and blur from the harmonics' derivatives. */
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

/* The share of the harmonics that the fit leaves; sines count as left. */
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
	return sqrt(left / fmax(all, MODEL_ERROR * MODEL_ERROR));
}

struct response_gamma
response_fit(struct response_levels levels, const struct response_harmonics *h)
{
	struct response_gamma fit = { .gamma = 1 };
	double least = INFINITY, width = MAX_GAMMA - MIN_GAMMA, from = MIN_GAMMA;
	size_t measured = 0;

	for (long k = 2; k <= h->highest; k++)
		measured += h->error[k] > 0;
	fit.finds_blur = measured > 1;
	for (int round = 0; round < 6; round++) {
		double to = fmin(from + width, MAX_GAMMA);

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
		from = fmax(MIN_GAMMA, fit.gamma - width / 2);
	}
	find_errors(levels, h, &fit);
	fit.left = share_left(levels, h, &fit);
	fit.fits = fit.left <= MAX_HARMONICS_LEFT;
	return fit;
}

/* Where f, which rises from low to high, becomes `wanted`. */
static double
bisect(double (*f)(const void *arg, double x), const void *arg, double wanted, double low,
    double high, int steps)
{
	for (int i = 0; i < steps; i++) {
		double middle = (low + high) / 2;

		*(f(arg, middle) < wanted ? &low : &high) = middle;
	}
	return (low + high) / 2;
}

/* ---- tables ---- */

/* The light of a polynomial, struct response_harmonics, at x = (level - mean)/amplitude. */
static double
polynomial(const void *arg, double x)
{
	const struct response_harmonics *h = arg;
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

		level[i] = levels.mean + levels.amplitude * bisect(polynomial, h, wanted, -1, 1,
		    50);
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

/* The same curve's light, of struct flats, at a level. */
static double
response_curve(const void *arg, double level)
{
	const struct flats *flats = arg;
	const double *at = flats->level, *light = flats->light;
	size_t i = 0, n = flats->n;
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
response_table_flats(const struct flats *flats, double *level)
{
	const double *at = flats->level, *light = flats->light;
	size_t last = flats->n - 1;

	for (size_t i = 0; i < RESPONSE_ROWS; i++)
		level[i] = bisect(response_curve, flats, light[0] + (light[last] - light[0]) *
		    (double)i / (RESPONSE_ROWS - 1), at[0], at[last], 50);
}

/* ---- the phase error that harmonics cause ---- */

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

/* ---- the response from flat images of known levels ---- */

#define FLATS_HIGHEST 10
#define MAX_LIGHT_LEFT 0.004	/* of the range of light */

/* The sum of squares that offset + gain level^gamma leaves, with the best offset and gain. */
static double
light_left(const struct flats *flats, double gamma)
{
	double n = (double)flats->n, x = 0, y = 0, xx = 0, xy = 0, left = 0, gain, offset;

	for (size_t i = 0; i < flats->n; i++) {
		double p = pow(flats->level[i], gamma);

		x += p;
		y += flats->light[i];
		xx += p * p;
		xy += p * flats->light[i];
	}
	gain = (n * xy - x * y) / (n * xx - x * x);
	offset = (y - gain * x) / n;
	for (size_t i = 0; i < flats->n; i++) {
		double d = flats->light[i] - offset - gain * pow(flats->level[i], gamma);

		left += d * d;
	}
	return left;
}

/* The error of gamma, from the rest and from the light's change with gamma that offset and gain do
 * not explain. */
static double
gamma_error(const struct flats *flats, double left, double range)
{
	const double d = 1e-3;
	double above = light_left(flats, flats->gamma.gamma + d) - left;
	double below = light_left(flats, flats->gamma.gamma - d) - left;
	double noise = fmax(left / fmax((double)flats->n - 3, 1),
	    pow(flats->light_error * range, 2));

	return sqrt(noise * 2 * d * d / fmax(above + below, 1e-300));
}

static void
fit_gamma(struct flats *flats)
{
	double least = INFINITY, from = MIN_GAMMA, width = MAX_GAMMA - MIN_GAMMA;
	double range = flats->light[flats->n - 1] - flats->light[0];

	for (int round = 0; round < 8; round++) {
		for (int i = 0; i <= 32; i++) {
			double gamma = from + width * i / 32, left = light_left(flats, gamma);

			if (left < least) {
				least = left;
				flats->gamma.gamma = gamma;
			}
		}
		width /= 8;
		from = fmax(MIN_GAMMA, flats->gamma.gamma - width / 2);
	}
	flats->gamma.left = sqrt(least / (double)flats->n) / range;
	flats->gamma.gamma_error = gamma_error(flats, least, range);
	flats->gamma.fits = flats->gamma.left <= MAX_LIGHT_LEFT;
}

/* Sorts by level; fails unless light rises with it. */
static int
sort_flats(struct flats *flats, double full)
{
	double *level = flats->level, *light = flats->light;

	for (size_t i = 1; i < flats->n; i++)
		for (size_t j = i; j > 0 && level[j] < level[j - 1]; j--) {
			double of[2] = { level[j], light[j] };

			level[j] = level[j - 1];
			light[j] = light[j - 1];
			level[j - 1] = of[0];
			light[j - 1] = of[1];
		}
	for (size_t i = 1; i < flats->n; i++) {
		if (level[i] == level[i - 1])
			return fail("--levels", "has %g twice", level[i] * full);
		if (!(light[i] > light[i - 1]))
			return fail(NULL, "the flats do not rise: level %g gives %.2f, level %g "
			    "gives %.2f", level[i - 1] * full, light[i - 1], level[i] * full,
			    light[i]);
	}
	return 0;
}

int
flats_fit(const struct pixels *pixels, const struct numbers *level, double full, struct flats *out)
{
	double largest = 0;

	*out = (struct flats){ .n = level->n, .level = must_alloc(2 * level->n, sizeof(double)) };
	out->light = out->level + level->n;
	for (size_t i = 0; i < level->n; i++) {
		double error;

		out->level[i] = level->v[i] / full;
		out->light[i] = fringegamma_rows()->light_of(pixels, i, &error);
		largest = fmax(largest, error);
	}
	if (sort_flats(out, full) < 0)
		return -1;
	out->light_error = largest / (out->light[level->n - 1] - out->light[0]);
	fit_gamma(out);
	return 0;
}

bool
flats_harmonics(const struct flats *flats, struct response_levels levels,
    struct response_harmonics *out)
{
	double sum[FLATS_HIGHEST + 1] = { 0 };

	*out = (struct response_harmonics){ .highest = FLATS_HIGHEST };
	if (levels.mean - levels.amplitude < flats->level[0] - 1e-9 ||
	    levels.mean + levels.amplitude > flats->level[flats->n - 1] + 1e-9)
		return false;
	for (int i = 0; i < SAMPLES; i++) {
		double phase = 2 * M_PI * (i + 0.5) / SAMPLES;
		double at = levels.mean + levels.amplitude * cos(phase);
		double light = flats->gamma.fits ? pow(fmax(at, 0), flats->gamma.gamma) :
		    response_curve(flats, at);

		for (int k = 1; k <= FLATS_HIGHEST; k++)
			sum[k] += light * cos(k * phase);
	}
	for (int k = 2; k <= FLATS_HIGHEST; k++) {
		out->cosine[k] = sum[k] / sum[1];
		out->error[k] = fmax(flats->light_error, 1e-9);
	}
	return true;
}

/*
 * ---- a gamma from three steps, which every pixel fits ----
 * Harmonics gather the measured phases at some places of the circle, and raise and lower the
 * amplitude with the phase. Both show where the true phases are even on the circle and independent
 * of the surface's brightness. (Guo, He and Chen 2004; Hoang, Pan, Nguyen and Wang 2010 find a
 * gamma from the phases' distribution.)
 */

#define MIN_COHERENCE 0.3	/* of neighbouring phases; noise has less than 0.05 */
#define MAX_GAMMA_ERROR 0.5	/* of a gamma that is worth printing */

/* A statistic of three steps as the gamma predicts it: the third harmonic of the phases' density,
 * or of the amplitude's logarithm. */
struct statistic {
	struct response_levels levels;
	bool of_amplitude;
};

static double
predicted(const void *arg, double gamma)
{
	const struct statistic *of = arg;
	struct averages averages = fringegamma_rows()->predict_averages(of->levels, gamma);

	return of->of_amplitude ? averages.amplitude[3][0] : averages.density[3][0];
}

/* The averages that harmonics do not change show how uneven phases, or brightness, are anyway. */
static double
scatter(double (*of)[2])
{
	static const int others[] = { 1, 2, 4, 5 };
	double sum = of[3][1] * of[3][1];

	for (int i = 0; i < 4; i++)
		sum += of[others[i]][0] * of[others[i]][0] + of[others[i]][1] * of[others[i]][1];
	return sqrt(sum / 9);
}

/* The gamma, NaN: none from 0.3 to 6, and its error from a statistic and its error. */
static double
solve(const struct statistic *of, double seen, double scatter_seen, double *error)
{
	double gamma = predicted(of, MIN_GAMMA) < seen && seen < predicted(of, MAX_GAMMA) ?
	    bisect(predicted, of, seen, MIN_GAMMA, MAX_GAMMA, 40) : NAN;
	double slope = (predicted(of, gamma + 0.01) - predicted(of, gamma - 0.01)) / 0.02;

	*error = fmax(scatter_seen / slope, 1e-6);
	return gamma;
}

int
uneven_fit(const struct frame *in, const size_t plane[3], const struct pixels *pixels,
    const double shift_rad[3], struct response_levels levels, struct uneven_gamma *out)
{
	struct averages seen;
	double density_error, amplitude_error, a, b;
	double together = fringegamma_rows()->coherence(in, plane, shift_rad);

	if (together < MIN_COHERENCE)
		return fail(NULL, "these images have no fringes of 3 steps: the phase of a pixel "
		    "says %.2f of that beside it", together);

	for (int n = 1; n < 3; n++)
		if (fabs(fabs(remainder(shift_rad[n] - shift_rad[n - 1], 2 * M_PI)) -
		    2 * M_PI / 3) > 1e-6)
			return fail(NULL, "three steps give a gamma only where they are 120 "
			    "degrees apart");
	seen = fringegamma_rows()->average(pixels, shift_rad);
	out->by_density = solve(&(struct statistic){ levels, false }, seen.density[3][0],
	    scatter(seen.density), &density_error);
	out->by_amplitude = solve(&(struct statistic){ levels, true }, seen.amplitude[3][0],
	    scatter(seen.amplitude), &amplitude_error);
	if (isnan(out->by_density) || isnan(out->by_amplitude))
		return fail(NULL, "no gamma from 0.3 to 6 makes of even phases what these are: "
		    "three steps are too few here");
	a = 1 / (density_error * density_error);
	b = 1 / (amplitude_error * amplitude_error);
	out->gamma = (a * out->by_density + b * out->by_amplitude) / (a + b);
	out->gamma_error = sqrt(1 / (a + b));
	/* where the two answers differ by more than their errors, these are too small */
	out->gamma_error = fmax(out->gamma_error,
	    fabs(out->by_density - out->by_amplitude) * fmin(a, b) / (a + b));
	if (!(out->gamma_error < MAX_GAMMA_ERROR))
		return fail(NULL, "the phases of three steps are too uneven for a gamma (%.2f by "
		    "their density, %.2f by their amplitude): take seven steps or more",
		    out->by_density, out->by_amplitude);
	return 0;
}
