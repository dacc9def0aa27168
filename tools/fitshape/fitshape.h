/* What the files of fitshape share: measurements, clouds, shapes and their fits, and the loops. */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "base/linear.h"
#include "base/numbers.h"
#include "run/check.h"

struct run;

#define DEGREES 57.29577951308232	/* per rad */

/* ---- clouds: the points of a frame that a shape is fitted to, in double ---- */

enum along { ALONG_RAY, ALONG_Z, ALONG_NORMAL };	/* direction of a point's sigma */

struct cloud {
	size_t n;
	double (*x)[3];		/* coordinates less `about` */
	double *sigma;		/* standard deviation of each point along `along`; NULL: unknown */
	size_t *pixel;		/* y w + x of each, in rising order */
	double about[3];	/* the middle of the points */
	enum along along;
	/* Neighbours share errors: of a frame of w x h pixels those of a Gaussian window of this
	 * standard deviation over the pixels that are valid (NULL: none do; owned by the caller);
	 * of a table (w = 0) by sigma_shared. */
	size_t w, h;
	const unsigned char *valid;
	double window_px, shared;
};

void cloud_free(struct cloud *);

/* ---- fit.c: planes, spheres and cylinders; coordinates are about a point near the shape's ---- */

enum shape_kind { SHAPE_PLANE, SHAPE_SPHERE, SHAPE_CYLINDER };
extern const char *const fit_names[];		/* of the kinds */
#define SHAPE_UNKNOWNS 5

struct shape {
	enum shape_kind kind;
	bool fixed;		/* the radius is given, not fitted */
	double centre[3];	/* of a plane or a cylinder's axis: the point nearest to 0 */
	double axis[3];		/* unit: a plane's normal, a cylinder's axis */
	double radius;
};

/* The vector q to x from the centre, or from the axis's nearest point; *along: where that is on the
 * axis. Returns its length. */
static inline __attribute__((always_inline)) double
arm(const struct shape *shape, const double x[3], double q[3], double *along)
{
	for (int i = 0; i < 3; i++)
		q[i] = x[i] - shape->centre[i];
	*along = 0;
	if (shape->kind == SHAPE_CYLINDER) {
		*along = vector3_dot(shape->axis, q);
		for (int i = 0; i < 3; i++)
			q[i] -= *along * shape->axis[i];
	}
	return sqrt(vector3_dot(q, q));
}

/* Positive outside of a sphere or cylinder, and on the side of a plane where its normal points. */
static inline double
shape_distance(const struct shape *shape, const double x[3])
{
	double q[3], along, length = arm(shape, x, q, &along);

	return shape->kind == SHAPE_PLANE ? vector3_dot(shape->axis, q) : length - shape->radius;
}

/* Unit normal of the shape's surface at x, outwards. */
static inline void
shape_normal(const struct shape *shape, const double x[3], double normal[3])
{
	double q[3], along, length = arm(shape, x, q, &along);

	for (int i = 0; i < 3; i++)
		normal[i] = shape->kind == SHAPE_PLANE ? shape->axis[i] :
		    length > 0 ? q[i] / length : 0;
}

/*
 * The unknowns: two tilts of the axis (of a plane and a cylinder), in rad times `reach`, about the
 * point of it that is nearest to 0; the centre's movement (a sphere: x y z; a cylinder: across the
 * axis; a plane: along the normal); the radius.
 */
struct shape_tangent {
	struct shape shape;
	double u[3], v[3];	/* unit, across the axis */
	double reach;
};

struct shape_points {
	struct run *run;		/* whose threads help; NULL: none */
	const double (*x)[3];
	const double *weight;		/* NULL: 1 */
	size_t n;
};

struct fit_options {
	bool robust;
	bool towards;		/* z points towards the camera, to which a plane's normal points */
};

