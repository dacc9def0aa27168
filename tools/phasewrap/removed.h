/*
 * How many pixels does each test remove? Of a run's first measurement, under -v, every pixel; else
 * those on a coarse grid, for the warning that many are lost to saturation alone. Only a pixel that
 * has no phase is tested again, by the same formulas, so that a good one costs a look at its phase.
 * Counts are kept by row, so that they do not depend on threads or bands; the runner takes the
 * first measurement of a device's run through the processor as well.
 */
#ifndef REMOVED_H
#define REMOVED_H

#include "image/coarse_grid.h"
#include "checks/image_names.h"
#include "phasewrap.h"

/* The tests, in the order in which they are made: a pixel counts for the first that it fails. */
enum removed_by { REMOVED_MISSING, REMOVED_SATURATION, REMOVED_DARKNESS, REMOVED_MODULATION,
	REMOVED_AMPLITUDE, REMOVED_RESIDUAL, REMOVED_KINDS };

struct removed_count {
	uint32_t by[REMOVED_KINDS];
	/* The latter would be good with less light: they pass the other tests, or are white in all
	 * images. */
	uint32_t good, saturated_only;
};

struct removed {
	struct coarse_grid grid;
	struct removed_count *row;
	bool verbose;		/* the caller sets it: prints all counts, once */
	bool off;		/* nothing is left to say */
};

/* For frames of this head. -1 after fail(). */
int removed_plan(struct removed *, const struct frame_head *);
void removed_free(struct removed *);
/* Looks at row y, which phasewrap_row() has made. */
void removed_row(const struct removed *, const struct phasewrap *, const struct frame *in,
    const struct frame *out, size_t y);
/* All rows are made: prints the counts, warns once in a run. Begins the next frame. */
void removed_report(struct removed *, const struct phasewrap *, const struct image_names *);

#endif
