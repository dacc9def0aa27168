#define _GNU_SOURCE
#include "pipe_write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t
copy(int pipe, const void *from, size_t n)
{
	return write(pipe, from, n);
}

static ssize_t
lend(int pipe, const void *from, size_t n)
{
	const struct iovec bytes = { (void *)from, n };

	return vmsplice(pipe, &bytes, 1, SPLICE_F_NONBLOCK);
}

/* A SIGPIPE that was pending before stays so. */
static ssize_t
quietly(ssize_t (*put)(int pipe, const void *from, size_t n), int pipe, const void *from, size_t n)
{
	const struct timespec now = { 0 };
	sigset_t pipe_signal, before, pending;
	ssize_t written;
	int error;

	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	written = put(pipe, from, n);
	error = errno;
	if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe_signal, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return written;
}

ssize_t
pipe_write(int pipe, const void *from, size_t n)
{
	return quietly(copy, pipe, from, n);
}

ssize_t
pipe_lend(int pipe, const void *from, size_t n)
{
	return quietly(lend, pipe, from, n);
}
