/* median on the device: one pass. */
#include "run/passes.h"
#include "median.block.h"

static int
list_passes(struct passes *passes, size_t channel, uint shape)
{
	struct median_block block = { .channel = (uint)channel, .shape = shape };
	struct pass pass = { .shader = SHADER(median), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	passes_read(passes, channel);
	return passes_add(passes, &pass);
}
