/* The two inputs of framecmp, frame by frame. */
#ifndef PAIR_H
#define PAIR_H

#include "io/source.h"
#include "run/stage.h"

enum { SAME, DIFFERENT };	/* exit status */

struct pair {
	struct source *a, *b;
	struct frame *frame_a, *frame_b;	/* the ones being compared */
	FILE *out;
	struct safe_file *temporary;
	size_t frames, lost;
	/* of nothing to compare; of different units; of lengths with --turns */
	bool warned, units_warned, turns_warned;
};

/* The next frame of both. 1; PAIR_LOST after fail(), with --keep-going: one of them cannot be read,
 * and others follow; 0 when there is none left; -1 after fail(). */
int pair_next(struct run *);
#define PAIR_LOST 2
/* Prints, unless -q, why A and B are not the same. */
int pair_differ(struct run *, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
