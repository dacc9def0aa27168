/* The search by the table, on the processor: pixels whose three phases are wrapped ones. */
#include "unwrap_tile.h"

#include "base/cpu_level.h"
#include "unwrap2f.px.h"

#define SIDE ORDER_TABLE_SIDE
#define PHASE_TURNS 1.0f	/* the other phases, which wrap where they like, lie within */
#define WHOLE 12582912.0f	/* 1.5 2^23: a number added to it is rounded to a whole one */

#define FOUND_WILD 16U		/* besides enum order_table_has: a phase is no wrapped one, */
#define FOUND_PARTLY 32U	/* a pixel lacks some, */
#define FOUND_END 64U		/* lies near an end of the field */

/* What the cost of a position takes. */
struct line {
	float ratio1, ratio2, norm, first;
	float sure, lo, hi;		/* of search->inner_sure */
	float field_lo, field_hi, slack;
};

static struct line
line_of(const struct order_search *search)
{
	return (struct line){ search->ratio[1], search->ratio[2], search->norm,
		(float)search->first, search->inner_sure, search->inner_lo, search->inner_hi,
		search->lo, search->hi, search->slack };
}

static inline __attribute__((always_inline)) uint32_t
cell_of(struct line line, float turns0, float turns1, float turns2)
{
	float row = (line.ratio1 * turns0 - turns1) * SIDE + WHOLE;
	float column = (line.ratio2 * turns0 - turns2) * SIDE + WHOLE;

	return (px_bits(row) & (SIDE - 1)) * SIDE + (px_bits(column) & (SIDE - 1));
}

static inline __attribute__((always_inline)) bool
is_wild(float turns0, float turns1, float turns2)
{
	return (px_abs(turns0) > ORDER_TABLE_BASE) | (px_abs(turns1) > PHASE_TURNS) |
	    (px_abs(turns2) > PHASE_TURNS);
}

/* Some phases are missing, not all. */
static inline __attribute__((always_inline)) bool
is_partly(float turns0, float turns1, float turns2)
{
	bool a = px_isnan(turns0), b = px_isnan(turns1), c = px_isnan(turns2);

	return (a | b | c) & !(a & b & c);
}

/* As the search without a table computes it, to the bit; NaN where a phase is missing. */
static inline __attribute__((always_inline)) float
cost_of(struct line line, float v, float turns1, float turns2)
{
	PX_F e1 = unwrap2f_mismatch(v, line.ratio1, turns1);
	PX_F e2 = unwrap2f_mismatch(v, line.ratio2, turns2);
	PX_F square = e1 * e1 + e2 * e2;
	PX_F shift = line.ratio1 * e1 + line.ratio2 * e2;

	return unwrap2f_cost(square, shift, line.norm);
}

static inline __attribute__((always_inline)) float
cost_in_field(struct line line, float v, float turns1, float turns2)
{
	PX_F cost = cost_of(line, v, turns1, turns2);

	return cost + unwrap2f_outside(v, line.field_lo, line.field_hi, line.slack);
}

bool
order_table_direct(const struct order_search *search, const struct phase_rows *from, size_t n,
    float most_left, float most, float *restrict absolute, float *restrict residual)
{
	const float *restrict phase0 = from->phase[0], *restrict phase1 = from->phase[1];
	const float *restrict phase2 = from->phase[2];
	const uint32_t *restrict cell = search->table->cell[0];
	const struct line line = line_of(search);
	float per_distance = 1 / search->distance;
	uint32_t found = 0;

	_Pragma("omp simd reduction(|:found)")
	for (size_t i = 0; i < n; i++) {
		float turns0 = phase0[i] * UNWRAP2F_TURN, turns1 = phase1[i] * UNWRAP2F_TURN;
		float turns2 = phase2[i] * UNWRAP2F_TURN;
		uint32_t orders = cell[cell_of(line, turns0, turns1, turns2)];
		float order = line.first + (float)(int)(orders & 127);
		PX_F v = turns0 + order;
		PX_F cost = cost_of(line, v, turns1, turns2);
		PX_F left = px_sqrt(cost) * per_distance;
		bool far = (v < line.lo) | (v > line.hi) | is_wild(turns0, turns1, turns2);
		uint32_t more = px_select(cost <= line.sure, 0U, orders >> 28);
		bool good;

		left = px_select(left > most_left, most_left, left);
		good = left <= most;
		absolute[i] = px_select(good, unwrap2f_absolute(phase0[i], order), PX_NAN);
		residual[i] = px_select(good, left, PX_NAN);
		found |= px_select(cost >= 0.0f, more, 0U) | px_select(far, FOUND_END, 0U) |
		    px_select(is_partly(turns0, turns1, turns2), FOUND_PARTLY, 0U);
	}
	return (search->complete ? found & ~FOUND_PARTLY : found) == 0;
}

