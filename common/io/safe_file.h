/* Files that appear under their name only when they are complete, and on the disk. */
#ifndef SAFE_FILE_H
#define SAFE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct safe_file;		/* what is known of an open file until it is put in its place */

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

#endif
