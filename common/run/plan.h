/* Planning: heads through stages, before any pixel, and which maps go together on which side. */
#ifndef PLAN_H
#define PLAN_H

#include "run/segment.h"

/* Runs the stage's plan for this head unless it ran for the same one before. -1 after fail(). */
int plan_link(struct link *, const struct frame_head *);
void plan_free(struct link *);
/* Sets the segment's n and h: maps from its first one on that are planned for its input and go
 * together on one side. SURVEY_SKIPS: the frame gives no output. -1 after fail(). */
int plan_segment(struct segment *);

#endif
