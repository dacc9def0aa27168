/*
 * The images of a measurement, in the order in which they are projected and captured, and the
 * metadata that describes each one (methods §1).
 *
 * All fringe images come first (axis x: first period, second period, ...; then axis y), then the
 * Gray planes (x: most significant first, then their inverses; then y), then the markers (x, y),
 * then white and black.
 */
#ifndef PATTERNS_H
#define PATTERNS_H

#include <stdbool.h>

#include "fringe/manifest.h"
#include "base/numbers.h"

#define PATTERNS_GRAY_MOST 16		/* Gray planes of one axis */

enum pattern_family {
	FAMILY_SHIFTS,			/* one image per shift */
	FAMILY_SIN_COS_FLAT,		/* 2+1 */
	FAMILY_COMPOSITE,		/* one colour image */
	FAMILY_GRAY			/* no fringes */
};

enum pattern_wave { WAVE_SINE, WAVE_SQUARE, WAVE_DITHERED };	/* of phase-shifted fringes */

enum pattern_bits { BITS_1, BITS_8, BITS_16, BITS_FLOAT };	/* of a sample */

struct pattern_spec {
	size_t w, h;			/* of the projector */
	enum pattern_bits bits;		/* BITS_1: uchar samples 0 and 1, and the key bits:=1 */
	bool along[2];			/* axis x, axis y */
	enum pattern_family family;
	enum pattern_wave wave;		/* of FAMILY_SHIFTS */
	struct numbers period_px[2];	/* of axis x, of axis y */
	struct numbers shift_rad;
	enum manifest_cell gray_cell;	/* CELL_NONE: no Gray code */
	bool inverse;			/* inverse Gray planes too */
	bool flats;			/* white and black at the end */
	bool marker;			/* a stripe along every axis; patterns_marker() */
	double marker_px[2], marker_width_px[2];	/* its centre and width, of each axis */
	long stair_levels;		/* FAMILY_COMPOSITE: height of a step, of 0 .. 255 */
};

struct pattern {
	enum manifest_role role;
	enum pattern_wave wave;		/* of ROLE_PHASE */
	char axis;			/* 'x', 'y'; 0: neither */
	double period_px;		/* NaN where it has no meaning */
	long step;			/* MANIFEST_NO_STEP */
	double shift_rad;		/* NaN where it has no meaning */
	long bit;			/* MANIFEST_NO_BIT */
	double cell_px;			/* width of a Gray cell; NaN */
	double marker_px, marker_width_px;	/* centre and width of a stripe; NaN */
	char name[48];			/* all differ; they sort in the order of the measurement */
};

struct patterns {
	size_t n;
	struct pattern *pattern;
};

/* Sets the shifts: `own` if there are any, else -120, 0, 120 degrees for 3 steps, 360 n/N for every
 * other N (methods §1); 3 steps for OPT_NONE_INTEGER. -1 after fail_usage() when own and steps
 * disagree, or when fewer than 3 of the own differ by more than whole turns. */
int patterns_shifts(struct pattern_spec *, const struct numbers *own_rad, long steps);
/* Sets the periods along the axes in use: `count` of them over the image if any, else `period_px`,
 * else 60 px. -1 after fail_usage() when one does not fit, a count is not whole, or both are
 * given. */
int patterns_periods(struct pattern_spec *, const struct numbers *period_px,
    const struct numbers *count);
/* Sets the height of the stair's steps (OPT_NONE_INTEGER: the most that fits) when the periods are
 * set. -1 after fail_usage() when the stairs of the shortest one do not fit into 256 grey
 * levels. */
int patterns_stair(struct pattern_spec *, long wanted_levels);
/* Sets the marker when the periods are set: a bright stripe of whole columns (rows), half the
 * shortest period wide, so that it lies within one turn of every phase; its centre is the one
 * nearest to at_px (NaN: the middle of the image) at which it does. -1 after fail_usage() where it
 * would lie outside the image. */
int patterns_marker(struct pattern_spec *, double at_px);
void patterns_spec_free(struct pattern_spec *);
/* The phase of projector column (or row) u in turns, in [0, 1), to the nearest float: rounding puts
 * back what the division lost, so that equal phases of different periods are equal numbers. */
float patterns_turn(double u, double period_px, double shift_rad);
/* The cell that projector column (or row) u lies in. A quotient that rounding has left just below a
 * whole number counts as that number. */
size_t patterns_cell(size_t u, double cell_px);
/* All images; warns of square waves whose shifts are not whole columns. -1 after fail_usage() when
 * the Gray code needs no plane or more than 16. */
int patterns_plan(const struct pattern_spec *, struct patterns *out);
void patterns_free(struct patterns *);
/* The head of image i: size, type, channels (r g b for a composite), and the keys bits role axis
 * period_px step steps shift_rad bit gray_cell marker_px marker_width_px stair_levels set_images
 * name projector_px. Overwrites head. */
int patterns_head(const struct pattern_spec *, const struct patterns *, size_t i,
    struct frame_head *);

#endif
