/* From one view of a plane: its homography, and what several say of the device (Zhang 2000). */
#ifndef CLOSED_FORM_H
#define CLOSED_FORM_H

#include "calib_problem.h"

/* Board x, y, 1 to pixels, row-major, positive third row in the board's middle; wrong points count
 * little. *error: the median distance, over that of the points from their middle. False where the
 * points lie on a line. */
bool closed_form_homography(const struct calib_board *, const struct calib_point *, size_t n,
    double H[9], double *error);
/* Does it mirror the board? */
bool closed_form_mirrors(const double H[9], const struct calib_board *);
/* fx fy cx cy of a device of w x h pixels from n homographies: with square pixels and the principal
 * point in the middle, or free. False where the views do not tell. */
bool closed_form_square(const double (*H)[9], size_t n, size_t w, size_t h, double core[4]);
bool closed_form_free(const double (*H)[9], size_t n, size_t w, size_t h, double core[4]);
/* The board's pose before a device of these. */
void closed_form_pose(const double H[9], const double core[4], struct calib_pose *);

#endif
