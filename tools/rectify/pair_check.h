/* Can this be the calibration of two cameras that look at one scene, and the frame be one's? */
#ifndef PAIR_CHECK_H
#define PAIR_CHECK_H

#include "source_map.h"

/* Each is false after a warning of one line. */

/* What the file of that path says of itself. */
bool pair_check(const char *path, const struct stereo *);
/* The frame and its camera. origin_given: by the command line. */
bool pair_check_frame(const char *path, const struct source_geometry *, bool origin_given,
    const struct frame_head *in);

#endif
