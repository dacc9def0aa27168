/* Depth itself as the luma of a video: the layout luma of depthcode(5). */
#ifndef HOLOSERVE_LUMA_H
#define HOLOSERVE_LUMA_H

#include "picture.h"

/* The depth of a picture that has one as a frame of one channel of ushort, and below its texture,
 * if there is one, from row `begin` on; the rows between are the depth's last. -1 after fail(). */
int luma_make(const struct picture *, size_t begin, struct frame **out);
/* The keys that it is decoded by: of depthcode(5), and where its pixels lie. -1 after fail(). */
int luma_keys(const struct picture *, struct meta *);

#endif
