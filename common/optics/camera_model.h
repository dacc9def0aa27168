/* Cameras, lenses and rotations. */
#ifndef CAMERA_MODEL_H
#define CAMERA_MODEL_H

#include <stdbool.h>

#include "optics/number_file.h"

/* OpenCV's lens model forward: rational, tangential and thin-prism distortion. Inline, so that
 * loops over pixels become vectors. */

enum { LENS_K1, LENS_K2, LENS_P1, LENS_P2, LENS_K3, LENS_K4, LENS_K5, LENS_K6, LENS_S1, LENS_S2,
	LENS_S3, LENS_S4 };	/* in d[] */

/* Normalised coordinates x/z, y/z to distorted ones. */
static inline void
lens_distort(const double d[14], double x, double y, double *distorted_x, double *distorted_y)
{
	double r2 = x * x + y * y;
	double num = 1 + r2 * (d[LENS_K1] + r2 * (d[LENS_K2] + r2 * d[LENS_K3]));
	double den = 1 + r2 * (d[LENS_K4] + r2 * (d[LENS_K5] + r2 * d[LENS_K6]));
	double c = num / den;

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
	double num = 1 + r2 * (d[LENS_K1] + r2 * (d[LENS_K2] + r2 * d[LENS_K3]));
	double den = 1 + r2 * (d[LENS_K4] + r2 * (d[LENS_K5] + r2 * d[LENS_K6]));
	double num_r2 = d[LENS_K1] + r2 * (2 * d[LENS_K2] + r2 * 3 * d[LENS_K3]);
	double den_r2 = d[LENS_K4] + r2 * (2 * d[LENS_K5] + r2 * 3 * d[LENS_K6]);
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
	double num = 1 + r2 * (d[LENS_K1] + r2 * (d[LENS_K2] + r2 * d[LENS_K3]));
	double den = 1 + r2 * (d[LENS_K4] + r2 * (d[LENS_K5] + r2 * d[LENS_K6]));
	double num_r2 = d[LENS_K1] + r2 * (2 * d[LENS_K2] + r2 * 3 * d[LENS_K3]);
	double den_r2 = d[LENS_K4] + r2 * (2 * d[LENS_K5] + r2 * 3 * d[LENS_K6]);

	return den > 0 ? num / den + 2 * r2 * (num_r2 * den - num * den_r2) / (den * den) : -1;
}

/* ---- rotations as vectors: their angle in radians times the unit vector of their axis ---- */

/* d(R X)/dr, row-major, R being the rotation by the vector r, less than half a turn. */
void rotation_derivative(const double R[9], const double X[3], double D[9]);

/* How the six rigid motions move a point: along the axes, and about them through `middle`. */
void rotation_motions(const double X[3], const double middle[3], double M[3][6]);

/* mrcal's camera models: files NAME.cameramodel, one for each camera or projector of a rig. */

/* Is it the name of one, or of several with commas between? */
bool camera_model_is_named(const char *paths);
/*
 * Reads them as the file that fringecal(1) writes of such a rig: unit mm (lengths in models are m),
 * devices.NAME of all, in the frame that their extrinsics refer to, and the older names of the
 * first camera and the projector, or of the first two cameras. A projector is one whose file has
 * the key kind with that word, or `proj` in its name. -1 after fail().
 */
int camera_model_load(const char *paths, struct number_file *);

#endif
