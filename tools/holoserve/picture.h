/*
 * What viewers get of a frame: a Holoimage (holoimage(5)), smaller if it is to be, as the bytes of
 * a JPEG or PNG, and the key lines that it is decoded by.
 */
#ifndef HOLOSERVE_PICTURE_H
#define HOLOSERVE_PICTURE_H

#include "holo/holo.h"
#include "io/codec.h"
#include "io/live_message.h"

struct picture_options {
	struct holo_options holo;
	struct opt_size size;		/* at most; 0 x 0: as large as the frame */
	long quality;			/* of JPEG */
};

/* What is kept from frame to frame. */
struct picture_maker {
	const struct picture_options *options;
	/* of all frames so far where no range was given: it only grows, so that it seldom changes;
	 * low > high: none yet */
	double low, high;
};

/* A frame on its way: an image of 8 bits, r g b or r g b and the texture, and its keys. */
struct picture {
	struct frame *image;
	struct meta keys;
	char unit[16];
};

/* Does a frame with this head show anything? */
bool picture_shows(const struct frame_head *);
/* For plan: can a frame with this head be encoded by the options? -1 after fail(). */
int picture_check(const struct picture_options *, const struct frame_head *);
void picture_begin(struct picture_maker *, const struct picture_options *);
/* The Holoimage of a frame. 0; 1 where it holds no depth at all; -1 after fail(). */
int picture_make(struct picture_maker *, const struct frame *, struct picture *);
/* The picture as a file's bytes behind `lead` bytes for the caller, in new memory; *n without
 * these. NULL after fail(). */
char *picture_compress(const struct picture_maker *, const struct picture *, enum live_kind,
    size_t lead, size_t *n);
/* The key lines as a new string; NULL after fail(). */
char *picture_keys(const struct picture *, enum live_kind);
void picture_free(struct picture *);

#endif
