/* dither3 on the device: one pass. */
#include "dither3.h"

#include "dither3.block.h"
#include "run/passes.h"

_Static_assert(DITHER3_TILE == DITHER_TILE, "the same in the shader");
_Static_assert(DITHER3_MSB == DITHER_MSB && DITHER3_PLANAR == DITHER_PLANAR &&
    DITHER3_RGB == DITHER_RGB, "the same in the shader");

int
dither3_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	struct dither3_block block = { .type = passes_input(passes)->type,
		.w = (uint)passes_input(passes)->w, .pack = priv->keys.pack,
		.texture_bits = (uint)priv->keys.texture_bits, .to_circle = priv->to_circle };
	struct pass pass = { .shader = SHADER(dither3), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	if (priv->keys.marked)
		return passes_refuse(passes, "jumps are marked");
	for (size_t c = 0; c < 4; c++) {
		if (priv->channel[c] == NO_CHANNEL)
			continue;
		block.channel[c] = (uint)priv->channel[c];
		passes_read(passes, priv->channel[c]);
	}
	if (passes_constant(passes, priv->threshold, sizeof(priv->threshold)) < 0)
		return -1;
	return passes_add(passes, &pass);
}
