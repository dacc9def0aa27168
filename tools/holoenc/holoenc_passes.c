/* holoenc on the device: one pass. */
#include "holoenc.h"

#include "holoenc.block.h"
#include "run/passes.h"

int
holoenc_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct holo_code *code = &priv->code;
	struct holoenc_block block = {
		.depth = (uint)priv->depth, .texture = HOLOENC_NONE,
		.angle = priv->holo.rounding == HOLO_ANGLE,
		.turns_per_column = code->turns_per_column,
		.turns_per_depth = code->turns_per_depth,
		.height = code->height, .base = code->base, .swing = code->swing,
		.waves = code->waves, .order_most = code->order_most,
		.depth_zero = code->depth_zero,
		.per_depth = 1 / (code->depth_one - code->depth_zero),
		.texture_scale = priv->texture_scale
	};
	struct pass pass = { .shader = SHADER(holoenc), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	for (int i = 0; i < 3; i++)
		block.place[i] = (uint)holo_place[priv->holo.layout][i];
	passes_read(passes, priv->depth);
	if (priv->texture != NO_CHANNEL) {
		block.texture = (uint)priv->texture;
		passes_read(passes, priv->texture);
	}
	return passes_add(passes, &pass);
}
