/*
 * A second camera: the views of a stereo pair of one scene, which stands before the left camera,
 * and the disparity of its points.
 */
#ifndef PAIR_H
#define PAIR_H

#include "optics/stereo.h"

struct pair {
	bool given;			/* else there is one camera */
	enum stereo_side side;		/* the view */
	struct stereo stereo;
};

/*
 * Reads a rig and sets the view's camera and the projector, which have the left camera's frame for
 * the world. projector_px: its size where one is to be assumed. view: left, right or
 * a name (stereo_find_side). -1 after
 * fail().
 */
int pair_open(struct pair *, const char *path, const char *view, const double projector_px[2],
    struct calib *);
/* Where the axes of both cameras meet, from the left one; NaN if nowhere. */
double pair_axes_meet(const struct pair *);
/* The size of the left camera's picture, or twice its principal point where that is not known. */
void pair_size(const struct pair *, double size[2]);
/* x_left - x_right of a point of the world after rectification; false where the other camera, whose
 * picture has w x h pixels from the origin on unless the file says its size, does not look. */
bool pair_disparity(const struct pair *, const double X[3], const double origin_px[2], size_t w,
    size_t h, double *disparity);

#endif
