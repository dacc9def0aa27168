#define _GNU_SOURCE
#include "io/sniff.h"

#include <errno.h>
#include <unistd.h>

#include "base/fail.h"

/* images: only formats that images are read from. */
static const struct codec *
sniffed(const struct codec *const *list, const unsigned char *start, size_t n, bool images)
{
	for (; n && *list; list++)
		if ((*list)->sniff && (*list)->sniff(start, n) &&
		    (((*list)->load && !(*list)->tables) || !images))
			return *list;
	return NULL;
}

const struct codec *
sniff_codec(const struct codec *const *also, const unsigned char *start, size_t n)
{
	const struct codec *codec = sniffed(codecs, start, n, also != NULL);

	if (codec || !also)
		return codec;
	codec = sniffed(also, start, n, false);
	return codec ? codec : sniffed(codecs, start, n, false);
}

ssize_t
sniff_read(int fd, void *start, size_t most, off_t here)
{
	size_t got = 0;

	while (got < most) {
		ssize_t more = pread(fd, (char *)start + got, most - got, here + (off_t)got);

		if (more < 0 && errno != EINTR)
			return -1;
		if (more == 0)
			break;
		if (more > 0)
			got += (size_t)more;
	}
	return (ssize_t)got;
}

int
sniff_fail(const char *path, const unsigned char *start, size_t n)
{
	char text[4 * 5 + 1] = "";

	if (n == 0)
		return fail(path, "is empty");
	for (size_t i = 0; i < n && i < 4; i++)
		sprintf(text + 5 * i, " 0x%02x", start[i]);
	return fail(path, "not a known image format, starts with%s", text);
}
