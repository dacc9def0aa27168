/* The search on the processor: all pixels of a tile at their first order, then the doubtful ones. */
#include "unwrap_tile.h"

#include <math.h>
#include <string.h>

#include "base/cpu_level.h"
#include "unwrap2f.px.h"

#define NOT_TRIED 2e30f		/* a cost larger than that of positions outside the field */
/* Below this cost the gaps tell which orders may be better (order_search.c, NEAR_TURNS). */
#define NEAR_COST 0.0150f

/* Takes the order `from` + k where it fits the other phases better than the best so far; of two
 * that fit alike the lower one, whichever comes first. */
static void
try_order(const struct order_search *search, float k, struct tried_pixels *restrict pixels)
{
	float lo = search->lo, hi = search->hi, slack = search->slack, norm = search->norm;
	const float *restrict wanted = pixels->phase[0];
	size_t n = pixels->n;

	memset(pixels->square, 0, n * sizeof(*pixels->square));
	memset(pixels->shift, 0, n * sizeof(*pixels->shift));
	for (size_t p = 1; p < search->phases; p++) {
		const float *restrict phase = pixels->phase[p];
		float ratio = search->ratio[p];

		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F e = unwrap2f_mismatch(wanted[i] + (pixels->from[i] + k), ratio,
			    phase[i]);

			pixels->square[i] += e * e;
			pixels->shift[i] += ratio * e;
		}
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F cost = unwrap2f_cost(pixels->square[i], pixels->shift[i], norm);
		float order = pixels->from[i] + k, best = pixels->cost[i];
		bool better;

		cost = cost + unwrap2f_outside(wanted[i] + order, lo, hi, slack);
		better = (cost < best) | ((cost == best) & (order < pixels->order[i]));
		pixels->cost[i] = px_select(better, cost, best);
		pixels->order[i] = px_select(better, order, pixels->order[i]);
	}
}

/* All phases in turns; the base first. */
static void
load_turns(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *restrict tile)
{
	memset(tile->lacks, 0, sizeof(tile->lacks));
	for (size_t p = 0; p < search->phases; p++) {
		const float *restrict phase = frame_floats(in, search->channel[p], y) + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			tile->all.phase[p][i] = phase[i] * UNWRAP2F_TURN;
			tile->lacks[i] |= px_isnan(phase[i]);
		}
	}
	tile->all.n = n;
}

/* The cost of the orders that a sequence found. */
static void
begin_ordered(const struct order_search *search, struct unwrap_tile *restrict tile, size_t n)
{
	struct tried_pixels *restrict all = &tile->all;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		all->from[i] = px_round(tile->absolute[i] * UNWRAP2F_TURN - all->phase[0][i]);
		all->order[i] = 0;
		all->cost[i] = NOT_TRIED;
	}
	try_order(search, 0, all);
}

static void
begin(struct tried_pixels *restrict all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		all->order[i] = 0;
		all->cost[i] = NOT_TRIED;
	}
}

/* Gathers the pixels that another order may fit better, those whose cost is at least `least` and
 * below `most` (NaN counts as large). */
static void
gather_doubtful(const struct order_search *search, const struct unwrap_tile *tile, bool near,
    struct tried_pixels *restrict doubtful)
{
	const struct tried_pixels *all = &tile->all;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		float v = all->phase[0][i] + all->order[i];

		if (tile->lacks[i] | (unwrap2f_is_sure(all->cost[i], v, search->sure,
		    search->sure_lo, search->sure_hi)) | ((all->cost[i] < NEAR_COST) != near))
			continue;
		doubtful->at[n] = (uint32_t)i;
		doubtful->from[n] = near ? all->order[i] : 0;
		doubtful->order[n] = all->order[i];
		doubtful->cost[n] = near ? all->cost[i] : NOT_TRIED;
		n++;
	}
	doubtful->n = n;
	for (size_t p = 0; p < search->phases; p++)
		for (size_t i = 0; i < n; i++)
			doubtful->phase[p][i] = all->phase[p][doubtful->at[i]];
}

static void
put_back(const struct tried_pixels *doubtful, struct tried_pixels *all)
{
	for (size_t i = 0; i < doubtful->n; i++) {
		all->cost[doubtful->at[i]] = doubtful->cost[i];
		all->order[doubtful->at[i]] = doubtful->order[i];
	}
}

/* Orders whose line lies more than twice a pixel's distance from the line it lies at are no
 * nearer. */
static void
try_near(const struct order_search *search, struct tried_pixels *pixels)
{
	float most = 0;

	for (size_t i = 0; i < pixels->n; i++)
		most = pixels->cost[i] > most ? pixels->cost[i] : most;
	most = 2.001f * sqrtf(most) + 1e-4f;
	for (size_t i = 0; i < search->gaps && search->gap[i].distance <= most; i++) {
		try_order(search, search->gap[i].orders, pixels);
		try_order(search, -search->gap[i].orders, pixels);
	}
}

void
order_search_tile(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, bool ordered, struct unwrap_tile *tile)
{
	const float *restrict phase = frame_floats(in, search->channel[0], y) + x;
	float per_distance = 1 / search->distance, lo = search->lo, hi = search->hi;
	float slack = search->slack;
	bool keep = ordered && !search->complete;

	load_turns(search, in, y, x, n, tile);
	if (ordered)
		begin_ordered(search, tile, n);
	else
		begin(&tile->all, n);
	gather_doubtful(search, tile, true, &tile->doubtful);
	if (tile->doubtful.n) {
		try_near(search, &tile->doubtful);
		put_back(&tile->doubtful, &tile->all);
	}
	gather_doubtful(search, tile, false, &tile->doubtful);
	if (tile->doubtful.n) {
		for (long k = search->first; k <= search->last; k++)
			try_order(search, (float)k, &tile->doubtful);
		put_back(&tile->doubtful, &tile->all);
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool keeps = (tile->lacks[i] != 0) & keep;
		float order = tile->all.order[i];
		PX_F cost = tile->all.cost[i];
		PX_F left = unwrap2f_left(cost,
		    unwrap2f_outside(tile->all.phase[0][i] + order, lo, hi, slack), per_distance);
		PX_F absolute = unwrap2f_absolute(phase[i], order);

		tile->absolute[i] = px_select(keeps, tile->absolute[i], absolute);
		tile->residual[i] = px_select(keeps, px_abs(tile->residual[i]), left);
		tile->bad[i] |= (uint32_t)((tile->lacks[i] != 0) & !keep);
	}
}
