/* Where devices stand to each other, before the joint solve. */
#ifndef PLACING_H
#define PLACING_H

#include "calib_problem.h"

struct start {
	struct calib_problem *problem;
	double (*H)[9];			/* of each view */
	struct calib_pose *seen;	/* of each view: board to device */
	double (*core)[4];		/* of each device */
	struct calib_pose *device;	/* first device to device */
	bool *placed;
};

/* out = a after b */
void placing_compose(const struct calib_pose *a, const struct calib_pose *b,
    struct calib_pose *out);
void placing_invert(const struct calib_pose *, struct calib_pose *out);
/* The homography of a view. -1 after fail(). */
int placing_fit_view(struct start *, size_t view);
/* All devices from the first one's frame; views of a symmetric board are numbered anew. -1 after
 * fail(). */
int placing_devices(struct start *);

#endif
