/* What a wrong calibration, unit or stage shows in the frames, and the words that it gets. */
#ifndef LASER2XYZ_PLAUSIBLE_H
#define LASER2XYZ_PLAUSIBLE_H

#include "optics/laser.h"
#include "optics/stage_pose.h"

/* Starts from zeros. */
struct plausible {
	struct stage_history history;
	bool unmoved_warned, size_warned, length_warned;
};

/* Does the picture that the points come from lie on the camera, where it is placed? -1 after
 * fail(). */
int plausible_picture(struct plausible *, const struct laser *, const struct frame_head *,
    const double origin_px[2], const double bin[2], bool placed);
/* The pose of one frame, beside those before it. -1 after fail(). */
int plausible_pose(struct plausible *, const struct run *, const struct stage_pose_options *,
    const struct frame_head *, const struct laser *, const struct stage_pose *);
/* All frames are done; depths along the camera's axis reach to `deepest` (0: no point). */
void plausible_end(const struct plausible *, const struct laser *, double deepest);

#endif
