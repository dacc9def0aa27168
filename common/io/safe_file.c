#define _GNU_SOURCE
#include "io/safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

#define TEMPORARY_MOST 16	/* temporary files at a time that a signal removes */

/* ---- a signal that ends the process removes its temporary files ---- */

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_READY };

/* Fixed, so that a signal handler can read it at any moment. */
static struct {
	atomic_int state;
	char path[4096];
} temporary_files[TEMPORARY_MOST];

static void
remove_temporary_files(int signal)
{
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (atomic_load(&temporary_files[i].state) == SLOT_READY)
			unlink(temporary_files[i].path);
	raise(signal);		/* SA_RESETHAND: it ends the process as without this handler */
}

static void
watch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU,
		SIGXFSZ };
	struct sigaction action = { .sa_handler = remove_temporary_files,
		.sa_flags = (int)SA_RESETHAND };
	struct sigaction old;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL) /* not where nohup or the shell ignores it */
			sigaction(signals[i], &action, NULL);
}

/* A signal that ends the process removes this file, until temporary_forget(). */
static void
temporary_add(const char *path)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_signals);
	for (size_t i = 0; i < TEMPORARY_MOST; i++) {
		int free_state = SLOT_FREE;

		if (strlen(path) < sizeof(temporary_files[i].path) &&
		    atomic_compare_exchange_strong(&temporary_files[i].state, &free_state,
		    SLOT_TAKEN)) {
			strcpy(temporary_files[i].path, path);
			atomic_store(&temporary_files[i].state, SLOT_READY);
			return;
		}
	}
}

static void
temporary_forget(const char *path)
{
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (atomic_load(&temporary_files[i].state) == SLOT_READY &&
		    !strcmp(temporary_files[i].path, path))
			atomic_store(&temporary_files[i].state, SLOT_FREE);
}

/* ---- files that appear when they are complete ---- */

char *
safe_file_final_path(const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		real = strdup(path);
	if (!real)
		fail_memory();
	return real;
}

bool
safe_file_is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Creates FOLDER/.NAME.PID.N.tmp with the first N that is free. */
static int
temporary_create(const char *final, char **temporary)
{
	const char *slash = strrchr(final, '/'), *name = slash ? slash + 1 : final;
	int fd = -1;

	for (unsigned i = 0; fd < 0 && i < 1000; i++) {
		if (asprintf(temporary, "%.*s.%.200s.%ld.%u.tmp", (int)(name - final), final, name,
		    (long)getpid(), i) < 0) {
			*temporary = NULL;
			return fail_memory();
		}
		temporary_add(*temporary); /* before it exists: a signal could come between */
		fd = open(*temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0) {
			temporary_forget(*temporary);
			free(*temporary);
			*temporary = NULL;
			if (errno != EEXIST)
				break;
		}
	}
	return fd;
}

static void
temporary_remove(char *temporary)
{
	unlink(temporary);
	temporary_forget(temporary);
	free(temporary);
}

/* A temporary file in the folder of path, with the permissions of an existing file. */
static FILE *
temporary_open(const char *path, char **temporary)
{
	char *final = safe_file_final_path(path);
	struct stat st;
	FILE *file;
	int fd;

	*temporary = NULL;
	if (!final)
		return NULL;
	if (access(final, F_OK) == 0 && access(final, W_OK) < 0) {
		fail_errno(path, "cannot be written");
		free(final);
		return NULL;
	}
	fd = temporary_create(final, temporary);
	file = fd < 0 ? NULL : fdopen(fd, "w+b");
	if (!file) {
		fail_errno(path, "cannot be created");
		if (fd >= 0) {
			close(fd);
			temporary_remove(*temporary);
			*temporary = NULL;
		}
	} else if (stat(final, &st) == 0) {
		(void)fchmod(fd, st.st_mode & 07777);	/* where it fails, the umask's will do */
	}
	free(final);
	return file;
}

FILE *
safe_file_open(const char *path, char **temporary)
{
	FILE *file;

	*temporary = NULL;
	if (!path || !strcmp(path, "-"))
		return stdout;
	if (!safe_file_is_special(path))
		return temporary_open(path, temporary);
	file = fopen(path, "wb");
	if (!file)
		fail_errno(path, "cannot be opened for writing");
	return file;
}

int
safe_file_close(FILE *file, const char *path, char *temporary, bool keep)
{
	const char *name = file == stdout ? "standard output" : path;
	int status = 0;
	bool lost = ferror(file) != 0;

	errno = lost ? EIO : 0;
	if ((file == stdout ? fflush(file) : fclose(file)) != 0 || lost)
		status = fail_errno(name, "cannot be written");
	if (temporary) {
		char *final = safe_file_final_path(path);

		if (!final)
			status = -1;
		else if (status == 0 && keep && rename(temporary, final) < 0)
			status = fail_errno(path, "cannot be put in its place");
		temporary_remove(temporary);	/* after a rename it does not exist */
		free(final);
	}
	return keep ? status : 0;
}
