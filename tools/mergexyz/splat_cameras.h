/* Does a camera of the calibration see the points of a view where they stand in their frame? */
#ifndef SPLAT_CAMERAS_H
#define SPLAT_CAMERAS_H

#include "run/stage.h"
#include "splat_view.h"

#define SPLAT_CAMERAS_MOST 16

/* A calibration's cameras, in the frame that the points are said to be in. */
struct splat_cameras {
	const char *path, *frame;
	size_t n;
	struct splat_camera {
		struct pinhole pinhole;
		double origin_px[2];
		char name[64];
		size_t view;		/* that it sees, from 1; 0: none yet */
	} v[SPLAT_CAMERAS_MOST];
};

/* frame: the device whose coordinates the points have; NULL: the file's own world. -1 after
 * fail(). */
int splat_cameras_load(const char *path, const char *frame, struct splat_cameras *);
/*
 * One line warns where none does: points in the coordinates of another device are elsewhere than
 * the ray of their pixel; and where one camera sees two views. Frames that no pinhole saw in this
 * order, rectified ones and those of fewer than 1000 points say nothing. -1 after fail().
 */
int splat_cameras_check(struct splat_cameras *, const struct run *,
    const struct splat_source *, size_t view);

#endif
