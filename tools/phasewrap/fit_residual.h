/* What the fit of a fringe set leaves of its images, over the amplitude. */
#ifndef FIT_RESIDUAL_H
#define FIT_RESIDUAL_H

#include "phasewrap.h"
#include "tile.h"

/* Can the measurement have one? -1 after fail(): no fringe set of more than three images, counting
 * all exposures. */
int fit_residual_check(const struct capture_set *, bool several_exposures);
/* The largest misfit of all fringe sets that have one, of n pixels from column x of row y on, into
 * channel fit_residual where it is written; pixels beyond the limit become bad. Overwrites the
 * tile's sums. */
void fit_residual_wrap(const struct phasewrap *, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct tile *);

#endif
