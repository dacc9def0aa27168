#define _GNU_SOURCE
#include "order_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "order_search.h"

#define SIDE ORDER_TABLE_SIDE
#define BLOCK 8			/* cells that are looked at together first */
#define ORDERS_MOST 128
#define SPARE 0.002		/* turns; rounding errors of a distance are smaller than 0.001 */

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

/* Does any? Or in the slack at its ends. */
static bool
is_seen(const struct order_search *search, long order)
{
	double base = (double)ORDER_TABLE_BASE + SPARE, k = (double)order;

	return k + base > (double)(search->lo - search->slack) &&
	    k - base < (double)(search->hi + search->slack);
}

/* e less whole turns; where what is within half of it reaches beyond half a turn, on both sides. */
static size_t
sides(double e, double half, double side[2])
{
	e -= rint(e);
	side[0] = e;
	side[1] = e - copysign(1, e);
	return fabs(e) + half > 0.5 - SPARE ? 2 : 1;
}

/*
 * Adds to `out` the orders of `in` that may be best somewhere within half of (c1, c2): the distance
 * is a norm, so that it differs from that of the middle by the norm of what lies between at most.
 * Orders at the ends of the field cost more than their distance tells: no other one falls short of
 * them.
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

struct order_table *
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
