/* Output files that appear only when they are complete. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

struct safe_file;		/* what is known of an open file until it is put in its place */

/* ---- links that somebody else may have put where a file is to be written ---- */

/*
 * -1 after fail() where a symbolic link on the way to path, or its last part, lies in a sticky
 * folder that others may write into (/tmp), and belongs neither to this user nor to the folder's
 * owner: what Linux refuses to open where fs.protected_symlinks is set. Other errors are left to
 * the caller, who opens the path. *new: the folder is there, and nothing of this name in it.
 */
int link_owner_check(const char *path, bool *new);

/* Calls that a signal does not interrupt, and files of a descriptor that another process has set to
 * O_NONBLOCK, which those that inherit it share. They wait where it does not. */

/* As open(2), without EINTR. */
int waiting_open(const char *path, int flags, mode_t permissions);
/* As read(2), without EINTR and EAGAIN. */
ssize_t waiting_read(int fd, void *to, size_t n);
/* As write(2) and writev(2), likewise. */
ssize_t waiting_write(int fd, const void *from, size_t n);
ssize_t waiting_writev(int fd, const struct iovec *, int n);
/* As fdopen(fd, "rb"); but of a descriptor that does not block, fileno() is -1 and data are copied
 * once more. NULL with errno set. */
FILE *waiting_file_input(int fd);
/* As fdopen(fd, "wb"); but fileno() is -1. */
FILE *waiting_file_output(int fd);

/* ---- files without a name, in the folder for temporary ones ---- */

/* $TMPDIR, else /tmp. */
const char *scratch_folder(void);
/* A new file there, for reading and writing, which is gone when it is closed; NULL with errno. */
FILE *scratch_file_open(void);

/* ---- files that appear under their name only when they are complete, and on the disk ---- */

/*
 * Opens a file, for reading and writing, that safe_file_close() puts in the place of path (keep) or
 * drops. Until then it has no name, where the file system can do that: nothing is left of a process
 * that is killed. Elsewhere it is FOLDER/.NAME.PID.N.tmp, which a signal that ends the process
 * removes. A device or a named pipe is written directly, and NULL or "-" is standard output; *place
 * is NULL then. NULL after fail().
 */
FILE *safe_file_open(const char *path, struct safe_file **place);
/* Writes the file's data and its folder to the disk too, unless safe_file_no_sync() was called. 0
 * or -1 after fail(). */
int safe_file_close(FILE *, const char *path, struct safe_file *place, bool keep);
/* Likewise, for one of many files: their folder is written by safe_file_sync_folder(). */
int safe_file_close_one(FILE *, const char *path, struct safe_file *place, bool keep);
int safe_file_sync_folder(void);
/* Something else was made at this path: its folder is to be written too. 0 or -1 after fail(). */
int safe_file_put(const char *path);
/* Before any file is opened. */
void safe_file_no_sync(void);
bool safe_file_syncs(void);
/* What a new file replaces: the file behind a symbolic link, which need not exist, else path
 * itself. A new string, NULL after fail(). */
char *safe_file_final_path(const char *path);
/* Would both names, either of which may be NULL, write the same file? */
bool safe_file_same(const char *a, const char *b);
/* Is it there, and no regular file? */
bool safe_file_is_special(const char *path);
