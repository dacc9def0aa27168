/* The text of a NRRD header, byte for byte no further than its blank line: pixels follow it. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/nrrd_header.h"
#include "io/nrrd_stream.h"

#define START_BYTES 7		/* which tell a header from something else */
#define HEADER_ROOM 4096	/* bytes, which most headers take less than */

static bool
ends_header(const char *text, size_t n)
{
	return n > 8 && text[n - 1] == '\n' &&
	    (text[n - 2] == '\n' || (text[n - 2] == '\r' && text[n - 3] == '\n'));
}

static int
fail_magic(const char *name, const char *text, size_t n)
{
	const unsigned char *byte = (const unsigned char *)text;

	return fail(name, "no NRRD header where a frame should begin, but 0x%02x 0x%02x 0x%02x "
	    "0x%02x", byte[0], n > 1 ? byte[1] : 0, n > 2 ? byte[2] : 0, n > 3 ? byte[3] : 0);
}

/* The first bytes of a header begin none. */
static int
fail_start(FILE *file, const char *name, const char *text, size_t n)
{
	const char *rest = &STREAM_FAILED[n];

	if (n < sizeof(STREAM_FAILED) && !memcmp(text, STREAM_FAILED, n)) {
		while (*rest && getc_unlocked(file) == (unsigned char)*rest)
			rest++;
		if (!*rest)
			return fail(name, "the writer before failed");
	}
	return fail_magic(name, text, n);
}

/* Room for more of a header and a 0 behind n bytes of it: memory grows with what was read. */
static int
header_reserve(char **text, size_t n, size_t *room)
{
	char *more;

	if (n + 1 < *room)
		return 0;
	*room = *room ? 2 * *room : HEADER_ROOM;
	more = realloc(*text, *room);
	if (!more)
		return fail_memory();
	*text = more;
	return 0;
}

/* The rest of a line with its end, up to `most` bytes; a byte of 0 becomes a question mark. */
static size_t
line_read(FILE *file, char *to, size_t most)
{
	size_t n = 0;
	int byte = 0;

	while (n < most && byte != '\n' && (byte = getc_unlocked(file)) != EOF)
		to[n++] = byte ? (char)byte : '?';
	return n;
}

int
nrrd_header_text(FILE *file, const char *name, char **whole, size_t *bytes)
{
	size_t n = 0, room = 0, got;

	do {
		char *text;

		if (header_reserve(whole, n, &room) < 0)
			return -1;
		text = *whole;
		got = line_read(file, text + n, (n < START_BYTES ? START_BYTES : room - 1) - n);
		n += got;
		if (n == START_BYTES && memcmp(text, "NRRD000", 7) && memcmp(text, "NRRD00.", 7))
			return fail_start(file, name, text, n);
		if (n > NRRD_HEADER_MAX)
			return fail(name, "header is longer than %d bytes", NRRD_HEADER_MAX);
		if (ends_header(text, n)) {
			text[n] = '\0';
			*bytes = n;
			return 1;
		}
	} while (got);
	if (ferror(file))
		return fail_errno(name, "cannot be read");
	if (n == 0)
		return 0;
	if (n < START_BYTES)
		return fail_magic(name, *whole, n);
	return fail(name, "truncated: the header ends after %zu bytes", n);
}
