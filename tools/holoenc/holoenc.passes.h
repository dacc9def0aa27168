/* holoenc on the device: one pass. */
#include "run/passes.h"
#include "holoenc.block.h"

static int
list_passes(struct passes *passes, const struct holo *holo, const struct holo_code *code,
    size_t depth, size_t texture, float texture_scale)
{
	struct holoenc_block block = {
		.depth = (uint)depth, .texture = HOLOENC_NONE,
		.turns_per_column = code->turns_per_column,
		.turns_per_depth = code->turns_per_depth,
		.height = code->height, .base = code->base, .swing = code->swing,
		.waves = code->waves, .order_most = code->order_most,
		.depth_zero = code->depth_zero,
		.per_depth = 1 / (code->depth_one - code->depth_zero),
		.texture_scale = texture_scale
	};
	struct pass pass = { .shader = SHADER(holoenc), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	for (int i = 0; i < 3; i++)
		block.place[i] = (uint)holo_place[holo->layout][i];
	passes_read(passes, depth);
	if (texture != NO_CHANNEL) {
		block.texture = (uint)texture;
		passes_read(passes, texture);
	}
	return passes_add(passes, &pass);
}
