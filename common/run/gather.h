/* Gathering: the planes of incoming frames become inputs of as many planes as a stage wants. */
#ifndef GATHER_H
#define GATHER_H

#include "run/segment.h"

/* Puts a frame behind those that wait; takes ownership, also where it fails. -1 after fail(). */
int gather_put(struct link *, struct frame *);
/* The next whole input: 1 and *out, 0 where more frames are needed, -1 after fail(). */
int gather_next(struct link *, struct frame **out);

#endif
