/* What a wrong calibration, unit or stage shows in the frames, and the words that it gets. */
#ifndef LASER2XYZ_PLAUSIBLE_H
#define LASER2XYZ_PLAUSIBLE_H

#include "optics/laser.h"
#include "optics/stage_pose.h"

/* What became of points. */
struct counts {
	size_t points, met, no_ray, parallel, behind, near, far;
	size_t outside;			/* of the calibrated picture */
	double deepest;			/* of those that met */
};

/* Starts from zeros. */
struct plausible {
	struct stage_history history;
	bool unmoved_warned, size_warned, direction_warned;
};

/* Does the picture that the points come from lie on the camera, where it is placed? -1 after
 * fail(). */
int plausible_picture(struct plausible *, const struct laser *, const struct frame_head *,
    const double origin_px[2], const double bin[2], bool placed);
/* The pose of one frame, beside those before it. -1 after fail(). */
int plausible_pose(struct plausible *, const struct run *, const struct stage_pose_options *,
    const struct frame_head *, const struct laser *, const struct stage_pose *);
/* Is a full-frame pixel in the calibration's picture, or is no size known? */
bool plausible_pixel(const struct laser *, const double uv[2]);
/* All frames are done. */
void plausible_end(const struct plausible *, const struct laser *, const struct counts *);

#endif
