/* The texture of an encoded picture. */
#pragma once

#include "run/run.h"
#include "run/stage.h"

/*
 * A texture in the same frame as a coded picture of depth: the frame has double height, the picture
 * is its upper half, and the lower half of one plane (luma) is the texture. So one stream of video
 * carries both in step. A texture of red, green and blue is the lower half of all three planes,
 * from a multiple of TEXTURE_BLOCK rows on. Every function returns -1 after fail().
 */
#define TEXTURE_BLOCK 16	/* rows of a macroblock: the two halves share none */

enum texture_place { TEXTURE_ALPHA, TEXTURE_BELOW };

/* The words of --texture-place and of its key; by enum texture_place. */
extern const char *const texture_places[];

/* What an encoder is told of a texture; its place is one of the encoder's own words. */
struct texture_options {
	const char *channel;	/* its name, or three names with commas; NULL: there is none */
	double gain;
	int place;
};

/* For init: options that need a channel; that place needs none. -1 after fail_usage(). */
int texture_options_check(const struct texture_options *, int standard_place);
/* The input's channels that become the texture. */
struct texture_source {
	size_t n;		/* 0: there is none; 1; 3: red, green, blue */
	size_t channel[3];
};

/* For plan: finds them by their names. */
int texture_find(struct run *, const struct texture_options *, const struct frame_head *,
    struct texture_source *);
/* The channel's max_value, 255 without that key. -1 after fail(): it is not more than 0. */
int texture_white(const struct frame_head *, size_t channel, double *white);
/* For plan: keys that begin with the prefix, for a texture of levels from 0 to `most`: its channel,
 * scale, gain if it is not 1, and place and matrix, unless these are NULL. channel: in whose
 * max_value is white; *levels_per_unit: of its samples. */
int texture_keys(const struct texture_options *, const char *prefix, const char *place,
    const char *matrix, double most, const struct frame_head *in, size_t channel, struct meta *out,
    float *levels_per_unit);

/* How the planes of a colour become red, green and blue: they are that, or luma and the differences
 * of blue and red from it by the matrix of BT.709, of full range. The words of key
 * PREFIX_texture_matrix; TEXTURE_GREY: there is no key. */
enum texture_matrix { TEXTURE_RGB, TEXTURE_BT709, TEXTURE_GREY };
extern const char *const texture_matrices[];
/* For a decoder; in *names (4 channel names, and room for more) "r g b" or the three names of key
 * PREFIX_texture. */
int texture_colours(const struct meta *, const char *prefix, enum texture_matrix *,
    char names[4 * CHANNEL_NAME_SIZE]);

/* Is the key's value "below"? -1 after fail() where it is no such word. */
int texture_below_is(const struct meta *, const char *key);
/* What the flow of an encoder or a decoder knows of such frames. */
struct texture_below {
	/* of the upper half: the frame's channels, then the texture, one or three. Where the frame
	 * has luma chroma_u chroma_v, the picture may have luma alone: the others are `middle` */
	struct frame_head picture;
	size_t colours, begin;		/* 1 or 3; the first row of the lower half */
	unsigned middle;		/* an encoder's: the level of colour where there is none */
	size_t luma;			/* the plane whose lower half is the texture */
	bool grey;			/* an encoder's: see below */
	int (*survey)(struct run *, const struct frame *in);
	body_rows *rows;
};

/* For plan: the head of the picture of h rows in the whole frame, by its channels, and where the
 * texture begins. An encoder sets the rows of `whole`, a decoder holds them against h; h 0: they
 * are the picture's twice. */
int texture_below_plan(struct texture_below *, bool encodes, struct frame_head *whole,
    const char *names, size_t h, bool colour);
/* For a decoder: h by the prefix's keys; 0 where its texture is no colour. */
int texture_below_rows(const struct meta *, const char *prefix, enum texture_matrix, size_t *h);
/* For a flow: encodes the frame into the upper half, and its texture into the lower one, of one
 * that goes on. The lower halves of the other planes, if grey, are equal to luma, as r, g, b of a
 * grey picture are. Otherwise each row is the last one above, which encoders predict for nothing
 * and which leaves the picture's colour at the seam as it was where it has half the resolution. */
int texture_below_encode(struct run *, const struct texture_below *, struct frame *in);
/* For a flow: what rows make of the picture and its texture goes on. */
int texture_below_decode(struct run *, const struct texture_below *, struct frame *in);

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
void texture_cut_count(struct texture_cut *, struct run *, const struct frame *,
    const struct texture_source *, float levels_per_unit, float most);
/* Of a frame's samples, from low to high: that second line. False where all are black, which says
 * nothing of the next frame. */
bool texture_warn_black(const char *name, double low, double high, double white);
/* warn(), once, where a frame of depth or z has r g b too, which its picture has no place for;
 * `cure` follows a colon. */
void texture_warn_colours(const struct frame_head *, const char *cure, bool *warned);
/* At the end: a line with all of them, where there is more to say than the first did. */
void texture_cut_conclude(const struct texture_cut *);
