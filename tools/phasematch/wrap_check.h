/* Is a phase that should be absolute a wrapped one? */
#ifndef WRAP_CHECK_H
#define WRAP_CHECK_H

#include "match_row.h"

/* Fails where a phase of either side stays within one turn in most rows, and falls back by one, or
 * rises, twice and more along them. path: that of --right. */
int wrap_check(const char *path, const struct frame *in, const struct matching *);

#endif
