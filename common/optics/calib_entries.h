/* Single entries of a calibration file, for what reads other rigs than a camera and a projector. */
#ifndef CALIB_ENTRIES_H
#define CALIB_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "optics/calib.h"
#include "optics/number_file.h"

/* Names are alternatives, split by |. */
bool calib_has(const struct number_file *, const char *names);
/* `expected` finite numbers; `what` says what they are. -1 after fail(path, ...). */
int calib_get(const char *path, const struct number_file *, const char *names, const char *what,
    size_t expected, double *out);
/* The first of two numbers that are not negative; zeros where there are none. */
int calib_get_pair(const char *path, const struct number_file *, const char *names,
    const char *what, double out[2]);
/* A 3x3 camera matrix and its lens list, which may be missing. */
int calib_get_intrinsics(const char *path, const struct number_file *, const char *K,
    const char *distortion, const char *what, struct pinhole *);
/* The camera devices.NAME, as fringecal(1) writes it; its R and T become those that take a point of
 * the file's frame to it. */
int calib_get_device(const char *path, const struct number_file *, const char *name,
    struct pinhole *);
/* A rotation, which does not mirror. */
int calib_get_rotation(const char *path, const struct number_file *, const char *names,
    double R[9]);
/* The unit of lengths, "mm" where the file names none. */
void calib_get_unit(const struct number_file *, char unit[16]);

#endif
