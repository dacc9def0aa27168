#include "phasewrap.h"

#include "alike_sets.h"
#include "base/cpu_level.h"
#include "base/fail.h"
#include "double_three.h"
#include "exposure_fit.h"
#include "fit_residual.h"
#include "fringe_sums.h"
#include "gray_code.h"
#include "harmonics.h"
#include "phasewrap.px.h"
#include "phase_sigma.h"
#include "tile.h"

#include <stdlib.h>

static void
wrap_tile(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;
	const struct phasewrap_channels *at = &wrap->channels;

	if (!wrap->fits && !wrap->halves && !wrap->sigmas && alike_sets_are(wrap, in->head.type)) {
		alike_sets_wrap(wrap, in, out, y, x, n, tile);
		return;
	}
	tile_start(tile, n);
	if (wrap->halves)
		double_three_wrap(wrap, in, out, y, x, n, tile);
	else
		fringe_sums_wrap(wrap, in, out, y, x, n, tile);
	if (wrap->fits)
		fit_residual_wrap(wrap, in, out, y, x, n, tile);
	if (wrap->sigmas)
		phase_sigma_wrap(wrap, in, out, y, x, n, tile);
	if (captures->flats && captures->codes)
		gray_code_read_flats(captures, &wrap->limits, in, y, x, n, tile);
	for (size_t i = 0; i < captures->codes; i++)
		gray_code_decode(in, &captures->code[i], tile->threshold[i], y, x, n, tile,
		    frame_floats(out, at->index + i, y) + x);
	if (wrap->writes_fit && captures->codes)	/* a Gray plane may be missing, too */
		for (size_t p = 0; p < n; p++) {
			float *residual = frame_floats(out, at->fit_residual, y) + x;

			residual[p] = px_select(tile->missing[p] != 0, PX_NAN, residual[p]);
		}
	if (captures->fringes)
		tile_write_quality(tile, (float)(captures->fringes * (wrap->halves ? 2 : 1)),
		    frame_floats(out, at->modulation, y) + x,
		    frame_floats(out, at->texture, y) + x, n);
	if (tile_any_bad(tile, n))
		for (size_t c = 0; c < out->head.c; c++)
			if (c < at->phases || c >= at->sigma)
				tile_mask(tile, frame_floats(out, c, y) + x, n);
}

/* NaN stays NaN. */
static inline float
correct(const float *table, float phase)
{
	PX_F place = phasewrap_place(phase), cell = px_floor(place);
	int32_t at = px_int(cell);

	return phasewrap_corrected(phase, place, cell, table[at], table[at + 1]);
}

static void
correct_phase(const float *restrict table, float *restrict phase, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		phase[x] = correct(table, phase[x]);
}

static void
correct_vector(const float *restrict table, float *restrict c, float *restrict s, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		s[x] = px_select(px_isnan(c[x]), PX_NAN, phasewrap_phase(s[x], c[x]));
	correct_phase(table, s, w);
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		c[x] = px_cos(s[x]);
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		s[x] = px_sin(s[x]);
}

/* What changes over the picture; (x, y) from its middle. */
static void
correct_place(const float *restrict table, const float *restrict slopes, float y, float x_first,
    float *restrict phase, size_t w)
{
	const float *along_y = slopes + PHASEWRAP_CELLS + 1;

	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		PX_F place = phasewrap_place(phase[x]), cell = px_floor(place);
		int32_t at = px_int(cell);
		PX_F along = (float)x + x_first;
		PX_F added = along * phasewrap_between(place, cell, slopes[at], slopes[at + 1]) +
		    y * phasewrap_between(place, cell, along_y[at], along_y[at + 1]);

		phase[x] = phasewrap_corrected(phase[x], place, cell, table[at] + added,
		    table[at + 1] + added);
	}
}

