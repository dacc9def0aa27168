#ifndef FIT_SUMS_H
#define FIT_SUMS_H

#include "phasewrap.h"
#include "tile.h"

/* The sums of a fringe set's fit over n pixels from column x of row y on: tile->first, mean (of N
 * mean - first), c and s. */
void fit_sums_add(const struct capture_fringe *, const struct phase_shift_fit *,
    const struct frame *in, size_t y, size_t x, size_t n, struct tile *);

#endif
