/*
 * A texture in the same frame as a coded picture of depth: the frame has double height, the picture
 * is its upper half, and the lower half of one plane (luma) is the texture. So one stream of video
 * carries both in step. Every function returns -1 after fail().
 */
#ifndef IMAGE_TEXTURE_BELOW_H
#define IMAGE_TEXTURE_BELOW_H

#include "run/stage.h"

enum texture_place { TEXTURE_ALPHA, TEXTURE_BELOW };

/* The words of --texture-place and of its key; by enum texture_place. */
extern const char *const texture_places[];

/* Is the key's value "below"? -1 after fail() where it is no such word. */
int texture_below_is(const struct meta *, const char *key);
/* The head of the picture in a frame of double height: half as high, its channels these names, the
 * last of them the texture. head is a new one. */
int texture_below_head(const struct frame_head *whole, const char *names, struct frame_head *head);

/* What the flow of an encoder or a decoder knows of such frames. */
struct texture_below {
	struct frame_head picture;	/* of texture_below_head() */
	struct frame_head out;		/* of what the flow gives: the whole frame, or the depth */
	size_t luma;			/* the plane whose lower half is the texture */
	bool grey;			/* an encoder's: see below */
	int (*survey)(struct run *, const struct frame *in);
	void (*rows)(const struct run *, const struct frame *in, struct frame *out, size_t y0,
	    size_t y1, const struct row_scratch *);
};

/* For a flow: encodes the frame into the upper half, and its texture into the lower one, of one
 * that goes on. The lower halves of the other planes, if grey, are equal to luma, as r, g, b of a
 * grey picture are. Otherwise each row is the last one above, which encoders predict for nothing
 * and which leaves the picture's colour at the seam as it was where it has half the resolution. */
int texture_below_encode(struct run *, const struct texture_below *, struct frame *in);
/* For a flow: what rows make of the picture and its texture goes on. */
int texture_below_decode(struct run *, const struct texture_below *, struct frame *in);
void texture_below_free(struct texture_below *);

#endif
