/* What shots.c and capture_roles_describe.c share: what is said of each plane before it is sorted. */
#ifndef CAPTURE_ROLES_H
#define CAPTURE_ROLES_H

#include <limits.h>

#include "fringe/capture_set.h"

/* One plane, as it is described. */
struct capture {
	struct manifest_row said;	/* file is not used */
	size_t set;			/* fringe images with the same number belong together */
};

#define SET_UNKNOWN SIZE_MAX		/* axis and period tell the set */

static inline bool
capture_roles_given(long option)
{
	return option != LONG_MIN;
}

/* Describes all head->c planes by the manifest (may be NULL), the metadata or the options. -1 after
 * fail(). */
int capture_roles_describe(const struct capture_options *, const struct manifest *, const struct frame_head *,
    struct capture *);
/* Letter i of a list of axes x,y,..., or the only one; 0 where there is none. */
char capture_roles_axis(const char *list, size_t i);

#endif
