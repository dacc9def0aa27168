/* What the files of fringecal share: a calibration, its points, its solve, its results. */
#pragma once

#include <math.h>
#include <stdio.h>

#include "base/cpu_level.h"
#include "base/linear.h"
#include "base/opt.h"
#include "feature/board.h"
#include "optics/calib.h"
#include "run/run.h"

/* ---- calib_problem.c ---- */

/*
 * What a calibration knows and what it finds: cameras and projectors that look at one board in many
 * poses. A projector is a camera whose points come from the phase at the board's corners.
 */

#define CALIB_NAME_SIZE 32
#define CALIB_FEWEST_POINTS 6	/* of a view */
#define CALIB_INTRINSICS 12	/* room for those of a device: fx fy cx cy, then its lens */

enum calib_kind { CALIB_CAMERA, CALIB_PROJECTOR };
/* OpenCV's lens models: none, k1 k2 p1 p2, with k3, with k3 to k6. */
enum calib_model { CALIB_PINHOLE, CALIB_OPENCV4, CALIB_OPENCV5, CALIB_OPENCV8 };

struct calib_device {
	char name[CALIB_NAME_SIZE];
	enum calib_kind kind;
	enum calib_model model;
	size_t w, h;		/* full frame in pixels */
	bool square;		/* fx and fy are the same */
	bool sigma_unknown;	/* all its points have sigma 1, which the solve scales */
};

/*
 * The board's corners (or circles) stand at x = i spacing, y = j spacing, i < w, j < h; in a grid
 * of alternate rows at x = (2 i + j % 2) spacing. z points away from the viewer.
 */
struct calib_board {
	enum board_kind kind;
	size_t w, h;		/* corners */
	double spacing;		/* of neighbours; 1 where not known */
	double diameter;	/* of circles, in the same unit; 0: points, or not known */
	char unit[16];		/* "mm", or "board" where the spacing is not known */
	bool named;		/* the command line has its spacing */
	int turns;		/* numberings that the picture does not tell apart: 1, 2 or 4 */
};

struct calib_point {
	double u, v;		/* px of its device, (0, 0) the centre of the first pixel */
	double sigma[2];	/* standard deviation of u and of v, px */
	int i, j;		/* which of the board */
	double shift[2];	/* px taken off u and v: of a circle, see centres_correct() */
};

/* The points that one device has of one pose of the board: point[first] .. [first + n - 1]. A
 * projector has a view of a pose through each camera whose corners they belong to; a camera has its
 * own. */
struct calib_view {
	size_t device, pose, through;
	size_t first, n;
};

struct calib_problem {
	struct calib_device *device;
	size_t devices;
	struct calib_board board;
	size_t poses;
	struct calib_view *view;
	size_t views;
	struct calib_point *point;
	size_t points, points_room;
	/* How it is solved. */
	bool warp;		/* the board is bent */
	bool equal_weights;	/* every point counts as one of sigma 1 px */
	double reject;		/* points beyond that many standard deviations; 0: none */
	/* What is held at its start value: an intrinsic of a device that is NaN is free. */
	double (*fixed)[CALIB_INTRINSICS];
};

/* x of the device = R X + T of X in the first device's frame. */
struct calib_pose {
	double R[9], T[3];
};

struct calib_residual {
	double u, v;		/* measured minus computed, px */
	bool rejected;
};

/*
 * The parameters that are solved for stand in one order, in sd and in both directions of the
 * covariance: intrinsics of device 0, 1, ..; rotation vector and translation of device 1, 2, ..;
 * the board's two bends. Those of the board's poses are marginalised.
 */
struct calib_solution {
	size_t devices, poses;
	double (*intrinsics)[CALIB_INTRINSICS];	/* of each device */
	struct calib_pose *device;	/* from the first device's frame; of the first: none */
	double (*rotation)[3];		/* of each: its R as a rotation vector */
	struct calib_pose *board;	/* of each pose: board to the first device's frame */
	double bend[2];		/* z of the board's middle by bends along i and along j, mm */

