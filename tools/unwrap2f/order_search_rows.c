/* The search on the processor: all pixels of a tile at their first order, then doubtful ones. */
#include "unwrap_tile.h"

#include <math.h>
#include <string.h>

#include "base/cpu_level.h"
#include "unwrap2f.px.h"

#define NOT_TRIED 2e30f		/* a cost larger than that of positions outside the field */

#define WILD_TURNS 1.0f	/* no wrapped phase: not all orders of the field are tried */

/* Takes the order `from` + k where it fits the other phases better than the best so far; of two
 * that fit alike the lower one, whichever comes first. For a constant number of phases the compiler
 * unrolls the inner loop. */
static inline __attribute__((always_inline)) void
try_order_of(const struct order_search *search, size_t phases, float k,
    struct tried_pixels *restrict pixels)
{
	float lo = search->lo, hi = search->hi, slack = search->slack, norm = search->norm;
	float ratio[UNWRAP_PHASES_MOST];

	memcpy(ratio, search->ratio, sizeof(ratio));
	CPU_SIMD
	for (size_t i = 0; i < pixels->n; i++) {
		float order = pixels->from[i] + k, best = pixels->cost[i];
		PX_F v = pixels->phase[0][i] + order, square = 0, shift = 0, cost;
		bool better;

		for (size_t p = 1; p < phases; p++) {
			PX_F e = unwrap2f_mismatch(v, ratio[p], pixels->phase[p][i]);

			square = square + e * e;
			shift = shift + ratio[p] * e;
		}
		cost = unwrap2f_cost(square, shift, norm);
		cost = cost + unwrap2f_outside(v, lo, hi, slack);
		better = (cost < best) | ((cost == best) & (order < pixels->order[i]));
		pixels->cost[i] = px_select(better, cost, best);
		pixels->order[i] = px_select(better, order, pixels->order[i]);
	}
}

static void
try_order(const struct order_search *search, float k, struct tried_pixels *pixels)
{
	if (search->phases == 2)
		try_order_of(search, 2, k, pixels);
	else if (search->phases == 3)
		try_order_of(search, 3, k, pixels);
	else if (search->phases == 4)
		try_order_of(search, 4, k, pixels);
	else
		try_order_of(search, search->phases, k, pixels);
}

static void
try_all(const struct order_search *search, struct tried_pixels *pixels)
{
	for (size_t i = 0; i < pixels->n; i++) {
		pixels->from[i] = pixels->order[i] = 0;
		pixels->cost[i] = NOT_TRIED;
	}
	for (long k = search->first; k <= search->last; k++)
		try_order(search, (float)k, pixels);
}

/* Orders whose line lies more than twice a pixel's distance from the line that it lies at are no
 * nearer. */
static void
try_near(const struct order_search *search, struct tried_pixels *pixels)
{
	size_t gaps = 0;
	float most = 0;

	for (size_t i = 0; i < pixels->n; i++)
		most = pixels->cost[i] > most ? pixels->cost[i] : most;
	most = 2.001f * sqrtf(most) + 1e-4f;
	while (gaps < search->gaps && search->gap[gaps].distance <= most)
		gaps++;
	if (gaps > search->gaps / 2) {
		try_all(search, pixels);
		return;
	}
	for (size_t i = 0; i < gaps; i++) {
		try_order(search, search->gap[i].orders, pixels);
		try_order(search, -search->gap[i].orders, pixels);
	}
}

