/*
 * Can these coordinates be right? What a calibration and a frame say of each other before a
 * pixel is made (sizes, directions, units), and afterwards how many phases lie outside the
 * projector or fall where they should rise, how many pixels with a phase got no coordinates or lie
 * behind a device, and how many points the projector could not have lit. Pixels on a coarse grid
 * are counted by rows, so that the warning does not depend on threads or bands.
 */
#ifndef PLAUSIBLE_H
#define PLAUSIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "inclination.h"
#include "run/run.h"
#include "triangulate.h"

struct plausible_count {
	uint32_t phases, outside, lost, behind;
	uint32_t rising, falling;	/* along the camera's row, as expected and against it */
	uint32_t points, off;		/* whose other coordinate was computed; lies outside */
};

#define PLAUSIBLE_COUNTS (sizeof(struct plausible_count) / sizeof(uint32_t))

struct plausible {
	size_t step;		/* every step-th pixel of every step-th row is looked at */
	size_t rows;		/* of those pixels */
	struct plausible_count *row;
	struct inclination_point *point;	/* `columns` of each of those rows */
	size_t columns;
	const char *path;			/* of the calibration */
	const struct calib *calib;
	double size_px, other_px;	/* its size along the coded axis and across */
	bool estimated;		/* that of its principal point, roughly */
	/* The coded coordinate of far points, from a pixel of a row to the next, in the middle of
	 * the frame; 0: rows do not show whether the phase is mirrored. */
	double rise_px;
	bool limited;		/* --min-depth or --max-depth: pixels may be lost on purpose */
	bool off;	/* no more warnings: one was given */
	bool asked;	/* one about the frame's size, its fringes or the projector's size */
};

/* Looks at a calibration, which must outlive the struct, as its file does; refuses that of two
 * cameras unless as_projector, warns of a unit or of sizes that cannot be. -1 after fail(). */
int plausible_calib(struct plausible *, const char *path, bool as_projector,
    const struct calib *);
/* How far camera and projector are apart, in the calibration's unit. */
double plausible_baseline(const struct calib *);
/* The frame and the calibration: sizes, and whether depth moves a point along the coded axis at
 * all. -1 after fail(). */
int plausible_plan(struct plausible *, const struct calib *, const struct triangulation *,
    const struct frame_head *in);
void plausible_free(struct plausible *);
/* For plan: what rows keep of a frame. -1 after fail(). */
int plausible_frame_memory(struct plausible *, struct run *);
/* Looks at row y of the phases and of the x, y and z that were made of them. */
void plausible_row(const struct plausible *, const struct triangulation *, const float *phase,
    const float *const xyz[3], size_t y);
/* All rows are made: warns, once in a run. Begins the next frame. */
void plausible_warn(struct plausible *, bool along_y);

#endif
