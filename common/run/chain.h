/*
 * The runner: frames are pushed through a chain of stages (stage.h). Consecutive maps are taken
 * through together, band by band; flows get whole frames.
 */
#pragma once

#include "run/segment.h"

/* Runs what has been set up: 0 or -1 after fail(). */
int chain_run(struct chain *);
/* -o null: frames are counted and dropped, so that a chain can be timed without its output. */
bool chain_drops(const struct chain *);

/* ---- planning (plan.c): heads go through stages before any pixel does ---- */

/* Runs the stage's plan for this head unless it ran for the same one before. -1 after fail(). */
int plan_link(struct link *, const struct frame_head *);
void plan_free(struct link *);
/* Sets the segment's n and h: maps from its first one on that are planned for its input and go
 * together on one side. SURVEY_SKIPS: the frame gives no output. -1 after fail(). */
int plan_segment(struct segment *);
