/* Recognising the format of a file by its first bytes. */
#ifndef SNIFF_H
#define SNIFF_H

#include <sys/types.h>

#include "io/codec.h"

#define SNIFF_MAX 512		/* bytes that formats look at */

/* The format of a file that starts with these n bytes; NULL if none is known. `also`: the caller's
 * own formats (ended by NULL), which come after those of images; NULL if it has none. */
const struct codec *sniff_codec(const struct codec *const *also, const unsigned char *start,
    size_t n);
/* The first bytes of a file from `here` on, up to `most`: their number, less where the file ends;
 * -1 with errno. */
ssize_t sniff_read(int fd, void *start, size_t most, off_t here);
/* fail() for a file that starts with these n bytes; returns -1. */
int sniff_fail(const char *path, const unsigned char *start, size_t n);

#endif
