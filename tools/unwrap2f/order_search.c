/*
 * Plans for unwrap2f the search for the fringe orders that fit all phases best (methods §5, beyond
 * the papers), its table for three phases, and the orders that compete with the right one.
 *
 * Every order of the base, the phase of the shortest period, is a straight line in the space of all
 * phases, whose coordinates are turns and repeat after a turn. A pixel belongs to the line nearest
 * to it; its distance is the root of the sum of squares over all phases. A pixel nearer to a line
 * than half the least distance between two lines cannot belong to another one, however that line
 * was found (by a sequence of beats, say). Only other pixels are searched.
 */
#include "unwrap2f.h"

/* ---- the table of three phases: struct order_table ---- */

#define ORDER_TABLE_ORDERS 4		/* in a cell, of 7 bits each */

#define SIDE ORDER_TABLE_SIDE
#define BLOCK 8			/* cells whose orders are selected together first */
#define ORDERS_MOST 128
#define SPARE 0.002		/* turns; a distance has rounding errors below 0.001 */

_Static_assert(ORDERS_MOST == 1 << 7 && SIDE % BLOCK == 0, "fits the cells");

/* Orders that may be the best ones of a part of the square. */
struct orders {
	size_t n;
	long order[ORDERS_MOST];
	double distance[ORDERS_MOST];		/* from its middle */
};

/* The root of the cost of a pixel whose phases lie at e1, e2 from those of an order. */
static double
distance_of(const struct order_search *search, double e1, double e2)
{
	double r1 = (double)search->ratio[1], r2 = (double)search->ratio[2];
	double shift = r1 * e1 + r2 * e2;

	return sqrt(fmax(e1 * e1 + e2 * e2 - shift * shift * (double)search->norm, 0));
}

/* Do all positions of the order lie in the field? */
static bool
is_inner(const struct order_search *search, long order)
{
	double base = (double)ORDER_TABLE_BASE + SPARE, k = (double)order;

	return k - base > (double)search->lo && k + base < (double)search->hi;
}

/* Does any position of the order lie in the field, or in the slack at its ends? */
static bool
is_seen(const struct order_search *search, long order)
{
	double base = (double)ORDER_TABLE_BASE + SPARE, k = (double)order;

	return k + base > (double)(search->lo - search->slack) &&
	    k - base < (double)(search->hi + search->slack);
}

/* e less whole turns; two values where an interval of `half` around it reaches beyond half a
 * turn. */
static size_t
sides(double e, double half, double side[2])
{
	e -= rint(e);
	side[0] = e;
	side[1] = e - copysign(1, e);
	return fabs(e) + half > 0.5 - SPARE ? 2 : 1;
}

/*
 * Selects the orders of `in` that may be best somewhere within `half` of (c1, c2). The distance is
 * a norm, so that it differs from the distance in the middle by the norm of the offset at most.
 * Orders at the ends of the field cost more than their distance: they rule out no other one.
 */
static void
select_orders(const struct order_search *search, const struct orders *in, double c1, double c2,
    double half, struct orders *out)
{
	double reach = fmax(distance_of(search, half, half), distance_of(search, half, -half));
	double nearest[ORDERS_MOST], least = INFINITY;

	for (size_t i = 0; i < in->n; i++) {
		double k = (double)in->order[i], e1[2], e2[2], most = 0;
		size_t n1 = sides(c1 + (double)search->ratio[1] * k, half, e1);
		size_t n2 = sides(c2 + (double)search->ratio[2] * k, half, e2);

		nearest[i] = INFINITY;
		for (size_t a = 0; a < n1; a++)
			for (size_t b = 0; b < n2; b++) {
				double distance = distance_of(search, e1[a], e2[b]);

				nearest[i] = fmin(nearest[i], distance);
				most = fmax(most, distance);
			}
		if (is_inner(search, in->order[i]))
			least = fmin(least, most + reach);
	}
	out->n = 0;
	for (size_t i = 0; i < in->n; i++) {
		size_t at = out->n;

		if (nearest[i] - reach > least + SPARE)
			continue;
		for (; at > 0 && out->distance[at - 1] > nearest[i]; at--) {
			out->order[at] = out->order[at - 1];
			out->distance[at] = out->distance[at - 1];
		}
		out->order[at] = in->order[i];
		out->distance[at] = nearest[i];
		out->n++;
	}
}

