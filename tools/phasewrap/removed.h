/*
 * -v: how many pixels does each test remove? Of a run's first measurement, every pixel. Only one
 * that has no phase is tested again, by the same formulas. Counts are kept by row, so that they do
 * not depend on threads or bands; the runner takes the first measurement of a device's run through
 * the processor as well.
 */
#ifndef REMOVED_H
#define REMOVED_H

#include "phasewrap.h"

/* The tests, in the order in which they are made: a pixel counts for the first that it fails. */
enum removed_by { REMOVED_MISSING, REMOVED_SATURATION, REMOVED_DARKNESS, REMOVED_MODULATION,
	REMOVED_AMPLITUDE, REMOVED_RESIDUAL, REMOVED_KINDS };

struct removed_count {
	uint32_t by[REMOVED_KINDS], good;
};

struct removed {
	struct removed_count *row;
	size_t rows;
	bool off;		/* without -v, and when it is said */
};

/* For frames of this head. -1 after fail(). */
int removed_plan(struct removed *, const struct frame_head *);
void removed_free(struct removed *);
/* Looks at row y, which phasewrap_row() has made. */
void removed_row(const struct removed *, const struct phasewrap *, const struct frame *in,
    const struct frame *out, size_t y);
/* All rows are made: prints the counts, once in a run. */
void removed_report(struct removed *);

#endif
