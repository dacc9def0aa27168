/* key:=value lines, in NRRD headers (nrrd_header.c) and in the text of image files (codec.c). */
#ifndef KEYLINE_H
#define KEYLINE_H

#include <stdbool.h>
#include <stdio.h>

#include "frame/frame.h"

/* Writes one line; a backslash becomes \\ and a newline \n, as NRRD requires. */
void keyline_put(FILE *, const char *key, const char *value);
/* Writes `channels:=...` and all metadata. Bytes that would break the line become _. */
void keyline_put_head(FILE *, const struct frame_head *);

/*
 * Cuts a line at := in place and undoes the escapes. What meta_set() would refuse is changed:
 * newlines into blanks, the blank after a colon removed, : and = in a key into _.
 * False where there is no := or no key.
 */
bool keyline_split(char *line, char **key, char **value);
/* Names the channels if there are as many names as channels and each one fits. */
void keyline_name_channels(struct frame_head *, const char *names);

#endif
