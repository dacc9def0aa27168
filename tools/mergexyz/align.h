/* The poses of all pieces, found by ICP. */
#ifndef MERGEXYZ_ALIGN_H
#define MERGEXYZ_ALIGN_H

#include "base/opt.h"
#include "pieces.h"

struct align_options {
	bool ring;
	double max_rms;			/* NaN: what noise explains */
	const struct opt_list *write_pose;	/* files for the poses of view 1, 2, ... */
};

/*
 * Fits every piece, in order, to that of those before it which it overlaps most, and so replaces
 * its pose; the first one keeps its own. ring: every piece to the one before it, the first one also
 * to the last, and the closing error is spread evenly. Prints a line for each. -1 after fail().
 */
int align_pieces(struct run *, const struct align_options *, struct pieces *);

#endif
