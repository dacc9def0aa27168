/* What phase2depth plans for a frame: a reference plane or a triangulation, and uncertainty; and
 * the loops that compute it. */
#pragma once

#include <math.h>
#include <stdatomic.h>

#include "optics/calib.h"
#include "run/stage.h"

/* ---- triangulate.c: the camera's rays and the projector ---- */

/*
 * What the formula in phase2depth.px.h needs, in the camera's own frame (methods §8). A point at
 * distance s along the camera's axis is s d, d = (x, y, 1), and appears at the projector's
 * homogeneous a + s b. Row `code` of that is the coordinate that the phase gives (the column, or
 * the row for fringes along y), `other` the other one.
 */
struct triangulation {
	/* pixels of the projector: code = (A0 + s B0.d)/(A2 + s B2.d) */
	double a_code, a_w, b_code[3], b_w[3];
	/*
	 * The projector's lens: OpenCV's k1 .. k6 p1 p2 s1 .. s4 with the coded coordinate in place
	 * of x; undistorted pixel = focal code + skew other + center in normalised coordinates; the
	 * line l0 code + l1 other + l2 = 0 of a camera's ray in its picture, as a 3x3 matrix times
	 * (x, y, 1); how the lens bends along rays; the square of the radius at which it folds
	 * back. lens_terms: the same in floats, up to the center.
	 */
	double exact_terms[12 + 3 + 9 + 2];
	float lens_terms[12 + 3];
	bool distorted, plain;			/* plain: without k4 k5 k6, s1 .. s4 and skew */
	float bend_along[2];	/* of fringes along x, along y; 0: not known */
	double R[9], T[3];			/* camera to world: X = R (s d) + T */
	double px_per_rad, code0_px;	/* code = px_per_rad phase + code0_px */
	/* The camera: normalised x and y of frame pixel (column, row), before the lens is undone.
	 */
	double x0, x_per_column, x_per_row, y0, y_per_row;
	size_t w, h;
	double origin_px[2], bin[2];
	double projector_px[2];	/* its size by option or key; 0: neither */
	bool along_y;
	bool placed;		/* an option or a key says where the frame lies */
	bool binned;		/* an option or a key says how large its pixels are */
	/*
	 * What undoing the camera's lens adds to x (plane 0) and y (plane 1), in units of
	 * lens_unit, a power of two; NULL: nothing. PHASE2DEPTH_NO_RAY where it cannot be undone.
	 * Rows of lens_stride numbers. Integers of 32 bits keep 2^-31 of the largest shift, floats
	 * 2^-25 of each.
	 */
	int32_t *lens;
	double lens_unit;
	size_t lens_stride;
};

/* Options, each of which wins over the key of its name. */
struct triangulation_options {
	struct numbers origin, projector;	/* origin_px; projector_px, for centered */
	struct numbers bin;
	double period_px;
	int axis;				/* 0: x, 1: y, -1: key, else x */
	bool centered;				/* the phase is 0 in the projector's middle */
};

/* The rows that fill its table `lens`. */
struct rays_job {
	const struct triangulation *t;
	const struct pinhole *camera;
	double per_unit;		/* table units in 1 */
	_Atomic bool beyond;		/* a shift is too large for the table's unit */
};

int triangulation_plan(struct run *, struct triangulation *, const struct calib *,
    const struct triangulation_options *, const struct frame_head *in, struct frame_head *out);
int triangulation_check_frame(const struct triangulation *, const char *path,
    const struct calib *, const struct frame_head *in, bool *reported);
void triangulation_free(struct triangulation *);

/* ---- calib_sigma.c: uncertainty of the calibration ---- */

struct rig_device {
	struct pinhole pinhole;		/* the world is the first device's frame */
	size_t intrinsics, count;	/* where fx fy cx cy k1 .. begin among the parameters */
	size_t pose;	/* where rotation vector and translation begin; SIZE_MAX: the first's */
};

/* What fringecal(1) writes with a rig: the covariance of its numbers, and where its board was. */
struct rig_covariance {
	struct rig_device camera, projector;
	struct rig_device frame;	/* whose coordinates results are in */
	size_t n;			/* parameters */
	double *C;			/* n x n */
	double X[CALIB_VOLUME_POINTS][3];	/* where the board was, in the first's frame */
	size_t points;
};

/*
 * For the variance of a triangulated point (methods §16). A point that stays at its pixel of the
 * camera and at its column (row) of the projector moves when the parameters change. SHAPE: without
 * the rigid motion of the board's volume that fits best; PLACE: in the frame of rig.frame.
 */
