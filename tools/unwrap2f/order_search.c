#define _GNU_SOURCE
#include "order_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"

#define ALIKE_TURNS 0.005	/* root mean square: smaller than what is left of any scatter */

/* Within the field, no other order may fit all phases as well as the right one does. */
static int
check_search(const struct temporal *temporal, const struct order_search *search)
{
	double period_px = temporal->period_px[temporal->target];

	for (double k = 1; k * period_px <= temporal->field_px - 1; k++) {
		double square = 0, shift = 0;

		for (size_t i = 1; i < search->phases; i++) {
			double e = remainder(search->ratio[i] * k, 1);

			square += e * e;
			shift += search->ratio[i] * e;
		}
		square = (square - shift * shift * search->norm) * search->mean;
		if (square < ALIKE_TURNS * ALIKE_TURNS)
			return fail(NULL,
			    "all phases repeat after %.6g px of the field of %g px: say "
			    "--field where less of it is seen",
			    k * period_px, temporal->field_px);
	}
	return 0;
}

/* What the best order leaves of the phases of chance i, mean square. */
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
	return px_max(least, 0) * search->mean;
}

#define CHANCES 127

static float
chance_residual(const struct order_search *search)
{
	float cost[CHANCES];

	for (uint i = 0; i < CHANCES; i++)
		cost[i] = chance_cost(search, i);
	qsort(cost, CHANCES, sizeof(*cost), numbers_compare);
	return sqrtf(cost[CHANCES / 2]);
}

int
order_search_plan(const struct temporal *temporal, struct order_search *out)
{
	double period_px = temporal->period_px[temporal->target], sum = 0;

	if (temporal->phases < 2)
		return fail(NULL, "--method=best is for several phases, the input has one");
	if (temporal->field_px == 0)
		return fail(NULL, "--method=best needs the width of the field: give --field");
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t from = i == 0 ? temporal->target : i <= temporal->target ? i - 1 : i;
		double ratio = period_px / temporal->period_px[from];

		out->channel[i] = temporal->channel[from];
		out->ratio[i] = (float)ratio;
		sum += ratio * ratio;
	}
	out->phases = temporal->phases;
	out->norm = (float)(1 / sum);
	out->mean = (float)(1 / (double)temporal->phases);
	out->lo = (float)(-0.5 / period_px);
	out->hi = (float)((temporal->field_px - 0.5) / period_px);
	out->slack = 0.25f;
	out->first = -1;
	out->last = (long)ceil(temporal->field_px / period_px) + 1;
	if (out->last > ORDER_SEARCH_MOST)
		return fail(NULL, "--method=best: %ld fringes in the field, at most %d",
		    out->last - 1, ORDER_SEARCH_MOST);
	if (check_search(temporal, out) < 0)
		return -1;
	out->chance = chance_residual(out);
	return 0;
}
