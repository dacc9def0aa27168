/*
 * Pixels beside jumps and at the boundary, where a lossy format mixes two surfaces, or a surface
 * and the background: regions that are smooth are grown into them. A pixel whose phase is that of
 * the surface beside it, carried on by a straight line, takes its order from there; the stairs are
 * not asked again.
 */
#ifndef HOLODEC_GROW_H
#define HOLODEC_GROW_H

#include "edges.h"

/*
 * After the vote of the regions: changes regions->order, and fills regions->certainty: 1 inside of
 * smooth regions, NaN in the background, 0 in what may be background. stored: the picture as it
 * came; in: mended, or the same; surface: of each pixel, halved.h; or NULL. *least: the certainty
 * to ask for: 0.93, or so much less, to 0.43, that of the
 * surface at most 1.5 % is dropped, without what looks like a filled hole. A wrong order costs more
 * than a lost pixel, but a surface full of holes is none. -1 after fail().
 */
int grow(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in, const struct frame *stored, const unsigned char *surface, float *least);
/* Drops what is less certain: the rest of its turns becomes NaN. */
void grow_drop(struct regions *regions, float least);

#endif