enum point_variance_kind { POINT_VARIANCE_NONE = -1, POINT_VARIANCE_SHAPE, POINT_VARIANCE_PLACE };

struct point_variance {
	int kind;
	bool along_y;			/* the projector gives rows */
	struct rig_covariance rig;
	/* The parameters that matter, n of them, their covariance, and the rigid motion (6 x n)
	 * that each makes of the volume, about its middle. */
	size_t n, *parameter;
	double *C, *motion, middle[3];
};

int point_variance_load(struct point_variance *, const char *path, const char *camera,
    const char *frame);

#define CALIB_SIGMA_TERMS 9	/* of the polynomial along a ray */
#define CALIB_SIGMA_CELLS 64	/* of the grid, along the frame's longer side */

/* The variance changes slowly over the picture, so it is computed on a grid of rays, at as many
 * distances on each as the polynomial has terms. */
struct calib_sigma {
	struct point_variance of;	/* loaded before, if its kind is not NONE */
	/* For frames of one size and place. */
	float *table;			/* rows x columns x CALIB_SIGMA_TERMS */
	size_t columns, rows, step_px;	/* of frame pixels between two rays */
	double middle_mm, per_mm;	/* distance s: at (s - middle_mm) per_mm, -1 to 1 */
	double offset_mm2;		/* added to variances, so that logarithms do not dip */
	size_t w, h;
	double origin_px[2], bin[2];
};

/* The rows of the grid. */
struct calib_sigma_job {
	const struct calib_sigma *sigma;
	double *scratch;		/* of each row */
};

int calib_sigma_plan(struct run *, struct calib_sigma *, const struct triangulation *);

void calib_sigma_free(struct calib_sigma *);

/* ---- depthfit.c: depth over a reference plane ---- */

#define DEPTHFIT_COEFFICIENTS 8

struct depthfit {
	size_t phase, ref;		/* channels; ref = NO_CHANNEL: the ideal plane */
	bool wrapped;			/* wrapped phases, that differ by less than half a turn */
	double plane[3]; /* PHI_ref = a + b column + c row, of the frame's own pixels */
	size_t degree;			/* z = c1 d + .. + c_degree d^degree */
	double c[DEPTHFIT_COEFFICIENTS];
	size_t c_map[DEPTHFIT_COEFFICIENTS];	/* channels of c per pixel; NO_CHANNEL: c above */
	bool warned_key;		/* of an option that contradicts the frame's own key */
	bool warned_bent;		/* of --ref-roi */
	struct frame **step;		/* measurements at known depths, so far */
	size_t steps;
};

/* Has a run had pixels whose phase and reference are the same, or differ? */
struct depthfit_same {
	bool equal, differs;
};

struct depthfit_options {
	const char *ref, *c_map;	/* second inputs; ref may be "ideal" */
	struct numbers ref_plane, c;	/* win over the keys ref_plane_rad, c_mm_per_rad */
	struct numbers ref_roi;		/* pixels x, y, w, h of a flat wall: the plane is theirs */
	struct numbers fit_c;		/* known depths in mm, or none */
	long degree;
	bool wrapped;
};

#define POLYFIT_MOST 4		/* degree */

/* Sums over samples, for least squares of z = c1 d + c2 d^2 + ... + cn d^n. d = 0 means z = 0, so
 * there is no constant term. */
struct polyfit {
	size_t n;
	double moment[2 * POLYFIT_MOST + 1];	/* sum of d^k, k from 2 */
	double with_z[POLYFIT_MOST + 1];	/* sum of z d^k, k from 1 */
	double zz;
};

/* The rows of a fit of c. */
struct fit_job {
	const struct depthfit *above;
	const double *z_mm;
	size_t degree;
	struct frame *out;
	struct polyfit *row;		/* one per row */
};

int depthfit_check(const struct depthfit_options *, bool calibrated);
int depthfit_plan(struct run *, struct depthfit *, const struct depthfit_options *,
    const struct numbers *origin, const struct frame_head *in, struct frame_head *out);
int depthfit_find_plane(const struct run *, const struct frame *, const struct depthfit_options *,
    struct depthfit *);
void depthfit_warn(const struct depthfit_same *, bool wrapped);
int depthfit_add(struct frame *, const struct depthfit_options *, struct depthfit *);
int depthfit_finish(struct run *, const struct depthfit_options *, struct depthfit *);
void depthfit_free(struct depthfit *);

