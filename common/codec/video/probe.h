/* What ffprobe tells of a video. */
#ifndef VIDEO_PROBE_H
#define VIDEO_PROBE_H

#include <stdbool.h>

#include "frame/frame.h"
#include "pixel_format.h"

#define VIDEO_TRACKS 2

struct video {
	const char *container;		/* ffmpeg's demuxer of it */
	size_t w, h;			/* of the pictures */
	const struct pixel_format *format;
	double fps;			/* 0: not constant, or not known */
	bool limited;			/* black is 16, white 235, in 8 bits */
	struct {			/* the tracks behind the first: ... */
		bool fits;		/* ... pictures of the same size, ... */
		bool exact;		/* ... in a coding that loses nothing */
	} track[VIDEO_TRACKS];
	char *lines;			/* the container's tags as key lines, in lower case */
};

/* ffmpeg's demuxer of a file that begins so; NULL: it is no video that is read. */
const char *video_container(const unsigned char *start, size_t n);
/* Reads the file behind a descriptor; videos whose pictures are not read are refused. 0, or -1
 * after fail(path, ...). */
int video_probe(const char *path, int file, struct video *);
void video_free(struct video *);

#endif
