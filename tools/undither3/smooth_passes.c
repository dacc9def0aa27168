#include "smooth.h"

#include <string.h>

#include "run/passes.h"
#include "undither3.block.h"

_Static_assert(UNDITHER3_REACH == SMOOTH_REACH, "the same in the shaders");

static void
pack(const struct priv *priv, struct undither3_block *block)
{
	bool planar = priv->keys.pack == DITHER_PLANAR;

	*block = (struct undither3_block){ .planes = priv->keys.texture_bits == 1 ? 4 : 3,
		.texture = priv->keys.texture_bits == 8 };
	memcpy(block->kernel, priv->smooth, sizeof(block->kernel));
	for (uint c = 0; c < 4; c++) {
		block->column[c] = planar ? c * (uint)priv->w : 0;
		block->bit[c] = planar ? 0xff : DITHER_BIT(c);
		block->to[c] = c < 3 ? (uint)holo_place[priv->holo.layout][c] : c;
	}
	if (priv->keys.pack == DITHER_RGB) {
		block->from[3] = 1;
		block->bit[3] = 0x80;
	}
}

int
smooth_passes(struct run *run, struct passes *passes)
{
	struct undither3_block block;
	struct pass along = { .shader = SHADER(undither3_along), .block = &block,
		.bytes = sizeof(block), PASS_FOURS, .beyond = SMOOTH_REACH };
	struct pass down = { .shader = SHADER(undither3), .block = &block,
		.bytes = sizeof(block), PASS_FOURS };

	pack(run->priv, &block);
	passes_scratch(passes, block.planes);
	passes_read(passes, 0);
	passes_read(passes, 1);
	return passes_add(passes, &along) < 0 ? -1 : passes_add(passes, &down);
}
