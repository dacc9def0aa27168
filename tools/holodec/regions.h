/*
 * The fringe order of whole regions: pixels whose phase runs on without a jump are joined, the
 * surest neighbours first, and each region's readings of the stairs decide together. What a lossy
 * format does to the stairs is large for single pixels and even for patches of them, but small for
 * the mean of a region.
 */
#ifndef HOLODEC_REGIONS_H
#define HOLODEC_REGIONS_H

#include "edges.h"

/* The orders of a whole picture: regions->order. -1 after fail() where stairs and fringes do not
 * belong together. regions: zero, or of an earlier picture; runs_free(). */
int regions_find(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in);
/* Rows y0 .. y1 - 1 of n columns from x on into channel z, of what has been found. */
void regions_decode(const struct regions *regions, const struct holo_code *code, struct frame *out,
    size_t z, size_t x, size_t n, size_t y0, size_t y1);

#endif
