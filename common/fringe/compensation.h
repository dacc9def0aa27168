/* The keys that say what was done about the projector's response: `compensation` of patterns and of
 * images of them, and what else names a file. */
#ifndef COMPENSATION_H
#define COMPENSATION_H

#include "frame/meta.h"

/* Sets a key to a file's base name, as in cmd.N. -1 after fail(). */
int compensation_set_file(struct meta *, const char *key, const char *path);
/* Sets the key `compensation` for patterns that go through the table lut_path, or if it is NULL
 * through a power of 1/gamma; removes it where gamma is 1. -1 after fail(). */
int compensation_describe(struct meta *, const char *lut_path, double gamma);

#endif
