/* Can a camera or projector have such a matrix and lens, before a picture of so many pixels? */
#ifndef DEVICE_CHECK_H
#define DEVICE_CHECK_H

#include <stdbool.h>

#include "optics/calib.h"

/* Devices are farther apart than the one and less than the other, else their pose is in another
 * unit than mm. */
#define BASELINE_LEAST_MM 2.0
#define BASELINE_MOST_MM 20000.0
/* Devices that are nearer to each other, before a scene that is nearer than that: where nothing
 * states the unit of their pose it may be cm, or squares of a board. */
#define SMALL_RIG_MM 20.0
#define SMALL_RANGE_MM 150.0

/* DEVICE_CROPPED: a camera whose matrix may be that of a part of its picture, which was cut out. */
enum device_kind { DEVICE_CAMERA, DEVICE_CROPPED, DEVICE_PROJECTOR };

/* Each is false after a warning of one line; `name`: what it calls the device, as "left camera". */

/* Does the principal point lie where that of a picture of w x h pixels does? */
bool device_check_resolution(const char *object, const struct pinhole *, enum device_kind,
    const char *name, double w, double h);
bool device_check_tangential(const char *path, const struct pinhole *, const char *name);
bool device_check_skew(const char *path, const struct pinhole *, const char *name);
bool device_check_fold(const char *path, const struct pinhole *, const char *name);

#endif
