/* Do the options contradict a manifest? What it leaves open they may say. */
#ifndef MANIFEST_CONFLICTS_H
#define MANIFEST_CONFLICTS_H

#include "fringe/capture_set.h"

/*
 * Compares the options with the rows of one measurement, which the set was sorted by: periods,
 * shifts, axes, what a Gray code counts, sign, and the numbers of steps, planes and flat images.
 * sign: NaN where it was not given; path: the manifest, for messages. Warns of --order, which does
 * not count beside a manifest, and of images whose own keys say something else. -1 after
 * fail_usage() that names the option, both values and the file.
 */
int manifest_conflicts_check(const struct capture_options *, double sign, const char *path,
    const struct manifest *, const struct frame_head *, const struct capture_set *);

/* Does the manifest have fringe images of the kind that --kind says? Before they are sorted. -1
 * after fail_usage(). */
int manifest_conflicts_kind(const struct capture_options *, const char *path,
    const struct manifest *);

#endif
