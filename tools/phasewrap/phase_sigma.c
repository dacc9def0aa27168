#include "phase_sigma.h"

#include "base/cpu_level.h"
#include "double_three.h"
#include "fit_sums.h"
#include "fringe/phase_noise.px.h"
#include "phasewrap.px.h"

void
phase_sigma_set_terms(struct phasewrap *wrap)
{
	size_t n = 0;

	for (size_t k = 0; k < wrap->captures.fringes; k++)
		if (wrap->halves)
			for (size_t h = 0; h < 2; h++)
				wrap->terms[n++] = phase_noise_terms(&wrap->halves[k].fit[h]);
		else
			wrap->terms[n++] = phase_noise_terms(&wrap->fit[k]);
}

static void
write_sigma(const struct tile *restrict tile, struct phase_noise_terms terms,
    struct phase_noise_model noise, float images, float *restrict sigma, size_t n)
{
	float share = 1.0f / images;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F mean = phasewrap_mean(tile->first[x], tile->mean[x], images) * share;

		sigma[x] = phase_noise_sigma(terms, mean, tile->c[x], tile->s[x], noise.variance,
		    noise.gain, noise.least);
	}
}

/* Of a phase that is then corrected for harmonics: the light has them, too, and the correction
 * stretches the phase. */
static void
write_corrected(const struct tile *restrict tile, struct phase_noise_terms terms,
    struct phase_noise_model noise, float images, const float *restrict correction,
    const float *restrict levels, float *restrict sigma, size_t n)
{
	float share = 1.0f / images;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F mean = phasewrap_mean(tile->first[x], tile->mean[x], images) * share;
		PX_F place = phasewrap_place(phasewrap_phase(tile->s[x], tile->c[x]));
		int32_t at = px_int(px_floor(place));
		PX_F added = levels[at / (int32_t)(PHASEWRAP_CELLS / PHASEWRAP_LEVELS)] *
		    phasewrap_amplitude(tile->s[x], tile->c[x]);
		PX_F own = phase_noise_sigma(terms, mean + added, tile->c[x], tile->s[x],
		    noise.variance, noise.gain, noise.least);
		PX_F stretched = own * phasewrap_stretch(correction[at], correction[at + 1]);

		sigma[x] = px_select(px_isnan(own), PX_NAN, px_min(stretched, PHASE_NOISE_MOST));
	}
}

/* Where the correction changes over the picture it stretches otherwise than in the middle; (x, y)
 * from there. */
static void
stretch_by_place(const struct tile *restrict tile, const float *restrict correction,
    const float *restrict slopes, float y, float x_first, float *restrict sigma, size_t n)
{
	const float *along_y = slopes + PHASEWRAP_CELLS + 1;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F place = phasewrap_place(phasewrap_phase(tile->s[x], tile->c[x]));
		int32_t at = px_int(px_floor(place));
		PX_F along = (float)x + x_first;
		PX_F rise_x = along * (slopes[at + 1] - slopes[at]);
		PX_F rise_y = y * (along_y[at + 1] - along_y[at]);
		PX_F middle = phasewrap_stretch(correction[at], correction[at + 1]);
		PX_F here = phasewrap_stretch(correction[at], correction[at + 1] + rise_x + rise_y);
		PX_F stretched = sigma[x] * here / middle;

		sigma[x] = px_select(px_isnan(sigma[x]), PX_NAN,
		    px_min(stretched, PHASE_NOISE_MOST));
	}
}

/* Of the mean of two phases whose errors have nothing to do with each other. */
static void
write_mean(const float *restrict first, float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sigma[x] = phase_noise_of_mean(first[x], sigma[x]);
}

static void
wrap_halves(const struct phasewrap *wrap, size_t k, const struct frame *in, size_t y, size_t x,
    size_t n, struct tile *tile, float *sigma)
{
	float first[TILE_SPAN];

	for (size_t h = 0; h < 2; h++) {
		const struct double_three *own = &wrap->halves[k];

		fit_sums_add(&own->half[h], &own->fit[h], in, y, x, n, tile);
		write_sigma(tile, wrap->terms[2 * k + h], wrap->noise, 3.0f, h ? sigma : first, n);
	}
	write_mean(first, sigma, n);
}

void
phase_sigma_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t k = 0; k < captures->fringes; k++) {
		float *sigma = frame_floats(out, wrap->channels.sigma + k, y) + x;

		if (wrap->halves) {
			wrap_halves(wrap, k, in, y, x, n, tile, sigma);
			continue;
		}
		fit_sums_add(&captures->fringe[k], &wrap->fit[k], in, y, x, n, tile);
		if (wrap->correction)
			write_corrected(tile, wrap->terms[k], wrap->noise,
			    (float)captures->fringe[k].n,
			    wrap->correction + k * (PHASEWRAP_CELLS + 1), wrap->correction +
			    captures->fringes * (PHASEWRAP_CELLS + 1) + k * PHASEWRAP_LEVELS,
			    sigma, n);
		else
			write_sigma(tile, wrap->terms[k], wrap->noise,
			    (float)captures->fringe[k].n, sigma, n);
		if (wrap->correction_slopes)
			stretch_by_place(tile, wrap->correction + k * (PHASEWRAP_CELLS + 1),
			    wrap->correction_slopes + k * 2 * (PHASEWRAP_CELLS + 1),
			    (float)y - (float)(in->head.h - 1) / 2,
			    (float)x - (float)(in->head.w - 1) / 2, sigma, n);
	}
}
