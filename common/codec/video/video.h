/*
 * Videos in Matroska, MP4, QuickTime and NUT files, by ffmpeg as a child process (ffmpeg.h). Sample
 * values go in and out untouched: full range, no matrix, no scaling. Keys are the container's tags.
 */
#ifndef VIDEO_H
#define VIDEO_H

#include <stdbool.h>
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

/* ---- writing: which encoder of ffmpeg's codes a frame, and with which words ---- */

#define ENCODER_WORDS 40

struct encoder {
	const struct pixel_format *format;
	const char *words[ENCODER_WORDS];	/* -c:v ... */
	size_t n;
	char number[32], parameters[96];	/* what some of them are */
	/* the last channels, of this number, have tracks of their own: first the mask; the three of
	 * a texture in colour have one track */
	size_t tracks;
	bool mask, texture, colour;
	bool shown;			/* r g b that is coded as YUV 4:2:0 of limited range */
	const char *texture_crf;		/* NULL: the texture's track loses nothing */
	const char *preset;
	char crf[32];
};

/* ---- a frame's keys as tags of a container ---- */

/* The keys that hold of the first frame alone: their names. */
#define TAGS_FIRST_KEY "video_first"

enum tags_relation { TAGS_EQUAL, TAGS_DIFFER, TAGS_MEANING_DIFFERS };

/* What a later frame's keys have in common with the first's; *key: one that differs. Times, names,
 * check sums of a picture and commands may. TAGS_MEANING_DIFFERS: samples mean something else. */
enum tags_relation tags_compare(const struct meta *first, const struct meta *later,
    const char **key);
/*
 * Writes the head's keys as ffmpeg's metadata text, from which it makes tags; the keys in which the
 * second frame (NULL: there is none) differs are named as those of the first alone. w, h: of
 * the pictures, larger than the frames where those were padded. levels: the value of LEVELS_KEY,
 * empty: none. -1 after fail(path, ...).
 */
int tags_write(const char *path, const struct frame_head *, const struct meta *second, size_t w,
    size_t h, const char *levels, FILE *to);
/* Takes the keys of the first frame away, which `list`, the value of TAGS_FIRST_KEY, names. */
void tags_forget_first(struct meta *, const char *list);

/*
 * The tracks of a video that has more than one: a mask and a texture come below the pictures, in
 * rows of their own, so that one pipe keeps all tracks in step; ffmpeg cuts them apart. A mask is
 * coded as 0 and 1, which takes half the bytes of 0 and 255.
 */

/* What stands behind the words of ffmpeg's, where it must stay. */
struct tracks {
	char filter[960], option[ENCODER_WORDS + 16][24];
	size_t n;
};

/* The bits of a channel in a track of its own; 0: it has none. */
unsigned tracks_bits(const struct encoder *, const struct frame_head *, size_t c);
/* The words for what pictures of w x h, and what is below them, become: how many. */
size_t tracks_words(struct tracks *, const struct encoder *, size_t w, size_t h,
    const char **words);

/*
 * Is a file as it was written? Encoders of lossy video have no check sums, and a decoder makes a
 * picture of whatever bytes it finds. Matroska, MP4 and QuickTime files that we write end in
 * an element that players pass over (Void, free), with the CRC-32 of all bytes before it.
 */

/* Appends the sum, where the file's format has a place for it. -1 after fail(path, ...), also where
 * the file does not begin as a video does: a program that ended well may have written none. */
int intact_seal(const char *path, FILE *);
/* Refuses a file with another sum, one whose last element or box is cut, which ffmpeg may read
 * without a word, and without its tags, and one with another file joined to its end. -1 after
 * fail(path, ...). */
int intact_check(const char *path, FILE *);
/* The same of a Matroska that comes piece by piece, zero at first; n = 0: its end. */
struct intact {
	uint64_t at, left;		/* bytes before, and of the element at hand */
	unsigned char head[16];		/* of the next element */
	size_t heads;
	bool open;
	uint32_t sum;
	unsigned char last[2 + 26];	/* bytes that are not summed yet: maybe the element */
	size_t n;
};
int intact_look(const char *path, struct intact *, const unsigned char *, size_t n);

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
void video_free(struct video *);

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

#endif
