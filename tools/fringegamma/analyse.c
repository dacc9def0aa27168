#include "analyse.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define DEFAULT_HIGHEST 10
#define FEW 7			/* steps that say harmonics up to the third without a model */
#define UNEXPLAINED_MOST 0.03	/* of the amplitude */
#define SPREAD_MOST 0.05
#define GAMMA_MOST_CHI 2.0	/* squares of differences over errors, per degree of freedom */
#define SINES_MOST 0.2		/* of the harmonics, that a table cannot undo */
#define LEAST_HARMONICS 1e-3	/* smaller ones are no reason to refuse a table */

static void
count(struct finding *f, const struct pixels *pixels)
{
	f->total = pixels->total;
	f->lit = pixels->lit;
	f->saturated = pixels->saturated;
	f->used = pixels->n;
}

/* ---- fringes ---- */

/* The highest harmonic to fit: 1 for none, where a gamma comes from three steps; 0 after fail(). */
static long
highest(const struct analysis *analysis, const double *shift_rad, size_t images)
{
	long reach = harmonic_fit_reach(shift_rad, images);

	if (analysis->highest == OPT_NONE_INTEGER)
		return reach < DEFAULT_HIGHEST ? reach : DEFAULT_HIGHEST;
	if (images == 3) {
		fail("--highest", "three steps show no harmonics, only a gamma: at least 4 are "
		    "needed");
		return 0;
	}
	if (reach >= analysis->highest)
		return analysis->highest;
	fail("--highest", "harmonic %ld is not seen by these %zu steps, which tell harmonics up "
	    "to %ld: harmonic %ld needs %ld or more", analysis->highest, images, reach,
	    analysis->highest, analysis->highest + 2);
	return 0;
}

/* A gamma's harmonics in the place of measured ones. */
static void
take_gamma(struct finding *f, struct response_levels levels)
{
	const struct response_gamma *g = &f->gamma;

	f->harmonics = (struct response_harmonics){ .highest = DEFAULT_HIGHEST };
	response_predict(levels, g->gamma, g->blur, DEFAULT_HIGHEST, f->harmonics.cosine);
	for (long k = 2; k <= DEFAULT_HIGHEST; k++)
		f->harmonics.error[k] = fmax(g->gamma_error, 1e-9);
	f->has_harmonics = true;
}

static int
by_three(const struct frame *in, const size_t *plane, const struct pixels *pixels,
    const double *shift_rad, struct response_levels levels,
    struct finding *f)
{
	f->method = BY_UNEVEN;
	if (uneven_fit(in, plane, pixels, shift_rad, levels, &f->uneven) < 0)
		return -1;
	f->gamma = (struct response_gamma){ .gamma = f->uneven.gamma,
		.gamma_error = f->uneven.gamma_error, .fits = true };
	take_gamma(f, levels);
	return 0;
}

/* Does the fit hold? Its own numbers say so. */
static int
check_fit(const struct harmonic_fit *fit)
{
	if (fit->unexplained > UNEXPLAINED_MOST)
		return fail(NULL, "these images do not fit %zu steps with harmonics: %.3f of the "
		    "amplitude is left of their means (two are exchanged, one is missing, other "
		    "light changed, or pixels are saturated)", fit->images, fit->unexplained);
	if (fit->spread > SPREAD_MOST)
		warn(NULL, "the harmonics differ by %.3f of the fundamental from part to part of "
		    "the picture, bright or dark: the camera may be saturated or not linear, or "
		    "the blur differ", fit->spread);
	return 0;
}

/* The harmonics that are seen. */
static struct response_harmonics
seen_harmonics(const struct harmonic_fit *fit)
{
	struct response_harmonics harmonics = { .highest = fit->highest };

	for (long k = 2; k <= fit->highest; k++) {
		if (!fit->seen[k])
			continue;
		harmonics.cosine[k] = fit->cosine[k];
		harmonics.sine[k] = fit->sine[k];
		harmonics.error[k] = fmax(fmax(fit->cosine_error[k], fit->sine_error[k]), 1e-9);
	}
	return harmonics;
}