	struct calib_residual *residual;	/* of each of the problem's points */
	/* Root mean square distance of measured and computed points, px, as OpenCV has it: of u and
	 * v together. Without what is rejected, but of a view that is rejected as a whole. */
	double *view_rms, *device_rms;
	double rms;
	size_t *view_used, *device_used;	/* points that are not rejected */
	double *device_scale;	/* rms residual over sigma, of a coordinate */
	double *device_excess, *view_excess;	/* px added to sigma in quadrature */
	double variance;	/* of a residual in its sigma; the covariance is scaled by it */

	size_t parameters;
	double *covariance;	/* parameters x parameters */
	double condition;	/* of its inverse; above 1e10 something is not determined */
	size_t evaluations;
};

/* "fx", .., "k6" */
extern const char *const calib_intrinsics_names[CALIB_INTRINSICS];
/* camera, projector. */
extern const char *const calib_kind_names[];
/* pinhole, opencv4 ..; ended by NULL. */
extern const char *const calib_model_names[];
/* Number of intrinsics of a model: 4, 8, 9 or 12. */
size_t calib_intrinsics_count(enum calib_model);
/* Where a device's intrinsics, and its pose (device > 0), begin among the parameters. */
size_t calib_parameter_intrinsics(const struct calib_problem *, size_t device);
size_t calib_parameter_pose(const struct calib_problem *, size_t device);
size_t calib_parameters(const struct calib_problem *);
/* The name of a parameter, "left.fx", "projector.rx", "board.bend_x". */
void calib_parameter_name(const struct calib_problem *, size_t parameter, char *name, size_t size);

/* Adds a device, a view with a copy of n points. */
void calib_problem_add_device(struct calib_problem *, const struct calib_device *);
void calib_problem_add_view(struct calib_problem *, size_t device, size_t pose, size_t through,
    const struct calib_point *, size_t n);
void calib_problem_free(struct calib_problem *);
/* The device of that name, of n letters; the number of devices: there is none. */
size_t calib_find_device(const struct calib_problem *, const char *name, size_t n);
size_t calib_cameras(const struct calib_problem *);
/* How many points it has in all views. */
size_t calib_device_points(const struct calib_problem *, size_t device);
/* "pose 3 of left", "pose 3 of projector through left", poses counted from 1. */
void calib_view_name(const struct calib_problem *, const struct calib_view *, char *name,
    size_t size);
/* The board as feature/board.h has it. -1 (nothing is recorded) where it has too few points, or too
 * many. */
int calib_board_set(struct calib_board *, const struct board *);
/* Corner i, j in the board's frame, bent by so much. */
void calib_board_point(const struct calib_board *, const double bend[2], int i, int j,
    double X[3]);

/* Start values, solve, rejection, covariance. The solution is overwritten; -1 after fail(). */
int calib_solve(struct calib_problem *, struct calib_solution *);
void calib_solution_free(struct calib_solution *);

/* Numbers in rising order. */
void calib_sort(double *v, size_t n);

/* From a's frame to b's, both known from one frame. */
static inline void
calib_pose_between(const struct calib_pose *a, const struct calib_pose *b, struct calib_pose *out)
{
	pinhole_between(a->R, a->T, b->R, b->T, out->R, out->T);
}

static inline void
calib_pose_invert(const struct calib_pose *pose, struct calib_pose *out)
{
	pinhole_invert(pose->R, pose->T, out->R, out->T);
}

static inline void
calib_pose_apply(const struct calib_pose *pose, const double X[3], double out[3])
{
	matrix3_apply(pose->R, X, out);
	for (int i = 0; i < 3; i++)
		out[i] += pose->T[i];
}

/* out = a after b */
void calib_pose_compose(const struct calib_pose *a, const struct calib_pose *b,
    struct calib_pose *out);
/* Corner i, j of the board of a pose in the first device's frame. */
void calib_corner(const struct calib_problem *, const struct calib_solution *, size_t pose, int i,
    int j, double X[3]);
/* A point of the first device's frame to pixels of a device, with its derivatives, row-major, by
 * the point (2 x 3) and by the device's intrinsics (2 x calib_intrinsics_count) where not NULL. */
