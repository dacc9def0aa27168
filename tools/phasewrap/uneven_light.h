/*
 * Light that is known to differ from image to image: a lamp that flickers, exposures that are not
 * alike. Image n is L_n (A + B cos(phi + d_n)), so that over L_n it is as it should be; the rows of
 * the images become floats of even light before anything is made of them.
 */
#ifndef UNEVEN_LIGHT_H
#define UNEVEN_LIGHT_H

#include "base/numbers.h"
#include "phasewrap.h"

/* light: of each step, the same for all periods, or all steps of one period before the next; none:
 * it is even. *scratch_bytes: of each thread for uneven_light_row(). -1 after fail(). */
int uneven_light_plan(const struct numbers *light, const struct frame_head *in, struct phasewrap *,
    size_t *scratch_bytes);
/* phasewrap_row() of images whose light was made even. */
void uneven_light_row(const struct phasewrap *, const struct frame *in, struct frame *out, size_t y,
    void *scratch);

#endif
