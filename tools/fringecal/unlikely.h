/* Results that fit the points and are hardly meant so. */
#ifndef UNLIKELY_H
#define UNLIKELY_H

#include "diagnosis.h"

/* Warns of pixels that are not square and of a rig that is small as if its lengths were cm. */
void unlikely_warn(const struct calib_problem *, const struct calib_solution *,
    const struct diagnosis *);

#endif
