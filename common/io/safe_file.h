/* Files that appear under their name only when they are complete. */
#ifndef SAFE_FILE_H
#define SAFE_FILE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Opens a temporary file in the folder of path; safe_file_close() renames it (keep) or removes it,
 * and so does a signal that ends the process. A device or a named pipe is written directly, and
 * NULL or "-" is standard output. NULL after fail().
 */
FILE *safe_file_open(const char *path, char **temporary);
int safe_file_close(FILE *, const char *path, char *temporary, bool keep);
/* What the rename replaces: the file behind a symbolic link, else path itself. A new string, NULL
 * after fail(). */
char *safe_file_final_path(const char *path);
/* Is it there, and no regular file? */
bool safe_file_is_special(const char *path);

#endif
