/*
 * Points of several cameras on one grid (methods §14; Karpinsky 2013, ch. 9; Rusinkiewicz and Levoy
 * 2000; Curless and Levoy 1996 for weights that end softly): each point is spread over the cells
 * next to it, at the depth that its own plane has there; what a cell receives is divided by its
 * weights. Where surfaces lie more than a jump apart the nearest one counts.
 */
#ifndef SPLAT_H
#define SPLAT_H

#include "run/run.h"
#include "splat_grid.h"
#include "splat_view.h"

struct splat {
	struct splat_grid grid;
	struct splat_view *view;
	size_t views;
	float jump;			/* mm */
	bool keeps_sigma;		/* the output has a channel sigma */
	struct splat_scratch *scratch;	/* of strips, kept from frame to frame */
	unsigned char *claimed;		/* w h: a point's own cell */
};

/* What became of a set's points. */
struct splat_counts {
	size_t points, lost;		/* with x y z; of them beside the grid */
};

/* Makes room for so many views. splat_close() it. -1 after fail(). */
int splat_open(struct splat *, size_t views);
void splat_close(struct splat *);
/*
 * Merges one frame of each view. out has the channels x y z, sigma if keeps_sigma, then the
 * attributes of the sources in their order, and the size of the grid. counts[views]. The result
 * does not depend on the number of threads. run may be NULL: one thread. -1 after fail().
 */
int splat_merge(struct splat *, struct run *run, const struct splat_source *source,
    struct frame *out, struct splat_counts *counts);

#endif
