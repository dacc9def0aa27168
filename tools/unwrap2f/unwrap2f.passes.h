/* unwrap2f on the device: one pass. */
#include "run/passes.h"
#include "unwrap2f.block.h"

_Static_assert(UNWRAP2F_PHASES == LADDER_PHASES_MOST, "as many in the shader");

static void
pack_rung(const struct temporal_rung *rung, struct unwrap2f_rung *packed)
{
	packed->n = (uint)rung->n;
	for (size_t i = 0; i < rung->n; i++) {
		packed->channel[i] = (uint)rung->channel[i];
		packed->weight[i] = rung->weight[i];
	}
	packed->ratio = rung->ratio;
	packed->lo = rung->lo;
	packed->hi = rung->hi;
	packed->span = rung->span;
}

static void
pack_way(const struct temporal_way *way, struct unwrap2f_block *block)
{
	block->start = way->start;
	block->rungs = (uint)way->rungs;
	block->index = (uint)way->index;
	block->gray_step = way->gray_step;
	block->gray_offset = way->gray_offset;
	block->line_offset = way->line_offset;
	block->line_slope_x = way->line_slope[0];
	block->line_slope_y = way->line_slope[1];
	for (size_t r = 0; r < way->rungs; r++)
		pack_rung(&way->rung[r], &block->rung[r]);
}

static void
pack_search(const struct temporal_search *search, struct unwrap2f_block *block)
{
	block->best = 1;
	block->phases = (uint)search->phases;
	for (size_t p = 0; p < search->phases; p++) {
		block->channel[p] = (uint)search->channel[p];
		block->ratio[p] = search->ratio[p];
	}
	block->norm = search->norm;
	block->mean = search->mean;
	block->lo = search->lo;
	block->hi = search->hi;
	block->slack = search->slack;
	block->first = (int)search->first;
	block->last = (int)search->last;
}

static int
list_passes(struct passes *passes, const struct temporal_way *way,
    const struct temporal_search *search, float most)
{
	struct unwrap2f_block block = { .most = most };
	struct pass pass = { .shader = SHADER(unwrap2f), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	if (search) {
		pack_search(search, &block);
		for (size_t p = 0; p < search->phases; p++)
			passes_read(passes, search->channel[p]);
		return passes_add(passes, &pass);
	}
	pack_way(way, &block);
	for (size_t r = 0; r < way->rungs; r++)
		for (size_t i = 0; i < way->rung[r].n; i++)
			passes_read(passes, way->rung[r].channel[i]);
	if (way->start == START_PREDICTED || way->start == START_COUNTED)
		passes_read(passes, way->index);
	return passes_add(passes, &pass);
}
