/* The names of temporary files, which a signal that ends the process removes. */
#ifndef TEMPORARY_FILES_H
#define TEMPORARY_FILES_H

/* A signal that ends the process removes this file, until temporary_files_forget(). To be called
 * before it exists, since a signal could come between. */
void temporary_files_add(const char *path);
void temporary_files_forget(const char *path);

#endif
