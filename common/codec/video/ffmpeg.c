#define _GNU_SOURCE
#include "ffmpeg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "children.h"
#include "pipe_write.h"
#include "program.h"
#include "spawn.h"

#define PIPE_SIZE FFMPEG_LENT		/* the most that the kernel grants without privilege */
#define MESSAGE_SIZE 400
#define LOOK_MS 100		/* how often a child is looked for whose messages do not end */
#define PATIENCE_MS 30000	/* until a child that writes has its first or next byte */
#define SLICE_MS 1000		/* of a wait: time in which the user has stopped us counts as one */

struct ffmpeg {
	const char *path, *name;	/* of the video; of the program */
	pid_t child;
	int to, from, log;		/* our ends of its pipes; -1: closed, or none */
	bool lends;			/* its standard input may refer to our memory */
	int patience_ms;		/* that the child may take; -1: as long as it likes */
	char first[MESSAGE_SIZE];	/* of its complete lines, but for empty ones */
	char last[MESSAGE_SIZE];	/* where it has more than one */
	char message[2 * MESSAGE_SIZE + 8];
	char line[MESSAGE_SIZE];	/* the one under way */
	size_t n;
};

/* ---- starting ---- */

/* A pipe whose ends are the child's and ours; ours never blocks. */
static int
make_pipe(bool child_writes, int *theirs, int *ours)
{
	int end[2];

	if (pipe2(end, O_CLOEXEC) < 0)
		return -1;
	*theirs = end[child_writes];
	*ours = end[!child_writes];
	(void)fcntl(*ours, F_SETPIPE_SZ, PIPE_SIZE);
	return fcntl(*ours, F_SETFL, fcntl(*ours, F_GETFL) | O_NONBLOCK);
}

