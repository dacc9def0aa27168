/* Which encoder of ffmpeg's codes a frame, and with which words. */
#ifndef VIDEO_ENCODER_H
#define VIDEO_ENCODER_H

#include "pixel_format.h"
#include "video.h"

#define ENCODER_WORDS 40

struct encoder {
	const struct pixel_format *format;
	const char *words[ENCODER_WORDS];	/* -c:v ... */
	size_t n;
	char number[32], parameters[96];	/* what some of them are */
	/* the last channels, of this number, have tracks of their own: first the mask */
	size_t tracks;
	bool mask, texture;
	const char *texture_crf;		/* NULL: the texture's track loses nothing */
	const char *preset;
	char crf[32];
};

/* Chooses by the first frame's head. -1 after fail(path, ...) where no encoder holds such frames or
 * takes such options. */
int encoder_choose(const char *path, const struct frame_head *, const struct video_options *,
    struct encoder *);

#endif