/* What the wrapped tiles of a row left, while it is in cache. */
static void
correct_row(const struct phasewrap *wrap, struct frame *out, size_t y)
{
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const float *table = wrap->correction + k * (PHASEWRAP_CELLS + 1);

		if (wrap->correction_slopes)
			correct_place(table, wrap->correction_slopes + k * 2 *
			    (PHASEWRAP_CELLS + 1), (float)y - (float)(out->head.h - 1) / 2,
			    -(float)(out->head.w - 1) / 2, frame_floats(out, k, y),
			    out->head.w);
		else if (wrap->vector)
			correct_vector(table, frame_floats(out, 2 * k, y),
			    frame_floats(out, 2 * k + 1, y), out->head.w);
		else
			correct_phase(table, frame_floats(out, k, y), out->head.w);
	}
}

void
phasewrap_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y)
{
	struct tile tile;

	if (exposure_fit_used(wrap))
		exposure_fit_row(wrap, in, out, y);
	for (size_t x = 0, w = exposure_fit_used(wrap) ? 0 : in->head.w; x < w; x += TILE_PIXELS)
		wrap_tile(wrap, in, out, y, x, w - x < TILE_PIXELS ? w - x : TILE_PIXELS, &tile);
	if (wrap->correction)
		correct_row(wrap, out, y);
}

int
phasewrap_solve(struct phasewrap *wrap, double sign, double origin_rad)
{
	wrap->sign = sign;
	wrap->origin_rad = origin_rad;
	wrap->fit = calloc(wrap->captures.fringes + 1, sizeof(*wrap->fit));
	if (!wrap->fit)
		return fail_memory();
	for (size_t k = 0; k < wrap->captures.fringes; k++)
		if (phase_shift_weights_solve(&wrap->captures.fringe[k], sign, origin_rad,
		    &wrap->fit[k]) < 0)
			return -1;
	return 0;
}

int
phasewrap_correct(struct phasewrap *wrap, const struct harmonics *harmonics, bool sigmas,
    double sign, double origin_rad)
{
	size_t numbers = PHASEWRAP_CELLS + 1, sets = wrap->captures.fringes;

	if (harmonics->n == 0)
		return 0;
	if (sets == 0)
		return fail("--harmonics", "there are no fringes to correct");
	if (harmonics->varying && wrap->vector)
		return fail("--harmonics", "those of %s change over the picture, which --as "
		    "vector does not do", harmonics->path);
	wrap->correction_slopes = harmonics->varying ?
	    calloc(sets * 2 * numbers, sizeof(*wrap->correction_slopes)) : NULL;
	wrap->correction = calloc(sets * (numbers + PHASEWRAP_LEVELS), sizeof(*wrap->correction));
	if (!wrap->correction || (harmonics->varying && !wrap->correction_slopes))
		return fail_memory();
	for (size_t k = 0; k < sets; k++) {
		float *levels = wrap->correction + sets * numbers + k * PHASEWRAP_LEVELS;

		if (harmonics_correction(harmonics, &wrap->captures.fringe[k], &wrap->fit[k], sign,
		    origin_rad, wrap->correction + k * numbers, sigmas ? levels : NULL) < 0 ||
		    (harmonics->varying && harmonics_correction_slopes(harmonics,
			&wrap->captures.fringe[k], &wrap->fit[k], sign, origin_rad,
			wrap->correction_slopes + k * 2 * numbers) < 0))
			return -1;
	}
	return 0;
}

void
phasewrap_forget(struct phasewrap *wrap)
{
	double_three_forget(wrap);
	for (size_t k = 0; wrap->fit && k < wrap->captures.fringes; k++)
		phase_shift_weights_free(&wrap->fit[k]);
	free(wrap->fit);
	wrap->fit = NULL;
	free(wrap->correction);
	wrap->correction = NULL;
	free(wrap->correction_slopes);
	wrap->correction_slopes = NULL;
	free(wrap->terms);
	wrap->terms = NULL;
	free(wrap->per_light);
	wrap->per_light = NULL;
	capture_set_free(&wrap->captures);
	exposures_free(&wrap->exposures);
}
