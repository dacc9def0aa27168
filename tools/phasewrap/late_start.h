/* A set whose capture began some images late has right phases of another origin: against another
 * period that shows as an offset, or as none where it makes up whole fringes. */
#ifndef LATE_START_H
#define LATE_START_H

#include "fringe/capture_set.h"

/*
 * How many images late the fringe set may have begun without an offset between it and any other
 * period along its axis, the fewest; 0: any such start would show, or there is a Gray code to hold
 * the phases against, or nothing is known. orders: by how many fringes the orders would be off.
 */
size_t late_start_unseen(const struct capture_set *, size_t set, double *orders);
/* For -v: prints a line for the first set whose late start would not show. */
void late_start_note(const struct capture_set *);

#endif
