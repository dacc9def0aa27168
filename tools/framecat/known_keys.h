/* Keys that the tools know, frame(5) and holoimage(5): has --set misspelt one? */
#ifndef FRAMECAT_KNOWN_KEYS_H
#define FRAMECAT_KNOWN_KEYS_H

#include <stdbool.h>

#include "frame/meta.h"

/* Warns of the first key of --set that is one letter off one that the tools know, or has two
 * neighbours of it exchanged, and that the frame does not have. True: it did. */
bool known_keys_warn(const char *settings, const struct meta *);

#endif
