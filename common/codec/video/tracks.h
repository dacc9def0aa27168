/*
 * The tracks of a video that has more than one: a mask and a texture come below the pictures, in
 * rows of their own, so that one pipe keeps all tracks in step; ffmpeg cuts them apart. A mask is
 * coded as 0 and 1, which takes half the bytes of 0 and 255.
 */
#ifndef VIDEO_TRACKS_H
#define VIDEO_TRACKS_H

#include "encoder.h"

/* What stands behind the words of ffmpeg's, where it must stay. */
struct tracks {
	char filter[480], option[ENCODER_WORDS + 16][24];
	size_t n;
};

/* The bits of a channel in a track of its own; 0: it has none. */
unsigned tracks_bits(const struct encoder *, const struct frame_head *, size_t c);
/* The words for what pictures of w x h, and what is below them, become: how many. */
size_t tracks_words(struct tracks *, const struct encoder *, size_t w, size_t h,
    const char **words);

#endif
