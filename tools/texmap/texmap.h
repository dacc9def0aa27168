/*
 * What texmap.c plans and the loops of texmap_rows.c work on: the picture, the
 * discs of a cloud of points, and the colours.
 */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "points/cloud.h"
#include "points/visible.h"
#include "run/run.h"

/* The picture that colours come from. */
struct picture {
	const struct frame *frame;	/* its channels come after the input's own */
	size_t channel[3], alpha;	/* in the frame; alpha: NO_CHANNEL without */
	size_t w, h;
	enum sample type;
};

/* A point as the camera sees it. */
struct disc {
	double seen[3], normal[3];	/* in the camera's frame */
	double uv[2], radius;		/* radius: 0 draws nothing */
	size_t across[2], down[2];	/* first and last column and row of the picture */
};

/* The points of a cloud as discs in a depth buffer. */
struct drawing {
	struct visible *visible;
	struct cloud cloud;
	struct frame *surface;		/* x y z nx ny nz of the table */
	struct disc *disc;		/* of each point of the cloud */
	size_t rows;			/* of a band */
};

/* What became of a point: it has a colour; it lies behind the camera or beyond its lens, or outside
 * of its picture; it has no neighbours; it faces away or is grazed; it is hidden; the picture has
 * no colour there. */
enum fate { COLOURED, BEHIND, OUTSIDE, LONE, GRAZED, HIDDEN, BLANK, FATES };

struct colouring_counts {
	size_t points, of[FATES];
};

struct colouring {
	const struct visible *visible;
	const struct picture *picture;
	size_t normal[3];		/* channels nx ny nz of the points' frame, or NO_CHANNEL */
	double jump;			/* 0: found from points and picture */
	double least_cosine;		/* between the normal and the direction to the camera */
	bool supersample;
	struct frame *out;		/* channels r g b, of the points' size */
	struct colouring_counts *counts;	/* of each part */
};

/* What a thread does at a time. */
#define DRAWN_POINTS 16384		/* points of the drawing */
#define COLOURED_POINTS 4096		/* points of a row of the colouring */

/* (void *, size_t) are for run_for(). */
struct texmap_rows {
	/* The white of a picture of floats, by its largest sample, which may be brighter: 1 up to
	 * 2, 255 up to 512, else 65535. */
	double (*picture_white)(const struct picture *, float *largest);
	/* The discs of some points of a struct drawing, then a band of rows with all discs. */
	void (*see_points)(void *drawing, size_t part);
	void (*draw_band)(void *drawing, size_t band);
	void (*colouring_part)(void *colouring, size_t part);
};
LEVELS_OF(texmap_rows)
