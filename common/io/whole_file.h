/*
 * Files that hold the rows of one frame as they lie in memory, behind a short header: read by as
 * few calls as can be, without a stream. What is doubtful is left to the codec's load().
 */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include <stdbool.h>

#include "frame/frame.h"

#define WHOLE_FILE_START 4096	/* bytes: headers are shorter, or the file is read as a stream */

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

/* A piece of such rows: n rows of `bytes` each, which lie one behind another up to the end of the
 * n * stride bytes from `first` on, move to their places, padded with zeros. */
void whole_file_spread(char *first, size_t n, size_t bytes, size_t stride);
/* How many rows are read at once. */
size_t whole_file_group(size_t rows, size_t bytes, size_t stride);

#endif
