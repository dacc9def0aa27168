#define _GNU_SOURCE
#include "intact.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fail.h"
#include "probe.h"

#define TEXT "fringepipe crc-32 "
#define TEXT_BYTES (sizeof(TEXT) - 1 + 8)
#define HEAD_MOST 8
#define VOID 0xec		/* Matroska's element of no meaning */

struct file {
	const char *path;
	int descriptor;
	uint64_t size;
	bool matroska, boxes, nut;
};

static uint64_t
big_endian(const unsigned char *bytes, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *bytes++;
	return v;
}

static int
read_at(const struct file *file, void *to, size_t n, uint64_t at, size_t *got)
{
	ssize_t more = pread(file->descriptor, to, n, (off_t)at);

	*got = more > 0 ? (size_t)more : 0;
	return more < 0 ? fail_errno(file->path, "cannot be read") : 0;
}

static int
look_at(const char *path, FILE *stream, struct file *file)
{
	unsigned char start[32];
	struct stat status;
	const char *container;
	size_t n;

	*file = (struct file){ .path = path, .descriptor = fileno(stream) };
	if (fstat(file->descriptor, &status) < 0)
		return fail_errno(path, "cannot be read");
	file->size = (uint64_t)status.st_size;
	if (read_at(file, start, sizeof(start), 0, &n) < 0)
		return -1;
	container = video_container(start, n);
	file->matroska = container && !strcmp(container, "matroska");
	file->boxes = container && !strcmp(container, "mov");
	file->nut = container && !strcmp(container, "nut");
	return 0;
}

/* ---- the sum ---- */

static int
sum_bytes(const struct file *file, uint64_t n, uint32_t *sum)
{
	unsigned char bytes[65536];
	uLong crc = crc32(0, NULL, 0);
	size_t got = 1;

	for (uint64_t at = 0; at < n && got; at += got) {
		size_t most = n - at < sizeof(bytes) ? (size_t)(n - at) : sizeof(bytes);

		if (read_at(file, bytes, most, at, &got) < 0)
			return -1;
		crc = crc32(crc, bytes, (uInt)got);
	}
	*sum = (uint32_t)crc;
	return got || !n ? 0 : fail(file->path, "has become shorter while it was read");
}

/* What stands before the text: an element's or a box's head. Returns its length. */
static size_t
element_head(const struct file *file, unsigned char head[HEAD_MOST])
{
	if (file->matroska) {
		head[0] = VOID;
		head[1] = 0x80 | TEXT_BYTES;
		return 2;
	}
	memcpy(head, "\0\0\0\0free", 8);
	head[3] = 8 + TEXT_BYTES;
	return 8;
}

int
intact_seal(const char *path, FILE *stream)
{
	unsigned char element[HEAD_MOST + TEXT_BYTES + 1];
	struct file file;
	uint32_t sum;
	size_t n;

	if (look_at(path, stream, &file) < 0)
		return -1;
	if (!file.matroska && !file.boxes)
		return file.nut ? 0 : fail(path, "ffmpeg ended before the video");
	if (sum_bytes(&file, file.size, &sum) < 0)
		return -1;
	n = element_head(&file, element);
	snprintf((char *)element + n, TEXT_BYTES + 1, TEXT "%08x", sum);
	n += TEXT_BYTES;
	return pwrite(file.descriptor, element, n, (off_t)file.size) == (ssize_t)n ? 0 :
	    fail_errno(path, "cannot be written");
}

static int
check_sum(const struct file *file)
{
	unsigned char head[HEAD_MOST], element[HEAD_MOST + TEXT_BYTES + 1];
	size_t n = element_head(file, head) + TEXT_BYTES, got;
	unsigned stated;
	uint32_t sum;

	if (file->size < n)
		return 0;
	if (read_at(file, element, n, file->size - n, &got) < 0)
		return -1;
	element[got] = '\0';
	if (got < n || memcmp(element, head, n - TEXT_BYTES) != 0 ||
	    sscanf((char *)element + n - TEXT_BYTES, TEXT "%8x", &stated) != 1)
		return 0;
	if (sum_bytes(file, file->size - n, &sum) < 0)
		return -1;
	return sum == stated ? 0 : fail(file->path, "is damaged: its check sum is %08x, and "
	    "was %08x when it was written", sum, stated);
}

/* ---- elements and boxes ---- */

/* The length of a number of Matroska's, by its first byte: 1 to 8. */
static size_t
vint_length(unsigned char first)
{
	size_t n = 1;

	while (n < 8 && !(first & (0x80 >> (n - 1))))
		n++;
	return n;
}

/* The size of the element or box that starts with these n bytes, with its head; 0: it reaches to
 * the file's end; UINT64_MAX: the bytes are too few. */
static uint64_t
piece_size(const struct file *file, const unsigned char *head, size_t n)
{
	size_t id, length;
	uint64_t size;

	if (file->boxes) {
		size = n < 8 ? UINT64_MAX : big_endian(head, 4);
		return size != 1 ? size : n < 16 ? UINT64_MAX : big_endian(head + 8, 8);
	}
	id = n ? vint_length(head[0]) : 0;
	length = n > id ? vint_length(head[id]) : 0;
	if (!length || n < id + length)
		return UINT64_MAX;
	size = big_endian(head + id, length) & ((UINT64_C(1) << 7 * length) - 1);
	return size == (UINT64_C(1) << 7 * length) - 1 ? 0 : size + id + length;
}

/* The sizes of elements or boxes lead to the file's end. */
static int
check_pieces(const struct file *file)
{
	unsigned char head[16];
	uint64_t size;
	size_t n;

	for (uint64_t at = 0; at < file->size; at += size) {
		if (read_at(file, head, sizeof(head), at, &n) < 0)
			return -1;
		size = piece_size(file, head, n);
		if (size == 0)
			return 0;
		if (size < 2 || size > file->size - at)
			return fail(file->path, "ends too early: inside what begins at byte %llu",
			    (unsigned long long)at);
	}
	return 0;
}

int
intact_check(const char *path, FILE *stream)
{
	struct file file;

	if (look_at(path, stream, &file) < 0)
		return -1;
	if (!file.matroska && !file.boxes)
		return 0;
	return check_pieces(&file) < 0 ? -1 : check_sum(&file);
}
