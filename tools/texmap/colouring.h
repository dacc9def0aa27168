#ifndef TEXMAP_COLOURING_H
#define TEXMAP_COLOURING_H

/* Colours for the points of a frame, part by part. */
#include "picture.h"
#include "points/visible.h"

/* What became of the points. */
struct colouring_counts {
	size_t points, coloured, behind, outside, lone, grazed, hidden, blank;
};

struct colouring {
	const struct visible *visible;
	const struct picture *picture;
	size_t normal[3];		/* channels nx ny nz of the points' frame, or NO_CHANNEL */
	double jump;			/* 0: found from points and picture */
	double least_cosine;		/* between the normal and the way to the camera */
	bool supersample;
	struct frame *out;		/* channels r g b, of the points' size */
	struct colouring_counts *counts;	/* of each part */
};

/* How many parts the points are coloured in, and run_for()'s function for one of them. */
size_t colouring_parts(const struct colouring *);
void colouring_part(void *colouring, size_t part);
struct colouring_counts colouring_add(const struct colouring_counts *, size_t n);

#endif
