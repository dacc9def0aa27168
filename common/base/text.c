#define _GNU_SOURCE
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/fail.h"

#define ROOM_FIRST 256

/* Makes room for n bytes and the zero that ends a string. */
static int
grow(struct text *text, size_t n)
{
	size_t room = text->room ? text->room : ROOM_FIRST;
	char *more;

	while (room - text->n <= n)
		if (__builtin_mul_overflow(room, 2, &room))
			return -1;
	if (room == text->room)
		return 0;
	more = realloc(text->bytes, room);
	if (!more)
		return -1;
	text->bytes = more;
	text->room = room;
	return 0;
}

/* 0 is how a cookie's write function reports a failure. */
static ssize_t
append(void *cookie, const char *from, size_t n)
{
	struct text *text = cookie;

	if (text->failed || grow(text, n) < 0) {
		text->failed = true;
		return 0;
	}
	memcpy(text->bytes + text->n, from, n);
	text->n += n;
	return (ssize_t)n;
}

FILE *
text_open(struct text *text)
{
	static const cookie_io_functions_t functions = { .write = append };

	*text = (struct text){ 0 };
	text->file = fopencookie(text, "w", functions);
	if (!text->file)
		fail_memory();
	return text->file;
}

char *
text_close(struct text *text, size_t *n)
{
	bool failed = !text->file || ferror(text->file) != 0;
	char *bytes;

	if (text->file && fclose(text->file) != 0)
		failed = true;
	text->file = NULL;
	if (failed || text->failed || grow(text, 0) < 0) {
		text_drop(text);
		fail_memory();
		return NULL;
	}
	bytes = text->bytes;
	bytes[text->n] = '\0';
	if (n)
		*n = text->n;
	text->bytes = NULL;
	return bytes;
}

void
text_drop(struct text *text)
{
	if (text->file)
		fclose(text->file);
	text->file = NULL;
	free(text->bytes);
	text->bytes = NULL;
}
