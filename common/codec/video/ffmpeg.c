/*
 * Runs ffmpeg as a child process: finds it, starts it with pipes, ends it with the run, and passes
 * on what it reports.
 */
#include "codec/video/ffmpeg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"

extern char **environ;

/* Descriptors 0 to 4 of the child, and no others. from[i] < 0: /dev/null for 0 to 2, else none. */
static int
set_descriptors(posix_spawn_file_actions_t *actions, const int from[5])
{
	int error = 0;

	for (int i = 0; i < 5 && !error; i++)
		if (from[i] >= 0)
			error = posix_spawn_file_actions_adddup2(actions, from[i], i);
		else if (i < 3)
			error = posix_spawn_file_actions_addopen(actions, i, "/dev/null",
			    i ? O_WRONLY : O_RDONLY, 0);
	return error ? error : posix_spawn_file_actions_addclosefrom_np(actions, 5);
}

/* The signals that the tool ignores or holds back are the child's to die of. A child of a process
 * group of its own is not interrupted from the terminal. */
static int
set_signals(posix_spawnattr_t *attributes, bool own_group)
{
	const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	sigset_t none, usual;
	int error;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	error = posix_spawnattr_setsigmask(attributes, &none);
	if (!error)
		error = posix_spawnattr_setsigdefault(attributes, &usual);
	if (!error)
		error = posix_spawnattr_setflags(attributes,
		    (short)(own_group ? flags | POSIX_SPAWN_SETPGROUP : flags));
	return error;
}

/* Starts a program with words, the first its name, the last NULL. given[i] becomes its descriptor
 * i; -1: /dev/null for 0 to 2, else none. own_group: it is not interrupted from the terminal. 0, or
 * an error number. */
static int
spawn_child(const char *program, const char *const words[], bool own_group, const int given[5],
    pid_t *child)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int from[5], error = 0;

	for (int i = 0; i < 5; i++) {
		/* above the child's own, so that no dup2() covers one that is still to be taken */
		from[i] = given[i] < 0 ? -1 : fcntl(given[i], F_DUPFD_CLOEXEC, 10);
		if (given[i] >= 0 && from[i] < 0)
			error = errno;
	}
	if (!error)
		error = posix_spawn_file_actions_init(&actions);
	if (!error) {
		error = posix_spawnattr_init(&attributes);
		if (!error) {
			error = set_descriptors(&actions, from);
			if (!error)
				error = set_signals(&attributes, own_group);
			if (!error)
				error = posix_spawn(child, program, &actions, &attributes,
				    (char *const *)words, environ);
			posix_spawnattr_destroy(&attributes);
		}
		posix_spawn_file_actions_destroy(&actions);
	}
	for (int i = 0; i < 5; i++)
		if (from[i] >= 0)
			close(from[i]);
	return error;
}

#define MOST 16		/* children at a time that a signal kills */
#define LOOKS 50	/* of 2 ms: how long the end of one that was killed may take */

/* 0: none. Fixed, so that a signal handler can read it at any moment. */
static atomic_int children[MOST];
static atomic_int coming;	/* threads that start a child right now */

/* In a signal's handler. Takes the child's end, too, which the system's first process may be slow
 * to take; but not where it does not come soon. */
static void
kill_children(void)
{
	const struct timespec moment = { .tv_nsec = 2000000 };

	for (int k = 0; k < LOOKS && atomic_load(&coming) > 0; k++)
		nanosleep(&moment, NULL);
	for (size_t i = 0; i < MOST; i++) {
		pid_t child = atomic_load(&children[i]);

		if (child <= 0 || kill(child, SIGKILL) < 0)
			continue;
		for (int k = 0; k < LOOKS && waitpid(child, NULL, WNOHANG) == 0; k++)
			nanosleep(&moment, NULL);
	}
}

/* This thread starts a child, and takes no signal until children_add(). */
static void
children_expect(sigset_t *before)
{
	sigset_t all;

	ending_signals_watch(kill_children);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
	atomic_fetch_add(&coming, 1);
}

/* A signal that ends this process kills the child, until children_wait(). 0: none was started. */
static void
children_add(pid_t child, const sigset_t *before)
{
	for (size_t i = 0; child > 0 && i < MOST; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&children[i], &none, child))
			break;
	}
	atomic_fetch_sub(&coming, 1);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Waits for the child's end, as waitpid(), but not interrupted. The child leaves the list before:
 * once it is waited for, its number may be another process's. */
static pid_t
children_wait(pid_t child, int *status)
{
	siginfo_t info;
	pid_t ended;

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < MOST; i++) {
		int listed = child;

		atomic_compare_exchange_strong(&children[i], &listed, 0);
	}
	do
		ended = waitpid(child, status, 0);
	while (ended < 0 && errno == EINTR);
	return ended;
}

/* ---- where ffmpeg is ---- */

