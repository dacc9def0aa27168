/*
 * Pictures on their way to ffmpeg. Its pipe refers to them instead of copying them (ffmpeg_lend()),
 * so there are as many as leave each one unchanged until ffmpeg has read it; but pictures that are
 * smaller than a page are copied. A picture is memory of the ring's or planes of a frame, of which
 * the ring is a user then. What lies behind the bytes that change, flat planes, is one piece of
 * memory that is handed over with each picture.
 */
#ifndef VIDEO_PICTURE_RING_H
#define VIDEO_PICTURE_RING_H

#include <stddef.h>

#include "ffmpeg.h"
#include "frame/frame.h"

struct picture_ring {
	unsigned char *memory;		/* n pictures; NULL until one is needed */
	struct frame **frame;		/* n; NULL where the picture is in memory */
	unsigned char *rest;
	size_t bytes, rest_bytes;	/* of a picture, and behind each one */
	size_t stride, n, at;		/* of n pictures the one at hand */
	int (*hand_over)(struct ffmpeg *, const void *from, size_t n);
};

/* All bytes are zero; the caller fills rest. -1 after fail(). */
int picture_ring_new(struct picture_ring *, size_t bytes, size_t rest_bytes);
/* Freed after the end of the ffmpeg that it was sent to. */
void picture_ring_free(struct picture_ring *);
/* Memory for the picture at hand, with what an earlier one left there. NULL after fail(). */
unsigned char *picture_ring_memory(struct picture_ring *);
/* Makes the planes of a frame the picture at hand, each whole and as they lie in the picture. -1
 * after fail(). */
int picture_ring_take(struct picture_ring *, const struct frame *);
/* The beginning of the picture at hand: its first plane at least. */
const unsigned char *picture_ring_start(const struct picture_ring *);
/* Hands the picture at hand over, with the rest, and takes the next. As ffmpeg_write(). */
int picture_ring_send(struct picture_ring *, struct ffmpeg *);

#endif
