/*
 * Frames cut, picked apart and put together, with metadata that stays true.
 * Every function replaces *frame; after a failure *frame is as it was and still the caller's.
 */
#pragma once

#include "run/stage.h"

/* A list such as 3,5-9,12- of numbers from 0. */
struct ranges {
	size_t n;
	struct range {
		size_t first, last;
	} *range;
};

/* -1 after fail_usage(option, ...). */
int ranges_parse(const char *option, const char *text, struct ranges *);
bool ranges_hold(const struct ranges *, size_t number);
/* The first range of the list that holds none of the numbers below n; NULL: all hold some. */
const struct range *ranges_beyond(const struct ranges *, size_t n);
void ranges_free(struct ranges *);

/* The channel that a word of --channels means: a name, or a number from 0. -1 after fail(). */
int arrange_find(const struct frame_head *, const char *word, size_t *c);
/* Channels by name or by number from 0, comma-separated, in this order. */
int arrange_channels(struct frame **frame, const char *list);
/* Cuts out w x h pixels from (x, y) on; keeps origin_px. */
int arrange_crop(struct frame **frame, size_t x, size_t y, size_t w, size_t h);

/*
 * Keeps origin_px (the sensor's pixel that the first pixel starts with) and bin (how many of these
 * a pixel is wide) true for a frame that starts at pixel (x, y) of the old one, and whose pixels
 * are `binned` of the old ones wide. A frame without origin_px that is binned gets none: it may
 * have been cut out by others. One that is cut out gets its place on the frame. -1 after fail().
 */
int arrange_keep_place(struct meta *, size_t x, size_t y, size_t binned);

/* Channel c as a frame of its own in *out; `name` gets the channel as well. */
int arrange_take(const struct frame *, size_t c, struct frame **out);
/* All channels of n frames as one frame; channels that share a name are numbered. */
int arrange_stack(struct frame *const *frames, size_t n, struct frame **out);

/* "key=value,key=value": a comma parts settings where a key and = follow; `channels` renames. */
int arrange_check_settings(const char *settings);
int arrange_set(struct frame *, const char *settings);
/* The next key of what arrange_set() takes: its length; *settings goes behind its value. */
size_t arrange_next_key(const char **settings, const char **key);
/* Removes keys, comma-separated, maybe with * and ?. */
void arrange_delete(struct frame *, const char *keys);
