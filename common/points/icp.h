/*
 * The rigid motion between two ordered views of one surface: iterated closest points, point to
 * plane, the partners found by projection into the other view (methods §10 for the cut).
 */
#ifndef ICP_H
#define ICP_H

#include "points/ordered_view.h"
#include "points/pose.h"
#include "points/rigid_step.h"

struct icp_result {
	struct pose pose;		/* from the source to the target */
	size_t steps;
	size_t common;			/* points of the source on the target's surface */
	double overlap;			/* share of its points that agree within the cut */
	double rms;			/* of those, along the normal */
	double cut;			/* 3 sigma of the residuals */
	double expected;		/* the rms that the noise of both views explains */
};

/*
 * Fits the source to the target, from `start` on: on every 4th pixel of every 4th row, then on all,
 * until a step turns by less than 1e-6 rad and shifts by less than 1e-4 of the points' unit, or by
 * a twentieth of what the noise leaves uncertain, or 16 steps in all by a fifth of that. name
 * begins messages. max_rms: NaN, or the rms that is accepted. The result does not depend on the
 * number of threads. 0, or -1 after fail(): fewer than 1000 common points, an overlap that leaves a
 * motion free, no rest after 100 steps, or a fit that is none: rms above max_rms, else above what
 * the noise explains, or residuals that most of the common points do not share.
 */
int icp_fit(struct run *run, const char *name, const struct ordered_view *target,
    const struct ordered_view *source, const struct pose *start, double max_rms,
    struct icp_result *result);
/* How many points of the source, of every 8th pixel of every 8th row, lie near the target's
 * surface. */
size_t icp_overlap(struct run *run, const struct ordered_view *target,
    const struct ordered_view *source, const struct pose *pose);

#endif
