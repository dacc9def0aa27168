/* The texture of an encoded picture. */
#ifndef TEXTURE_H
#define TEXTURE_H

#include "run/run.h"
#include "run/stage.h"

/*
 * A texture in the same frame as a coded picture of depth: the frame has double height, the picture
 * is its upper half, and the lower half of one plane (luma) is the texture. So one stream of video
 * carries both in step. Every function returns -1 after fail().
 */

enum texture_place { TEXTURE_ALPHA, TEXTURE_BELOW };

/* The words of --texture-place and of its key; by enum texture_place. */
extern const char *const texture_places[];

/* What an encoder is told of a texture; its place is one of the encoder's own words. */
struct texture_options {
	const char *channel;	/* NULL: there is none */
	double gain;
	int place;
};

/* For init: options that need a channel; that place needs none. -1 after fail_usage(). */
int texture_options_check(const struct texture_options *, int standard_place);
/* For plan: keys that begin with the prefix, for a texture of levels from 0 to `most`: its channel,
 * scale, gain if it is not 1, and place, unless that is NULL. *levels_per_unit: of its samples. */
int texture_keys(const struct texture_options *, const char *prefix, const char *place,
    double most, const struct meta *in, struct meta *out, float *levels_per_unit);

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

/* Samples of a texture that its levels do not reach: they are cut to the nearest level. And a
 * texture from 0 to 1 whose white is taken for 255, so that it becomes black. */

struct texture_cut {			/* all zero before the first frame */
	size_t last;			/* run_inputs() of the last frame that was counted, + 1 */
	size_t frames, samples;		/* with some that were cut; of all of them */
	bool bright;			/* a sample was more than 1, or a line was printed */
};

/* Counts those of a frame, and prints a line for the first frame that has some, and one for the
 * first whose samples go from 0 to 1, less than two levels. A level is levels_per_unit times a
 * sample, 0 to most. */
void texture_cut_count(struct texture_cut *, struct run *, const struct frame *, size_t channel,
    float levels_per_unit, float most);
/* Of a frame's samples, from low to high: that second line. False where all are black, which says
 * nothing of the next frame. */
bool texture_warn_black(const char *name, double low, double high, double white);
/* warn(), once, where a frame of depth or z has r g b too, which its picture has no place for;
 * `cure` follows a colon. */
void texture_warn_colours(const struct frame_head *, const char *cure, bool *warned);
/* At the end: a line with all of them, where there is more to say than the first did. */
void texture_cut_conclude(const struct texture_cut *);

#endif