static bool
is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The first program of this name in the folders of PATH. */
static bool
look_up(const char *name, char found[PATH_MAX])
{
	const char *folders = getenv("PATH");

	while (folders && *folders) {
		size_t n = strcspn(folders, ":");

		if (snprintf(found, PATH_MAX, "%.*s/%s", (int)n, n ? folders : ".", name) <
		    PATH_MAX && is_program(found))
			return true;
		folders += n + (folders[n] == ':');
	}
	return false;
}

/* ffmpeg is the one that FRINGEPIPE_FFMPEG names, else that of PATH. -1 after fail(path, ...). */
static int
program_find(const char *path, char found[PATH_MAX])
{
	const char *named = getenv("FRINGEPIPE_FFMPEG");

	if (!named || !*named)
		return look_up("ffmpeg", found) ? 0 : fail(path, "a video needs ffmpeg, which is "
		    "not there: install the package ffmpeg, or let FRINGEPIPE_FFMPEG name it");
	if (!strchr(named, '/') ? look_up(named, found) :
	    snprintf(found, PATH_MAX, "%s", named) < PATH_MAX && is_program(found))
		return 0;
	return fail(path, "ffmpeg is not there: FRINGEPIPE_FFMPEG is %s", named);
}

int
ffmpeg_check(const char *path)
{
	char found[PATH_MAX];

	return program_find(path, found);
}

/* As write(): the number of bytes, or -1 with errno. A SIGPIPE that was pending before stays so. */
static ssize_t
pipe_write(int pipe, const void *from, size_t n)
{
	const struct timespec now = { 0 };
	sigset_t pipe_signal, before, pending;
	ssize_t written;
	int error;

	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	written = write(pipe, from, n);
	error = errno;
	if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe_signal, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return written;
}

#define PIPE_SIZE (1024 * 1024)		/* the most that the kernel grants without privilege */
#define MESSAGE_SIZE 400
#define LOOK_MS 100		/* how often a child is looked for whose messages do not end */
#define PATIENCE_MS 30000	/* until a child that writes has its first or next byte */
#define SLICE_MS 1000		/* of a wait: time in which the user has stopped us counts as one */

