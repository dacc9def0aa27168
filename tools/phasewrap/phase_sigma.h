#ifndef PHASE_SIGMA_H
#define PHASE_SIGMA_H

#include "phasewrap.h"
#include "tile.h"

/* Sets the terms of all fits, anew where they were set before; wrap->terms has room for two of each
 * fringe set. */
void phase_sigma_set_terms(struct phasewrap *);
/* The standard deviations of the phases of n pixels from column x of row y on, into the output's
 * channels behind fit_residual. Overwrites the tile's sums. */
void phase_sigma_wrap(const struct phasewrap *, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, struct tile *);

#endif
