/*
 * What the loops over pixels share with line.c, and the functions that exist once per instruction
 * level: a file that includes line_loops.h is compiled at one.
 */
#ifndef LINE_LEVEL_H
#define LINE_LEVEL_H

#include "feature/line.h"

/* A pixel that holds a point, and the point. */
struct line_candidate {
	uint32_t x, y;
	float du, dv;		/* from the pixel's centre, px */
	float nu, nv, response, width;
};

struct line_candidates {
	struct line_candidate *v;
	size_t n, room;
};

/* Offsets of kernels between pixels: steps of 1/LINE_STEPS px. */
#define LINE_STEPS 64
#define LINE_LANES 16	/* weights and rows of patches come in so many; at every level */

struct line_asymmetry;

struct line_filter {
	struct line_options options;
	struct derivative_kernels kernels;
	float low, skip_range;	/* tiles that vary by less hold no point */
	size_t tile_w, tile_h;
	float limit;		/* of a candidate's offset from its pixel, px */
	/* Kernels for points between pixels, of radius + 1: [step + LINE_STEPS / 2][order][tap]. */
	size_t taps, room;	/* room: taps rounded up to LINE_LANES */
	float *weight;
	/* How far from a point its sides are sought, px: at first, and at most. */
	size_t near_reach, reach;
	const struct line_asymmetry *asymmetry;	/* NULL: no correction */
};

struct line_level {
	/* Floats of memory that a thread needs for the calls below. */
	size_t (*work)(const struct line_filter *, size_t w);
	/* The least and the largest sample of each tile of a row of tiles. */
	void (*ranges)(const struct line_filter *, const struct line_image *, size_t tile_row,
	    float *work, float *least, float *largest);
	/* Appends the candidates of the active tiles of a row of tiles that are points, with their
	 * widths, in the order of rows and columns. -1: no memory. With `strongest`, which holds
	 * the largest response up to now, it keeps that alone. */
	int (*search)(const struct line_filter *, const struct line_image *, size_t tile_row,
	    const bool *active, float *work, float *strongest, struct line_candidates *);
};

#endif
