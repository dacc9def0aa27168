/* Organised points and the camera that saw them. */
#pragma once

#include "frame/frame.h"
#include "run/run.h"

/*
 * An ordered frame of points as the camera that saw it: where a point of space lies in the frame,
 * the surface's points and normals there. The camera is found from the points themselves, since
 * every pixel has a point on its ray: no calibration is needed, and crops, binned and rectified
 * frames are all the same.
 */

#define ORDERED_VIEW_TERMS 21	/* of a polynomial of degree 5 in two variables */

struct ordered_pixel {
	float point[3], normal[3];	/* NaN: none; all normals are on one side, either */
	float mean[3];			/* of the 5 x 5 points that the normal is from */
};

/*
 * P takes a point to s = P1 X / P3 X, t = P2 X / P3 X; (s - middle)/scale is taken to pixels by a
 * polynomial, which holds the lens.
 */
struct ordered_camera {
	double P[12], middle[2], scale[2];
	double u[ORDERED_VIEW_TERMS], v[ORDERED_VIEW_TERMS];
	double rms_px;			/* of the frame's own points */
	double side;			/* the sign of P3 X of the frame's points */
};

struct ordered_view {
	size_t w, h, points;
	struct ordered_pixel *pixel;	/* w x h */
	struct ordered_camera camera;
	double noise;			/* standard deviation of the points along the normal */
	double pitch;			/* median distance of neighbouring points */
};

/*
 * The view of a frame with channels x y z, float. False: no order, fewer than 1000 points, or
 * points that no pinhole saw in this order (more than a pixel off, rms).
 */
bool ordered_view_make(struct run *, const struct frame *, struct ordered_view *);
/* Where a point lies, in pixels; false outside of the frame or behind the camera. */
bool ordered_view_project(const struct ordered_view *, const double X[3], double uv[2]);
/* The surface at a place inside of the frame, between its four pixels; false where one of them has
 * no point. */
bool ordered_view_surface(const struct ordered_view *, const double uv[2], double X[3]);
void ordered_view_free(struct ordered_view *);

/* ---- the camera of an ordered frame of points, fitted to these points ---- */

/* n points, X Y Z u v each. camera->rms_px is the quality of the fit: INFINITY where there is
 * none. */
void ordered_camera_fit(const double (*sample)[5], size_t n, struct ordered_camera *);
