/* Metadata as text lines, and keys that options override. */
#pragma once

#include <stdio.h>

#include "frame/frame.h"
#include "frame/meta.h"

/* ---- key:=value lines, in NRRD headers (nrrd.c) and in the text of image files (codec.c) ---- */

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

/*
 * Parameters that an option gives or else a key (frame/meta.h): words, whole numbers, pairs of
 * numbers. A key with a value of another kind or out of range is an error. All return -1 after
 * fail().
 */

/* An option of type OPT_WORD (-1: not given), else the key's word, else `otherwise`. */
int key_option_word(int option, const struct meta *, const char *key, const char *const *words,
    int otherwise, int *out);
/* One of type OPT_INTEGER (OPT_NONE_INTEGER: not given), else the key's whole number from low to
 * high, else `otherwise`. */
int key_option_whole(long option, const struct meta *, const char *key, long low, long high,
    long otherwise, long *out);
/* Two finite numbers of a key; where it is absent out stays. */
int key_pair(const struct meta *, const char *key, double out[2]);
/* Gives a key that is there these two numbers. */
void key_pair_replace(struct meta *, const char *key, const double v[2]);
/* A range of depths, low < high: of an option of type OPT_NUMBERS (n = 0: not given; `name` in
 * messages), else of the key; NaN where neither is there. */
int key_option_range(const struct numbers *option, const char *name, const struct meta *,
    const char *key, double out[2]);

/* One line where an option wins over a key that says something else. */
void key_option_warn_word(int option, const struct meta *, const char *key,
    const char *const *words);
void key_option_warn_whole(long option, const struct meta *, const char *key);
void key_option_warn_range(const struct numbers *option, const struct meta *, const char *key);
