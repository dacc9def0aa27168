#include "phase_sigma.h"

#include "base/cpu_level.h"
#include "fit_sums.h"
#include "fringe/phase_noise.px.h"
#include "phasewrap.px.h"

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

void
phase_sigma_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *tile)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t k = 0; k < captures->fringes; k++) {
		fit_sums_add(&captures->fringe[k], &wrap->fit[k], in, y, x, n, tile);
		write_sigma(tile, wrap->terms[k], wrap->noise, (float)captures->fringe[k].n,
		    frame_floats(out, wrap->channels.sigma + k, y) + x, n);
	}
}
