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

/* After mend_all(): which pixels are to be trusted, and with which order. */
void orders_check(struct run *run, struct job *job);

#endif
