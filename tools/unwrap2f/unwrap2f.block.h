/* What unwrap2f.comp reads, in C and in GLSL: struct unwrap_steps or order_search, packed. */
#ifndef UNWRAP2F_BLOCK_H
#define UNWRAP2F_BLOCK_H

#include "base/px.h"

#define UNWRAP2F_PHASES 16
#define UNWRAP2F_STEPS 17

struct unwrap2f_step {
	uint n, channel[UNWRAP2F_PHASES];
	float weight[UNWRAP2F_PHASES];
	float ratio, lo, hi, span;
};

struct unwrap2f_block {
	uint best;			/* 1: orders are tried where they are in doubt */
	uint complete;			/* 1: then pixels that lack a phase are bad */
	uint orders, fuse, all;		/* 1: every phase gets its order */
	uint start, steps, index;
	float gray_step, gray_offset, line_offset, line_slope_x, line_slope_y;
	float most;			/* residual */
	PX_STRUCT unwrap2f_step step[UNWRAP2F_STEPS];
	uint phases, channel[UNWRAP2F_PHASES];	/* of the search, and of the orders */
	float ratio[UNWRAP2F_PHASES];
	float norm, lo, hi, slack, sure, inner_sure, inner_lo, inner_hi, per_distance;
	int first, last;
	uint target, own[UNWRAP2F_PHASES];
	float scale[UNWRAP2F_PHASES], weight[UNWRAP2F_PHASES];
};

#define UNWRAP2F_RIVALS 32

/* What unwrap2f_sigma.comp reads: struct unwrap_sigma. */
struct unwrap2f_sigma_block {
	uint phases, target, mean;
	uint sigma, p_order, orders;	/* channels; 1: p_order is one */
	uint rivals;
	float lo, hi, seam, first, last;
	uint channel[UNWRAP2F_PHASES], deviation[UNWRAP2F_PHASES];
	float ratio[UNWRAP2F_PHASES], scale[UNWRAP2F_PHASES], weight[UNWRAP2F_PHASES];
	float rival[UNWRAP2F_RIVALS];
};

/* What unwrap2f_cells.comp reads: struct gray_cells. */
struct unwrap2f_cells_block {
	uint along_y, edges;		/* 1: there are edges */
	uint index, edge, edge_sigma;	/* channels */
	float offset, most;
};

#endif
