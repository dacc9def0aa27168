/* median on the device: one pass. */
#include "median.h"

#include "median.block.h"
#include "run/passes.h"
#include "run/stage.h"

int
median_passes(struct run *run, struct passes *passes)
{
	static const uint shapes[] = { [SHAPE_ROW] = MEDIAN_ROW, [SHAPE_COLUMN] = MEDIAN_COLUMN,
		[SHAPE_BOX] = MEDIAN_BOX };
	const struct median *median = run->priv;
	struct median_block block = { .channel = (uint)median->phase,
		.shape = shapes[median->shape] };
	size_t to = 0;
	struct pass pass = { .shader = SHADER(median), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	while (median->source[to] != median->phase)
		to++;
	block.to = (uint)to;
	passes_read(passes, median->phase);
	return passes_add(passes, &pass);
}
