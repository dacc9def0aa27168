/* What the files of lasercal share: boards and views, fits, and the loops. */
#pragma once

#include <math.h>

#include "base/linear.h"
#include "feature/board.h"
#include "feature/line.h"
#include "optics/laser.h"
#include "run/stage.h"

#define DEGREES 57.29577951308232	/* per rad */

/* ---- views.c: least squares of a few parameters by Levenberg and Marquardt ---- */

#define MAX_PARAMETERS 16

struct levenberg {
	size_t parameters, residuals;
	const double *scale;		/* of each parameter: a small step, for differences */
	/* The residuals at the state plus a step. */
	void (*residual)(const void *state, const double *step, double *r);
	/* Takes the step into the state. */
	void (*take)(void *state, const double *step);
	void *state;
};

/* Returns the sum of squared residuals at the end. */
double levenberg_fit(const struct levenberg *);

/* ---- views.c: the pose of a board from its corners in one picture ---- */

/* Corners in space and in the picture: place (x, y) on the board in mm, full-frame pixel (u, v). */
struct board_points {
	size_t n;
	double (*place)[2], (*uv)[2];
};

/* A point b of the board is R b + t to the camera. */
struct board_pose {
	double R[9], t[3];
	double rms_px;			/* of a corner's distance */
};

/* The pose with R turned further by exp(step[0..2]) and t moved by step[3..5]. */
void board_pose_step(const struct board_pose *, const double step[6], struct board_pose *out);
/* Axis times angle of the turn from pose b to pose a. */
void board_pose_turn(const struct board_pose *a, const struct board_pose *b, double w[3]);
/* A camera without its pose: matrix and lens. */
void camera_alone(const struct pinhole *, struct pinhole *own);

/* ---- views.c: the board's corners and pose in each picture, and the line on it ---- */

struct plane_point {
	double X[3];
	size_t view;
};

#define LASER_CHANNELS 3	/* of pictures in colour, all of which are tried; else the first */

/* Of one channel. */
struct plane_points {
	size_t n;
	struct plane_point *v;		/* of the line, in the world; rising views */
};

struct view {
	bool has_board;
	struct board_points corners;
	struct board_pose board;	/* to the camera */
	double stage;			/* travel in mm, turn in rad */
	/* Points of the line in the picture, and on the board, of each channel. */
	size_t seen[LASER_CHANNELS], used[LASER_CHANNELS];
};

struct views {
	const struct laser *laser;
	struct board board;		/* w = 0: not known yet */
	struct numbers origin;		/* option */
	bool size_warned;
	size_t n;
	struct view *view;
	struct plane_points line[LASER_CHANNELS];
	size_t channel;			/* whose points are added or reported */
	bool colour;			/* a picture was in colour */
	bool lit;			/* pictures of boards have the laser on */
	struct line_finder *finder;	/* NULL until the first line in a picture */
	double sigma_px;		/* of its smoothing */
};

/* Adds a view from the frame's table of corners, whose channels begin with prefix ("" or
 * "corners."). Fails where the board's corners do not fit the camera. */
int views_add_board(struct views *, const struct run *, const struct frame *, const char *prefix);
/* The same from a picture; fails where there is no board in it. */
int views_add_picture_board(struct views *, const struct run *, const struct frame *);
/*
 * Adds the line's points to the last view, those of a table (u, v) or found in a picture, of one
 * channel or of r g b (less off, unless that is NULL), where their rays meet its board. Leaves
 * out points beyond the board's edge, and near the edges of a chessboard's squares, which shift
 * the line and look like lines themselves: within 3 of the standard deviations sigma_px of the
 * picture's smoothing (of a table: its key line_sigma_px), but at most 0.3 squares.
 */
int views_add_line(struct views *, const struct run *, const struct frame *);
int views_add_picture_line(struct views *, struct run *, const struct frame *on,
    const struct frame *off);
/* Adds a view without a board, of points with x y z. */
void views_add_points(struct views *, const struct frame *);
/* The place of the board's middle in the world. */
void views_middle(const struct views *, const struct view *, double X[3]);
/* The distance from the camera of the nearest and the farthest board's middle. False: there is no
 * board. */
bool views_depths(const struct views *, double *nearest, double *farthest);
void views_free(struct views *);

/* Adds a point to the last view, for which there is room. */
static inline void
views_add_point(struct views *views, const double X[3])
{
	struct plane_points *line = &views->line[views->channel];

	line->v[line->n++] = (struct plane_point){ { X[0], X[1], X[2] }, views->n - 1 };
	views->view[views->n - 1].used[views->channel]++;
}

/* ---- fits.c ---- */

struct plane_fit {
	double plane[4];	/* A B C D, (A B C) a unit vector, C > 0 (or B, or A) */
	double rms;		/* distances of the points that count */
	size_t used;
	double singular[3];	/* of the centred points that count, falling */
	/* By leaving out one view after the other: of the normal, and of the distance at the middle
	 * of the points. NaN for one view. */
	double sd_rad, sd_mm;
	double limit;		/* points farther off were left out; INFINITY: all count */
};

enum plane_method {
	PLANE_ROBUST,	/* points farther off than 5 MAD do not count */
	PLANE_WITHIN,	/* points farther off than a given limit do not count */
	PLANE_PLAIN	/* all points count */
};

