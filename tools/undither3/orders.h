/*
 * Orders by bits instead of averages, where thresholds are known: by a bit of the stair its
 * pixel's order is at least, or is less than, some number. Pixels of one surface have one order but
 * for the whole turns between them, so that the right one contradicts no bit around, and a wrong
 * one as many as a step of the stair has thresholds.
 */
#ifndef UNDITHER3_ORDERS_H
#define UNDITHER3_ORDERS_H

#include "undither3.h"

#define ORDERS_REACH 5
#define ORDERS_AREA ((2 * ORDERS_REACH + 1) * (2 * ORDERS_REACH + 1))
#define ORDERS_ALIKE 3		/* neighbours of eight */

/* After refine_turns(): which pixels are to be trusted, and with which order. */
void orders_check(struct run *run, struct job *job);
/* Turns of row y that orders_check() leaves, NaN where they are dropped. A pixel without others of
 * its order around it is where two surfaces mix. */
void orders_take_row(const struct planes *planes, size_t y, bool keep, float *turns);

#endif