/* All phases in turns; the base first. */
static void
load_turns(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *restrict tile)
{
	memset(tile->lacks, 0, sizeof(tile->lacks));
	memset(tile->wild, 0, sizeof(tile->wild));
	for (size_t p = 0; p < search->phases; p++) {
		const float *restrict phase = frame_floats(in, search->channel[p], y) + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			float turns = phase[i] * UNWRAP2F_TURN;

			tile->all.phase[p][i] = turns;
			tile->lacks[i] |= px_isnan(phase[i]);
			tile->wild[i] |= (uint32_t)!(px_abs(turns) <= WILD_TURNS);
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
		all->order[i] = all->from[i];
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

/* Which pixels may another order fit better? The number of those; NaN counts as far. */
static size_t
find_doubts(const struct order_search *search, struct unwrap_tile *restrict tile, size_t n)
{
	const struct tried_pixels *restrict all = &tile->all;
	float lo = search->lo, hi = search->hi, sure = search->sure, near = search->near;
	float inner_lo = search->inner_lo, inner_hi = search->inner_hi, inner = search->inner_sure;
	uint32_t doubts = 0;

	_Pragma("omp simd reduction(+:doubts)")
	for (size_t i = 0; i < n; i++) {
		PX_F v = all->phase[0][i] + all->order[i];
		float cost = all->cost[i];
		bool is_sure = unwrap2f_is_sure(cost, v, sure, lo, hi) |
		    unwrap2f_is_sure(cost, v, inner, inner_lo, inner_hi);
		bool doubt = (tile->lacks[i] == 0) & !is_sure;

		tile->doubt[i] = px_select(doubt,
		    px_select((cost < near) & (tile->wild[i] == 0), (uint32_t)NEAR_ORDER,
		    (uint32_t)ANY_ORDER),
		    (uint32_t)SURE_ORDER);
		doubts += (uint32_t)doubt;
	}
	return doubts;
}

static void
gather_doubtful(const struct order_search *search, struct unwrap_tile *tile, enum doubt doubt)
{
	const struct tried_pixels *all = &tile->all;
	struct tried_pixels *doubtful = &tile->doubtful;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		doubtful->at[n] = (uint32_t)i;
		n += tile->doubt[i] == (uint32_t)doubt;
	}
	doubtful->n = n;
	for (size_t i = 0; i < n; i++) {
		doubtful->from[i] = doubtful->order[i] = all->order[doubtful->at[i]];
		doubtful->cost[i] = all->cost[doubtful->at[i]];
	}
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

/* The absolute phase and residual of the base from the orders that fit best. */
static void
finish(const struct order_search *search, const float *restrict phase, size_t n, bool keep,
    struct unwrap_tile *restrict tile)
{
	float per_distance = 1 / search->distance, lo = search->lo, hi = search->hi;
	float slack = search->slack;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool lacks = tile->lacks[i] != 0, keeps = lacks & keep;
		float order = tile->all.order[i];
		PX_F v = tile->all.phase[0][i] + order;
		PX_F left = unwrap2f_left(tile->all.cost[i], unwrap2f_outside(v, lo, hi, slack),
		    per_distance);
		PX_F absolute = unwrap2f_absolute(phase[i], order);

		tile->absolute[i] = px_select(keeps, tile->absolute[i], absolute);
		tile->residual[i] = px_select(keeps, px_abs(tile->residual[i]), left);
		tile->bad[i] |= (uint32_t)(lacks & !keep);
	}
}

struct phase_rows
order_search_rows(const struct order_search *search, const struct frame *in, size_t y, size_t x)
{
	struct phase_rows rows;

	for (size_t p = 0; p < search->phases; p++)
		rows.phase[p] = frame_floats(in, search->channel[p], y) + x;
	return rows;
}

bool
order_search_begin(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *tile)
{
	struct phase_rows rows = order_search_rows(search, in, y, x);

	tile->by_table = search->table && order_table_tile(search, &rows, n, tile);
	if (tile->by_table)
		return tile->partly && !search->complete;
	load_turns(search, in, y, x, n, tile);
	return true;
}

void
order_search_end(const struct order_search *search, const struct frame *in, size_t y, size_t x,
    size_t n, bool ordered, struct unwrap_tile *tile)
{
	if (!tile->by_table) {
		if (ordered)
			begin_ordered(search, tile, n);
		else
			begin(&tile->all, n);
		tile->doubts = find_doubts(search, tile, n) > 0;
	}
	if (tile->doubts && !tile->by_table) {
		gather_doubtful(search, tile, NEAR_ORDER);
		if (tile->doubtful.n)
			try_near(search, &tile->doubtful);
		put_back(&tile->doubtful, &tile->all);
	}
	if (tile->doubts) {
		gather_doubtful(search, tile, ANY_ORDER);
		if (tile->doubtful.n)
			try_all(search, &tile->doubtful);
		put_back(&tile->doubtful, &tile->all);
	}
	finish(search, frame_floats(in, search->channel[0], y) + x, n,
	    ordered && !search->complete, tile);
}
