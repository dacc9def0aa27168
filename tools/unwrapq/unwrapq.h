/* What unwrapq.c plans for the loops of unwrapq_rows.c. */
#pragma once

#include "run/stage.h"
#include "unwrap/regions.h"

/* The range of the samples in each row, and the jumps between neighbours. */
struct range_job {
	const struct frame *frame;
	size_t channel;
	float turns;			/* of a unit */
	float *low, *high;		/* of each row; low > high: no valid sample */
	float half, nearly;		/* differences that neighbours exceed, */
	size_t *all, *large;		/* and in each row the number that do */
};

enum quality_kind {
	QUALITY_NONE,
	QUALITY_WEIGHT,		/* a channel: more is better */
	QUALITY_INVERSE,	/* less is better: residuals, deviations, probabilities of errors */
	QUALITY_VARIANCE	/* of the phase's derivatives in 3x3 pixels; less is better */
};

/* --quality: the weight of each pixel. */
struct quality {
	enum quality_kind kind;
	size_t channel;
	const struct phase_plane *phase;
	struct frame *weights;		/* of the inverse kinds, one channel */
	struct phase_plane plane;
};

struct output {
	const struct run *run;
	const struct components *components;
	const struct frame *in;
	struct frame *out;
	double rad;			/* of a unit of the phase */
	_Atomic size_t cuts;
};

#define OUTPUT_ROWS 16	/* that a thread writes at a time */

/* (void *, size_t) are for run_for(). */
struct unwrapq_rows {
	void (*range_row)(void *range_job, size_t y);
	void (*jump_row)(void *range_job, size_t y);
	/* Weights of the kinds QUALITY_INVERSE and QUALITY_VARIANCE. */
	void (*weigh_row)(void *quality, size_t y);
	/* Lists every step-th weight that is above 0, and returns their number. */
	size_t (*list_weights)(const struct frame *, size_t channel, size_t step, double *v);
	/* patches_cut_row() of unwrap/patches_loops.h. */
	patches_cut *cut_row;
	/* OUTPUT_ROWS rows of a struct output. */
	void (*write_rows)(void *output, size_t i);
};
LEVELS_OF(unwrapq_rows)
