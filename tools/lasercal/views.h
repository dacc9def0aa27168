/* What a calibration takes from each picture: the board's corners and pose, the laser's line on it. */
#ifndef LASERCAL_VIEWS_H
#define LASERCAL_VIEWS_H

#include "board_pose.h"
#include "feature/board.h"
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
/* A view without a board. */
int views_add_empty(struct views *);
/* The line's points (u, v) of the last view: their rays meet its board; those beyond the board's
 * edge are passed over. */
int views_add_line(struct views *, const struct run *, const struct frame *);
/* Points with x y z as they are, of the last view. */
int views_add_points(struct views *, const struct frame *);
/* Place of the board's middle in the world. */
void views_middle(const struct views *, const struct view *, double X[3]);
/* A camera's point or direction in the world. */
void views_to_world(const struct views *, const double x[3], double X[3]);
void views_free(struct views *);

#endif
