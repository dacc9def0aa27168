/* Counts of pixels that decide: is a picture a Holoimage, and has a lossy format been at it? */
#ifndef HOLODEC_PIXEL_COUNTS_H
#define HOLODEC_PIXEL_COUNTS_H

#include "tile.h"

/* Counts of pixels. */
struct pixel_counts {
	size_t pixels, points; /* points: not black */
	size_t inexact;        /* whose R and G, or background, no encoder makes */
	size_t off_level;      /* points whose B no encoder makes */
	size_t off_circle;     /* points far from the circle of fringes */
	size_t coloured;       /* R, G, B not all equal */
	size_t off_stair;      /* points whose stair is far from any */
	size_t outside;        /* points whose depth is outside of the cube */
};

/* How far an encoder's own pixels lie off at most, in levels. */
struct exact_limits {
	float circle;          /* R and G off the circle of fringes */
	float stair;           /* B off the stair that their angle belongs to */
	float stair_height;
};

struct exact_limits exact_limits(const struct holo *);
/* Adds n pixels of a tile, and of the depths that they decode to. */
void pixel_counts_add(const struct tile *restrict tile, const float *restrict depth, size_t n,
    const struct exact_limits *, struct pixel_counts *counts);
/* Is the picture as an encoder made it? Single damaged pixels do not make it lossy. */
bool pixel_counts_exact(const struct pixel_counts *counts);
/* -1 after fail() where the picture is no Holoimage, or one of other parameters. */
int pixel_counts_check(const struct pixel_counts *counts, bool blurred, bool filtered);

#endif
