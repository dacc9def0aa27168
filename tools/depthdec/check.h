/* Are the levels those that depthenc wrote? */
#ifndef DEPTHDEC_CHECK_H
#define DEPTHDEC_CHECK_H

#include "depthcode/depthcode.h"
#include "frame/frame.h"

/* For plan: bits and range of the samples. -1 after fail(). */
int check_head(const struct depthcode *, const struct frame_head *);
/* For survey: levels of a coarse grid, channel luma, the mask and a texture's (NO_CHANNEL: none).
 * -1 after fail(). */
int check_levels(const struct depthcode *, const struct frame *, size_t luma, size_t mask,
    size_t texture);
/* For survey: do the colour planes hold sine and cosine (NO_CHANNEL: not of this layout)? -1 after
 * fail() where at most depths they are next to nothing, as in a picture without colour. */
int check_circle(const struct depthcode *, const struct frame *, size_t luma, size_t sine,
    size_t cosine);
/* For survey: one line where the layout is luma, and colour planes hold something. */
void check_flat(const struct depthcode *, const struct frame *);

#endif