void calib_project(const struct calib_problem *, const struct calib_solution *, size_t device,
    const double X[3], double uv[2], double *by_point, double *by_intrinsics);

/* ---- points_input.c: projector points at a board's corners (methods §16) ---- */

/* Projector coordinates that a camera's pixels see along one axis, rows from the top. */
struct coordinate_map {
	size_t w, h;
	float *px;		/* the coordinate in projector pixels; NaN: invalid */
	float *sigma;		/* its standard deviation, or what is proportional to it */
	bool absolute;		/* sigma is in projector pixels; else its scale is not known */
	double period_px;	/* of the fringes whose phase it comes from */
};

/* Why a corner has no projector point. */
enum projector_point_fault {
	PROJECTOR_POINT_GOOD,
	PROJECTOR_POINT_OUTSIDE,	/* its window is cut by the picture, or it is no number */
	PROJECTOR_POINT_INVALID,	/* too few valid pixels */
	PROJECTOR_POINT_RESIDUAL,	/* the quadratic does not fit */
	PROJECTOR_POINT_FAULTS
};

struct projector_point {
	double uv[2];		/* projector pixels; NaN where there is a fault */
	double sigma[2];	/* of uv: the fit's own, grown where it fits badly */
	double gradient[2][2];	/* of u, of v: projector pixels a camera pixel along x, along y */
	double residual[2];	/* rms of the fit over what sigma predicts */
	enum projector_point_fault fault;
};

/*
 * Sums over the residuals of all good windows of one axis, for what the fringes themselves leave in
 * them: a projector that is not linear gives phase errors that repeat with the fringe.
 */
#define PROJECTOR_HARMONICS 12
struct projector_ripple {
	double re[PROJECTOR_HARMONICS], im[PROJECTOR_HARMONICS]; /* harmonic 1 is place 0 */
	double square;		/* of residuals, in projector pixels squared */
	double predicted;	/* the same from sigma; 0 where its scale is not known */
	double weight;
};

/*
 * A point for each of n corners (camera pixels, (0, 0) the centre of the first; NaN: no such
 * corner) from the maps of u and of v. No window reaches past the nearest other corner. Adds to
 * ripple[0] (of u) and ripple[1] (of v); NULL: not wanted. Where the scale of sigma is not known,
 * the median corner's residual gives it.
 */
void projector_points(const struct coordinate_map map[2], const double (*corner)[2], size_t n,
    struct projector_point *out, struct projector_ripple ripple[2]);

/* The rms that the harmonics 2 and up have, in projector pixels; *strongest: the one with the
 * largest share. 0 without a good point. */
double projector_ripple_rms(const struct projector_ripple *, int *strongest);

/* How a pixel's sigma is found. */
struct noise_channels {
	size_t sigma, amplitude, modulation, texture;	/* NO_CHANNEL: none */
	bool mean_light;	/* texture is A, not A + B (key texture_from) */
};

/* What is known of all views of a projector; zeros at first. */
struct phase_views {
	size_t corners, count[PROJECTOR_POINT_FAULTS];	/* in all, of each fault */
	size_t worst, most_lost;	/* the pose where most corners have no point */
	struct projector_ripple ripple[2];		/* of fringes along x, y */
};

/* Where a frame lies on the camera's full frame: full = first + bin pixel. */
struct phase_crop {
	double first[2], bin[2];
	bool given;		/* by the keys origin_px or bin */
};
int phase_crop_find(const struct frame_head *, const char *path, struct phase_crop *);

/* The key projector_px: sets the size of a projector of none, else it must be the same. -1 after
 * fail(). */
int phase_projector_size(const struct frame_head *, const char *path,
    struct calib_device *projector);

/*
 * Adds the projector's view of a pose through a camera, whose own view must be there (else nothing
 * is added), from the frames of both phases; path names them in messages. A corner's sigma and the
 * slope of the phase there are in the sigma of the projector's point: it lies where the corner was
 * found. -1 after fail().
 */
int phase_views_add(struct phase_views *, struct calib_problem *, size_t projector, size_t camera,
    size_t pose, const struct frame *const phase[2], const char *const path[2]);

