/*
 * A camera, a projector and a scene between them: where a camera pixel looks, and which projector
 * column and row lights that point (methods §8). In double throughout.
 *
 * Without a calibration both are orthographic over a reference plane: z = c (PHI - PHI_ref), where
 * PHI_ref is a plane over the pixels. With one both are pinholes, and the scene stands across the
 * camera's axis.
 */
#ifndef RIG_H
#define RIG_H

#include "board_scene.h"
#include "optics/calib.h"
#include "scene.h"

struct rig {
	const struct scene *scene;
	const struct board_scene *board;	/* SCENE_BOARD: stands in the scene's place */
	size_t w, h;			/* camera pixels of the picture */
	/* The samples that the camera's blur is made of: so many to a pixel along each axis, and so
	 * many pixels around the picture too. 1 and 0: a pixel sees what lies at its centre. */
	size_t samples, margin;
	double origin_px[2];		/* where it lies on the sensor */
	double projector_px[2];
	bool used[2];			/* fringes along x, along y */
	bool shadow;			/* the scene blocks the projector's light */
	const struct calib *calib;	/* NULL: orthographic */
	const struct pinhole *before;	/* the scene stands before this camera; NULL: calib's */
	const struct pinhole *other;	/* a second camera, to be seen by; NULL: there is none */
	double distance;		/* pinhole: of the scene's plane from that camera */
	double pixel;			/* orthographic: mm of a pixel */
	double period_px;		/* orthographic: the period that c and ref_plane count in */
	double c;			/* mm per rad */
	double ref_plane[2][3];		/* a b c of PHI_ref = a + b x + c y, per axis */
};

/* A stage: a place x of the camera's frame was at R x + t before it moved. */
struct rig_stage {
	double R[9], t[3];
	bool turns;
};

/* Where the scene stands: turned about the viewing axis, moved towards the camera; both after
 * what a stage (of pinholes; NULL: none) did. */
struct rig_pose {
	double turn_rad, lift;
	const struct rig_stage *stage;
};

struct rig_point {
	bool surface;			/* there is a point */
	bool lit;			/* it gets the projector's light */
	bool seen;			/* nothing stands between it and the other camera */
	double X[3];			/* mm from the first pixel, height; pinhole: world */
	double depth;			/* height; pinhole: along the camera's axis */
	double painted[2];		/* scene coordinates; on a board mm from its middle */
	double column[2];		/* projector column and row, or NaN; orthographic, along an
					 * axis without fringes: the picture's */
};

/* The point of a place of the picture, pixels from the centre of the first. */
void rig_look(const struct rig *, const struct rig_pose *, double x, double y,
    struct rig_point *);
/* The place in the picture of column (or row) k of samples. */
double rig_sample(const struct rig *, size_t k);
/* Point (i, j) of the board, and its place in the picture; false where it lies outside. */
bool rig_board_point(const struct rig *, long i, long j, struct rig_point *, double uv[2]);
/* The distance along the camera's axis where the projector's axis comes nearest; NaN if nowhere. */
double rig_axes_meet(const struct calib *);
/* Orthographic shadows need a direction of light: false if the reference plane gives none. */
bool rig_has_light_direction(const struct rig *);

#endif
