/*
 * Several frames of a map at once: each is computed with a copy of the stage's priv. What rows
 * keeps of a frame for the stage's `after` lies in memory that plan has named
 * (run_frame_memory()), and of that each frame has its own.
 */
#ifndef FRAME_MEMORY_H
#define FRAME_MEMORY_H

#include "run/segment.h"

/* What one frame needs of one stage. */
struct stage_copy {
	struct run run;			/* with a priv of its own */
	void **memory;			/* of the pieces that plan has named; NULL: none */
	size_t memories;
	size_t plans;			/* link->plans when this was made; 0: it is not */
};

/* Makes it for the link's plan, unless it is made. -1 after fail(). */
int stage_copy_open(struct stage_copy *, const struct link *);
/* A frame begins: takes over what the link's priv holds now. */
void stage_copy_begin(struct stage_copy *, const struct link *);
/* Exchanges the memory of the copy and that of the link: what rows kept of the copy's frame is
 * where `after` looks for it, or again where it was. */
void stage_copy_exchange(struct stage_copy *, struct link *);
void stage_copy_close(struct stage_copy *);

#endif
