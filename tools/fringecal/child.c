#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"

extern char **environ;

int
child_memory(const char *name)
{
	int descriptor = memfd_create(name, MFD_CLOEXEC);

	return descriptor < 0 ? fail_errno(name, "no file in memory") : descriptor;
}

void
child_memory_path(int descriptor, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", descriptor);
}

/* The tool beside this program, where there is one; else its name alone, to be looked up. */
static void
find_tool(const char *name, char path[PATH_MAX])
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	own[n > 0 ? n : 0] = 0;
	slash = strrchr(own, '/');
	if (slash) {
		*slash = 0;
		if (snprintf(path, PATH_MAX, "%s/%s", own, name) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return;
	}
	snprintf(path, PATH_MAX, "%s", name);
}

static int
start(char *const words[], int from, int to, int messages, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX];
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	find_tool(words[0], path);
	if (from >= 0)
		error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	else
		error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
		    O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
	if (!error)
		error = posix_spawnp(child, path, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* What the tool printed goes to standard error. */
static void
print_messages(int messages)
{
	char text[4096];
	ssize_t n;

	if (lseek(messages, 0, SEEK_SET) < 0)
		return;
	while ((n = read(messages, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)n, stderr);
}

/* The last line that the tool printed. */
static void
last_line(int messages, char reason[CHILD_REASON])
{
	off_t end = lseek(messages, 0, SEEK_END);
	off_t from = end > CHILD_REASON - 1 ? end - (CHILD_REASON - 1) : 0;
	ssize_t n = end > 0 ? pread(messages, reason, (size_t)(end - from), from) : 0;
	char *line;

	while (n > 0 && reason[n - 1] == '\n')
		n--;
	reason[n > 0 ? n : 0] = 0;
	line = strrchr(reason, '\n');
	if (line)
		memmove(reason, line + 1, strlen(line));
}

static int
wait_for(const char *object, const char *name, pid_t child, int *status)
{
	pid_t ended;

	do
		ended = waitpid(child, status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return fail_errno(object, "%s is lost", name);
	if (WIFSIGNALED(*status))
		return fail(object, "%s was ended by signal %d (%s)", name, WTERMSIG(*status),
		    strsignal(WTERMSIG(*status)));
	return 0;
}

int
child_run(const char *object, char *const words[], int from, int to, bool silent,
    char reason[CHILD_REASON])
{
	int error, status = 0, result, messages;
	pid_t child;

	reason[0] = 0;
	if ((from >= 0 && lseek(from, 0, SEEK_SET) < 0) || lseek(to, 0, SEEK_SET) < 0 ||
	    ftruncate(to, 0) < 0)
		return fail_errno(object, "cannot be read again");
	messages = child_memory("messages");
	if (messages < 0)
		return -1;
	error = start(words, from, to, messages, &child);
	if (error) {
		close(messages);
		errno = error;
		return fail_errno(object, "%s cannot be run", words[0]);
	}
	result = wait_for(object, words[0], child, &status);
	if (result == 0 && WEXITSTATUS(status) == 0) {
		if (!silent)
			print_messages(messages);
	} else if (result == 0) {
		last_line(messages, reason);
		result = 1;
	}
	close(messages);
	return result;
}
