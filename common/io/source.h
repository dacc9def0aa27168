/*
 * Reading frames from a file, a folder or standard input, in any known format, recognised by its
 * first bytes. Every function returns -1, or NULL, after fail(path, ...).
 */
#pragma once

#include "io/codec.h"

struct source;

/* path "-" is standard input. NULL after fail(). */
struct source *source_open(const char *path);
/* The next frame: 1, 0 at the end, -1 after fail(). */
int source_next(struct source *, struct frame **out);
/* Gives the file at hand up, which has failed. Does another one follow in the folder? */
bool source_skip(struct source *);
void source_close(struct source *);
/*
 * As source_open() for a stage that reads files of other kinds itself: `also` (ended by NULL; NULL:
 * none) are their formats, without load, recognised by sniff or else by suffix. source_other()
 * returns such a file at its start, maybe a pipe, and its format; NULL if path is an image. raw:
 * the words of --raw, for a file without a head; NULL: it has one.
 */
struct source *source_open_as(const char *path, const struct codec *const *also, const char *raw);
FILE *source_other(const struct source *, const struct codec **which);
/* The only frame of a file; fails if it holds none, or its writer failed behind it; further frames
 * are left alone. */
int source_load(const char *path, struct frame **out);
