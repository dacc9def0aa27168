/* How incoming frames become inputs: of colour images planes, and of as many planes as a stage
 * wants one input. */
#pragma once

#include "run/segment.h"

/* Replaces a frame by those of its planes that run->colour asks for. -1 after fail(). */
int colour_reduce(const struct run *, struct frame **);

/* Puts a frame behind those that wait; takes ownership, also where it fails. -1 after fail(). */
int gather_put(struct link *, struct frame *);
/* How many planes of the measurement at hand have come, or are lost. */
size_t gather_planes(const struct link *);
/* The next whole input: 1 and *out, 0 where more frames are needed, GATHER_LOST where one is lost,
 * for the reason in link->loss. -1 after fail(): then *whole tells whether the planes of an input
 * were taken, else the first waiting frame is not understood. */
int gather_next(struct link *, struct frame **out, bool *whole);
#define GATHER_LOST 2
/* --keep-going: frames are lost for this reason, as many planes each as the last one that came, and
 * the measurement that they belong to with them. */
void gather_lose(struct link *, size_t images, const struct fail_record *reason);
/* Nothing more belongs to the measurement at hand. True: it is incomplete, and lost for the reason
 * in link->loss, unless that is empty. Its planes are forgotten. */
bool gather_break(struct link *);
