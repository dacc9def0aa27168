/* Visible points and the overlap of views. */
#pragma once

#include <math.h>

#include "frame/frame.h"
#include "mesh/raster.h"
#include "optics/calib.h"
#include "points/icp.h"
#include "points/ordered_view.h"
#include "run/run.h"

/* ---- the points of an ordered frame, their neighbours and tangents ---- */

/* Points of a frame of floats, in the camera's world. */
struct visible_points {
	const struct frame *frame;
	size_t channel[3];	/* x y z */
	double spacing;		/* median distance of neighbours; 0: there are none */
	double noise;		/* standard deviation of a point, from second differences */
};

static inline double
visible_points_distance(const double a[3], const double b[3])
{
	double d[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };

	return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Measures spacing and noise. */
void visible_points_init(struct visible_points *, const struct frame *, const size_t channel[3]);
/* The point of a pixel; false where one of its coordinates is not finite. */
bool visible_points_at(const struct visible_points *, size_t x, size_t y, double X[3]);
/* Its differences to neighbours along the row and along the column, per pixel: central where both
 * neighbours are linked, to the nearer one where the other is VISIBLE_STEP times farther off. False
 * where there is none. */
bool visible_points_tangents(const struct visible_points *, size_t x, size_t y, double along_x[3],
    double along_y[3]);

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

/* How two ordered views of one object lie to each other under a pose: a test of the pose. */

struct view_overlap {
	size_t points;		/* of the source, of every 8th pixel of every 8th row */
	size_t seen;		/* of them, within the target's picture */
	size_t common;		/* of them, on rays that meet the target's surface */
	size_t near;		/* of them, within VIEW_OVERLAP_PITCHES of that surface */
	/* of them, nearer to the target's camera by more: it has seen through them, so that the
	 * pose or the point is wrong */
	size_t before;
	double median;		/* distance of the near ones along the normal; NaN: none */
};

/* pose: from the source to the target. */
void view_overlap_find(const struct ordered_view *target, const struct ordered_view *source,
    const struct pose *pose, struct view_overlap *);
