/*
 * Direct binary search: bits are turned over where that makes smaller what the decoder will see,
 * until nothing changes (after Analoui and Allebach 1992, with the filter of the eye; here it
 * is the decoder's, and of the two fringes only what turns the phase counts fully).
 */
#ifndef DITHER3_SEARCH_H
#define DITHER3_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "holo/dither.h"

#define SEARCH_LANES 8 /* sums keep their order on all machines */
#define SEARCH_KERNEL_MOST \
	((2 * DITHER_REACH_MOST + 1) * (2 * DITHER_REACH_MOST + 1 + SEARCH_LANES))

/* One error, as seen through one kernel. The plane has a margin of reach, and SEARCH_LANES more
 * behind. */
struct seen {
	float kernel[SEARCH_KERNEL_MOST];
	float square;		/* sum of the squares of the kernel */
	float weight;
	float *error;
};

struct search {
	size_t w, h, reach, width, stride;
	const unsigned char *black;
	float *inside;		/* 1 where a pixel counts; with the margins of `seen` */
	float price;		/* of a bit that is not the pattern's */
	size_t across, tiles;	/* tiles of a row, and of the picture */
	unsigned char *turned[2];	/* of each tile: a bit near it turned now, before */
	struct seen tangential, radial;
};

/* The fringes: R and G together. */
struct fringes {
	const float *cosine, *sine;	/* of the phase */
	unsigned char *red, *green;
	const unsigned char *pattern[2];	/* of red and green; NULL: none, at no price */
};

/* For a picture of w x h pixels; sigma: of the widest kernel. -1 after fail(); search_end() in
 * either case. */
int search_start(struct search *search, size_t w, size_t h, double sigma,
    const unsigned char *black);
void search_end(struct search *search);
/* Turns over bits of R and G. -1 after fail(). */
int search_fringes(struct search *search, const struct fringes *fringes, double sigma);
/* The same of the stair by itself; share: its levels; pattern: NULL, or bits to stay near to. */
int search_stair(struct search *search, const float *share, unsigned char *bit,
    const unsigned char *pattern, double sigma);

#endif
