/*
 * A calibration board as scene: a printed plane of any pose before a pinhole camera. Around the
 * pattern it is white; black sends back 0.12 of the light. Behind it is nothing.
 */
#ifndef FRINGESIM_BOARD_SCENE_H
#define FRINGESIM_BOARD_SCENE_H

#include "feature/board.h"
#include "optics/calib.h"

#define BOARD_BLACK 0.12

struct board_scene {
	struct board board; /* its spacing is known */
	double R[9],
	    T[3];       /* from mm on the board, counted from its middle, to the camera's frame */
	double half[2]; /* of its sides, mm */
	double radius;  /* of circles, mm */
	bool lit_from_behind; /* the projector stands on its other side */
};

/*
 * pose: a rotation vector in degrees, and where its middle is in the camera's frame, mm. -1 after
 * fail_usage() where the board does not face the camera.
 */
int board_scene_init(
    struct board_scene *, const struct board *, const double pose[6], const struct calib *);
/* Where the ray (x, y, 1) of the camera's frame meets the board: z, and mm from the middle. */
bool board_scene_hit(const struct board_scene *, const double ray[3], double *z, double at[2]);
/* Point (i, j) in the camera's frame. */
void board_scene_point(const struct board_scene *, long i, long j, double x[3]);
/*
 * The share of light that the board sends back at a place, its edges blurred by a Gaussian of
 * `sigma` px; step: mm on the board for a px along x, then y (dx/du dy/du dx/dv dy/dv).
 */
double board_scene_share(
    const struct board_scene *, const double at[2], const double step[4], double sigma);

#endif