struct ffmpeg {
	const char *path;		/* of the video */
	pid_t child;
	int to, from, log;		/* our ends of its pipes; -1: closed, or none */
	bool stalled;			/* it did nothing for so long that it was killed */
	int patience_ms;		/* that the child may take; -1: as long as it likes */
	char first[MESSAGE_SIZE];	/* of its complete lines, but for empty ones */
	char last[MESSAGE_SIZE];	/* where it has more than one */
	char message[2 * MESSAGE_SIZE + 8];
	char line[MESSAGE_SIZE];	/* the one under way */
	size_t n;
	struct feed {			/* what is written to it while it is read from */
		int from;		/* -1: there is none, or it has ended */
		int (*look)(void *arg, const unsigned char *, size_t n);
		void (*hear)(void *arg, const char *line);
		void *arg;
		size_t at, n;		/* the next of the bytes that wait */
		unsigned char byte[65536];
	} *feed;
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

static void
free_ffmpeg(struct ffmpeg *ffmpeg)
{
	close_end(&ffmpeg->to);
	close_end(&ffmpeg->from);
	close_end(&ffmpeg->log);
	free(ffmpeg->feed);
	free(ffmpeg);
}

int
ffmpeg_start(const char *path, const char *const words[], enum ffmpeg_data direction, int file,
    int keys, struct ffmpeg **out)
{
	struct ffmpeg *ffmpeg;
	char program[PATH_MAX];
	int in = -1, result = -1, log = -1, error = 0;
	sigset_t before;

	*out = NULL;
	if (program_find(path, program) < 0)
		return -1;
	ffmpeg = must_alloc(1, sizeof(*ffmpeg));
	*ffmpeg = (struct ffmpeg){ .path = path, .to = -1, .from = -1,
		.log = -1, .patience_ms = direction == FFMPEG_WRITES ? PATIENCE_MS : -1 };
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
		*out = ffmpeg;
		return 0;
	}
	free_ffmpeg(ffmpeg);
	errno = error;
	return fail_errno(path, "ffmpeg cannot be run");
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
	if (ffmpeg->feed && (strstr(ffmpeg->line, "[info] ") ||
	    strstr(ffmpeg->line, "[warning] "))) {
		ffmpeg->feed->hear(ffmpeg->feed->arg, ffmpeg->line);
		ffmpeg->n = 0;
		return;
	}
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

int
ffmpeg_feed(struct ffmpeg *ffmpeg, int from, const void *first, size_t n,
    int (*look)(void *arg, const unsigned char *, size_t n),
    void (*hear)(void *arg, const char *line), void *arg)
{
	ffmpeg->feed = must_alloc(1, sizeof(*ffmpeg->feed));
	*ffmpeg->feed = (struct feed){ .from = from, .look = look, .hear = hear, .arg = arg };
	return (n && look(arg, first, n) < 0) || ffmpeg_write(ffmpeg, first, n) < 0 ? -1 : 0;
}

static int write_some(struct ffmpeg *, const void *from, size_t n, size_t *done);

/* Writes to the child what waits, or where more has come, that; neither waits. */
static int
pump(struct ffmpeg *ffmpeg, bool more)
{
	struct feed *feed = ffmpeg->feed;
	size_t done;
	ssize_t got;
	int status;

	if (feed->at == feed->n) {
		if (!more)
			return 0;
		got = read(feed->from, feed->byte, sizeof(feed->byte));
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			return 0;
		if (got < 0)
			return fail_errno(ffmpeg->path, "cannot be read");
		feed->at = 0;
		feed->n = (size_t)got;
		if (feed->look(feed->arg, feed->byte, feed->n) < 0)
			return -1;
		if (got == 0) {
			feed->from = -1;
			close_end(&ffmpeg->to);
			return 0;
		}
	}
	status = write_some(ffmpeg, feed->byte + feed->at, feed->n - feed->at, &done);
	feed->at += done;
	if (status == 2) {		/* it has ended, and what it says tells why */
		feed->from = -1;
		close_end(&ffmpeg->to);
	}
	return status < 0 ? -1 : 0;
}

/* Waits until data or a message can come or go; a descriptor of -1 is passed over. *ready, unless
 * NULL: did something come or go within the time (-1: without end)? -1 after fail(). */
static int
wait_for(struct ffmpeg *ffmpeg, int from, int to, int wait_ms, bool *ready)
{
	const bool feeds = ffmpeg->feed && ffmpeg->feed->from >= 0 && from >= 0;
	const bool full = feeds && ffmpeg->feed->at < ffmpeg->feed->n;
	struct pollfd wanted[4] = { { .fd = from, .events = POLLIN },
		{ .fd = full ? ffmpeg->to : to, .events = POLLOUT },
		{ .fd = ffmpeg->log, .events = POLLIN },
		{ .fd = feeds && !full ? ffmpeg->feed->from : -1, .events = POLLIN } };
	int n, left = wait_ms;

	do {
		n = poll(wanted, 4, left > SLICE_MS ? SLICE_MS : left);
		left -= SLICE_MS;
	} while (n == 0 && left > 0);
	if (n < 0 && errno != EINTR)
		return fail_errno(ffmpeg->path, "ffmpeg cannot be waited for");
	take_messages(ffmpeg);
	if (feeds && pump(ffmpeg, wanted[3].revents) < 0)
		return -1;
	if (ready)
		*ready = n != 0;
	else if (n == 0) {
		ffmpeg->stalled = true;
		kill(ffmpeg->child, SIGKILL);
		return fail(ffmpeg->path, "ffmpeg does nothing for %g s", wait_ms / 1000.0);
	}
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
		return fail_errno(ffmpeg->path, "ffmpeg cannot be read");
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
write_some(struct ffmpeg *ffmpeg, const void *from, size_t n, size_t *done)
{
	ssize_t more;

	do
		more = pipe_write(ffmpeg->to, from, n);
	while (more < 0 && errno == EINTR);
	*done = more > 0 ? (size_t)more : 0;
	if (more < 0 && errno != EAGAIN && errno != EPIPE)
		return fail_errno(ffmpeg->path, "ffmpeg cannot be written to");
	return more > 0 ? 1 : errno == EPIPE ? 2 : 0;
}

int
ffmpeg_write(struct ffmpeg *ffmpeg, const void *from, size_t n)
{
	size_t more;

	for (size_t done = 0; done < n; done += more) {
		int status = write_some(ffmpeg, (const char *)from + done, n - done, &more);

		if (status == 2)
			return 1;
		if (status < 0 || (status == 0 &&
		    wait_for(ffmpeg, -1, ffmpeg->to, ffmpeg->patience_ms, NULL) < 0))
			return -1;
	}
	return 0;
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
			wrote = write_some(ffmpeg, (const char *)from + done, n - done, &more);
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
		return fail(ffmpeg->path, "ffmpeg was ended by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (*message)
		return fail(ffmpeg->path, "ffmpeg: %s", message);
	return WEXITSTATUS(status) ? fail(ffmpeg->path, "ffmpeg failed with status %d, and without "
	    "a message", WEXITSTATUS(status)) : 0;
}

int
ffmpeg_end(struct ffmpeg *ffmpeg)
{
	int status, result;

	close_end(&ffmpeg->to);
	close_end(&ffmpeg->from);
	wait_for_messages(ffmpeg);
	result = children_wait(ffmpeg->child, &status) < 0 ?
	    fail_errno(ffmpeg->path, "ffmpeg is lost") : 0;
	if (result == 0 && !ffmpeg->stalled)
		result = verdict(ffmpeg, status);
	free_ffmpeg(ffmpeg);
	return result;
}

void
ffmpeg_kill(struct ffmpeg *ffmpeg)
{
	int status;

	if (!ffmpeg)
		return;
	kill(ffmpeg->child, SIGKILL);
	(void)children_wait(ffmpeg->child, &status);
	free_ffmpeg(ffmpeg);
}
