/* What shots.c and shots_tell.c share: what is said of each plane before it is sorted. */
#ifndef CAPTURE_ROLES_H
#define CAPTURE_ROLES_H

#include <limits.h>

#include "fringe/capture_set.h"

/* One plane, as it is described. */
struct shot {
	struct manifest_row said;	/* file is not used */
	size_t set;			/* fringe images with the same number belong together */
};

#define SET_UNTOLD SIZE_MAX		/* axis and period tell the set */

static inline bool
shots_given(long option)
{
	return option != LONG_MIN;
}

/* Describes all head->c planes by the manifest (may be NULL), the metadata or the options. -1 after
 * fail(). */
int shots_tell(const struct shots_options *, const struct manifest *, const struct frame_head *,
    struct shot *);
/* Letter i of a list of axes x,y,..., or the only one; 0 where there is none. */
char shots_axis(const char *list, size_t i);

#endif
