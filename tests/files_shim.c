/* Preloaded by tests/files.bats: a file system as it might be. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* NO_TMPFILE: none that has files without a name. */
int
open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (getenv("NO_TMPFILE") && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return real(path, flags, mode);
}

/* ORDER: a file with a line for each file that is written to the disk or gets its name. */
static void
note_order(const char *what, const struct stat *st)
{
	const char *order = getenv("ORDER");
	FILE *file = order && S_ISREG(st->st_mode) ? fopen(order, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%s %lu\n", what, (unsigned long)st->st_ino);
	fclose(file);
}

/* LINK_FAILS: one that gives them none later. */
int
linkat(int from, const char *old, int to, const char *new, int flags)
{
	int (*real)(int, const char *, int, const char *, int) = dlsym(RTLD_NEXT, "linkat");
	struct stat st;

	if (getenv("LINK_FAILS")) {
		errno = EPERM;
		return -1;
	}
	if (flags & AT_EMPTY_PATH ? fstat(from, &st) == 0 : stat(old, &st) == 0)
		note_order("name", &st);
	return real(from, old, to, new, flags);
}

/* FSYNC_FILE, FSYNC_FOLDER: the error that it answers with, and a line for each call in SYNCED. */
int
fsync(int fd)
{
	struct stat st;
	const char *error, *synced = getenv("SYNCED");
	FILE *file;

	if (fstat(fd, &st) < 0)
		return -1;
	if (synced && (file = fopen(synced, "a"))) {
		fprintf(file, "%s\n", S_ISDIR(st.st_mode) ? "folder" : "file");
		fclose(file);
	}
	note_order("disk", &st);
	error = getenv(S_ISDIR(st.st_mode) ? "FSYNC_FOLDER" : "FSYNC_FILE");
	errno = error ? atoi(error) : 0;
	return error ? -1 : 0;
}
