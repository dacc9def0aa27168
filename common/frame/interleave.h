/*
 * Two to four channels of one row between planes and pixels r g b r g b ..., by the vectors that
 * the machine has; samples_split() and samples_join() are for rows of any frame.
 */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include <stddef.h>

#define INTERLEAVE_MOST 4	/* channels */

/* Loops for one kind of machine; each gives the same bytes. */
struct interleave {
	/* n pixels of `count` samples of `size` bytes, aligned or not, to planes of aligned
	 * samples, and back. */
	void (*split)(size_t size, const void *pixels, size_t count, void *const *plane, size_t n);
	void (*join)(size_t size, void *pixels, size_t count, const void *const *plane, size_t n);
};

/* Those that this machine can run: the i-th, the best first; NULL behind the last. */
const struct interleave *interleave_choice(size_t i);

#endif