/* Every pixel at the first order of its cell, and what else there is to do. */
static uint32_t
find_first(const struct order_search *search, const float *restrict phase0,
    const float *restrict phase1, const float *restrict phase2, size_t n,
    struct unwrap_tile *restrict tile)
{
	const uint32_t *restrict cell = search->table->cell[0];
	const struct line line = line_of(search);
	struct tried_pixels *restrict all = &tile->all;
	uint32_t found = 0;

	_Pragma("omp simd reduction(|:found)")
	for (size_t i = 0; i < n; i++) {
		float turns0 = phase0[i] * UNWRAP2F_TURN, turns1 = phase1[i] * UNWRAP2F_TURN;
		float turns2 = phase2[i] * UNWRAP2F_TURN;
		bool lacks = px_isnan(turns0) | px_isnan(turns1) | px_isnan(turns2);
		uint32_t orders = cell[cell_of(line, turns0, turns1, turns2)];
		float order = line.first + (float)(int)(orders & 127);
		PX_F v = turns0 + order;
		PX_F cost = cost_in_field(line, v, turns1, turns2);
		bool sure = (cost <= line.sure) & (v >= line.lo) & (v <= line.hi);

		all->phase[0][i] = turns0;
		all->phase[1][i] = turns1;
		all->phase[2][i] = turns2;
		all->order[i] = order;
		all->cost[i] = cost;
		tile->lacks[i] = (uint32_t)lacks;
		tile->orders[i] = px_select(sure | lacks, orders & 0xfffffffU, orders);
		found |= px_select(sure | lacks, 0U, orders >> 28) |
		    px_select(is_wild(turns0, turns1, turns2), FOUND_WILD, 0U) |
		    px_select(is_partly(turns0, turns1, turns2), FOUND_PARTLY, 0U);
	}
	return found;
}

/* Of two that fit alike the lower one. */
static void
try_next(const struct order_search *search, uint32_t shift, size_t n,
    struct unwrap_tile *restrict tile)
{
	const struct line line = line_of(search);
	struct tried_pixels *restrict all = &tile->all;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		float order = line.first + (float)(int)(tile->orders[i] >> shift & 127);
		float best = all->cost[i], had = all->order[i];
		PX_F v = all->phase[0][i] + order;
		PX_F cost = cost_in_field(line, v, all->phase[1][i], all->phase[2][i]);
		bool better = (cost < best) | ((cost == best) & (order < had));

		all->cost[i] = px_select(better, cost, best);
		all->order[i] = px_select(better, order, had);
	}
}

bool
order_table_tile(const struct order_search *search, const struct phase_rows *from, size_t n,
    struct unwrap_tile *tile)
{
	uint32_t found =
	    find_first(search, from->phase[0], from->phase[1], from->phase[2], n, tile);

	if (found & FOUND_WILD)
		return false;
	if (found & (HAS_SECOND | HAS_TOO_MANY))
		try_next(search, 7, n, tile);
	if (found & (HAS_THIRD | HAS_TOO_MANY))
		try_next(search, 14, n, tile);
	if (found & (HAS_FOURTH | HAS_TOO_MANY))
		try_next(search, 21, n, tile);
	tile->all.n = n;
	tile->sure = found == 0;
	tile->partly = (found & FOUND_PARTLY) != 0;
	tile->doubts = (found & HAS_TOO_MANY) != 0;
	for (size_t i = 0; tile->doubts && i < n; i++)
		tile->doubt[i] = tile->orders[i] >> 31 ? ANY_ORDER : SURE_ORDER;
	return true;
}
