/*
 * Surfaces that are too narrow for the averages of window.c, and that no surface beside them grows
 * into. Each pixel's bits of R and G leave an arc of the turn; a plane over 3 x 3 pixels that
 * nobody has taken must lie in the arcs of all of them, or of all but one, whose bits a mark has
 * turned over. Planes that carry on each other are a surface, and the bits of the stair of all of
 * its pixels give its order.
 */
#ifndef UNDITHER3_ISLANDS_H
#define UNDITHER3_ISLANDS_H

#include "growing.h"

/* Trusts those of the waiting pixels whose surface is found: taken in this round. How many, or -1
 * after fail(). */
int islands_find(struct growing *growing, int round);

#endif
