/* What the shaders read, in C and in GLSL, and how they lay out scratch planes. */
#ifndef PHASEMATCH_BLOCK_H
#define PHASEMATCH_BLOCK_H

#include "base/px.h"

#define PHASEMATCH_PHASES 16	/* PHASES_MOST */
#define PHASEMATCH_GROUP 64	/* invocations that share a row */
#define PHASEMATCH_NONE 0xffffffffu

/* Lists of one side's rows: each begins in this scratch plane and goes on in the next one where a
 * row is full. */
struct phasematch_lists {
	uint w;				/* of the side */
	uint values, sigmas;		/* of the map; sigmas only if wanted */
	uint run_first, run_last;	/* pixels */
	uint from, first, last;		/* spans: struct value_span */
	uint runs;			/* their number, at pixel 0 */
};

/* What makes them. */
struct phasematch_side {
	PX_STRUCT phasematch_lists lists;
	uint phases;
	float factor, unit;		/* the sign is in the factor */
	float variance_most, step_most;
	uint has_sigma;
	uint channel[PHASEMATCH_PHASES], sigma[PHASEMATCH_PHASES];
	float scale[PHASEMATCH_PHASES], weight[PHASEMATCH_PHASES];
};

struct phasematch_pair {
	PX_STRUCT phasematch_lists left, right;
	uint disparity, sigma;		/* scratch planes */
	uint has_sigma, back;		/* 1: wanted */
	float both_ways;
	float correlation;		/* of the errors of neighbours in a row */
};

struct phasematch_output {
	uint disparity, sigma;		/* scratch planes */
	uint support;
	float range, steep;
	uint sigma_disparity, x, y, z, sigma_z;	/* channels, or PHASEMATCH_NONE */
	uint turned;
	float focal, focal_baseline, cx, cy, centres, least, most;
	float r0, r1, r2, r3, r4, r5, r6, r7, r8, shift0, shift1, shift2;
};

#endif
