/* A shape fitted to a cloud, with what is known of its errors. */
#ifndef FITSHAPE_FIT_H
#define FITSHAPE_FIT_H

#include "cloud.h"
#include "shape.h"

#define FIT_TUKEY 4.685		/* standard deviations: 95 % efficiency for normal noise */

struct fit_options {
	bool robust;
	bool towards;		/* z points towards the camera, to which a plane's normal points */
};

struct fit {
	struct shape shape;		/* about cloud->about */
	double *distance;		/* of all points of the cloud */
	double *weight;			/* of all points: what the last least squares had */
	size_t n, used;			/* used: with weight > 0 */
	double scale;			/* robust: 1.4826 median |d| (or |d|/sigma); else NaN */
	double rms, sd;		/* of the used: roots of sum d^2/used, sum d^2/(used - unknowns) */
	double mean, min, max;		/* of the used */
	double interval[2];		/* that holds 95 % of them: quantiles 0.025 and 0.975 */
	double chi_square;		/* sum of (d/sd of d)^2 of the used; NaN without sigma */
	size_t unknowns;
	struct shape_tangent tangent;	/* the unknowns of cov */
	double cov[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS];
	double middle[3];		/* of the used points, about cloud->about */
	double extent_deg;		/* half the angle of a sphere's cap, a cylinder's arc */
	double spread;			/* what determines the shape, in scatters: 1 is nothing */
	double length;			/* cylinder: of the used points along the axis */
};

/* Fits shape->kind (and, if fixed, its radius). -1 after fail(): too few points, or points that do
 * not determine the shape. fit_free() in either case. */
int fit_shape(struct run *, const struct cloud *, const struct shape *, const struct fit_options *,
    struct fit *);
void fit_free(struct fit *);

/* Standard deviations: of the centre along x y z (sphere), across the axis or along the normal (the
 * largest); of the axis or normal in rad, the largest; of the radius. NaN where not known. */
double fit_sd_centre(const struct fit *, double each[3]);
double fit_sd_axis(const struct fit *);
double fit_sd_radius(const struct fit *);
/* The point of the shape that the report names: the centre, the axis's or the plane's point nearest
 * to the middle of the used points; in the frame's coordinates. */
void fit_centre(const struct cloud *, const struct fit *, double centre[3]);
/* The name of a kind. */
extern const char *const fit_names[];

#endif
