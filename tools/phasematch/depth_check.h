/* Do matched points lie in front of the cameras? */
#ifndef DEPTH_CHECK_H
#define DEPTH_CHECK_H

#include "phasematch.h"

/* Warns where many lie behind; path: of --right. -1 after fail(). */
int depth_check(const char *path, const struct phasematch *, const struct frame *in,
    struct match_memory *);

#endif
