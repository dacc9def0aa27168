/* All that looks for mistakes while phases are made: each reads rows of a coarse grid, and warns
 * once in a run. */
#ifndef DETECTORS_H
#define DETECTORS_H

#include "gray_check.h"
#include "checks/image_names.h"
#include "removed.h"
#include "run/run.h"

struct detectors {
	struct image_names names;
	struct removed removed;
	struct gray_check gray_check;
	bool limit_checked;		/* --min-amplitude, against the samples */
	bool starts_unknown;		/* steps are counted from the first image of a period */
	bool verbose;			/* what only -v says is still to be said */
};

/* What options, keys and manifest say. */
struct detectors_known {
	bool roles;		/* what each image is, so that their order does not matter */
	bool whole;		/* samples are whole numbers */
};

/* Before anything else: -v. */
void detectors_init(struct detectors *, bool verbose);
/* For frames of this head, whose phases are planned. operand: of the run's first stage, or NULL. -1
 * after fail(). */
int detectors_plan(struct detectors *, const struct phasewrap *, const struct frame_head *,
    struct detectors_known, char *const *operand, size_t operands);
/* Row y is made. */
void detectors_row(const struct detectors *, const struct phasewrap *, const struct frame *in,
    const struct frame *out, size_t y);
/* All rows are made: prints what there is to say. Begins the next frame. */
void detectors_report(struct detectors *, const struct phasewrap *);
void detectors_free(struct detectors *);

#endif
