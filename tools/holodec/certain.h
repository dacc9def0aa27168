/* What is kept of a picture, by how certain it is. */
#ifndef HOLODEC_CERTAIN_H
#define HOLODEC_CERTAIN_H

#include "holodec.h"

/*
 * In a lossy picture what is certain takes the place of a boundary of fixed width, unless one is
 * asked for: regions are grown, and what is not certain is dropped. no_edge: none is asked for;
 * asked: a certainty is. -1 after fail().
 */
int certain_grow(struct run *run, const struct frame *in, bool lossy, bool no_edge, bool asked);
/* Row y of depths, channel z: what the input's own certainty leaves; and how certain it is, into
 * the last channel, where that is asked. */
void certain_row(const struct priv *priv, const struct frame *in, struct frame *out, size_t z,
    size_t y);

#endif
