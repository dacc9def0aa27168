/* A set whose capture began some images late has right phases of another origin: against another
 * period that shows as an offset, or as none where it makes up whole fringes. */
#ifndef LATE_START_H
#define LATE_START_H

#include "fringe/capture_set.h"

/* For -v: prints a line for the first set whose late start would not show. */
void late_start_note(const struct capture_set *);

#endif