/* A text about the residuals of fringes along x (0) or y (1). True where they are more than noise:
 * the fringes are no sinusoids. */
bool phase_views_residual(const struct phase_views *, size_t axis, char text[200]);

/* ---- the command line ---- */

enum weights { WEIGHTS_SIGMA, WEIGHTS_EQUAL };

struct parameters {
	const char *board, *cameras, *sizes, *projector_points, *fix, *frame;
	int kind, model, weights;
	const char *report, *models, *manifest, *phasewrap, *unwrap2f;
	struct opt_list phase[2];	/* of fringes along x, y: of each camera */
	bool poses;
	struct opt_size projector;
	double reject, diameter;
	bool warp;
};

/* ---- pose_captures.c: captures of a board under fringes, in folders POSE/CAMERA/ ---- */

/* What to do with the captures. */
struct pose_captures {
	char *const *folder;	/* of each pose */
	size_t folders;
	struct board board;
	struct board_options find;
	const char *manifest;	/* for phasewrap -m; NULL: none */
	const char *wrap, *unwrap; /* more words for phasewrap and unwrap2f; NULL: none */
	bool cameras_named;	/* by folders of the first pose, or the command line */
	bool verbose, quiet;
	bool no_sigma;		/* phasewrap finds no noise in such captures */
	char **pose_name;	/* a result: of each pose, the last part of its folder's name */
};

/*
 * The names of the cameras, with commas between: the folders of the first pose, in natural order;
 * NULL: it has none, and its images are those of a single one. The caller frees them. -1 after
 * fail().
 */
int pose_captures_cameras(const char *pose, char **names);
/*
 * Adds the views of all cameras and of the projector, the last device; sets their sizes where they
 * are 0 and the captures have them. A board that is not found is a warning. -1 after fail().
 */
int pose_captures_read(struct pose_captures *, struct calib_problem *, struct phase_views *);
void pose_captures_free(struct pose_captures *);

/* ---- points_input.c: tables of corners, phases, captures ---- */

struct points_input {
	struct phase_views views;
	struct pose_captures captures;	/* of --poses */
	char *cameras;			/* the names that its folders give them */
};

/* For init: do the options that name input go together? With --poses sets the names of the cameras
 * where the options do not. -1 after fail(). */
int points_input_check(struct points_input *, const struct run *, struct parameters *);
/* Adds all views to the problem, which has its devices. -1 after fail(). */
int points_input_read(struct points_input *, const struct run *, const struct parameters *,
    struct calib_problem *);

/* ---- solve.c, start.c ---- */

/*
 * Measured minus computed points of a calibration, weighted, and their derivatives.
 *
 * All parameters: those of the solution, then rotation vector and translation of each pose of the
 * board. The states are those that are free, in the same order.
 */
struct residuals {
	const struct calib_problem *problem;
	size_t shared, parameters, states, shared_states, elements;
	double *parameter;
	long *state;		/* of a parameter; -1: it is held, or is that of the previous one */
	double *scale;		/* a state times this is the parameter */
	double *weight;		/* of u and v of each point; 0: it does not count */
	size_t evaluations;
	/* Of one view at a time. */
	void *memory;
	size_t most;		/* points of a view */
};

/* The parameters are unset, weights 1 over sigma, scales 1. */
void residuals_init(struct residuals *, const struct calib_problem *);
void residuals_free(struct residuals *);
/* Parameters of these states. */
void residuals_set(struct residuals *, const double *state);
void residuals_get(const struct residuals *, double *state);
/* x[2 n], weighted, computed minus measured; the derivatives of row r by the states, of elements
 * begin[r] .. begin[r + 1] - 1, where begin is not NULL. */
void residuals_evaluate(struct residuals *, double *x, int *begin, int *state, double *value);

/* A pose and its derivatives: R[i][j] by r[k]. */
struct posed {
	double R[9], by[27];
	const double *t;
};

