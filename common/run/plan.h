/* Planning a chain for the head of its input. */
#ifndef PLAN_H
#define PLAN_H

#include "run/segment.h"

/* ---- -d auto: which maps the device does, by what they cost on either side (cost_model.h) ---- */

/* Does the device gain anything with any stage that may use it? */
bool placement_gains(const struct chain *);

/* Planning: heads through stages, before any pixel, and which maps go together on which side. */

/* Runs the stage's plan for this head unless it ran for the same one before. -1 after fail(). */
int plan_link(struct link *, const struct frame_head *);
void plan_free(struct link *);
/* Sets the segment's n and h: maps from its first one on that are planned for its input and go
 * together on one side. SURVEY_SKIPS: the frame gives no output. -1 after fail(). */
int plan_segment(struct segment *);

#endif
