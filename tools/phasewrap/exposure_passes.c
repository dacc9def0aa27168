/* The pass of exposure_fit on the device. */
#include <stdlib.h>

#include "exposure_fit.block.h"
#include "exposure_fit.h"
#include "image_list.h"
#include "run/passes.h"
#include "run/stage.h"

static const struct capture_set *
set_of(const struct phasewrap *wrap, size_t e)
{
	return exposures_get(&wrap->exposures, &wrap->captures, e);
}

static void
pack_fringes(struct passes *passes, const struct phasewrap *wrap, struct phasewrap_image **at)
{
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		*(*at)++ = (struct phasewrap_image){ (uint)wrap->captures.fringe[k].n };
		for (size_t e = 0; e < wrap->exposures.n; e++)
			image_list_add_fringe(at, passes, &set_of(wrap, e)->fringe[k],
			    &wrap->fit[k]);
	}
}

static void
pack_codes(struct passes *passes, const struct phasewrap *wrap, struct exposure_block *block,
    struct phasewrap_image **at)
{
	for (size_t i = 0; i < wrap->captures.codes; i++) {
		block->bits[i] = (uint)wrap->captures.code[i].n;
		block->inverse[i] = wrap->captures.code[i].inverse != NULL;
		block->reference[i] = (uint)wrap->reference[i];
		for (size_t bit = 0; bit < wrap->captures.code[i].n; bit++)
			for (size_t e = 0; e < wrap->exposures.n; e++) {
				const struct capture_code *code = &set_of(wrap, e)->code[i];
				size_t plane = code->plane[bit];

				image_list_add_plane(at, passes, plane,
				    code->inverse ? code->inverse[bit] : plane);
			}
	}
	for (size_t e = 0; block->flats && e < wrap->exposures.n; e++) {
		const size_t *flat = set_of(wrap, e)->flat;
		size_t other = flat[block->flats - 1];

		image_list_add_plane(at, passes, flat[0], other);
	}
}

int
exposure_passes(struct passes *passes, const struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t images = passes_input(passes)->c + captures->fringes;
	size_t bytes = sizeof(struct exposure_block) + images * sizeof(struct phasewrap_image);
	struct exposure_block *block = calloc(1, bytes);
	struct phasewrap_image *at = (struct phasewrap_image *)(block + 1);
	struct pass pass = { .shader = SHADER(phasewrap_exposures), .block = block,
		.bytes = bytes, PASS_PIXELS };
	int status;

	_Static_assert(EXPOSURE_GAINS == EXPOSURES_MOST, "a gain for each exposure");
	if (!block)
		return fail_memory();
	*block = (struct exposure_block){ .type = passes_input(passes)->type,
		.vectors = wrap->vector, .fits = wrap->fits, .writes_fit = wrap->writes_fit,
		.map = wrap->exposures.map, .fringes = (uint)captures->fringes,
		.exposures = (uint)wrap->exposures.n, .codes = (uint)captures->codes,
		.flats = captures->codes ? (uint)captures->flats : 0,
		.shortest = (uint)wrap->exposures.shortest,
		.reference = { UINT32_MAX, UINT32_MAX },
		.least = wrap->exposures.solves ? 3 : 0, .max_value = limits->max_value,
		.least_amplitude = limits->least_amplitude, .least_mean = limits->least_mean,
		.least_modulation = limits->least_modulation,
		.most_misfit = limits->most_misfit, .channels = wrap->channels,
		.sigmas = wrap->sigmas, .noise_variance = wrap->noise.variance,
		.noise_gain = wrap->noise.gain, .noise_least = wrap->noise.least };
	for (size_t e = 0; e < wrap->exposures.n; e++)
		block->gain[e] = wrap->exposures.gain[e];
	pack_fringes(passes, wrap, &at);
	pack_codes(passes, wrap, block, &at);
	status = passes_add(passes, &pass);
	free(block);
	return status;
}
