/* Several frames at the same time, each with memory of its own. */
#pragma once

#include "run/segment.h"

/*
 * Several frames of a segment at once, on the processor. Where frames wait for which nobody has to
 * wait, each thread makes whole frames, so that halos are made once and no thread waits for another
 * at the end of every frame; a thread that finds no more frames takes rows off another's
 * (segment.h). What comes out goes on in the order of the input.
 */

typedef int frame_jobs_complete(struct chain *, size_t at, struct frame *);

/* From here on threads look for frames while they have nothing else to do; until the end of it. */
void frame_jobs_begin(struct chain *);
void frame_jobs_end(struct chain *);
/* Shall the frame of a planned segment be made beside others? Its maps allow that, none has state
 * or a survey, it is small, and others wait. */
bool frame_jobs_wanted(const struct segment *);
/* Waits until one more frame may be begun; frames that are complete go on. -1 after fail(). */
int frame_jobs_make_room(struct segment *, frame_jobs_complete *);
/* Begins with the segment's frame, whose output is opened, and owns both. -1 after fail(): there is
 * no memory for that, and the caller does it otherwise. */
int frame_jobs_submit(struct segment *);
/* Completes the frames of the segment that begins with this link, if it ends after stage `to`. -1
 * after fail(): those that are left stay. */
int frame_jobs_drain(struct chain *, struct link *, size_t to, frame_jobs_complete *);
/* Forgets them. */
void frame_jobs_free(struct link *);
