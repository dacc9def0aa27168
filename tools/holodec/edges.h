/*
 * Runs become regions: a forest of runs, whose trees grow along edges. Where the surest edges lead
 * does not depend on their order; the others are joined last, the surest first.
 */
#ifndef HOLODEC_EDGES_H
#define HOLODEC_EDGES_H

#include "runs.h"

#define REGION_LEAST 128 /* pixels that may vote; smaller regions are read pixel by pixel */

/* Joins the runs of a block where that is sure, and leaves the edges that may still join something:
 * block->edges. */
void edges_join_block(struct regions *regions, struct region_block *block);
/* Joins what is still apart, the surest first, and gives each run the order that its region votes
 * for. */
void edges_join_all(struct regions *regions);

#endif
