/* What tells whether a calibration is to be trusted: its views, how they fill the pictures, and
 * what they cannot tell apart. */
#ifndef DIAGNOSIS_H
#define DIAGNOSIS_H

#include "calib_problem.h"

#define DIAGNOSIS_COVERAGE 0.6		/* less of a picture is worth a warning */
#define DIAGNOSIS_COVERAGE_BARE 0.2	/* the same without --report */
#define DIAGNOSIS_CORRELATION 0.98
#define DIAGNOSIS_TILT_DEG 10		/* less in all views leaves focal length and distance
					 * together */

struct diagnosis_view {
	size_t view;		/* index of the problem's view */
	size_t points, rejected;
	double rms;		/* px, of u and v together, of all points, rejected ones too */
	double distance;	/* of the board's middle from the device, in the board's unit */
	double tilt_deg;	/* between the board's normal and the device's axis */
	double excess;		/* (rms - median)/MAD of the device's views */
	double pull;		/* rms of a coordinate over its sigma */
	double middle;		/* median distance of its points, px */
	/* excess > 5 and rms > 1.5 medians, and so is pull or middle: single points whose sigma is
	 * large are let be. */
	bool flagged;
};

struct diagnosis_device {
	double (*hull)[2];	/* the corners of the convex hull of its points, px */
	size_t hull_corners;
	double coverage;	/* the hull's share of the full frame */
	double most_tilt_deg;
};

struct diagnosis_pair {
	size_t a, b;		/* parameters */
	double correlation;
};

struct diagnosis {
	struct diagnosis_view *view;	/* the problem's views, the largest excess first */
	size_t views;
	struct diagnosis_device *device;
	size_t devices;
	struct diagnosis_pair *pair;	/* beyond DIAGNOSIS_CORRELATION, the largest first */
	size_t pairs;
};

/* -1 after fail(); free it with diagnosis_free() all the same. */
int diagnosis_make(const struct calib_problem *, const struct calib_solution *,
    struct diagnosis *);
void diagnosis_free(struct diagnosis *);
/* Is the principal point more than a quarter of a side from the middle of the picture? Not asked of
 * the height of projectors: their lenses are shifted. */
bool diagnosis_off_centre(const struct calib_device *, const double centre[2]);
/* What helps against a pair: an advice, or NULL where there is none. */
const char *diagnosis_pair_advice(const struct calib_problem *, const struct diagnosis_pair *);

#endif
