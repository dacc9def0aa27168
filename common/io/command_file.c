/* Commands with a file of their own, which signals remove. */
#include "io/command_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "io/safe_file.h"

#define FILES_MOST 8		/* a camera and a screen, as a rule */

extern char **environ;

static _Atomic(struct command_file *) open_files[FILES_MOST];	/* a signal removes their folders */

static void
remove_folder(const struct command_file *own)
{
	unlink(own->file);
	rmdir(own->folder);
}

static void
remove_folders(void)
{
	for (size_t i = 0; i < FILES_MOST; i++) {
		struct command_file *own = atomic_load(&open_files[i]);

		if (own)
			remove_folder(own);
	}
}

int
command_run(const char *command, const char *mark, const char *argument)
{
	char *copy = must_strdup(command), *rest = copy, *word;
	char **words = NULL;
	size_t n = 0;
	int status, error;
	pid_t child;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t usual;

	while ((word = strtok_r(rest, " \t", &rest))) {
		words = must_resize(words, n + 2, sizeof(*words));
		words[n++] = strcmp(word, mark) ? word : (char *)argument;
		words[n] = NULL;
	}
	/* its words go where messages go: standard output may be a stream of frames */
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, 2, 1);
	/* which this process ignores (screen_poll()) */
	posix_spawnattr_init(&attributes);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = n ? posix_spawnp(&child, words[0], &files, &attributes, words, environ) : EINVAL;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	free(words);
	free(copy);
	errno = error;
	if (error)
		return fail_errno(command, "cannot be run");
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return fail_errno(command, "cannot be waited for");
	if (WIFSIGNALED(status))
		return fail(command, "ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status) ? fail(command, "exit status %d", WEXITSTATUS(status)) : 0;
}

int
command_file_run(const struct command_file *own)
{
	return command_run(own->command, "%s", own->file);
}

void
command_file_close(struct command_file *own)
{
	if (!own)
		return;
	for (size_t i = 0; i < FILES_MOST; i++) {
		struct command_file *expected = own;

		atomic_compare_exchange_strong(&open_files[i], &expected, NULL);
	}
	remove_folder(own);
	free_all(own->file, own->folder, own->command, own);
}

int
command_file_open(struct command_file **out, const char *option, const char *command,
    const char *name)
{
	const char *at = strstr(command, "%s");
	struct command_file *own;

	if (!at || (at > command && at[-1] != ' ') || (at[2] && at[2] != ' '))
		return fail_usage(option, "'%s' lacks the word %%s, its file", command);
	own = must_alloc(1, sizeof(*own));
	own->command = must_strdup(command);
	own->folder = must_format("%s/fringepipe-XXXXXX", scratch_folder());
	if (!mkdtemp(own->folder)) {
		fail_errno(own->folder, "cannot be made");
		own->file = must_strdup("");
		command_file_close(own);
		return -1;
	}
	own->file = must_format("%s/%s", own->folder, name);
	for (size_t i = 0; i < FILES_MOST; i++) {
		struct command_file *none = NULL;

		if (atomic_compare_exchange_strong(&open_files[i], &none, own))
			break;
	}
	ending_signals_watch(remove_folders);
	*out = own;
	return 0;
}
