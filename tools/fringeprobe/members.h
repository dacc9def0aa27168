/* Which images belong to a fringe set; for sets.c. */
#ifndef MEMBERS_H
#define MEMBERS_H

#include "sets.h"

/* Fits the steps of some images, without one that spoils them. -1 after fail(). */
int members_fit(const struct field *, const struct steps *images, struct steps *out);
/*
 * Images that were not recognised join, others leave. Where the steps were all of a turn, or three,
 * which fit any others, more of them stay only if they are all of a turn again. The images are in
 * the order of the files then, the first one's shift is 0. -1 after fail().
 */
int members_settle(const struct sets *, const struct field *, struct steps *);

#endif
