/* The pictures of a calibration's report, a panel for each device; drawn by cairo. */
#ifndef REPORT_PICTURES_H
#define REPORT_PICTURES_H

#include "calib_problem.h"
#include "diagnosis.h"
#include "uncertainty.h"

struct report_pictures {
	const struct calib_problem *problem;
	const struct calib_solution *solution;
	const struct diagnosis *diagnosis;
	const struct uncertainty_map *uncertainty;	/* of each device */
	const char *const *pose_name;	/* of each pose; NULL: they are counted from 1 */
};

/* Each writes a file whose suffix is .png, .svg or .pdf. -1 after fail(). */
int report_residuals(const struct report_pictures *, const char *path);
int report_coverage(const struct report_pictures *, const char *path);
int report_uncertainty(const struct report_pictures *, const char *path);

#endif
