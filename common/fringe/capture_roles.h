/* The description of each plane before capture_set_sort() sorts it; shared by capture_set.c and
 * capture_roles.c. */
#ifndef CAPTURE_ROLES_H
#define CAPTURE_ROLES_H

#include <limits.h>

#include "fringe/capture_set.h"

/* One plane and its description. */
struct capture {
	struct manifest_row described;	/* file: of a manifest's row, else NULL */
	size_t set;			/* fringe images of one set have the same number */
};

#define SET_UNKNOWN SIZE_MAX		/* axis and period identify the set */

static inline bool
capture_roles_given(long option)
{
	return option != LONG_MIN;
}

/* Describes all head->c planes by the manifest (may be NULL), the metadata or the options. -1 after
 * fail(). */
int capture_roles_describe(const struct capture_options *, const struct manifest *,
    const struct frame_head *, struct capture *);
/* A number among the keys of the image in a plane, which those of others may lack; 0 without one.
 * -1 after fail(). */
int capture_roles_number(const struct frame_head *, size_t plane, const char *key, double *out);
/* Letter i of a list of axes x,y,..., or the only one; 0 where there is none. */
char capture_roles_axis(const char *list, size_t i);

#endif
