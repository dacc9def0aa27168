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
	/* the last channels, of this number, have tracks of their own: first the mask */
	size_t tracks;
	bool mask, texture;
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
/* Takes the keys of the first frame away; *list is TAGS_FIRST_KEY's value. -1 after fail(). */
int tags_forget_first(struct meta *, const char *list);

/*
 * The tracks of a video that has more than one: a mask and a texture come below the pictures, in
 * rows of their own, so that one pipe keeps all tracks in step; ffmpeg cuts them apart. A mask is
 * coded as 0 and 1, which takes half the bytes of 0 and 255.
 */

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

/*
 * Is a file as it was written? Encoders of lossy video have no check sums, and a decoder makes a
 * picture of whatever bytes it finds. Matroska, MP4 and QuickTime files that we write end in
 * an element that players pass over (Void, free), with the CRC-32 of all bytes before it.
 */

/* Appends the sum, where the file's format has a place for it. -1 after fail(path, ...), also where
 * the file does not begin as a video does: a program that ended well may have written none. */
int intact_seal(const char *path, FILE *);
/* Refuses a file with another sum, and one whose last element or box is cut, which ffmpeg may read
 * without a word, and without its tags. -1 after fail(path, ...). */
int intact_check(const char *path, FILE *);

/* ---- what ffprobe tells of a video ---- */

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