/* Few steps: harmonics that they do not see are those of the gamma of those that they see, and the
 * fit is made anew with them. */
static int
complete(struct run *run, const struct pixels *pixels, struct response_levels levels,
    struct harmonic_fit *fit)
{
	double predicted[RESPONSE_HIGHEST + 1];

	for (int round = 0; round < 3; round++) {
		struct response_harmonics harmonics = seen_harmonics(fit);
		struct response_gamma gamma = response_fit(levels, &harmonics);

		if (!gamma.fits)
			return 0;
		response_predict(levels, gamma.gamma, gamma.blur, DEFAULT_HIGHEST, predicted);
		for (long k = 2; k <= DEFAULT_HIGHEST; k++)
			if (k > fit->highest || !fit->seen[k])
				fit->cosine[k] = predicted[k];
		fit->known = DEFAULT_HIGHEST;
		if (harmonic_fit(run, pixels, fit) < 0)
			return -1;
	}
	return 0;
}

/* Do the measured harmonics differ from the gamma's by no more than their errors? Then the gamma's,
 * of two unknowns, are the better ones. */
static bool
is_gamma(const struct harmonic_fit *fit, const struct response_gamma *gamma,
    struct response_levels levels)
{
	double predicted[RESPONSE_HIGHEST + 1], chi = 0, n = 0;

	if (!gamma->fits)
		return false;
	response_predict(levels, gamma->gamma, gamma->blur, fit->highest, predicted);
	for (long k = 2; k <= fit->highest; k++) {
		double c = (fit->cosine[k] - predicted[k]) / fit->cosine_error[k];
		double s = fit->sine[k] / fit->sine_error[k];

		if (!fit->seen[k])
			continue;
		chi += c * c + s * s;
		n += 2;
	}
	return chi < GAMMA_MOST_CHI * (n - 2);
}

static int
by_harmonics(struct run *run, const struct pixels *pixels, struct response_levels levels,
    struct finding *f)
{
	struct harmonic_fit *fit = f->fit;

	if (harmonic_fit(run, pixels, fit) < 0)
		return -1;
	if (fit->images < FEW && complete(run, pixels, levels, fit) < 0)
		return -1;
	if (check_fit(fit) < 0)
		return -1;
	f->harmonics = seen_harmonics(fit);
	f->gamma = response_fit(levels, &f->harmonics);
	f->of_gamma = fit->images >= FEW && !fit->slopes && is_gamma(fit, &f->gamma, levels);
	f->method = fit->images < FEW ? BY_GAMMA : BY_HARMONICS;
	f->has_harmonics = true;
	if (f->method == BY_GAMMA && !f->gamma.fits)
		return fail(NULL, "no gamma explains the harmonics of these %zu steps (%.3f leaves "
		    "%.0f %% of them): take %d steps or more", fit->images, f->gamma.gamma,
		    100 * f->gamma.left, FEW);
	if (f->method == BY_GAMMA || f->of_gamma)
		take_gamma(f, levels);
	return 0;
}

