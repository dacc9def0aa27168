/*
 * Depth as the planes of an ordinary video (depthcode(5)): the parameters, from options, from
 * metadata, into metadata, and as what the formulas of depthcode.px.h take.
 */
#pragma once

#include "base/opt.h"
#include "holo/depthcode.px.h"
#include "frame/frame.h"

#define DEPTHCODE_FRINGES_MOST 64
#define DEPTHCODE_TEXTURE_MOST 255	/* level of a texture in a channel of its own */
#define DEPTHCODE_COLOUR_TRACK "texture texture_u texture_v"	/* the channels of a colour there */

enum depthcode_layout { DEPTHCODE_LUMA, DEPTHCODE_MWD, DEPTHCODE_FOLD };
enum depthcode_mask { DEPTHCODE_GAP, DEPTHCODE_TRACK };
enum depthcode_texture_place { DEPTHCODE_TEXTURE_BELOW, DEPTHCODE_TEXTURE_TRACK };

/* As given on the command line; these win over the metadata. */
struct depthcode_options {
	int layout, mask;		/* -1: not given */
	long bits, guard, fringes;	/* OPT_NONE_INTEGER: not given */
	struct numbers depth_range;	/* n = 0: not given */
};

extern const char *const depthcode_layouts[], *const depthcode_masks[];
extern const char *const depthcode_texture_places[];

/* Rows of an option table whose parameter struct `type` has a struct depthcode_options `member`.
 * range_words: of --depth-range; NULL. */
/* clang-format off */
#define DEPTHCODE_OPTIONS(type, member, range_words) \
	{ 0, "layout", "WORD", OPT_WORD, offsetof(type, member.layout), NULL, 0, 0, NULL, \
	  "depth in luma; coarse in luma, sine and cosine in colour; folded, coarse in colour", \
	  depthcode_layouts }, \
	{ 0, "bits", "N", OPT_INTEGER, offsetof(type, member.bits), NULL, 8, 12, NULL, \
	  "of a sample: 8, 10 or 12", NULL }, \
	{ 0, "depth-range", "LO,HI", OPT_NUMBERS, offsetof(type, member.depth_range), NULL, 0, 0, \
	  NULL, "depths of the least and of the largest level", range_words }, \
	{ 0, "mask", "WORD", OPT_WORD, offsetof(type, member.mask), NULL, 0, 0, NULL, \
	  "no depth is level 0 below a gap; or a mask in a track of its own", depthcode_masks }, \
	{ 0, "guard", "LEVELS", OPT_INTEGER, offsetof(type, member.guard), NULL, 1, 2047, \
	  "levels", "the gap between no depth and the least depth", NULL }, \
	{ 0, "fringes", "N", OPT_INTEGER, offsetof(type, member.fringes), NULL, 1, \
	  DEPTHCODE_FRINGES_MOST, NULL, "waves of the sine, or folds, over the range", NULL }
/* clang-format on */

struct depthcode {
	size_t w, h;
	enum depthcode_layout layout;
	enum depthcode_mask mask;
	long bits;		/* 8, 10, 12 */
	long guard;		/* levels; 0 with a mask in a track */
	long fringes;		/* of mwd and fold */
	double low, high;	/* low < high */
};

/* For an encoder: options, and for what is not given the key depth_range and what is best. -1 after
 * fail(), also where nothing says the range. */
int depthcode_choose(struct depthcode *, const struct depthcode_options *,
    const struct frame_head *);
/* For a decoder: options, else keys; -1 after fail() that names the options that would mend it. */
int depthcode_read(struct depthcode *, const struct depthcode_options *, const struct frame_head *);
/* An option wins over a key, but not in silence: one line for each that differs. */
void depthcode_warn_overruled(const struct depthcode_options *, const struct meta *);
/* Sets the keys of depthcode(5); takes them away. */
void depthcode_write(const struct depthcode *, struct meta *);
void depthcode_remove(struct meta *);

/* Is a texture in a channel of its own, by its key? -1 after fail() where that is no such word. */
int depthcode_texture_in_track(const struct meta *);
/* The largest level, 2^bits - 1. */
long depthcode_most(const struct depthcode *);
/* Between two depths whose levels differ by one, about: sines where they are steepest. */
double depthcode_step(const struct depthcode *);
struct depthcode_code depthcode_code(const struct depthcode *);
/* The channel names of a frame. */
const char *depthcode_channel_names(const struct depthcode *);
