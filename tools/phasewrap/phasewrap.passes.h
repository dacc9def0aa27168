/* phasewrap on the device: one pass. */
#include "run/passes.h"
#include "phasewrap.block.h"

#include <stdlib.h>

static void
pack_fringes(struct passes *passes, const struct wrap *wrap, struct phasewrap_image **at)
{
	for (size_t k = 0; k < wrap->shots.fringes; k++) {
		const struct capture_fringe *fringe = &wrap->shots.fringe[k];

		*(*at)++ = (struct phasewrap_image){ .plane = (uint)fringe->n };
		for (size_t i = 0; i < fringe->n; i++) {
			const struct steps_weight *weight = &wrap->steps[k].weight[i];

			passes_read(passes, fringe->plane[i]);
			*(*at)++ = (struct phasewrap_image){ (uint)fringe->plane[i], 0,
				weight->mean, weight->c, weight->s };
		}
	}
}

static void
pack_codes(struct passes *passes, const struct wrap *wrap, struct phasewrap_block *block,
    struct phasewrap_image **at)
{
	for (size_t i = 0; i < wrap->shots.codes; i++) {
		const struct capture_code *code = &wrap->shots.code[i];

		block->bits[i] = (uint)code->n;
		block->inverse[i] = code->inverse != NULL;
		block->reference[i] = (uint)wrap->reference[i];
		for (size_t k = 0; k < code->n; k++) {
			size_t inverse = code->inverse ? code->inverse[k] : code->plane[k];

			passes_read(passes, code->plane[k]);
			passes_read(passes, inverse);
			*(*at)++ = (struct phasewrap_image){ .plane = (uint)code->plane[k],
				.inverse = (uint)inverse };
		}
	}
}

static int
list_passes(struct passes *passes, const struct wrap *wrap)
{
	const struct capture_set *shots = &wrap->shots;
	size_t images = passes_input(passes)->c + shots->fringes;
	size_t bytes = sizeof(struct phasewrap_block) + images * sizeof(struct phasewrap_image);
	struct phasewrap_block *block = calloc(1, bytes);
	struct phasewrap_image *at = (struct phasewrap_image *)(block + 1);
	struct pass pass = { .shader = SHADER(phasewrap), .block = block, .bytes = bytes,
		PASS_FOURS };
	int status;

	if (!block)
		return fail_memory();
	*block = (struct phasewrap_block){ .type = passes_input(passes)->type,
		.vectors = wrap->vector, .fringes = (uint)shots->fringes,
		.codes = (uint)shots->codes, .flats = (uint)shots->flats,
		.reference = { UINT32_MAX, UINT32_MAX }, .max_value = wrap->limits.max_value,
		.least_amplitude = wrap->limits.least_amplitude,
		.least_mean = wrap->limits.least_mean,
		.least_modulation = wrap->limits.least_modulation };
	pack_fringes(passes, wrap, &at);
	pack_codes(passes, wrap, block, &at);
	if (shots->flats) {
		block->flat_0 = (uint)shots->flat[0];
		block->flat_1 = (uint)shots->flat[shots->flats - 1];
		passes_read(passes, block->flat_0);
		passes_read(passes, block->flat_1);
	}
	status = passes_add(passes, &pass);
	free(block);
	return status;
}