int
analyse_fringes(struct run *run, const struct analysis *analysis, const struct frame *in,
    const struct capture_fringe *fringe, struct response_levels levels, struct finding *out)
{
	struct pixels pixels = { 0 };
	struct harmonic_fit *fit = calloc(1, sizeof(*fit));
	char name[CAPTURE_SET_NAME_SIZE];
	int status = 0;

	*out = (struct finding){ .axis = fringe->axis, .period_px = fringe->period_px,
		.images = fringe->n, .fit = fit };
	if (!fit)
		return fail_memory();
	if (fringe->two_plus_one)
		return fail(NULL, "sine, cosine and flat (2+1) show no harmonics: take steps");
	if (fringe->n > FIT_IMAGES)
		return fail(NULL, "%zu steps are more than %d", fringe->n, FIT_IMAGES);
	fit->images = fringe->n;
	fit->slopes = analysis->vary;
	out->w = in->head.w;
	out->h = in->head.h;
	out->sign = analysis->sign;
	out->origin_rad = analysis->origin_rad;
	if (analysis->vary && fringe->n < FEW)
		return fail("--vary", "needs %d steps or more, these are %zu", FEW, fringe->n);
	for (size_t n = 0; n < fringe->n; n++)
		fit->shift_rad[n] =
		    analysis->sign * fringe->shift_rad[n] + analysis->origin_rad;
	fit->highest = highest(analysis, fit->shift_rad, fit->images);
	if (fit->highest == 0)
		return -1;
	if (fit->highest == 1 && fringe->n > 3)
		return fail(NULL, "the shifts of these %zu steps show no harmonics", fringe->n);
	status = pixels_take(in, fringe->plane, fringe->n, analysis->most, analysis->least_swing,
	    &pixels);
	count(out, &pixels);
	if (status == 0)
		status = fit->highest == 1 ? by_three(in, fringe->plane, &pixels,
		fit->shift_rad, levels, out) :
		    by_harmonics(run, &pixels, levels, out);
	pixels_free(&pixels);
	if (out->method != BY_HARMONICS && out->method != BY_GAMMA) {
		free(out->fit);
		out->fit = NULL;
	}
	if (status < 0)
		fail_prefix(capture_set_name(fringe, name));
	return status;
}

/* ---- flats ---- */

int
analyse_flats(const struct analysis *analysis, const struct frame *in, const struct numbers *level,
    struct response_levels levels, struct finding *out)
{
	size_t *plane = reallocarray(NULL, level->n, sizeof(*plane));
	struct pixels pixels = { 0 };
	int status;

	*out = (struct finding){ .method = BY_FLATS, .period_px = NAN, .images = level->n };
	if (!plane)
		return fail_memory();
	for (size_t i = 0; i < level->n; i++)
		plane[i] = i;
	status = pixels_take(in, plane, level->n, analysis->most, analysis->least_swing, &pixels);
	count(out, &pixels);
	if (status == 0)
		status = flats_fit(&pixels, level, analysis->full, &out->flats);
	if (status == 0)
		out->has_harmonics = flats_harmonics(&out->flats, levels, &out->harmonics);
	pixels_free(&pixels);
	free(plane);
	return status;
}

void
analyse_free(struct finding *finding)
{
	free(finding->fit);
	flats_free(&finding->flats);
	*finding = (struct finding){ 0 };
}

/* ---- tables ---- */

/* Of the harmonics, how much is sines. */
static double
sines(const struct response_harmonics *h, double *all)
{
	double sum = 0;

	*all = 0;
	for (long k = 2; k <= h->highest; k++) {
		sum += h->sine[k] * h->sine[k];
		*all += h->sine[k] * h->sine[k] + h->cosine[k] * h->cosine[k];
	}
	*all = sqrt(*all);
	return *all > 0 ? sqrt(sum) / *all : 0;
}

const struct finding *
analyse_table(const struct findings *all, double *table)
{
	const struct finding *best = &all->finding[0];
	double size, share;

	for (size_t i = 1; i < all->n; i++)
		if (all->finding[i].period_px > best->period_px)
			best = &all->finding[i];
	if (*all->compensation) {
		fail("--lut", "the patterns were compensated already (%s), and a table would "
		    "stand in its place: measure without", all->compensation);
		return NULL;
	}
	if (best->method == BY_FLATS && !best->flats.fits) {
		response_table_flats(best->flats.level, best->flats.light, best->flats.n, table);
		return best;
	}
	if (best->method == BY_FLATS || best->gamma.fits) {
		response_table_gamma(best->method == BY_FLATS ? best->flats.gamma :
		    best->gamma.gamma, table);
		return best;
	}
	share = sines(&best->harmonics, &size);
	if (share > SINES_MOST && size > LEAST_HARMONICS) {
		fail("--lut", "%.0f %% of the harmonics are sines, which come from no response of "
		    "levels: no table undoes them, phasewrap --harmonics does", 100 * share);
		return NULL;
	}
	return response_table_harmonics(all->levels, &best->harmonics, table) < 0 ? NULL : best;
}