static uint32_t
pack(const struct order_search *search, const struct orders *orders)
{
	size_t n = orders->n;
	uint32_t has = n > ORDER_TABLE_ORDERS ? HAS_TOO_MANY : (1U << (n - 1)) - 1;
	uint32_t cell = has << 28;

	for (size_t i = 0; i < ORDER_TABLE_ORDERS; i++) {
		long order = orders->order[i < n ? i : 0];

		cell |= (uint32_t)(order - search->first) << 7 * i;
	}
	return cell;
}

/* The middle of `size` cells from i on; that of the first one is 0. */
static double
middle(size_t i, size_t size)
{
	return ((double)i + 0.5 * (double)(size - 1)) / SIDE;
}

static void
fill_block(const struct order_search *search, const struct orders *all, size_t y, size_t x,
    struct order_table *table)
{
	struct orders block, cell;

	select_orders(search, all, middle(y, BLOCK), middle(x, BLOCK), 0.5 * BLOCK / SIDE + SPARE,
	    &block);
	for (size_t i = y; i < y + BLOCK; i++)
		for (size_t k = x; k < x + BLOCK; k++) {
			select_orders(search, &block, middle(i, 1), middle(k, 1),
			    0.5 / SIDE + 1e-5, &cell);
			table->cell[i][k] = pack(search, &cell);
		}
}

/* A new table; NULL where there are not three phases, or too many orders, or no memory: orders are
 * then searched without it. */
static struct order_table *
order_table_new(const struct order_search *search)
{
	struct order_table *table;
	struct orders all = { .n = 0 };
	bool inner = false;

	if (search->phases != 3 || search->last - search->first >= ORDERS_MOST)
		return NULL;
	for (long k = search->first; k <= search->last; k++)
		if (is_seen(search, k)) {
			all.order[all.n++] = k;
			inner |= is_inner(search, k);
		}
	table = inner ? aligned_alloc(64, sizeof(*table)) : NULL;
	for (size_t y = 0; table && y < SIDE; y += BLOCK)
		for (size_t x = 0; x < SIDE; x += BLOCK)
			fill_block(search, &all, y, x, table);
	return table;
}

/* ---- the search ---- */

#define ORDER_SEARCH_MOST 65535	/* orders */
#define ALIKE_TURNS 0.005	/* root mean square: two lines so near look alike in any scatter */

/* Pixels so near to a line are less than half a turn from it in every phase: the distance of two
 * lines is then certain, without whole turns. */
#define NEAR_TURNS 0.124
#define SURE 0.49		/* of the distance of two lines; rounding errors are below 0.01 */

/* The distance of the line that is `orders` further, squared. */
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

static float
sure_cost(double distance)
{
	double most = fmin(SURE * distance, NEAR_TURNS);

	return (float)(most * most);
}

/* The distances of all lines from one. Within the field, none may look like it. */
static int
measure_gaps(double period_px, double field_px, struct order_search *search)
{
	double least = 0.25, inner = 0.25;	/* for a field of one fringe */

	search->gaps = (size_t)(search->last - search->first);
	search->gap = must_alloc(search->gaps, sizeof(*search->gap));
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
			    "--field where less of it is seen, or --coarse spatial where the "
			    "surface is continuous",
			    orders * period_px, field_px);
		inner = fmin(inner, sqrt(square));
	}
	qsort(search->gap, search->gaps, sizeof(*search->gap), numbers_compare);
	search->distance = (float)inner;
	search->sure = sure_cost(least);
	search->inner_sure = sure_cost(inner);
	search->near = (float)(NEAR_TURNS * NEAR_TURNS);
	return 0;
}

#define CHANCES 127

/* The median distance of random phases from their best line. */
static float
chance_distance(const struct order_search *search)
{
	float cost[CHANCES];

	for (uint i = 0; i < CHANCES; i++)
		cost[i] = unwrap2f_rows()->chance_cost(search, i);
	qsort(cost, CHANCES, sizeof(*cost), numbers_compare);
	return sqrtf(cost[CHANCES / 2]);
}

