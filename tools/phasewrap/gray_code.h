/* The index that Gray planes give, and the thresholds between dark and bright from flat images. */
#ifndef GRAY_CODE_H
#define GRAY_CODE_H

#include "phasewrap.h"
#include "tile.h"

/* Thresholds of n pixels from column x of row y on, from white and black or from one image between
 * them; without fringes, white and black also decide whether a pixel is bad. */
void gray_code_read_flats(const struct capture_set *, const struct phasewrap_limits *,
    const struct frame *in, size_t y, size_t x, size_t n, struct tile *);
/* The index; threshold is used where the code has no inverse planes. */
void gray_code_decode(const struct frame *in, const struct capture_code *, const float *threshold,
    size_t y, size_t x, size_t n, struct tile *, float *index);
/* The indices of all codes by the images of all exposures, into channels from `channel` on. The
 * thresholds are those of the fringe images, added over the exposures, unless there are flats. */
void gray_code_decode_exposures(const struct phasewrap *, const struct frame *in,
    struct frame *out, size_t channel, size_t y, size_t x, size_t n, struct tile *);

#endif
