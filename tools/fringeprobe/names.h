/* Numbers in the names of files. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The number that tells files of a group apart is the last one in the base name, before the suffix.
 * How many bytes of the name come before it; all of it where there is none. */
size_t names_stem(const char *name);
bool names_same_group(const char *a, const char *b);
/* The last number within the first n bytes of a name; false: there is none. */
bool names_number(const char *name, size_t n, double *out);
/* Is one of the blank-separated words in it, in any case? */
bool names_say(const char *name, const char *words);

#endif
