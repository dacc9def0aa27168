/* normals on the device: one pass. */
#include "run/passes.h"
#include "normals.block.h"

static int
list_passes(struct passes *passes, const struct normals_block *block)
{
	struct pass pass = { .shader = SHADER(normals), .block = block, .bytes = sizeof(*block),
		PASS_FOURS };

	passes_read(passes, block->x);
	passes_read(passes, block->y);
	passes_read(passes, block->z);
	return passes_add(passes, &pass);
}
