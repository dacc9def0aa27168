/*
 * A stream that gathers a text in memory and knows for good when memory was short. The streams of
 * open_memstream() do not: what does not fit is dropped, and fclose() may say that all went well.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct text {
	FILE *file;		/* to write to; NULL: not open */
	char *bytes;		/* what has been flushed to it */
	size_t n, room;
	bool failed;
};

/* Opens an empty text. It stays where it is in memory until it is closed. Returns text->file, or
 * NULL after fail(). */
FILE *text_open(struct text *);
/* Closes it. What was written as a string that the caller frees, with its length in *n unless n is
 * NULL; or NULL after fail(), where any part of it was lost. */
char *text_close(struct text *, size_t *n);
/* Closes it, if it is open, and forgets what was written. */
void text_drop(struct text *);

#endif
