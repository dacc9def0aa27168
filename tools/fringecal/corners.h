/* Tables of corners (channels u v sigma i j), one of each pose. */
#ifndef CORNERS_H
#define CORNERS_H

#include "calib_problem.h"

/*
 * Adds the views of a device from tables in the files, one after another: of poses 0, 1, ..
 * through: the camera whose corners they are. Sets the device's size where it is 0 and the tables
 * say it. *poses: their number. -1 after fail().
 */
int corners_read(struct calib_problem *, size_t device, size_t through, char *const *path,
    size_t paths, size_t *poses);

#endif
