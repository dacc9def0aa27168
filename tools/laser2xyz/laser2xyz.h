/* A slice of laser2xyz: a frame of points of the laser's line, and the loop that takes them to
 * space. */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "frame/frame.h"
#include "optics/laser.h"

#define SLICE_POINTS 1024	/* that a thread takes at a time */

/* How many points of a part, or of a run, are lost, and why. */
struct counts {
	size_t points, met, no_ray, parallel, behind, near, far;
	size_t outside;			/* of the calibrated picture */
	double deepest;			/* of those that met */
};

struct slice {
	const struct laser *laser;
	const struct stage_pose *pose;
	const double *origin_px, *bin;	/* of the frame on the sensor */
	size_t u, v;			/* channels */
	double min_depth, max_depth;	/* NaN: no limit */
	const struct frame *in;
	struct frame *out;		/* x y z are its last channels */
	struct counts *counts;		/* of every part */
};

/* The loop of laser2xyz_rows.c. */
struct laser2xyz_rows {
	/* Fills SLICE_POINTS points of a struct slice. */
	void (*fill)(void *slice, size_t part);
};
LEVELS_OF(laser2xyz_rows)