/* A view's points, projected. */
struct view_memory {
	double (*board)[3], (*first)[3], (*device)[3];	/* in the frames of these */
	double (*pixel)[2];
	double (*by_point)[2][3], *by_intrinsics;	/* derivatives of u and v */
	struct posed of_board, of_device;
};

/*
 * Fills in all parameters in the order of struct residuals: intrinsics by Zhang's closed form,
 * poses of the board by homographies, poses of devices as the median over the views that they
 * share. Where the board is symmetric, points of views are numbered anew. -1 after fail(), which
 * names a view that shows the board mirrored, devices without common views, and so on.
 */
int calib_start(struct calib_problem *, double *parameter);

/* ---- diagnosis.c: its views, how they fill the pictures, what they cannot tell apart ---- */

#define DIAGNOSIS_CORRELATION 0.98

struct diagnosis_view {
	size_t view;		/* index of the problem's view */
	size_t points, rejected;
	double rms;		/* px, of u and v together, of all points, rejected ones too */
	double distance;	/* of the board's middle from the device, in the board's unit */
	double tilt_deg;	/* between the board's normal and the device's axis */
	double excess;		/* (rms - median)/MAD of the device's views */
	double pull;		/* rms of a coordinate over its sigma */
	double middle;		/* median distance of its points, px */
	/* excess > 5 and rms > 1.5 medians, and so is pull or middle: single points whose sigma is
	 * large are let be. */
	bool flagged;
};

struct diagnosis_device {
	double (*hull)[2];	/* the corners of the convex hull of its points, px */
	size_t hull_corners;
	double coverage;	/* the hull's share of the full frame */
	double most_tilt_deg;
};

struct diagnosis_pair {
	size_t a, b;		/* parameters */
	double correlation;
};

struct diagnosis {
	struct diagnosis_view *view;	/* the problem's views, the largest excess first */
	size_t views;
	struct diagnosis_device *device;
	size_t devices;
	struct diagnosis_pair *pair;	/* beyond DIAGNOSIS_CORRELATION, the largest first */
	size_t pairs;
};

/* Free it with diagnosis_free(). */
void diagnosis_make(const struct calib_problem *, const struct calib_solution *,
    struct diagnosis *);
void diagnosis_free(struct diagnosis *);
/* Is the principal point more than a quarter of a side from the middle of the picture? Not asked of
 * the height of projectors: their lenses are shifted. */
bool diagnosis_off_centre(const struct calib_device *, const double centre[2]);
/* What helps against a pair: an advice, or NULL where there is none. */
const char *diagnosis_pair_advice(const struct calib_problem *, const struct diagnosis_pair *);

/* How far the corners of the board are from where its plan has them: what repeats at the same
 * corners in all views, by the residuals of a solve. */
struct board_shape {
	double px;	/* rms of a coordinate that repeats, noise taken off */
	double all_px;	/* rms of a coordinate's residual */
	double offset;	/* rms of the corners' offsets along a side, in the board's unit */
	bool repeats;	/* surely, and it is more than a tenth of the residuals' squares */
};

/* All zero where there are not enough views of the corners. */
void board_shape_find(const struct calib_problem *, const struct calib_solution *,
    struct board_shape *);

/* Warn of pixels that are not square, and of a rig that is small as if its lengths were cm. */
void warn_pixels(const struct calib_problem *, const struct calib_solution *);
void warn_unit(const struct calib_problem *, const struct calib_solution *,
    const struct diagnosis *);

/* ---- uncertainty.c: what the covariance means in pixels and in space ---- */

/* Over a device's picture, of points at a distance. */
struct uncertainty_map {
	size_t columns, rows;	/* of a grid over the full frame, first pixel to last */
	double distance;	/* along the device's axis: the mean of the board's views; in the
				 * board's unit */
	double *sd, *sd_all;	/* px, a coordinate, without and with rigid motions; NaN: no such
				 * ray */
	double rms, rms_all;	/* over the grid, where it lies within the hull of the points */
	double rms_picture;	/* without rigid motions, over the whole grid */
};

