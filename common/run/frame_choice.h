/* Which frames are made at once (frame_jobs.h), and how many. */
#ifndef FRAME_CHOICE_H
#define FRAME_CHOICE_H

#include "run/segment.h"

/* Bytes that the frames of so many threads may take. */
size_t frame_choice_bytes(size_t threads);
/* Frames at once, where that allows as many. */
size_t frame_choice_room(size_t threads);
/* Frames like the segment's at once. */
size_t frame_choice_most(const struct segment *);
/* Shall the frame of a planned segment be made beside others? Its maps allow that, none has state
 * or a survey, it is small, and others wait. */
bool frame_choice_wanted(const struct segment *);

#endif
