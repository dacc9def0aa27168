/* What a calibration takes from each picture: the board's corners and pose, the line on it. */
#ifndef LASERCAL_VIEWS_H
#define LASERCAL_VIEWS_H

#include "board_pose.h"
#include "feature/board.h"
#include "feature/line.h"
#include "optics/laser.h"
#include "optics/stage_pose.h"
#include "plane_fit.h"
#include "run/stage.h"

struct view {
	bool has_board;
	struct board_points corners;
	struct board_pose board;	/* to the camera */
	double stage;			/* travel in mm, turn in rad */
	size_t seen, used;		/* points of the line in the picture, and on the board */
};

struct views {
	const struct laser *laser;
	struct board board;		/* w = 0: not known yet */
	struct numbers origin;		/* option */
	bool size_warned;
	size_t n, room;
	struct view *view;
	size_t points, points_room;
	struct plane_point *point;	/* of the line, in the world; rising views */
	/* Points of the line without a place in space. */
	size_t lost;
};

/* A new view from the frame's table of corners, whose channels begin with prefix ("" or
 * "corners."). Fails where the board's corners and the camera do not fit each other. */
int views_add_board(struct views *, const struct run *, const struct frame *, const char *prefix);
/* The same from corners that were found in a picture. */
int views_add_corners(struct views *, const struct run *, const struct frame_head *,
    const struct corners *);
/* A view without a board. */
int views_add_empty(struct views *);
/* The line's points of the last view, a table's (u, v) or those found in a picture: their rays meet
 * its board. Those beyond the board's edge are passed over, and so are those near the edges of a
 * chessboard's squares, where the line is as if shifted, and which answer as lines do: within 3 of
 * the standard deviations sigma_px that the picture was smoothed with (of a table: its key
 * line_sigma_px), but at most 0.3 squares. */
int views_add_line(struct views *, const struct run *, const struct frame *);
int views_add_found(struct views *, const struct run *, const struct frame_head *,
    const struct line_points *, double sigma_px);
/* Points with x y z as they are, of the last view. */
int views_add_points(struct views *, const struct frame *);
/* Place of the board's middle in the world. */
void views_middle(const struct views *, const struct view *, double X[3]);
/* How far before the camera the middles of the boards are, the nearest and the farthest one; false:
 * no view has one. */
bool views_depths(const struct views *, double *nearest, double *farthest);
/* A camera's point or direction in the world. */
void views_to_world(const struct views *, const double x[3], double X[3]);
void views_free(struct views *);

#endif