/* At points of space that the first device's views take in. */
struct uncertainty_volume {
	size_t n;		/* of points; 0: one device alone measures none */
	double X[CALIB_VOLUME_POINTS][3];	/* in the first device's frame */
	double sd[CALIB_VOLUME_POINTS][3], sd_all[CALIB_VOLUME_POINTS][3];
	double rms, rms_all;	/* of a point's whole error, |sd| */
};

/*
 * Of every device's picture: devices maps of `columns` columns, to be freed with
 * uncertainty_maps_free(). The rigid motion is the one that fits best within the hulls of the
 * devices' points; beyond them a lens is a guess. Needs the covariance. -1 after fail().
 */
int uncertainty_maps(const struct calib_problem *, const struct calib_solution *,
    const struct diagnosis_device *hulls, size_t columns, struct uncertainty_map **out);
void uncertainty_maps_free(struct uncertainty_map *, size_t devices);
/* Where nine tenths of the first device's points lie along u, along v, and in distance: what
 * calib_volume_points() takes. NaN where it has none. */
void uncertainty_volume_range(const struct calib_problem *, const struct calib_solution *,
    double uvz[3][2]);
/*
 * Of points that are triangulated from both coordinates of every camera and, as fringes along x
 * give it, the column of every projector. -1 after fail().
 */
int uncertainty_of_volume(const struct calib_problem *, const struct calib_solution *,
    struct uncertainty_volume *);

/* ---- report.c, write.c ---- */

/*
 * Writes the report into a folder, after folder_make(). The phases are those that gave the
 * projector's points, if any; pose_name: of each pose, NULL: they are counted from 1. Warns of what
 * makes the calibration doubtful; without a folder (NULL) that alone, and of coverage where it is
 * very small. -1 after fail().
 */
int report_write(const char *folder, const struct calib_problem *, const struct calib_solution *,
    const struct phase_views *, const char *const *pose_name);

/* Can files be written there, before it is made? One that is not empty is taken with `force` only.
 * later: the folder that it lies in need not be there yet. -1 after fail(). */
int folder_check(const char *option, const char *folder, bool force, bool later);
/* Makes it where it is not there yet. -1 after fail(). */
int folder_make(const char *folder);

/* Are lengths known, which several devices need? -1 after fail(). */
int models_check(const struct calib_problem *);
/* Writes FOLDER/NAME.cameramodel of each device, after folder_check() and models_check(); lengths
 * in m, and extrinsics that refer to device `frame`. -1 after fail(). */
int models_write(const char *folder, const struct calib_problem *, const struct calib_solution *,
    size_t frame);

/* JSON; the poses take points to the frame of device `frame`. -1 after fail(). */
int write_json(const struct calib_problem *, const struct calib_solution *, size_t frame,
    const char *path);
/* Can a file be made there? -1 after fail(). */
int write_check(const char *path);
void write_text(const struct calib_problem *, const struct calib_solution *, FILE *);

/* The loops of fringecal_rows.c. */
struct fringecal_rows {
	/* Fills px and sigma of a map from the channel `phase`. */
	void (*phase_map_fill)(const struct frame *, size_t phase, const struct noise_channels *,
	    struct coordinate_map *);
	/* The point at a corner along one axis, from a window of `half` pixels on each side: sets
	 * uv, gradient, sigma and residual of that axis. */
	enum projector_point_fault (*projector_point_fit)(const struct coordinate_map *,
	    const double corner[2], size_t half, size_t axis, struct projector_point *);
	/* Adds the residuals of a corner whose quadratic exists, however well it fits: a
	 * projector's response is seen there most of all. */
	void (*projector_ripple_add)(const struct coordinate_map *, const double corner[2],
	    size_t half, struct projector_ripple *);
	/* Weighted residuals of a view's points, and, where begin is not NULL, their derivatives
	 * from element `at` on, as residuals_evaluate(); returns the element after them. */
	size_t (*residual_rows)(const struct residuals *, const struct calib_view *,
	    const struct view_memory *, size_t at, double *x, int *begin, int *state,
	    double *value);
	/* row C row', C being n x n. */
	double (*jacobian_variance)(const double *C, size_t n, const double *row);
};
LEVELS_OF(fringecal_rows)
