/* phasewrap on the device: one pass. */
#include <stdlib.h>

#include "base/fail.h"
#include "image_list.h"
#include "phasewrap.block.h"
#include "phasewrap.h"
#include "phasewrap.px.h"
#include "run/passes.h"

/* As the shader reads them. */
_Static_assert(sizeof(struct phase_noise_terms) == 9 * sizeof(float), "nine floats a set");

static void
pack_fringes(struct passes *passes, const struct phasewrap *wrap, struct phasewrap_image **at)
{
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const struct capture_fringe *fringe = &wrap->captures.fringe[k];

		*(*at)++ = (struct phasewrap_image){ .plane = (uint)fringe->n };
		image_list_add_fringe(at, passes, fringe, &wrap->fit[k]);
	}
}

static void
pack_codes(struct passes *passes, const struct phasewrap *wrap, struct phasewrap_block *block,
    struct phasewrap_image **at)
{
	for (size_t i = 0; i < wrap->captures.codes; i++) {
		const struct capture_code *code = &wrap->captures.code[i];

		block->bits[i] = (uint)code->n;
		block->inverse[i] = code->inverse != NULL;
		block->reference[i] = (uint)wrap->reference[i];
		image_list_add_code(at, passes, code);
	}
}

int
phasewrap_passes(struct passes *passes, const struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	size_t images = passes_input(passes)->c + captures->fringes;
	size_t bytes = sizeof(struct phasewrap_block) + images * sizeof(struct phasewrap_image);
	struct phasewrap_block *block = calloc(1, bytes);
	struct phasewrap_image *at = (struct phasewrap_image *)(block + 1);
	struct pass pass = { .shader = SHADER(phasewrap), .block = block, .bytes = bytes,
		PASS_FOURS };
	int status;

	if (!block)
		return fail_memory();
	*block = (struct phasewrap_block){ .type = passes_input(passes)->type,
		.vectors = wrap->vector, .fringes = (uint)captures->fringes,
		.codes = (uint)captures->codes, .flats = (uint)captures->flats,
		.reference = { UINT32_MAX, UINT32_MAX }, .max_value = wrap->limits.max_value,
		.least_amplitude = wrap->limits.least_amplitude,
		.least_mean = wrap->limits.least_mean,
		.least_modulation = wrap->limits.least_modulation,
		.most_misfit = wrap->limits.most_misfit, .fits = wrap->fits,
		.corrects = wrap->correction != NULL,
		.writes_fit = wrap->writes_fit, .sigmas = wrap->sigmas,
		.variance = wrap->noise.variance, .gain = wrap->noise.gain,
		.least = wrap->noise.least, .markers = (uint)captures->markers,
		.channels = wrap->channels };
	pack_fringes(passes, wrap, &at);
	pack_codes(passes, wrap, block, &at);
	if (captures->flats) {
		block->flat_0 = (uint)captures->flat[0];
		block->flat_1 = (uint)captures->flat[captures->flats - 1];
		passes_read(passes, block->flat_0);
		passes_read(passes, block->flat_1);
	}
	for (size_t i = 0; i < captures->markers; i++) {
		block->marker[i] = (uint)captures->marker[i].plane;
		passes_read(passes, captures->marker[i].plane);
	}
	status = wrap->correction ? passes_constant(passes, wrap->correction, captures->fringes *
	    (PHASEWRAP_CELLS + 1 + PHASEWRAP_LEVELS) * sizeof(*wrap->correction)) : 0;
	if (status == 0 && wrap->sigmas)
		status = passes_constant(passes, wrap->terms,
		    captures->fringes * sizeof(*wrap->terms));
	if (status == 0)
		status = passes_add(passes, &pass);
	free(block);
	return status;
}
