/* What phasematch plans for a frame, and the two ways: rows on the processor, passes on the device.
 */
#ifndef PHASEMATCH_H
#define PHASEMATCH_H

#include "match_row.h"
#include "rig.h"
#include "run/passthrough.h"

struct passes;

struct phasematch {
	struct matching matching;
	struct rig rig;
	struct passthrough passthrough;
	double radian[PHASES_MOST];	/* of the shortest period, in the unit of a map */
	const char *right;		/* the path, for messages */
	double step_most_rad;		/* --max-step; NaN: not given */
	size_t support;			/* neighbours that a disparity needs; 0: none */
	float support_range;
	size_t sigma_disparity, x, y, z, sigma;	/* output channels; NO_CHANNEL: there is none */
	size_t phases, number[PHASES_MOST];	/* absphase2: 2; absphase: 0 */
	bool warned_sigma, warned_same;
	bool checked_rows;		/* of the first frame */
	struct match_counts counts;	/* of a frame */
};

/* struct body's. */
int phasematch_survey(struct run *, const struct frame *in);
void phasematch_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);
int phasematch_passes(struct run *, struct passes *);
/* Memory of a thread for phasematch_rows. */
size_t phasematch_scratch_bytes(const struct phasematch *);

#endif
