/*
 * What the search takes over from the frame before, so that the noise of its bits stands still
 * where the depth does: it begins from that frame's bits where levels are nearly the same.
 */
#ifndef DITHER3_HELD_H
#define DITHER3_HELD_H

#include <stddef.h>

struct held {
	size_t w, h;			/* of the frame before; 0: there is none */
	float *share[3];		/* as levels, before any diffusion */
	unsigned char *bit[3];
};

/* Bits of the frame before where it was nearly the same; black: the background of this one. */
void held_start(const struct held *, float *const share[3], const unsigned char *black,
    unsigned char *const bit[3], size_t w, size_t h);
/* Keeps a frame's levels, for held_start() of the next. -1 after fail(). */
int held_keep_levels(struct held *next, float *const share[3], size_t w, size_t h);
/* And, once they are found, its bits. -1 after fail(). */
int held_keep_bits(struct held *next, unsigned char *const bit[3]);
void held_free(struct held *);

#endif
