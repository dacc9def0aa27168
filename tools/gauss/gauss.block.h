/* What gauss_parts.comp, gauss_columns.comp and gauss_rows.comp read, in C and in GLSL. */
#ifndef GAUSS_BLOCK_H
#define GAUSS_BLOCK_H

#include "base/px.h"

#define GAUSS_REACH 51		/* 0 to the largest radius */
#define GAUSS_LANES 16u		/* columns that are mended together */

#define GAUSS_PHASE 0u		/* enum kind */
#define GAUSS_VECTOR 1u
#define GAUSS_PLAIN 2u

/* Scratch planes, from `scratch` on. */
#define GAUSS_PART 0u		/* cos and sin, or the value; the first is GAUSS_MISSING in holes */
#define GAUSS_COLUMN 2u		/* their sums over columns */
#define GAUSS_HOLES 4u		/* words of bits: what is missing in the rows of the window */

/* Bits that no arithmetic makes. */
#define GAUSS_MISSING 0x7fedc0deu

struct gauss_block {
	uint kind, vectors;
	uint from[2], to[2];		/* channels */
	uint radius, words, few;
	uint scratch;			/* the first of its scratch planes */
	uint sigma_from, sigma_to;	/* channels */
	float sharing;			/* struct gauss */
	float kernel[GAUSS_REACH];	/* along one axis */
	float weight[GAUSS_REACH];	/* its sum as far as that, on both sides */
};

#endif
