/*
 * Calibration of a camera and a projector: OpenCV's pinhole model with lens distortion, or a plain
 * pair of 3x4 matrices (methods §8; Zhang 2006 eq 12-18).
 */
#ifndef CALIB_H
#define CALIB_H

#include <stdbool.h>
#include <stddef.h>

#include "optics/calib_rest.h"

/*
 * Pixels of full-frame images, (0, 0) the centre of the first. A point X of the world goes to
 * x = R X + T, is divided by its z, distorted, and taken to pixels by K.
 */
struct pinhole {
	double K[9], R[9], T[3];	/* row-major */
	double distortion[14];	/* OpenCV's order k1 k2 p1 p2 k3..k6 s1..s4 tx ty; zeros: none */
	double P[12];			/* K [R|T], or what the file gave directly */
	bool distorted;
	double fold;			/* x/z, y/z at that radius or beyond are folded back by the
					 * lens's radial terms; INFINITY: nowhere; 0: not known */
	double w, h;			/* full frame in pixels; 0: not known */
};

struct calib {
	struct pinhole camera, projector;
	char unit[16];			/* of lengths; "mm" unless the file says otherwise */
	bool unit_stated;		/* by an entry or the name T_mm, or 24 bare numbers */
	/* Nothing in the file names a projector, and a pair is rectified, or all its devices are
	 * cameras. */
	bool two_cameras;
	char contradiction[CALIB_REST_TEXT]; /* of the file's own E, F or the like; or empty */
	double origin_px[2]; /* where images without the key lie on the camera's
			      * full frame: the file's crop_x0_y0, else 0 0 */
	double period_px;	/* of the fringes that the file names, on the projector; 0: none */
};

/*
 * Reads a calibration: 24 numbers (camera 3x4, then projector 3x4; # comments), OpenCV YAML or XML
 * (with its %YAML:1.0 line) or JSON in the key dialects that man/phase2depth.1 lists.
 * 0, or -1 after fail(path, ...).
 */
int calib_load(const char *path, struct calib *);
/*
 * The same of a file with several devices (fringecal(1)): camera names the one that takes the
 * camera's place, frame the device whose coordinates are the world's. NULL: the file's own (its
 * first camera). -1 after fail() also where there is no such device.
 */
int calib_load_device(const char *path, const char *camera, const char *frame, struct calib *);
/* calib_load() from memory; text[n] must be 0. */
int calib_parse(const char *path, const char *text, size_t n, struct calib *);
/* K, R, T and distortion to P and fold. */
void pinhole_complete(struct pinhole *);
/* World point to distorted pixel. False behind the device. */
bool pinhole_project(const struct pinhole *, const double X[3], double uv[2]);
/* Distorted pixel to undistorted normalised coordinates (x/z, y/z in the device's own frame);
 * false where nothing within the lens's fold is seen there. */
bool pinhole_undistort(const struct pinhole *, const double uv[2], double xy[2]);
/* The same, faster where xy is close to the answer on entry (a neighbour's); any xy is allowed,
 * also NaN. */
bool pinhole_undistort_near(const struct pinhole *, const double uv[2], double xy[2]);
/* Does the lens show undistorted coordinates once? */
bool pinhole_within_fold(const struct pinhole *, const double xy[2]);
/* The square of the least radius of undistorted coordinates at which the lens folds back, in any
 * direction; INFINITY: nowhere. */
double pinhole_fold_square(const struct pinhole *);
/*
 * How the pixel of a point of the device's own frame changes, row-major: with the point (2 x 3),
 * and with fx fy cx cy k1 k2 p1 p2 k3 k4 k5 k6 (2 x PINHOLE_INTRINSICS).
 */
#define PINHOLE_INTRINSICS 12
void pinhole_derivatives(const struct pinhole *, const double x[3], double by_point[6],
    double by_intrinsics[2 * PINHOLE_INTRINSICS]);
/* The device's centre in the world, -R^T T. */
void pinhole_center(const struct pinhole *, double X[3]);
/*
 * The motion from device a's coordinates to device b's, of each one's motion from the world:
 * R = Rb Ra', T = Tb - R Ta. R and T may be Rb and Tb.
 */
void pinhole_between(const double Ra[9], const double Ta[3], const double Rb[9],
    const double Tb[3], double R[9], double T[3]);

#endif
