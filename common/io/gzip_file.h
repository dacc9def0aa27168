/* The gzip data of a file, by libdeflate, in one piece: two to three times as soon as by zlib. */
#ifndef GZIP_FILE_H
#define GZIP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Unpacks exactly n bytes, of one member or several that follow one another, from the file's
 * position on; then the file is at its end. False: it is where it was, and the caller unpacks it
 * piece by piece and finds out what is wrong: a pipe, damaged data, other data than gzip, more
 * than n bytes, more than 256 MiB.
 */
bool gzip_file_unpack(FILE *, void *to, size_t n);

#endif
