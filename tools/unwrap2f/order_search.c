#define _GNU_SOURCE
#include "order_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/px.h"
#include "order_table.h"

#define ALIKE_TURNS 0.005	/* root mean square: smaller than what is left of any scatter */

/* Pixels so near to a line lie nearer than half a turn to it in every phase: then what separates
 * two lines is known but for no whole turns. */
#define NEAR_TURNS 0.124
#define SURE 0.49	/* of the distance of two lines; rounding errors are smaller than 0.01 */

/* How far the line of `orders` more lies away, squared. */
static double
gap_square(const struct order_search *search, double orders)
{
	double square = 0, shift = 0;

	for (size_t i = 1; i < search->phases; i++) {
		double e = remainder(search->ratio[i] * orders, 1);

		square += e * e;
		shift += search->ratio[i] * e;
	}
	return fmax(square - shift * shift * search->norm, 0);
}

static int
compare_gaps(const void *a, const void *b)
{
	const struct order_gap *left = a, *right = b;

	return (left->distance > right->distance) - (left->distance < right->distance);
}

static float
sure_cost(double distance)
{
	double most = fmin(SURE * distance, NEAR_TURNS);

	return (float)(most * most);
}

/* Within the field, no other order may fit all phases as well as the right one does. */
static int
measure_gaps(double period_px, double field_px, struct order_search *search)
{
	double least = 0.25, inner = 0.25;	/* of a field of one fringe */

	search->gaps = (size_t)(search->last - search->first);
	search->gap = calloc(search->gaps, sizeof(*search->gap));
	if (!search->gap)
		return fail_memory();
	for (size_t i = 0; i < search->gaps; i++) {
		double orders = (double)(i + 1), square = gap_square(search, orders);

		search->gap[i].orders = (float)orders;
		search->gap[i].distance = (float)sqrt(square);
		least = fmin(least, sqrt(square));
		if (orders * period_px > field_px - 1)
			continue;
		if (square < ALIKE_TURNS * ALIKE_TURNS * (double)search->phases)
			return fail(NULL,
			    "all phases repeat after %.6g px of the field of %g px: say "
			    "--field where less of it is seen",
			    orders * period_px, field_px);
		inner = fmin(inner, sqrt(square));
	}
	qsort(search->gap, search->gaps, sizeof(*search->gap), compare_gaps);
	search->distance = (float)inner;
	search->sure = sure_cost(least);
	search->inner_sure = sure_cost(inner);
	search->near = (float)(NEAR_TURNS * NEAR_TURNS);
	return 0;
}

/* What the best order leaves of the phases of chance i, the sum of squares. */
static float
chance_cost(const struct order_search *search, uint i)
{
	float least = 1e30f;

	for (long k = search->first; k <= search->last; k++) {
		float square = 0, shift = 0, cost;

		for (size_t p = 1; p < search->phases; p++) {
			float e = search->ratio[p] * (float)k -
			    px_uniform(px_hash(i * UNWRAP_PHASES_MOST + (uint)p));

			e -= px_round(e);
			square += e * e;
			shift += search->ratio[p] * e;
		}
		cost = square - shift * shift * search->norm;
		least = cost < least ? cost : least;
	}
	return px_max(least, 0);
}

#define CHANCES 127

static float
chance_distance(const struct order_search *search)
{
	float cost[CHANCES];

	for (uint i = 0; i < CHANCES; i++)
		cost[i] = chance_cost(search, i);
	qsort(cost, CHANCES, sizeof(*cost), numbers_compare);
	return sqrtf(cost[CHANCES / 2]);
}

int
order_search_plan(const struct temporal *temporal, double field_px, struct order_search *out)
{
	size_t base = temporal_shortest(temporal);
	double period_px = temporal->period_px[base], sum = 0;

	order_search_free(out);
	if (temporal->phases < 2)
		return fail(NULL, "--method=best is for several phases, the input has one");
	if (field_px == 0)
		return fail(NULL, "--method=best needs the width of the field: give --field");
	*out = (struct order_search){ .complete = out->complete };
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t from = temporal_from_base(base, i);
		double ratio = period_px / temporal->period_px[from];

		out->channel[i] = temporal->channel[from];
		out->ratio[i] = (float)ratio;
		sum += ratio * ratio;
	}
	out->phases = temporal->phases;
	out->norm = (float)(1 / sum);
	out->lo = (float)(-0.5 / period_px);
	out->hi = (float)((field_px - 0.5) / period_px);
	out->slack = 0.25f;
	/* nearer to an end, an order of the other end may lie in the slack */
	out->inner_lo = out->slack + (float)(0.5 / period_px);
	out->inner_hi = (float)((field_px - 1.5) / period_px) - out->slack;
	out->first = -1;
	out->last = (long)ceil(field_px / period_px) + 1;
	if (out->last > ORDER_SEARCH_MOST)
		return fail(NULL, "%ld fringes in the field, the best order is searched of %d",
		    out->last - 1, ORDER_SEARCH_MOST);
	if (measure_gaps(period_px, field_px, out) < 0)
		return -1;
	out->chance = chance_distance(out) / out->distance;
	out->table = order_table_new(out);
	return 0;
}

void
order_search_free(struct order_search *search)
{
	free(search->gap);
	free(search->table);
	search->gap = NULL;
	search->table = NULL;
}
