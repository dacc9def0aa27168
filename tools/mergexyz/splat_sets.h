/*
 * Sets: one frame of each stream, of the same time. Streams come in step; where one of them lacks a
 * set, by its key time_s, the others' frames of that time are dropped, and the streams go on in
 * step from the next time that all have.
 */
#ifndef SPLAT_SETS_H
#define SPLAT_SETS_H

#include <stdbool.h>
#include <stddef.h>

#include "frame/frame.h"
#include "points/pose.h"

#define SPLAT_SETS_WAIT 64	/* frames of a stream that wait for another one, at most */

struct splat_sets {
	size_t views;
	double late_s;			/* times that differ by less are one time */
	struct splat_queue {
		struct frame *frame[SPLAT_SETS_WAIT];
		struct pose pose[SPLAT_SETS_WAIT];
		double time_s[SPLAT_SETS_WAIT], last_s;	/* the newest one's */
		size_t first, n;
	} *queue;
	bool untimed;			/* a frame without time_s has come: all are taken in step */
	bool timed;			/* a frame with one has */
	size_t sets, dropped;		/* made so far; times that some streams lacked */
};

int splat_sets_open(struct splat_sets *, size_t views, double late_s);
void splat_sets_close(struct splat_sets *);
/* Frame `view` of a step, which it then owns, and its pose. -1 after fail(). */
int splat_sets_add(struct splat_sets *, size_t view, struct frame *, const struct pose *);
/* The next set, one frame and pose for each view; the caller frees the frames. False where there is
 * none yet. */
bool splat_sets_take(struct splat_sets *, struct frame **set, struct pose *pose);
/* The streams have ended: what still waits is dropped. */
void splat_sets_end(struct splat_sets *);

#endif