/* A shape fitted to a cloud, and its errors. */
struct fit {
	struct shape shape;		/* about cloud->about */
	double *distance;		/* of all points of the cloud */
	double *weight;			/* of all points, in the last least squares */
	size_t n, used;			/* used: with weight > 0 */
	double scale;			/* robust: 1.4826 median |d| (or |d|/sigma); else NaN */
	double rms, sd;		/* of the used: roots of sum d^2/used, sum d^2/(used - unknowns) */
	double mean, min, max;		/* of the used */
	double interval[2];		/* that holds 95 % of them: quantiles 0.025 and 0.975 */
	double chi_square;		/* sum of (d/sd of d)^2 of the used; NaN without sigma */
	double chi_square_expected, chi_square_sd;
	/* How many times the variance of a mean of many points is that of independent errors; 1
	 * where no point shares its error. */
	double shared;
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
/* Least squares from a start. False where the normal equations become singular, or the radius grows
 * beyond 1e7 times the points' reach. */
bool shape_fit(const struct shape_points *, struct shape *);
/* The unknowns' directions at a shape. */
void tangent_at(const struct shape *, double reach, struct shape_tangent *);

/* ---- measurement.c ---- */

enum mode { MODE_PLANE, MODE_SPHERE, MODE_CYLINDER, MODE_SPHERES, MODE_LENGTH, MODES };

struct parameters {
	bool robust, fixed, no_weights, json;
	double trim, distance;
	struct numbers roi, diameter, pixel;
	int along;			/* enum along; -1: not given */
};

/* Figures of VDI/VDE 2634 part 2: of a plain fit to all points but the trimmed ones. */
struct acceptance {
	size_t points, trimmed;
	double range;			/* of the distances: probing error (form), flatness */
	double radius;
	double centre[3];		/* in the frame's coordinates */
	double size;			/* diameter less the calibrated one; NaN: none is known */
};

struct part {
	struct cloud cloud;
	struct fit fit;
	struct acceptance acceptance;
};

/* One shape or two. */
struct measurement {
	enum mode mode;
	char unit[16];
	size_t parts;
	struct part part[2];
	/* Of two parts: */
	double distance, distance_sd;	/* of the centres; of parallel planes */
	double normal[3];		/* length: of both planes, from the first to the second */
	double angle_deg;		/* length: between the planes, each fitted by itself */
	double spacing;			/* of the acceptance fits */
	double spacing_error;		/* that less the calibrated distance; NaN: not known */
};

/* Measures a frame of floats. -1 after fail(); measurement_free() in either case. */
int measure(struct run *, const struct parameters *, enum mode, const struct frame *,
    struct measurement *);
/* How far points are from the shapes, for the check `outliers`. */
void measurement_residuals(const struct measurement *, struct fitted_residuals *);
void measurement_free(struct measurement *);

/* ---- fitshape_rows.c ---- */

struct shape_normals {		/* normal equations at a shape: J'WJ, J'Wd, d'Wd and sum of W */
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], g[SHAPE_UNKNOWNS], squares, weight;
};

#define BLOCK 4096		/* points of one partial sum */

struct summing {
	const struct shape_points *points;
	const struct shape_tangent *tangent;
	struct shape_normals *block;
	size_t unknowns;
};

#define CYLINDERS 12		/* starts of a cylinder that are fitted */
#define FITTED_POINTS 2000	/* of these fits */

#define BALL_POINTS 4000	/* among which a ball is searched */
#define BALL_SHELL 0.1		/* of the radius: points farther off are not the ball's */

struct search {
	const struct cloud *cloud;
	const unsigned char *taken;	/* by the other ball */
	size_t n;
	size_t index[BALL_POINTS];
	size_t near[BALL_POINTS], nears;	/* neighbours of a point */
};

/* Errors that neighbours share, which a filter has mixed. */
struct windows {
	const struct fit *fit;
	const struct cloud *cloud;
	const double *weight, *sd;	/* of the points; sd NULL: 1 */
	size_t y0, h;			/* the rows of the frame that the planes hold */
	size_t reach;			/* of the window, in pixels */
	double *kernel;			/* of the window by distance, then its squares */
	/* 1 where a pixel is valid, else 0; for each unknown H (fit.c); two for use within. */
	double *plane;
};

struct fitshape_rows {
	/* Block b of a struct summing, for run_for(). */
	void (*sum_block)(void *arg, size_t b);
	/* Of a fit: distances; their standard deviations, which sigma leaves along the normal;
	 * |distance| or |distance / sd|; weights, Tukey's if robust. sd may be NULL. */
	void (*find_distances)(const struct fit *, const struct cloud *);
	void (*find_sds)(const struct fit *, const struct cloud *, double *sd);
	void (*find_sizes)(const struct fit *, const double *sd, float *size);
	void (*find_weights)(const struct fit *, const double *sd, bool robust);
	/* For Huber's covariance: squares of psi, or its slopes. */
	void (*robust_weights)(const struct fit *, const double *sd, bool squares, double *weight);

	/* Fills the planes of struct windows. */
	void (*spread)(const struct windows *);
	/* Starts from threes or fours of all points: the plane or sphere with the least median
	 * distance from `points`, which it returns; INFINITY: there is none. */
	double (*best_draw)(const struct shape_points *all, const struct shape_points *points,
	    struct shape *);
	/* Starts of a cylinder, the best first: axes in all directions, with circles of least
	 * squares, or robust ones through threes of points. */
	void (*best_directions)(const struct shape_points *, bool robust, double reach,
	    const struct shape *, struct shape kept[CYLINDERS]);
	/* Of up to FITTED_POINTS points. */
	double (*median_distance)(const struct shape_points *, const struct shape *);
	double (*rms_distance)(const struct shape_points *, const struct shape *);
	/* Weight 1 where |distance| <= limit, else 0. */
	void (*weigh_near)(const struct shape_points *, const struct shape *, double limit,
	    double *weight);
	/* Finds the sphere of nearly this radius that most of the searched points lie near to;
	 * returns their number. */
	size_t (*best_ball)(struct search *, double radius, struct shape *best);
};
LEVELS_OF(fitshape_rows)
