/* Files in the user's cache folder: what may be lost at any time, and costs only time then. */
#ifndef CACHE_H
#define CACHE_H

#include <stddef.h>

/* The path of a file there, under $XDG_CACHE_HOME or ~/.cache; NULL where there is no such place.
 * For the caller to free. */
char *cache_path(const char *name);
/* What a file holds, with a 0 behind it, for the caller to free; NULL where there is none. path may
 * be NULL. */
void *cache_read(const char *path, size_t *bytes);
/* Replaces a file at once and whole, and makes the folders above it. -1 with errno set, and no
 * message. */
int cache_write(const char *path, const void *data, size_t bytes);

#endif
