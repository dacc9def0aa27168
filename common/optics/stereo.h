/*
 * A rectified pair of cameras (methods §10; Fusiello, Trucco and Verri 2000; Bouguet): the
 * rotations that turn both cameras until their common x axis is the baseline, so that a point of
 * the scene lies on the same row of both pictures.
 */
#pragma once

#include "optics/calib.h"
#include "run/stage.h"

enum stereo_side { STEREO_LEFT, STEREO_RIGHT };

/* Pixels are those of full frames, (0, 0) the centre of the first, lengths are mm. */
struct stereo {
	/* The left camera is the world's origin: its R is the identity, its T is 0. w, h: its
	 * image_size1 or image_size2, its device's, or the file's image_size; 0: none. */
	struct pinhole camera[2];
	struct pinhole projector;	/* also from the left camera's frame */
	bool has_projector;		/* the file names one */
	bool unit_stated;		/* by an entry or the name T_mm, or 24 bare numbers */
	bool named_otherwise;		/* the file calls its first camera right, its second left */
	char contradiction[CALIB_REST_TEXT]; /* of its R T and its own E, F or Q; or empty */
	/* The rectified cameras: x_rectified = R x_camera, u = f x/z + cx, v = f y/z + cy. */
	double R[2][9];
	double f_px, cx_px[2], cy_px;
	/* The right camera's centre lies at (baseline, 0, 0) of the rectified left one: negative
	 * where the file's second camera stands left of its first. */
	double baseline_mm;
	double w, h;			/* of a rectified frame; 0: the file does not say */
};

/*
 * Reads two cameras and their pose (x_right = R x_left + T), and R1 R2 P1 P2 where the file has
 * them; else those are computed. The names are those of phase2depth(1) with two cameras in the
 * place of a camera and a projector. R T and R1 R2 P1 P2 that put a point more than 0.1 px apart
 * are an error. 0, or -1 after fail(path, ...).
 */
int stereo_load(const char *path, struct stereo *);
/* The side that a file calls `name`: left or right, or the name of its first or second camera
 * (devices.NAME of kind camera, as fringecal writes them). -1 after fail(). */
int stereo_find_side(const char *path, const char *name, enum stereo_side *);

/* The direction, in the camera's own frame, that the pixel (u, v) of the rectified full frame sees.
 */
void stereo_ray(const struct stereo *, enum stereo_side, double u, double v, double ray[3]);
/* A direction of the camera's own frame to a pixel of the rectified full frame; false behind it. */
bool stereo_project(const struct stereo *, enum stereo_side, const double ray[3], double uv[2]);

/* What a rectified frame says of itself by its keys, in the frame's own pixels. */
struct stereo_view {
	enum stereo_side side;
	double f_px, cx_px, cy_px;
	double baseline_mm;		/* as above */
	double R[9];			/* x_rectified = R x_camera: R' turns points back */
};

/* Sets the keys rect_f_px rect_cx_px rect_cy_px rect_baseline_mm rect_side rect_rotation. The
 * frame's pixels are bin x bin of the full frame's. */
void stereo_describe(const struct stereo *, enum stereo_side, double bin, struct meta *);
/*
 * Reads them. The keys origin_px and bin of a rectified frame say where it was cropped and how it
 * was binned since, and are applied. *found: it has the keys; without any of them it is false and
 * the view is unset. -1 after fail() where some are missing or are no such numbers.
 */
int stereo_view(const struct run *, const struct frame_head *, struct stereo_view *, bool *found);
