/* The result of a calibration: a file for the tools that measure, a table for people. */
#ifndef WRITE_H
#define WRITE_H

#include <stdio.h>

#include "calib_problem.h"

/* JSON; the poses take points to the frame of device `frame`. -1 after fail(). */
int write_json(const struct calib_problem *, const struct calib_solution *, size_t frame,
    const char *path);
/* Can a file be made there? -1 after fail(). */
int write_check(const char *path);
void write_text(const struct calib_problem *, const struct calib_solution *, FILE *);

#endif
