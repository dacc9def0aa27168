/* The devices of a calibration as mrcal's camera models. */
#ifndef MODELS_H
#define MODELS_H

#include "calib_problem.h"

/* Are lengths known, which several devices need? -1 after fail(). */
int models_check(const struct calib_problem *);
/* Writes FOLDER/NAME.cameramodel of each device, after folder_check() and models_check(); lengths
 * in m, and extrinsics that refer to device `frame`. -1 after fail(). */
int models_write(const char *folder, const struct calib_problem *, const struct calib_solution *,
    size_t frame);

#endif