static void
close_end(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

/*
 * May the pipe refer to our memory? Not where the kernel cannot, nor for a script: its programs may
 * move what the pipe refers to on to another pipe, unread.
 */
static bool
can_lend(const char *program, int to)
{
	return to >= 0 && pipe_lend(to, "", 0) == 0 && program_is_binary(program);
}

int
ffmpeg_start(const char *path, const char *const words[], enum ffmpeg_data direction, int file,
    int keys, struct ffmpeg **out)
{
	struct ffmpeg *ffmpeg = calloc(1, sizeof(*ffmpeg));
	char program[PATH_MAX];
	int in = -1, result = -1, log = -1, error = 0;
	sigset_t before;

	*out = NULL;
	if (!ffmpeg)
		return fail_memory();
	*ffmpeg = (struct ffmpeg){ .path = path, .name = words[0], .to = -1, .from = -1,
		.log = -1, .patience_ms = direction == FFMPEG_WRITES ? PATIENCE_MS : -1 };
	if (program_find(path, words[0], program) < 0) {
		free(ffmpeg);
		return -1;
	}
	if ((direction != FFMPEG_WRITES && make_pipe(false, &in, &ffmpeg->to) < 0) ||
	    (direction != FFMPEG_READS && make_pipe(true, &result, &ffmpeg->from) < 0) ||
	    make_pipe(true, &log, &ffmpeg->log) < 0)
		error = errno;
	if (!error) {
		children_expect(&before);
		error = spawn_child(program, words, direction == FFMPEG_FILTERS,
		    (int[5]){ in, result, log, file, keys }, &ffmpeg->child);
		children_add(error ? 0 : ffmpeg->child, &before);
	}
	close_end(&in);
	close_end(&result);
	close_end(&log);
	if (!error) {
		ffmpeg->lends = can_lend(program, ffmpeg->to);
		*out = ffmpeg;
		return 0;
	}
	close_end(&ffmpeg->to);
	close_end(&ffmpeg->from);
	close_end(&ffmpeg->log);
	free(ffmpeg);
	errno = error;
	return fail_errno(path, "%s cannot be run", words[0]);
}

void
ffmpeg_set_patience(struct ffmpeg *ffmpeg, int milliseconds)
{
	ffmpeg->patience_ms = milliseconds;
}

/* ---- messages ---- */

static void
take_byte(struct ffmpeg *ffmpeg, char byte)
{
	if (byte != '\n' && byte != '\r') {
		if (ffmpeg->n < MESSAGE_SIZE - 1)
			ffmpeg->line[ffmpeg->n++] = byte;
		return;
	}
	ffmpeg->line[ffmpeg->n] = '\0';
	if (ffmpeg->line[strspn(ffmpeg->line, " \t")])
		memcpy(*ffmpeg->first ? ffmpeg->last : ffmpeg->first, ffmpeg->line, ffmpeg->n + 1);
	ffmpeg->n = 0;
}

/* Takes what has come, without waiting. */
static void
take_messages(struct ffmpeg *ffmpeg)
{
	char bytes[4096];

	while (ffmpeg->log >= 0) {
		ssize_t n = read(ffmpeg->log, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		if (n == 0)
			close_end(&ffmpeg->log);
		for (ssize_t i = 0; i < n; i++)
			take_byte(ffmpeg, bytes[i]);
	}
	take_byte(ffmpeg, '\n');
}

/* The first line is the cause, mostly, and the last what came of it. */
const char *
ffmpeg_message(struct ffmpeg *ffmpeg)
{
	bool both;

	take_messages(ffmpeg);
	both = *ffmpeg->last && strcmp(ffmpeg->first, ffmpeg->last) != 0;
	snprintf(ffmpeg->message, sizeof(ffmpeg->message), "%s%s%s", ffmpeg->first,
	    both ? " ... " : "", both ? ffmpeg->last : "");
	return ffmpeg->message;
}

/* ---- data ---- */

/* Waits until data or a message can come or go; a descriptor of -1 is passed over. *ready, unless
 * NULL: did something come or go within the time (-1: without end)? -1 after fail(). */
static int
wait_for(struct ffmpeg *ffmpeg, int from, int to, int wait_ms, bool *ready)
{
	struct pollfd wanted[3] = { { .fd = from, .events = POLLIN },
		{ .fd = to, .events = POLLOUT }, { .fd = ffmpeg->log, .events = POLLIN } };
	int n, left = wait_ms;

	do {
		n = poll(wanted, 3, left > SLICE_MS ? SLICE_MS : left);
		left -= SLICE_MS;
	} while (n == 0 && left > 0);
	if (n < 0 && errno != EINTR)
		return fail_errno(ffmpeg->path, "%s cannot be waited for", ffmpeg->name);
	take_messages(ffmpeg);
	if (ready)
		*ready = n != 0;
	else if (n == 0)
		return fail(ffmpeg->path, "%s does nothing for %g s", ffmpeg->name,
		    wait_ms / 1000.0);
	return 0;
}

/* What there is, up to n bytes. 0: nothing now; 1; 2: the child's output has ended; -1 after
 * fail(). */
static int
read_some(struct ffmpeg *ffmpeg, void *to, size_t n, size_t *got)
{
	ssize_t more;

	do
		more = read(ffmpeg->from, to, n);
	while (more < 0 && errno == EINTR);
	*got = more > 0 ? (size_t)more : 0;
	if (more < 0 && errno != EAGAIN)
		return fail_errno(ffmpeg->path, "%s cannot be read", ffmpeg->name);
	return more > 0 ? 1 : more == 0 ? 2 : 0;
}

int
ffmpeg_read(struct ffmpeg *ffmpeg, void *to, size_t n, size_t *got)
{
	size_t more;

	*got = 0;
	while (*got < n) {
		int status = read_some(ffmpeg, (char *)to + *got, n - *got, &more);

		*got += more;
		if (status == 2)
			break;
		if (status < 0 || (status == 0 &&
		    wait_for(ffmpeg, ffmpeg->from, -1, ffmpeg->patience_ms, NULL) < 0))
			return -1;
	}
	return 0;
}

/* As much as the pipe takes. 0: nothing now; 1; 2: the child has ended; -1 after fail(). */
static int
write_some(struct ffmpeg *ffmpeg, const void *from, size_t n, bool lend, size_t *done)
{
	ssize_t more;

	do
		more = (lend ? pipe_lend : pipe_write)(ffmpeg->to, from, n);
	while (more < 0 && errno == EINTR);
	if (lend && more < 0 && errno == EFAULT)	/* a GPU's driver has mapped it */
		return write_some(ffmpeg, from, n, false, done);
	*done = more > 0 ? (size_t)more : 0;
	if (more < 0 && errno != EAGAIN && errno != EPIPE)
		return fail_errno(ffmpeg->path, "%s cannot be written to", ffmpeg->name);
	return more > 0 ? 1 : errno == EPIPE ? 2 : 0;
}

static int
write_all(struct ffmpeg *ffmpeg, const void *from, size_t n, bool lend)
{
	size_t more;

	for (size_t done = 0; done < n; done += more) {
		int status = write_some(ffmpeg, (const char *)from + done, n - done, lend, &more);

		if (status == 2)
			return 1;
		if (status < 0 || (status == 0 &&
		    wait_for(ffmpeg, -1, ffmpeg->to, ffmpeg->patience_ms, NULL) < 0))
			return -1;
	}
	return 0;
}

int
ffmpeg_write(struct ffmpeg *ffmpeg, const void *from, size_t n)
{
	return write_all(ffmpeg, from, n, false);
}

/* Bytes leave the pipe in the order in which they came, and it holds PIPE_SIZE at most: what was
 * lent before the last PIPE_SIZE bytes has been read. */
int
ffmpeg_lend(struct ffmpeg *ffmpeg, const void *from, size_t n)
{
	return write_all(ffmpeg, from, n, ffmpeg->lends);
}

int
ffmpeg_filter(struct ffmpeg *ffmpeg, const void *from, size_t n, void *to, size_t room,
    size_t *got, int wait_ms)
{
	size_t done = 0, more;
	bool ready = true;

	*got = 0;
	while (done < n || (*got < room && ready)) {
		int wrote = 0, read = 0;

		if (done < n) {
			wrote = write_some(ffmpeg, (const char *)from + done, n - done, false,
			    &more);
			done += more;
		}
		if (wrote >= 0 && *got < room) {
			read = read_some(ffmpeg, (char *)to + *got, room - *got, &more);
			*got += more;
		}
		if (wrote < 0 || read < 0)
			return -1;
		if (wrote == 2 || read == 2)
			return 1;
		if (wrote == 0 && read == 0 && (done < n || *got < room) &&
		    wait_for(ffmpeg, *got < room ? ffmpeg->from : -1, done < n ? ffmpeg->to : -1,
			done < n ? ffmpeg->patience_ms : wait_ms, done < n ? NULL : &ready) < 0)
			return -1;
	}
	return 0;
}

/* ---- ending ---- */

/* Takes messages until there are no more, or the child has ended: what it started may have its end
 * of the pipe still. */
static void
wait_for_messages(struct ffmpeg *ffmpeg)
{
	siginfo_t info = { 0 };

	while (ffmpeg->log >= 0) {
		struct pollfd wanted = { .fd = ffmpeg->log, .events = POLLIN };
		bool ended = waitid(P_PID, (id_t)ffmpeg->child, &info, WEXITED | WNOWAIT |
		    WNOHANG) == 0 && info.si_pid;

		if (poll(&wanted, 1, ended ? 0 : LOOK_MS) < 0 && errno != EINTR)
			return;
		take_messages(ffmpeg);
		if (ended)
			close_end(&ffmpeg->log);
	}
}

static int
verdict(struct ffmpeg *ffmpeg, int status)
{
	const char *message = ffmpeg_message(ffmpeg);

	if (WIFSIGNALED(status))
		return fail(ffmpeg->path, "%s was ended by signal %d (%s)", ffmpeg->name,
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (*message)
		return fail(ffmpeg->path, "%s: %s", ffmpeg->name, message);
	return WEXITSTATUS(status) ? fail(ffmpeg->path, "%s failed with status %d, and without a "
	    "message", ffmpeg->name, WEXITSTATUS(status)) : 0;
}

int
ffmpeg_end(struct ffmpeg *ffmpeg)
{
	int status, result;

	close_end(&ffmpeg->to);
	close_end(&ffmpeg->from);
	wait_for_messages(ffmpeg);
	result = children_wait(ffmpeg->child, &status) < 0 ?
	    fail_errno(ffmpeg->path, "%s is lost", ffmpeg->name) : 0;
	if (result == 0)
		result = verdict(ffmpeg, status);
	close_end(&ffmpeg->log);
	free(ffmpeg);
	return result;
}

void
ffmpeg_kill(struct ffmpeg *ffmpeg)
{
	int status;

	if (!ffmpeg)
		return;
	close_end(&ffmpeg->to);
	close_end(&ffmpeg->from);
	close_end(&ffmpeg->log);
	kill(ffmpeg->child, SIGKILL);
	(void)children_wait(ffmpeg->child, &status);
	free(ffmpeg);
}
