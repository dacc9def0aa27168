/* A frame's keys as tags of a container. */
#ifndef VIDEO_TAGS_H
#define VIDEO_TAGS_H

#include <stdio.h>

#include "frame/frame.h"

/* The keys that hold of the first frame alone: their names. */
#define TAGS_FIRST_KEY "video_first"

enum tags_relation { TAGS_EQUAL, TAGS_DIFFER, TAGS_MEANING_DIFFERS };

/* What a later frame's keys have in common with the first's; *key: one that differs. Times, names,
 * check sums of a picture and commands may. TAGS_MEANING_DIFFERS: samples mean something else. */
enum tags_relation tags_compare(const struct meta *first, const struct meta *later,
    const char **key);
/*
 * Writes the head's keys as ffmpeg's metadata text, from which it makes tags; the keys in which the
 * second frame (NULL: there is none) differs are named as those of the first alone. w, h: of
 * the pictures, larger than the frames where those were padded. levels: the value of LEVELS_KEY,
 * empty: none. -1 after fail(path, ...).
 */
int tags_write(const char *path, const struct frame_head *, const struct meta *second, size_t w,
    size_t h, const char *levels, FILE *to);
/* Takes the keys of the first frame away; *list is TAGS_FIRST_KEY's value. -1 after fail(). */
int tags_forget_first(struct meta *, const char *list);

#endif
