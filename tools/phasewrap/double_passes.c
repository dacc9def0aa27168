/* The pass of double_three on the device. */
#include <stdlib.h>

#include "double_three.block.h"
#include "double_three.h"
#include "image_list.h"
#include "run/passes.h"
#include "run/stage.h"

int
double_three_passes(struct passes *passes, const struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t images = 2 * passes_input(passes)->c;
	size_t bytes = sizeof(struct double_block) + images * sizeof(struct phasewrap_image);
	struct double_block *block = calloc(1, bytes);
	struct phasewrap_image *at = (struct phasewrap_image *)(block + 1);
	struct pass pass = { .shader = SHADER(phasewrap_double), .block = block, .bytes = bytes,
		PASS_PIXELS };
	int status;

	if (!block)
		return fail_memory();
	*block = (struct double_block){ .type = passes_input(passes)->type,
		.vectors = wrap->vector, .fits = wrap->fits, .writes_fit = wrap->writes_fit,
		.fringes = (uint)captures->fringes, .codes = (uint)captures->codes,
		.flats = (uint)captures->flats, .reference = { UINT32_MAX, UINT32_MAX },
		.max_value = limits->max_value, .least_amplitude = limits->least_amplitude,
		.least_mean = limits->least_mean, .least_modulation = limits->least_modulation,
		.most_misfit = limits->most_misfit, .channels = wrap->channels,
		.sigmas = wrap->sigmas, .variance = wrap->noise.variance, .gain = wrap->noise.gain,
		.least = wrap->noise.least };
	for (size_t k = 0; k < captures->fringes; k++) {
		for (size_t h = 0; h < 2; h++)
			image_list_add_fringe(&at, passes, &wrap->halves[k].half[h],
			    &wrap->halves[k].fit[h]);
		image_list_add_fringe(&at, passes, &captures->fringe[k], &wrap->fit[k]);
	}
	for (size_t i = 0; i < captures->codes; i++) {
		block->bits[i] = (uint)captures->code[i].n;
		block->inverse[i] = captures->code[i].inverse != NULL;
		block->reference[i] = (uint)wrap->reference[i];
		image_list_add_code(&at, passes, &captures->code[i]);
	}
	if (captures->flats) {
		block->flat_0 = (uint)captures->flat[0];
		block->flat_1 = (uint)captures->flat[captures->flats - 1];
		passes_read(passes, block->flat_0);
		passes_read(passes, block->flat_1);
	}
	status = wrap->sigmas ? passes_constant(passes, wrap->terms,
	    2 * captures->fringes * sizeof(*wrap->terms)) : 0;
	if (status == 0)
		status = passes_add(passes, &pass);
	free(block);
	return status;
}
