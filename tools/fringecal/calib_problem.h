/*
 * What a calibration knows and what it finds: cameras and projectors that look at one board in many
 * poses. A projector is a camera whose points come from the phase at the board's corners.
 */
#ifndef CALIB_PROBLEM_H
#define CALIB_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "feature/board.h"

#define CALIB_NAME_SIZE 32
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
 * of alternate rows at x = (2 i + j % 2) spacing. z is away from who looks at it.
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
	double shift[2];	/* px taken off u and v: of a circle, see centres.h */
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
	size_t views, views_room;
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
	double *device_excess, *view_excess;	/* px added to sigma in quadrature, see noise.h */
	double variance;	/* of a residual in its sigma; the covariance is scaled by it */

	size_t parameters;
	double *covariance;	/* parameters x parameters */
	double condition;	/* of its inverse; above 1e10 something is not determined */
	size_t evaluations;
};

/* Number of intrinsics of a model: 4, 8, 9 or 12. */
size_t calib_intrinsics_count(enum calib_model);
/* "fx", .., "k6" */
extern const char *const calib_intrinsics_names[CALIB_INTRINSICS];
/* pinhole, opencv4 ..; ended by NULL. */
extern const char *const calib_model_names[];
/* Where a device's intrinsics, and its pose (device > 0), begin among the parameters. */
size_t calib_parameter_intrinsics(const struct calib_problem *, size_t device);
size_t calib_parameter_pose(const struct calib_problem *, size_t device);
size_t calib_parameters(const struct calib_problem *);
/* The name of a parameter, "left.fx", "projector.rx", "board.bend_x". */
void calib_parameter_name(const struct calib_problem *, size_t parameter, char *name, size_t size);

/* Adds a device, a view with a copy of n points. 0, or -1 after fail(). */
int calib_problem_add_device(struct calib_problem *, const struct calib_device *);
int calib_problem_add_view(struct calib_problem *, size_t device, size_t pose, size_t through,
    const struct calib_point *, size_t n);
void calib_problem_free(struct calib_problem *);
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

/* From a's frame to b's, both known from one frame. */
void calib_pose_between(const struct calib_pose *a, const struct calib_pose *b,
    struct calib_pose *out);
/* A point of the first device's frame to pixels of a device, with its derivatives, row-major, by
 * the point (2 x 3) and by the device's intrinsics (2 x calib_intrinsics_count) where not NULL. */
void calib_project(const struct calib_problem *, const struct calib_solution *, size_t device,
    const double X[3], double uv[2], double *by_point, double *by_intrinsics);

#endif
