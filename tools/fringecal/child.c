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
start(char *const words[], int from, int to, bool silent, pid_t *child)
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
	if (!error && silent)
		error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
		    O_WRONLY, 0);
	if (!error)
		error = posix_spawnp(child, path, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int
child_run(const char *object, char *const words[], int from, int to, bool silent)
{
	pid_t child, ended;
	int error, status;

	if ((from >= 0 && lseek(from, 0, SEEK_SET) < 0) || lseek(to, 0, SEEK_SET) < 0 ||
	    ftruncate(to, 0) < 0)
		return fail_errno(object, "cannot be read again");
	error = start(words, from, to, silent, &child);
	if (error) {
		errno = error;
		return fail_errno(object, "%s cannot be run", words[0]);
	}
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return fail_errno(object, "%s is lost", words[0]);
	if (WIFSIGNALED(status))
		return fail(object, "%s was ended by signal %d (%s)", words[0], WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status) != 0;
}
