/* Periods by the number of fringes over a field, --count and --field. */
#ifndef FRINGE_COUNTS_H
#define FRINGE_COUNTS_H

#include "base/numbers.h"

/* Sets period_px = field_px / count, one for each; where periods are given too, they must agree. -1
 * after fail_usage(). */
int fringe_counts_apply(const struct numbers *count, double field_px, struct numbers *period_px);

#endif
