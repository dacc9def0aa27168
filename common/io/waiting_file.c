#define _GNU_SOURCE
#include "io/waiting_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Shall a call that failed be made again? Waits until it can succeed. */
static bool
again(int fd, short events)
{
	struct pollfd wanted = { .fd = fd, .events = events };

	return errno == EINTR || (errno == EAGAIN && (poll(&wanted, 1, -1) >= 0 || errno == EINTR));
}

int
waiting_open(const char *path, int flags, mode_t permissions)
{
	return (int)TEMP_FAILURE_RETRY(open(path, flags, permissions));
}

ssize_t
waiting_read(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && again(fd, POLLIN));
	return got;
}

ssize_t
waiting_write(int fd, const void *from, size_t n)
{
	ssize_t done;

	do
		done = write(fd, from, n);
	while (done < 0 && again(fd, POLLOUT));
	return done;
}

ssize_t
waiting_writev(int fd, const struct iovec *piece, int n)
{
	ssize_t done;

	do
		done = writev(fd, piece, n);
	while (done < 0 && again(fd, POLLOUT));
	return done;
}

static ssize_t
read_cookie(void *cookie, char *to, size_t n)
{
	return waiting_read((int)(intptr_t)cookie, to, n);
}

static ssize_t
write_cookie(void *cookie, const char *from, size_t n)
{
	ssize_t done = waiting_write((int)(intptr_t)cookie, from, n);

	return done < 0 ? 0 : done;	/* as fopencookie(3) has it */
}

static int
close_cookie(void *cookie)
{
	return close((int)(intptr_t)cookie);
}

FILE *
waiting_file_input(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && !(flags & O_NONBLOCK))
		return fdopen(fd, "rb");
	return fopencookie((void *)(intptr_t)fd, "rb",
	    (cookie_io_functions_t){ .read = read_cookie, .close = close_cookie });
}

FILE *
waiting_file_output(int fd)
{
	return fopencookie((void *)(intptr_t)fd, "wb",
	    (cookie_io_functions_t){ .write = write_cookie, .close = close_cookie });
}
