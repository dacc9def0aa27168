/* Whole files in memory, gzip included. */
#pragma once

#include <stdio.h>

#include "frame/samples.h"

/*
 * Files that hold the rows of one frame, not packed, behind a short header: read by as few calls as
 * can be, without a stream. What is doubtful is left to the codec's load().
 */

#define WHOLE_FILE_START 4096	/* bytes: headers are shorter, or the file is read as a stream */

struct loader;

struct whole_file {
	int fd;			/* of a regular file; its position stays at its start */
	const char *path;	/* for messages */
	size_t bytes;		/* of the file when it was opened */
	size_t n;		/* bytes of `start` */
	char start[WHOLE_FILE_START];	/* the file's first bytes */
};

/*
 * Reads the rows of all channels, one behind another from byte `at` to the end of the file, into a
 * new frame (frame_new_unset()), padding and all. False, with nothing recorded, where the file does
 * not end right behind them (another process may change it) or cannot be read.
 */
bool whole_file_rows(const struct whole_file *, size_t at, struct frame *);

/* How the samples of a file lie that has rows otherwise. */
struct whole_file_image {
	size_t at;		/* the first byte */
	enum element element;	/* samples_of_element() is the frame's type */
	bool swap;		/* they are in the other byte order */
	bool interleaved;	/* rows of pixels; else the rows of one channel after another */
	bool upwards;		/* the lowest row is the first; not of several channels in planes */
};

/* Likewise, of such samples: a new frame with this head. False, too, where the file's size is
 * another one than theirs. */
bool whole_file_image(const struct whole_file *, const struct whole_file_image *,
    const struct frame_head *, struct frame **out);

/*
 * The rows of a file as they are, one after another: `rows` of `bytes` each, from byte `at` to the
 * end of the file; place() may change what it is given. False as above.
 */
bool whole_file_each(const struct whole_file *, size_t at, size_t rows, size_t bytes,
    void (*place)(void *arg, size_t row, void *samples), void *arg);

/* Likewise the next rows of a stream. 0 or -1 after fail(). */
int stream_each(struct loader *, size_t rows, size_t bytes,
    void (*place)(void *arg, size_t row, void *samples), void *arg);

/* ---- images whose samples follow a head ---- */

/* Reads the head at the loader's position into one that is all zero and that the caller frees, also
 * after a failure, and tells how samples lie, but for `at`. 0 or -1 after fail(). */
typedef int image_head_reader(struct loader *, struct frame_head *, struct whole_file_image *);

/* The next image of a stream, whose rows have all channels. 0 or -1 after fail(). */
int image_read(struct loader *, image_head_reader *, struct frame **out);
/* As load_whole of struct codec. */
int image_read_whole(const struct whole_file *, image_head_reader *, struct frame **out);
/* Bytes of the file from the loader's position on; SIZE_MAX on a pipe. */
size_t image_bytes_left(const struct loader *);

/* The first bytes as a stream of their own, for readers of heads; its file is NULL, with nothing
 * recorded, where there is none. */
struct loader whole_file_start(const struct whole_file *);

/* A piece of such rows: n rows of `bytes` each, which lie one behind another up to the end of the
 * n * stride bytes from `first` on, move to their places, padded with zeros. */
void whole_file_spread(char *first, size_t n, size_t bytes, size_t stride);
/* How many rows are read at once. */
size_t whole_file_group(size_t rows, size_t bytes, size_t stride);

/* The gzip data of a file, by libdeflate, in one piece: two to three times as soon as by zlib. */

/*
 * Unpacks exactly n bytes, of one member or several that follow one another, from the file's
 * position on; then the file is at its end. False: it is where it was, and the caller unpacks it
 * piece by piece and finds out what is wrong: a pipe, damaged data, other data than gzip, more
 * than n bytes, more than 256 MiB.
 */
bool gzip_file_unpack(FILE *, void *to, size_t n);
