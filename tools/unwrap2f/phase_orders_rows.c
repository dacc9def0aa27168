/* Every phase with its own order, on the processor. */
#include "unwrap_tile.h"

#include "base/cpu_level.h"
#include "unwrap2f.px.h"

/* Phase p, ordered by the base. */
static void
order_phase(const float *restrict phase, float ratio, const float *restrict base,
    float *restrict own, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		own[i] = unwrap2f_ordered(base[i], ratio, phase[i]);
}

static void
add_to_mean(const float *restrict own, float scale, float share, struct unwrap_tile *restrict tile,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F more = phase_mean_more(own[i], scale, tile->absolute[i]);
		bool there = !px_isnan(own[i]);

		tile->sum[i] += px_select(there, share * more, 0.0f);
		tile->weight[i] += px_select(there, share, 0.0f);
	}
}

void
phase_orders_tile(const struct phase_orders *orders, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *tile)
{
	float turn = orders->ratio[orders->target];
	const float *restrict target = tile->own[orders->target];

	for (size_t p = 0; p < orders->phases; p++)
		order_phase(frame_floats(in, orders->channel[p], y) + x, orders->ratio[p],
		    tile->absolute, tile->own[p], n);
	for (size_t i = 0; i < n; i++)
		tile->sum[i] = tile->weight[i] = 0;
	for (size_t p = 0; orders->fuse && p < orders->phases; p++)
		add_to_mean(tile->own[p], orders->scale[p], orders->weight[p], tile, n);
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F mean = phase_mean_of(tile->absolute[i], tile->sum[i], tile->weight[i], turn);

		tile->result[i] = px_select(orders->fuse, mean, target[i]);
	}
}
