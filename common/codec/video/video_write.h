/* Which encoder of ffmpeg's codes a frame, and with which words. */
#ifndef VIDEO_WRITE_H
#define VIDEO_WRITE_H

#include "codec/video/pixel_format.h"
#include "codec/video/video.h"

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

#endif
