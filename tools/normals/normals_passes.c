/* normals on the device: one pass. */
#include "normals.h"

#include "normals.block.h"
#include "run/passes.h"
#include "run/stage.h"

int
normals_passes(struct run *run, struct passes *passes)
{
	const struct normals *normals = run->priv;
	const struct normals_block block = { (uint)normals->channel[0], (uint)normals->channel[1],
		(uint)normals->channel[2], normals->depth, (uint)normals->passthrough.n,
		normals->sign, normals->per_column, normals->per_row };
	struct pass pass = { .shader = SHADER(normals), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	passes_read(passes, block.x);
	passes_read(passes, block.y);
	passes_read(passes, block.z);
	return passes_add(passes, &pass);
}
