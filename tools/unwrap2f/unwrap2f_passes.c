/* unwrap2f on the device: one pass. */
#include "unwrap2f.h"

#include "run/passes.h"
#include "run/stage.h"
#include "unwrap2f.block.h"

_Static_assert(UNWRAP2F_PHASES == UNWRAP_PHASES_MOST, "as many in the shader");

static void
pack_step(const struct unwrap_step *step, struct unwrap2f_step *packed)
{
	packed->n = (uint)step->n;
	for (size_t i = 0; i < step->n; i++) {
		packed->channel[i] = (uint)step->channel[i];
		packed->weight[i] = step->weight[i];
	}
	packed->ratio = step->ratio;
	packed->lo = step->lo;
	packed->hi = step->hi;
	packed->span = step->span;
}

static void
pack_steps(const struct unwrap_steps *steps, struct unwrap2f_block *block)
{
	block->start = steps->start;
	block->steps = (uint)steps->n;
	block->index = (uint)steps->index;
	block->gray_step = steps->gray_step;
	block->gray_offset = steps->gray_offset;
	block->line_offset = steps->line_offset;
	block->line_slope_x = steps->line_slope[0];
	block->line_slope_y = steps->line_slope[1];
	for (size_t r = 0; r < steps->n; r++)
		pack_step(&steps->step[r], &block->step[r]);
}

static void
pack_search(const struct order_search *search, struct unwrap2f_block *block)
{
	block->best = 1;
	block->complete = search->complete;
	block->norm = search->norm;
	block->lo = search->lo;
	block->hi = search->hi;
	block->slack = search->slack;
	block->sure = search->sure;
	block->inner_sure = search->inner_sure;
	block->inner_lo = search->inner_lo;
	block->inner_hi = search->inner_hi;
	block->per_distance = 1 / search->distance;
	block->first = (int)search->first;
	block->last = (int)search->last;
}

/* The search lists the same phases in the same order. */
static void
pack_orders(const struct phase_orders *orders, struct unwrap2f_block *block)
{
	block->orders = orders->wanted;
	block->fuse = orders->fuse;
	block->all = orders->all;
	block->target = (uint)orders->target;
	block->phases = (uint)orders->phases;
	for (size_t p = 0; p < orders->phases; p++) {
		block->channel[p] = (uint)orders->channel[p];
		block->own[p] = (uint)orders->own[p];
		block->ratio[p] = orders->ratio[p];
		block->scale[p] = orders->scale[p];
		block->weight[p] = orders->weight[p];
	}
}

int
unwrap2f_passes(struct run *run, struct passes *passes)
{
	const struct unwrap2f *unwrap = run->priv;
	const struct unwrap_steps *steps = &unwrap->steps;
	struct unwrap2f_block block = { .most = unwrap->max_residual };
	struct pass pass = { .shader = SHADER(unwrap2f), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	pack_steps(steps, &block);
	pack_orders(&unwrap->orders, &block);
	if (unwrap->method == METHOD_BEST)
		pack_search(&unwrap->search, &block);
	for (size_t p = 0; (block.best || block.orders) && p < unwrap->orders.phases; p++)
		passes_read(passes, unwrap->orders.channel[p]);
	for (size_t r = 0; r < steps->n; r++)
		for (size_t i = 0; i < steps->step[r].n; i++)
			passes_read(passes, steps->step[r].channel[i]);
	if (steps->n && (steps->start == START_PREDICTED || steps->start == START_COUNTED))
		passes_read(passes, steps->index);
	if (passes_add(passes, &pass) < 0)
		return -1;
	return unwrap->sigma.phases ? unwrap_sigma_passes(&unwrap->sigma, &unwrap->orders, passes) :
	    0;
}
