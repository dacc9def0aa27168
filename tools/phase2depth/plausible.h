/*
 * Can these coordinates be right? What a calibration and a frame say of each other before a
 * pixel is made (sizes, directions, units), and afterwards how many phases lie outside the
 * projector and how many pixels with a phase got no coordinates. Pixels on a coarse grid are
 * counted by rows, so that the warning does not depend on threads or bands.
 */
#ifndef PLAUSIBLE_H
#define PLAUSIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "triangulate.h"

struct plausible_count {
	uint32_t phases, outside, lost;
};

struct plausible {
	size_t step;		/* every step-th pixel of every step-th row is looked at */
	size_t rows;
	struct plausible_count *row;
	double size_px;		/* of the projector along the coded axis; 0: not known */
	bool limited;		/* --min-depth or --max-depth: pixels may be lost on purpose */
	bool off, asked;	/* a warning was given, about pixels, about the frame's size */
};

/* Loads a calibration; refuses that of two cameras unless as_projector, warns of a unit that cannot
 * be. -1 after fail(). */
int plausible_calib(const char *path, bool as_projector, struct calib *);
/* The frame and the calibration: sizes, and whether depth moves a point along the coded axis at
 * all. -1 after fail(). */
int plausible_plan(struct plausible *, const struct calib *, const struct triangulation *,
    const struct frame_head *in);
void plausible_free(struct plausible *);
/* Looks at row y of the phases and of the z that was made of them. */
void plausible_row(const struct plausible *, const struct triangulation *, const float *phase,
    const float *z, size_t y);
/* All rows are made: warns, once in a run. Begins the next frame. */
void plausible_warn(struct plausible *, bool along_y);

#endif
