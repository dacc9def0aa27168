/* --grid of many frames: points go into the sums of their cubes as they come. */
#ifndef MERGEXYZ_FOLD_H
#define MERGEXYZ_FOLD_H

#include "cube_sums.h"
#include "pieces.h"

/* Are there so many points that adding them up pays? A single frame alone is thinned at once. */
bool fold_is_due(const struct pieces *);
/*
 * Adds the points of all pieces to the sums. A piece without points is left, which has the first
 * one's metadata and the channels that all have had so far. -1 after fail().
 */
int fold_pieces(struct run *, struct cube_sums *, struct pieces *);

#endif
