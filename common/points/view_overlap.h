/* How two ordered views of one object lie to each other under a pose: a test of the pose. */
#ifndef VIEW_OVERLAP_H
#define VIEW_OVERLAP_H

#include "points/ordered_view.h"
#include "points/pose.h"

struct view_overlap {
	size_t points;		/* of the source, of every 8th pixel of every 8th row */
	size_t seen;		/* of them, within the target's picture */
	size_t common;		/* of them, on rays that meet the target's surface */
	size_t near;		/* of them, within VIEW_OVERLAP_PITCHES of that surface */
	/* of them, nearer to the target's camera by more: it has seen through them, so that the
	 * pose or the point is wrong */
	size_t before;
	double median;		/* distance of the near ones along the normal; NaN: none */
};

#define VIEW_OVERLAP_PITCHES 20

/* pose: from the source to the target. -1 after fail(). */
int view_overlap_find(const struct ordered_view *target, const struct ordered_view *source,
    const struct pose *pose, struct view_overlap *);

#endif
