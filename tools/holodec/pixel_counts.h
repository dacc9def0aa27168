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
	size_t outside;        /* points whose depth is outside of the cube, by slack and more */
	size_t beyond;         /* by more than rounding makes */
};

/* How far an encoder's own pixels lie off at most, in levels. */
struct exact_limits {
	float circle;          /* R and G off the circle of fringes */
	float stair;           /* B off the stair that their angle belongs to */
	float stair_height;
	float cut;             /* what was cut off R and G on average: 1/2 where none was rounded */
	float middle, reach;   /* of depths */
};

struct exact_limits exact_limits(const struct holo *);
/* Of some rows of the picture, each pixel decoded by itself. */
struct pixel_counts pixel_counts_take(
    const struct reading *, const struct frame *in, const struct exact_limits *);
/* Have R and G, and the background, levels of an encoder? */
bool pixel_counts_circle(const struct pixel_counts *counts);
/* Do nearly all points lie near a stair? */
bool pixel_counts_stairs(const struct pixel_counts *counts);
/* Is the picture as an encoder made it? Single damaged pixels do not make it lossy. */
bool pixel_counts_exact(const struct pixel_counts *counts);
/* -1 after fail() where the picture is no Holoimage, or one of other parameters. */
int pixel_counts_check(const struct pixel_counts *counts, bool blurred, bool filtered);

#endif
