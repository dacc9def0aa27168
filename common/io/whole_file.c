#include "io/whole_file.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define GROUP_BYTES ((size_t)512 << 10)	/* of rows that are read at once: they fit a core's cache */
#define GROUP_ROWS 64		/* a multiple: every group begins aligned as the first */

/*
 * The kernel copies one long piece of memory sooner than many short ones, and sooner than the same
 * piece again and again: so many rows come together, and move to their places in the cache.
 */
size_t
whole_file_group(size_t rows, size_t bytes, size_t stride)
{
	const size_t group = GROUP_BYTES / bytes / GROUP_ROWS * GROUP_ROWS;

	return bytes == stride ? rows : group ? group : GROUP_ROWS;
}

void
whole_file_spread(char *first, size_t n, size_t bytes, size_t stride)
{
	const char *from = first + n * (stride - bytes);

	for (size_t y = 0; y < n && bytes < stride; y++) {
		memmove(first + y * stride, from + y * bytes, bytes);
		memset(first + y * stride + bytes, 0, stride - bytes);
	}
}

/* Exactly n bytes from `at` on; last: which are the file's last ones. */
static bool
read_piece(int fd, char *to, size_t n, size_t at, bool last)
{
	char beyond;
	struct iovec piece[] = { { to, n }, { &beyond, 1 } };
	ssize_t got;

	do
		got = preadv(fd, piece, last ? 2 : 1, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got >= 0 && (size_t)got == n;
}

bool
whole_file_rows(const struct whole_file *file, size_t at, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t rows = head->h * head->c, bytes = head->w * sample_size(head->type);
	const size_t stride = frame->plane[0].stride;
	const size_t group = whole_file_group(rows, bytes, stride);

	for (size_t row = 0; row < rows; row += group) {
		const size_t n = rows - row < group ? rows - row : group;
		char *first = frame_row(frame, row / head->h, row % head->h);

		if (!read_piece(file->fd, first + n * (stride - bytes), n * bytes,
		    at + row * bytes, row + n == rows))
			return false;
		whole_file_spread(first, n, bytes, stride);
	}
	return true;
}