/* field_px: the width that the orders lie in. -1 after fail() where another order fits as well as
 * the right one. */
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

/*
 * ---- sigma ----
 *
 * From the standard deviations of the wrapped phases: that of the absolute phase, the weights of
 * its mean, and the probability that its order is wrong.
 */

#define RIVALS_FAR 2.5		/* times the least distance: rivals further away do not count */

/*
 * After phase_orders_plan(). weights: --sigma was given. Sets all but the rivals and the output's
 * channels. -1 after fail() where only some of the phases have a sigma.
 */
int
unwrap_sigma_plan(const struct temporal *temporal, const struct frame_head *head,
    const struct phase_orders *orders, bool weights, struct unwrap_sigma *out)
{
	size_t base = temporal_shortest(temporal), missing = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t from = temporal_from_base(base, i);

		out->channel[i] = head_numbered_channel(head, "sigma", temporal->number[from]);
		if (out->channel[i] == NO_CHANNEL)
			missing = temporal->number[from];
		else
			out->phases++;
	}
	if (out->phases > 0 && missing)
		return fail(NULL, "phase%zu has no channel sigma%zu, and others have theirs: take "
		    "all of them or none (framecat --channels)", missing, missing);
	out->mean = !orders->fuse ? MEAN_NONE : weights ? MEAN_WEIGHTS : MEAN_SIGMAS;
	out->sigma = out->p_order = NO_CHANNEL;
	return 0;
}

struct rival {
	double distance;
	long orders;
};

static int
compare_rivals(const void *a, const void *b)
{
	const struct rival *left = a, *right = b;

	if (left->distance != right->distance)
		return (left->distance > right->distance) - (left->distance < right->distance);
	return (left->orders > right->orders) - (left->orders < right->orders);
}

/* As gap_square(), from periods in double precision. */
static double
rival_square(const struct temporal *temporal, size_t base, double orders)
{
	double square = 0, shift = 0, norm = 0;

	for (size_t i = 0; i < temporal->phases; i++) {
		double ratio = temporal->period_px[base] / temporal->period_px[i];
		double e = remainder(ratio * orders, 1);

		square += e * e;
		shift += ratio * e;
		norm += ratio * ratio;
	}
	return fmax(square - shift * shift / norm, 0);
}

/* The orders that compete. line_turns: a line tells the turn of a beat of so many turns of the
 * base; 0: none. */
void
unwrap_sigma_rivals(const struct temporal *temporal, double field_px, double line_turns,
    struct unwrap_sigma *out)
{
	size_t base = temporal_shortest(temporal), n = 0;
	double period_px = temporal->period_px[base];
	double turns = line_turns > 0 ? line_turns / 2 : field_px / period_px;
	double alike = ALIKE_TURNS * ALIKE_TURNS * (double)temporal->phases;
	struct rival rival[UNWRAP_RIVALS + 1];

	out->lo = (float)(line_turns > 0 ? -INFINITY : -0.5 / period_px - 0.5);
	out->hi = (float)(line_turns > 0 ? INFINITY : (field_px - 0.5) / period_px + 0.5);
	out->first = (float)(-0.5 / period_px);
	out->last = (float)((field_px - 0.5) / period_px);
	out->seam = 0;
	for (long k = 1; k < turns + 1 && k < 65536; k++) {
		double square = rival_square(temporal, base, (double)k);

		if (square < alike) {
			out->seam = out->seam > 0 || line_turns > 0 ? out->seam : (float)k;
			continue;
		}
		rival[n++] = (struct rival){ sqrt(square), k };
		qsort(rival, n, sizeof(*rival), compare_rivals);
		n = n > UNWRAP_RIVALS ? UNWRAP_RIVALS : n;
	}
	out->rivals = 0;
	for (size_t i = 0; i < n && rival[i].distance <= RIVALS_FAR * rival[0].distance; i++) {
		out->rival[out->rivals++] = (float)rival[i].orders;
		out->rival[out->rivals++] = (float)-rival[i].orders;
	}
}