/* Jumps of wrapped phases in the frames of a run so far. */
struct half_turn_jumps {
	size_t frames, jumping;	/* all; those where neighbours are a whole turn apart */
	double worst;		/* the largest share of a frame's neighbours */
	double most_beyond;	/* of a frame's pixels that may be whole turns off */
	unsigned char *beyond;	/* which ones those of this frame are, w x h; NULL: none */
};

struct half_turn_range {
	float low, high;	/* low > high: of no pixel */
};

#define NO_RANGE { INFINITY, -INFINITY }
#define HALF_TURN_BAND 64	/* rows that one thread looks at */

/* The bands of a frame whose jumps are counted. */
struct half_turn_job {
	const struct frame *frame;
	const struct depthfit *above;
	struct half_turn_band {
		size_t jumps, pairs;
		struct half_turn_range phase, ref;
	} *band;
};

#define HALF_TURN_LISTS 7	/* of struct half_turn_parts, from `part` on */

/* The parts into which jumps cut the surface of a frame; lists of w x h. */
struct half_turn_parts {
	size_t w, h;
	float *d;		/* phase above the reference */
	size_t *part;		/* a pixel of the same part; its own place: the part's first */
	size_t *size;		/* pixels of a part, at its first */
	size_t *group;		/* the same as `part`, for parts that jumps link */
	size_t *on;		/* pixels of a part on the reference, at its first */
	size_t *all;		/* pixels of a group's parts, at its first */
	size_t *nearest;	/* the part of a group with most pixels on the reference, at the
				 * group's first; w h: none */
	size_t *second;		/* pixels on the reference of the next part */
	unsigned char *jumps, *speck;	/* is the part, at its first, at a jump; a speck at one? */
	size_t marked;		/* pixels that may be whole turns off */
	size_t contending;	/* pixels of groups of which nothing tells the right part */
};

int half_turn_survey(struct run *, const struct frame *, const struct depthfit *,
    struct half_turn_jumps *);
void half_turn_free(struct half_turn_jumps *);
void half_turn_warn(const struct half_turn_jumps *);

/* ---- phase2depth.c ---- */

/* What is planned for a frame. */
struct phase2depth {
	float least, most;		/* limits of depth */
	struct depthfit above;		/* the reference: phase above it, and c */
	struct half_turn_jumps jumps;	/* of wrapped phases */
	struct depthfit_same *same;	/* of all frames: is the reference the input itself? */
	struct calib calib;
	struct triangulation rays;
	struct calib_sigma calib_sigma;
	struct calib_camera *other_camera;	/* of the same file */
	size_t other_cameras;
	bool calib_reported;		/* a line told of a fault in its file */
	size_t phase;
	size_t sigma, ref_sigma;	/* channels; NO_CHANNEL: there is none */
	bool warned_ref_sigma;
	bool calibrated;
	bool on_device;			/* frames after the first one are computed there */
};

/* The loops of phase2depth_rows.c. */
struct phase2depth_rows {
	/* struct body's `rows`. */
	body_rows *compute;
	/* Row y of a struct rays_job: the table of the camera's lens. */
	void (*fill_rays)(void *job, size_t y);
	/* Compares the phase of rows y0 <= y < y1 with a measured reference; any threads at a
	 * time. */
	void (*compare)(const struct depthfit *, const struct frame *, struct depthfit_same *,
	    size_t y0, size_t y1);
	/* Row y of a struct fit_job. */
	void (*fit_row)(void *job, size_t y);
	void (*polyfit_join)(struct polyfit *, const struct polyfit *more);
	/* c[0] = c1 ...; false where the samples do not determine them. */
	bool (*polyfit_solve)(const struct polyfit *, size_t degree, double *c);
	/* Band i of a struct half_turn_job. */
	void (*count_jumps)(void *job, size_t i);
	/* Finds the parts of a frame, with memory for them; beyond: w x h, set to 1 where a pixel
	 * may be whole turns off, else 0. */
	void (*find_parts)(const struct frame *, const struct depthfit *, struct half_turn_parts *,
	    unsigned char *beyond);
	/* How a point moves with the parameters, 3 x n; and the variance of its coordinates. */
	bool (*point_rows)(const struct point_variance *, const double X[3], double *F, double *J);
	double (*point_variance)(const struct point_variance *, const double X[3], double *scratch);
	/* Row y of a struct calib_sigma_job. */
	void (*grid_row)(void *job, size_t y);
};
LEVELS_OF(phase2depth_rows)
