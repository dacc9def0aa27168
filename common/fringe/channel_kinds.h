/* What a channel is by its name, as frame(5) lists them; numbers behind the name do not count. */
#ifndef CHANNEL_KINDS_H
#define CHANNEL_KINDS_H

#include <stdbool.h>

/* Is a name one of a list that ends with NULL, with a number behind it or without? */
bool channel_is_named(const char *name, const char *const *list);
/* A phase, an index, a place, a direction: values that are neither good nor bad. */
bool channel_is_position(const char *name);
/* Errors: the less the better. */
bool channel_is_error(const char *name);
/* Neither a wrapped phase nor, as an image may be, one in other units. */
bool channel_is_no_phase(const char *name);

#endif
