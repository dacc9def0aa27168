/* What lasercal finds, checks and writes. */
#ifndef LASERCAL_RESULTS_H
#define LASERCAL_RESULTS_H

#include "options.h"
#include "views.h"

/* Fits, prints, and writes the calibration of -o. -1 after fail(). */
int results_print(const struct run *, const struct parameters *, enum mode, const struct views *);
/* A file at -o with entries that the new one would not have: -1 after fail(). */
int results_check_loss(const struct run *, const struct parameters *);

#endif
