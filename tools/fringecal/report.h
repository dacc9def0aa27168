/* The report of a calibration, a folder: residuals.png, coverage.png, uncertainty.png, views.txt,
 * report.txt, points.csv and volume.csv (man/fringecal.1). */
#ifndef REPORT_H
#define REPORT_H

#include "calib_problem.h"
#include "phase_views.h"

/*
 * Writes it, after folder_make(); the phases are those that gave the projector's points, if any;
 * pose_name: of each pose, NULL: they are counted from 1. Warns of
 * what makes the calibration doubtful. -1 after fail().
 */
int report_write(const char *folder, const struct calib_problem *, const struct calib_solution *,
    const struct phase_views *, const char *const *pose_name);
/* Without --report: only warns of the same, but of coverage where it is very small. -1 after
 * fail(). */
int report_warn(const struct calib_problem *, const struct calib_solution *,
    const char *const *pose_name);

#endif
