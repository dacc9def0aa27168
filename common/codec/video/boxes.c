#define _GNU_SOURCE
#include "boxes.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

static uint64_t
big_endian(const unsigned char *bytes, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *bytes++;
	return v;
}

/* The size of the box at an offset, from its first 16 bytes; 0: it reaches to the file's end. */
static uint64_t
box_size(const unsigned char head[16])
{
	uint64_t size = big_endian(head, 4);

	return size == 1 ? big_endian(head + 8, 8) : size;
}

int
boxes_check(const char *path, FILE *file)
{
	unsigned char head[16] = { 0 };
	struct stat status;
	uint64_t at = 0, size;

	if (fstat(fileno(file), &status) < 0)
		return fail_errno(path, "cannot be read");
	while (at < (uint64_t)status.st_size) {
		ssize_t n = pread(fileno(file), head, sizeof(head), (off_t)at);

		if (n < 0)
			return fail_errno(path, "cannot be read");
		if (at == 0 && (n < 8 || memcmp(head + 4, "ftyp", 4)))
			return 0;
		size = n < 8 ? UINT64_MAX : box_size(head);
		if (size == 0)
			return 0;
		if (size < 8 || size > (uint64_t)status.st_size - at)
			return fail(path, "ends in the middle of a box, %llu bytes from its start",
			    (unsigned long long)at);
		at += size;
	}
	return 0;
}
