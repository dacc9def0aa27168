/* Where the thresholds of Gray planes come from. */
#ifndef THRESHOLDS_H
#define THRESHOLDS_H

#include "fringe/capture_set.h"

/* reference: for each code the fringe set whose mean is its threshold. limited: some option is a
 * limit on amplitude or mean. -1 after fail(). */
int thresholds_plan(const struct capture_set *, bool limited, size_t reference[2]);

#endif
