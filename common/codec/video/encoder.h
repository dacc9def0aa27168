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
	bool mask;		/* the last channel is one, for a track of its own */
	char number[32], parameters[96];	/* what some of them are */
};

/* Chooses by the first frame's head. -1 after fail(path, ...) where no encoder holds such frames or
 * takes such options. */
int encoder_choose(const char *path, const struct frame_head *, const struct video_options *,
    struct encoder *);

#endif
