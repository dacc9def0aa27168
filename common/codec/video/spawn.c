#define _GNU_SOURCE
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

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

/* Above the child's own, so that no dup2() covers one that is still to be taken. */
static int
move_up(int descriptor)
{
	return descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
}

int
spawn_child(const char *program, const char *const words[], bool own_group, const int given[5],
    pid_t *child)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int from[5], error = 0;

	for (int i = 0; i < 5; i++) {
		from[i] = move_up(given[i]);
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
