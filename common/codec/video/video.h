/*
 * Videos in Matroska, MP4, QuickTime and NUT files, by ffmpeg as a child process (ffmpeg.h). Sample
 * values go in and out untouched: full range, no matrix, no scaling. Keys are the container's tags.
 */
#pragma once

#include <stdio.h>

#include "codec/video/ffmpeg.h"
#include "codec/video/pixel_format.h"
#include "frame/frame.h"
#include "io/codec.h"

/* The size of the frames where pictures were padded to even sides: "W H". */
#define VIDEO_SIZE_KEY "video_size"

/* "limited" where the levels of a video that is read are of limited range, "stretched" where
 * another program took them for such, "negated" where one negated them. */
#define VIDEO_RANGE_KEY "video_range"

/* ---- reading (video_read.c) ---- */

int video_load(struct loader *, struct frame **out);
void video_load_end(struct loader *);

/* ---- a frame's keys as tags of a container ---- */

/* The keys that hold of the first frame alone: their names. */
#define TAGS_FIRST_KEY "video_first"

/*
 * Is a file as it was written? Encoders of lossy video have no check sums, and a decoder makes a
 * picture of whatever bytes it finds. Matroska, MP4 and QuickTime files that we write end in
 * an element that players pass over (Void, free), with the CRC-32 of all bytes before it.
 */

/* Appends the sum, where the file's format has a place for it. -1 after fail(path, ...), also where
 * the file does not begin as a video does: a program that ended well may have written none. */
int intact_seal(const char *path, FILE *);

/* ---- what a video's head tells ---- */

#define VIDEO_TRACKS 2

struct video {
	size_t w, h;			/* of the pictures */
	const struct pixel_format *format;
	double fps;			/* 0: not known */
	bool limited;			/* black is 16, white 235, in 8 bits */
	size_t tracks;			/* of pictures, behind the first: ... */
	struct {
		const struct pixel_format *format;	/* ... NULL: it is not read, ... */
		bool fits;		/* ... 8 bits a sample, luma first, of the same size, ... */
		bool exact;		/* ... in a coding that loses nothing */
	} track[VIDEO_TRACKS];
	char *lines;			/* the container's tags as key lines, in lower case */
};

/* A tag as a key line, in lower case; those that containers set themselves are left out. */
void video_put_tag(FILE *lines, char *key, const char *value);
/* ffmpeg's demuxer of a file that begins so, or y4m; NULL: it is no video that is read. */
const char *video_container(const unsigned char *start, size_t n);

/* ---- raw pictures one after another, as they come through a pipe (raw_stream.c) ---- */

struct raw_stream;

struct raw_source {
	const char *path;		/* for messages */
	FILE *file;			/* at its start; NULL: */
	struct ffmpeg *ffmpeg;		/* a child that writes NUT */
	const char *words;		/* of --raw: WxH,FORMAT; NULL: the file has a head, */
	const char *container;		/* of which form that is: y4m, or nut */
};

/* Of --raw. 0, or -1 after fail_usage(). */
int raw_stream_check(const char *words);
/* Reads the head, which video then has. 1; 0 where a NUT's pictures are none that are read so; -1
 * after fail(). *out is the caller's to close in any case. */
int raw_stream_open(const struct raw_source *, struct video *, struct raw_stream **out);
/* The bytes of the head, once it was read. */
const unsigned char *raw_stream_log(const struct raw_stream *, size_t *n);
/* The next picture of a track: 1, 0 at the end, -1 after fail(); 0 also where the next picture is
 * of another track. tracks: how many are taken, in turns. *time_s: NaN where there are no time
 * stamps. */
int raw_stream_next(struct raw_stream *, size_t track, size_t tracks, unsigned char *to,
    double *time_s);
/* Bytes of a NUT whose head was opened and found compressed, from its start; n = 0: its end. -1
 * after fail(): it is cut, or its frames do not follow one another. */
int raw_stream_look(struct raw_stream *, const unsigned char *, size_t n);
void raw_stream_close(struct raw_stream *);