/*
 * A plane through points of many views, by the singular vectors of the centred points. Unless
 * plain, it leaves wrong points out (methods §11). It starts from the plane through three points,
 * of 500 threes, with the least median distance (in three quarters of the views), or most points
 * within the limit. It then fits the points that count, for 5 MAD by Tukey's weights, until the
 * plane stays. A MAD is 1.4826 medians, the standard deviation of normal noise. limit: of
 * PLANE_WITHIN. -1 after fail(): fewer than 3 points.
 */
int fit_plane(const struct plane_point *, size_t n, size_t views, enum plane_method, double limit,
    struct plane_fit *);

/* Signed. */
static inline double
plane_distance(const double plane[4], const double X[3])
{
	return plane[0] * X[0] + plane[1] * X[1] + plane[2] * X[2] + plane[3];
}

struct direction_fit {
	double direction[3];	/* of the board's middle, per mm of travel, in the world */
	double sd[3];		/* its standard deviation; NaN for two views */
	double rms[3];		/* of the middles from the line, per axis */
	double turn_rad;	/* the board's turn from first to last view */
};

/* Least squares of the board's middles over the travel, or (plain) the mean of successive
 * differences over that of the travel (Liu 2016 eq 7-8), which depends on the end points alone.
 * off: 3 numbers per view, of each middle from the line. -1 after fail(). */
int fit_direction(const struct views *, bool plain, struct direction_fit *, double *off);

struct axis_fit {
	double point[3], direction[3];	/* in the world; the point nearest to the boards' middle */
	double rms_px;			/* of the corners' distances */
	double alone_px;		/* the same of each board by itself */
	double radius_mm;		/* of the middle of the board about the axis */
	double angle_rms_rad;		/* of the boards' own turns from those of the stage */
	double gain;			/* the boards' turn over the stage's; ideally 1 */
};

/* The direction comes from the boards' own turns, the point from a circle of known angles through
 * their origins. Both, and the board on the stage, are then refined over the corners of all
 * pictures. -1 after fail(). */
int fit_axis(const struct views *, struct axis_fit *);

/* A stage that turns a board, in the camera's frame. */
struct turning {
	const struct views *views;
	struct pinhole camera;		/* without its pose */
	double axis[3], point[3];
	struct board_pose board;	/* with the stage at 0 */
	double side[2][3];		/* unit vectors across the axis */
};

/* step: axis across (2), point across (2, mm), board (6). */
void turning_step(const struct turning *, const double *step, struct turning *out);

/* Turns a point about the axis. */
static inline void
turn_about(const struct turning *turning, double angle, double x[3])
{
	for (int i = 0; i < 3; i++)
		x[i] -= turning->point[i];
	laser_rotate(turning->axis, angle, x);
	for (int i = 0; i < 3; i++)
		x[i] += turning->point[i];
}

/* ---- lasercal_rows.c ---- */

/* The residuals near a state, and the normal equations. */
struct linearised {
	double *r, *plus, *minus;	/* residuals */
	double *jacobian;		/* of parameter i: jacobian[i residuals ..] */
	double normal[MAX_PARAMETERS * MAX_PARAMETERS], gradient[MAX_PARAMETERS];
};

/* A pose that is refined. */
struct refining {
	const struct pinhole *camera;	/* without its pose */
	const struct board_points *points;
	struct board_pose pose;
};

static inline void
on_sensor(const struct sensor_fit *crop, double u, double v, double uv[2])
{
	uv[0] = crop->origin_px[0] + (u + 0.5) * crop->bin[0] - 0.5;
	uv[1] = crop->origin_px[1] + (v + 0.5) * crop->bin[1] - 0.5;
}

/* Sums over weighted points. */
struct moments {
	double w, x[3], xx[9];
};

/* A fit of a plane at work. */
struct plane_fitting {
	const struct plane_point *point;
	size_t n, views;
	enum plane_method method;
	double limit;			/* of PLANE_WITHIN */
	double *weight;
	float *distance, *median;
	struct moments *view;
};

struct lasercal_rows {
	/* Fills the jacobian by differences, and the normal equations. */
	void (*linearise)(const struct levenberg *, struct linearised *);
	/* struct levenberg's `residual` of a struct refining, and of a struct turning. */
	void (*corner_residual)(const void *refining, const double *step, double *r);
	void (*turn_residual)(const void *turning, const double *step, double *r);
	/* Adds a point of the line to the last view, for which there is room: where a pixel's ray
	 * meets its board. */
	void (*add_ray)(struct views *, const struct sensor_fit *, double u, double v,
	    double sigma_px);
	/* The best plane of three points. False: all threes are on lines. */
	bool (*search_plane)(const struct plane_fitting *, double best[4]);
	/* Weights by the distances from a plane: 1 within the limit, or Tukey's. */
	void (*weigh_points)(const struct plane_fitting *, const double plane[4], bool tukey,
	    double *limit);
	/* The moments of each view, about the first point. */
	void (*sum_views)(const struct plane_fitting *);
	/* The number of points within the limit, and their rms. */
	void (*count_used)(const struct plane_fitting *, struct plane_fit *);
};
LEVELS_OF(lasercal_rows)
