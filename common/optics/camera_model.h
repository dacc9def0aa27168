/* Cameras, lenses and rotations. */
#pragma once

#include "base/linear.h"
#include "optics/number_file.h"

/* OpenCV's lens model forward: rational, tangential and thin-prism distortion. Inline, so that
 * loops over pixels become vectors. */

enum { LENS_K1, LENS_K2, LENS_P1, LENS_P2, LENS_K3, LENS_K4, LENS_K5, LENS_K6, LENS_S1, LENS_S2,
	LENS_S3, LENS_S4 };	/* in d[] */

/* The radial factor is num / den; their slopes are by the squared radius r2. */
static inline double
lens_num(const double d[14], double r2)
{
	return 1 + r2 * (d[LENS_K1] + r2 * (d[LENS_K2] + r2 * d[LENS_K3]));
}

static inline double
lens_den(const double d[14], double r2)
{
	return 1 + r2 * (d[LENS_K4] + r2 * (d[LENS_K5] + r2 * d[LENS_K6]));
}

static inline double
lens_num_slope(const double d[14], double r2)
{
	return d[LENS_K1] + r2 * (2 * d[LENS_K2] + r2 * 3 * d[LENS_K3]);
}

static inline double
lens_den_slope(const double d[14], double r2)
{
	return d[LENS_K4] + r2 * (2 * d[LENS_K5] + r2 * 3 * d[LENS_K6]);
}

/* Normalised coordinates x/z, y/z to distorted ones. */
static inline void
lens_distort(const double d[14], double x, double y, double *distorted_x, double *distorted_y)
{
	double r2 = x * x + y * y;
	double c = lens_num(d, r2) / lens_den(d, r2);

	*distorted_x = x * c + 2 * d[LENS_P1] * x * y + d[LENS_P2] * (r2 + 2 * x * x) +
	    r2 * (d[LENS_S1] + r2 * d[LENS_S2]);
	*distorted_y = y * c + d[LENS_P1] * (r2 + 2 * y * y) + 2 * d[LENS_P2] * x * y +
	    r2 * (d[LENS_S3] + r2 * d[LENS_S4]);
}

/* The same, and how they change with x and with y (row-major). */
static inline void
lens_derivatives(const double d[14], double x, double y, double distorted[2], double jacobian[4])
{
	double r2 = x * x + y * y;
	double num = lens_num(d, r2), den = lens_den(d, r2);
	double num_r2 = lens_num_slope(d, r2), den_r2 = lens_den_slope(d, r2);
	double c = num / den, c_r2 = (num_r2 - c * den_r2) / den;
	double x_r2 = x * c_r2 + d[LENS_S1] + 2 * d[LENS_S2] * r2;
	double y_r2 = y * c_r2 + d[LENS_S3] + 2 * d[LENS_S4] * r2;

	lens_distort(d, x, y, &distorted[0], &distorted[1]);
	jacobian[0] = c + 2 * x * x_r2 + 2 * d[LENS_P1] * y + 6 * d[LENS_P2] * x;
	jacobian[1] = 2 * y * x_r2 + 2 * d[LENS_P1] * x + 2 * d[LENS_P2] * y;
	jacobian[2] = 2 * x * y_r2 + 2 * d[LENS_P1] * x + 2 * d[LENS_P2] * y;
	jacobian[3] = c + 2 * y * y_r2 + 6 * d[LENS_P1] * y + 2 * d[LENS_P2] * x;
}

/* How fast the distorted radius grows with the radius r of the radial part alone: not positive
 * where the model folds back upon itself. */
static inline double
lens_growth(const double d[14], double r)
{
	double r2 = r * r;
	double num = lens_num(d, r2), den = lens_den(d, r2);
	double num_r2 = lens_num_slope(d, r2), den_r2 = lens_den_slope(d, r2);

	return den > 0 ? num / den + 2 * r2 * (num_r2 * den - num * den_r2) / (den * den) : -1;
}

/* ---- pinhole cameras, and projectors ---- */

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

/* The size of its picture: w and h, or twice its principal point where they are not known. */
void pinhole_picture_size(const struct pinhole *, double size[2]);
/* Millimetres of a unit of lengths, mm, cm, m or um; 0: it is none of them. */
double length_unit_mm(const char *unit);
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
/* A point of the world in the device's own frame, and back. */
static inline void
pinhole_from_world(const struct pinhole *device, const double X[3], double x[3])
{
	matrix3_apply_add(device->R, X, device->T, x);
}

static inline void
pinhole_to_world(const struct pinhole *device, const double x[3], double X[3])
{
	matrix3_apply_transposed(device->R, (const double[3]){ x[0] - device->T[0],
	    x[1] - device->T[1], x[2] - device->T[2] }, X);
}

/* The device's centre in the world, -R^T T. */
void pinhole_center(const struct pinhole *, double X[3]);
/*
 * The motion from device a's coordinates to device b's, of each one's motion from the world:
 * R = Rb Ra', T = Tb - R Ta. R and T may be Rb and Tb.
 */
void pinhole_between(const double Ra[9], const double Ta[3], const double Rb[9],
    const double Tb[3], double R[9], double T[3]);
/* The reverse of a motion: R' and -R' T; not in place. */
void pinhole_invert(const double R[9], const double T[3], double back_R[9], double back_T[3]);

/* ---- rotations as vectors: their angle in radians times the unit vector of their axis ---- */

/* d(R X)/dr, row-major, R being the rotation by the vector r, less than half a turn. */
void rotation_derivative(const double R[9], const double X[3], double D[9]);

/* How the six rigid motions move a point: along the axes, and about them through `middle`. */
void rotation_motions(const double X[3], const double middle[3], double M[3][6]);

/* ---- mrcal's camera models: files NAME.cameramodel, one for each device of a rig ---- */

/* Is it the name of one, or of several with commas between? */
bool camera_model_is_named(const char *paths);
/*
 * Reads them as the file that fringecal(1) writes of such a rig: unit mm (lengths in models are m),
 * devices.NAME of all, in the frame that their extrinsics refer to, and the older names of the
 * first camera and the projector, or of the first two cameras. A projector is one whose file has
 * the key kind with that word, or `proj` in its name. -1 after fail().
 */
int camera_model_load(const char *paths, struct number_file *);

/* ---- can a device have such a matrix and lens, before a picture of so many pixels? ---- */

/* Devices are farther apart than the one and less than the other, else their pose is in another
 * unit than mm. */
#define BASELINE_LEAST_MM 2.0
#define BASELINE_MOST_MM 20000.0
/* Devices that are nearer to each other, before a scene that is nearer than that: where nothing
 * states the unit of their pose it may be cm, or squares of a board. */
#define SMALL_RIG_MM 20.0
#define SMALL_RANGE_MM 150.0

/* DEVICE_CROPPED: a camera whose matrix may be that of a part of its picture, which was cut out. */
enum device_kind { DEVICE_CAMERA, DEVICE_CROPPED, DEVICE_PROJECTOR };

/* Each is false after a warning of one line; `name`: what it calls the device, as "left camera". */

/* Does the principal point lie where that of a picture of w x h pixels does? */
bool device_check_resolution(const char *object, const struct pinhole *, enum device_kind,
    const char *name, double w, double h);
bool device_check_tangential(const char *path, const struct pinhole *, const char *name);
bool device_check_skew(const char *path, const struct pinhole *, const char *name);
bool device_check_fold(const char *path, const struct pinhole *, const char *name);
