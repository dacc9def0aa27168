/*
 * What another camera sees of the points of an ordered frame: its depth buffer.
 *
 * The surface is drawn as triangles between neighbouring pixels of the frame, into a buffer of the
 * camera's own pixels that holds -1/depth, which is linear in an undistorted picture. A pixel whose
 * neighbours along its row and along its column lie within VISIBLE_LINK median distances of
 * neighbours carries the surface; where such pixels are neighbours across an edge, the triangle
 * between them stands for the unseen side of what is in front, and hides what is behind it; and as
 * the surface ends somewhere between two pixels, it is drawn in its tangent plane to the next one.
 * Single pixels that are off hide nothing. Where the frame has no points the surface is open.
 */
#ifndef VISIBLE_H
#define VISIBLE_H

#include "mesh/raster.h"
#include "optics/calib.h"
#include "points/visible_points.h"
#include "run/run.h"

/* A picture of w x h pixels on a camera's sensor: its pixel (0, 0) begins at origin_px, and is
 * bin[0] x bin[1] of the sensor's. */
struct visible_view {
	const struct pinhole *camera;
	double origin_px[2], bin[2];
	size_t w, h;
	double reach;		/* visible_reach() of the camera */
};

struct visible {
	struct visible_view view;
	struct visible_points points;
	struct raster depth;	/* -1/depth; +infinity where nothing was drawn */
};

/* The four pixels around a place of the picture, and what they see. */
struct visible_corners {
	size_t x[2], y[2];
	float weight[4];	/* bilinear, of those that see the point; row by row */
	float sum;		/* of the weights; 0: none sees it */
	bool hidden;		/* a nearer surface is in one of them */
};

/* The radius x/z up to which a lens model does not fold back upon itself. */
double visible_reach(const struct pinhole *);
/* A point of the world in the camera's frame, and the place in the picture, which may lie outside
 * of it. False behind the camera, and beyond the lens model's reach. */
bool visible_project(const struct visible_view *, const double X[3], double seen[3],
    double uv[2]);

/* Draws the depth buffer on the run's threads. visible_free() in either case; -1 after fail(). */
int visible_draw(struct visible *, struct run *, const struct visible_view *,
    const struct visible_points *);
void visible_free(struct visible *);
/* Does the place lie on a pixel of the picture? */
bool visible_inside(const struct visible_view *, const double uv[2]);
/*
 * Which of the pixels around the place uv, which lies inside, see the plane through the point
 * `seen` of the camera's frame with this normal (NULL: not known), within `jump` of its depth?
 * `seen` lies on uv's ray, or near it.
 */
void visible_look(const struct visible *, const double seen[3], const double normal[3],
    const double uv[2], double jump, struct visible_corners *);

#endif
