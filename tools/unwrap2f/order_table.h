/*
 * The orders that may fit three phases best, by how far the other two phases lie from where the
 * first one, at order 0, puts them: a square of a turn by a turn in cells. Nearly all cells have
 * one order, those at the border of two or three orders as many.
 */
#ifndef ORDER_TABLE_H
#define ORDER_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct order_search;

#define ORDER_TABLE_SIDE 128		/* cells, a power of two */
#define ORDER_TABLE_ORDERS 4		/* in a cell, of 7 bits each */
#define ORDER_TABLE_BASE 0.501f		/* the first phase, in turns, lies within */

/* What a cell's highest bits tell: it has as many orders, or too many. */
enum order_table_has {
	HAS_SECOND = 1, HAS_THIRD = 2, HAS_FOURTH = 4, HAS_TOO_MANY = 8
};

struct order_table {
	/*
	 * By round(SIDE e) modulo SIDE, e of the second and of the third phase. Order -
	 * search->first of the one nearest to the middle of the cell in the lowest bits; a cell
	 * with fewer repeats that one.
	 */
	uint32_t cell[ORDER_TABLE_SIDE][ORDER_TABLE_SIDE];
};

/* A new table; NULL where there are not three phases, or too many orders, or no memory: orders are
 * then searched without it. */
struct order_table *order_table_new(const struct order_search *);

#endif
