/* Fringe sets of any number of images and any shifts, one set after the other. */
#ifndef FRINGE_SUMS_H
#define FRINGE_SUMS_H

#include "phasewrap.h"
#include "tile.h"

/* The phases (or cosines and sines) of n pixels from column x of row y on; the tile gathers
 * modulation, texture, thresholds of Gray planes, and which pixels are bad. */
void fringe_sums_wrap(const struct phasewrap *, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct tile *);
/* The same of one set alone: its cosines and sines go to two arrays. The mean N A is left in the
 * tile. */
void fringe_sums_of_set(const struct frame *in, const struct capture_fringe *,
    const struct phase_shift_fit *, struct phasewrap_limits, size_t y, size_t x, size_t n,
    struct tile *, float *cosine, float *sine);
/* Modulation and texture out of white and black images, where there are no fringes. */
void fringe_sums_judge_flats(struct phasewrap_limits, struct tile *, const float *white,
    const float *black, size_t n);

#endif
