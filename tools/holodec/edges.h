/*
 * Runs become regions: a forest of runs, whose trees grow along edges, the surest of the whole
 * picture first and of those as sure the upper ones, so that no block of rows shows in the result.
 */
#ifndef HOLODEC_EDGES_H
#define HOLODEC_EDGES_H

#include "runs.h"

#define REGION_LEAST 128 /* pixels that may vote; smaller regions are read pixel by pixel */

/* What may join runs of the block with others of it or with those above: block->edges. */
void edges_find(struct regions *regions, struct region_block *block);
/* Joins the runs of all blocks, and gives each the order that its region votes for. height: of a
 * stair, in levels. */
void edges_join(struct regions *regions, float height);

#endif
