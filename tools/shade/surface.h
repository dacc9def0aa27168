/*
 * A measured surface as a viewer sees it from elsewhere: per pixel of the picture the normal in
 * view coordinates (x right, y down, z away), and a value to colour by. Hidden points are not seen.
 */
#ifndef SURFACE_H
#define SURFACE_H

#include "mesh/raster.h"
#include "run/stage.h"

enum surface_plane { SURFACE_NX, SURFACE_NY, SURFACE_NZ, SURFACE_VALUE, SURFACE_PLANES };

struct surface_view {
	double yaw_rad, pitch_rad; /* turn about the vertical, then about the horizontal axis */
	size_t w, h;			/* size of the picture */
	double jump;			/* no surface across a larger step in z; 0: automatic */
	size_t value; /* channel to colour by; NO_CHANNEL: depth along the frame's own z */
};

struct surface;

/* The frame as it is seen. *scale: pixels of a unit of length, NaN where the frame's columns and
 * rows are no lengths. 0, or -1 after fail(); surface_free() in either case. */
int surface_new(struct run *, const struct frame *, const struct surface_view *, struct surface **,
    double *scale);
void surface_free(struct surface *);
/* Draws rows y0 <= y < y1 of the picture into a raster of SURFACE_PLANES attributes that has them.
 * Several threads may draw rows of their own at once. */
void surface_draw(const struct surface *, struct raster *, size_t y0, size_t y1);

#endif
