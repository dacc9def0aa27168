/* Files in the user's cache folder, whose loss at any time costs only time. */
#pragma once

#include <stddef.h>

/* The path of a file in it, under $XDG_CACHE_HOME or ~/.cache, which the caller frees; NULL where
 * there is no such folder. */
char *cache_path(const char *name);
/* The content of a file, ended by a 0; the caller frees it. NULL where there is none, or one of
 * another user. path may be NULL. */
void *cache_read(const char *path, size_t *bytes);
/* Replaces a file atomically and makes the folders above it. -1 with errno set, and no
 * message. */
int cache_write(const char *path, const void *data, size_t bytes);
/* The same with a checksum behind the content: a file whose bytes are not those that were written
 * is none. The 0 that ends what cache_read() returns is left out. */
void *cache_read_sealed(const char *path, size_t *bytes);
int cache_write_sealed(const char *path, const void *data, size_t bytes);
