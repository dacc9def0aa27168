/* What a calibration found, as text. */
#ifndef LASERCAL_REPORT_H
#define LASERCAL_REPORT_H

#include <stdio.h>

#include "plane_fit.h"
#include "stage_fit.h"
#include "views.h"

void report_plane(FILE *, const struct views *, const struct plane_fit *);
/* off: 3 numbers per view. */
void report_direction(FILE *, const struct views *, const struct direction_fit *,
    const double *off);
void report_axis(FILE *, const struct views *, const struct axis_fit *);

#endif
