/*
 * The names of files that a run has given to frames, so that no name is given twice. Few steps for
 * each name, however many there are and however they are made.
 */
#ifndef TAKEN_NAMES_H
#define TAKEN_NAMES_H

#include <stddef.h>

struct taken_names;

/* NULL after fail(). */
struct taken_names *taken_names_new(void);
void taken_names_free(struct taken_names *);
/*
 * Takes `name`; where it is taken, NAME-NUMBER with four digits or more, of the first number from
 * `number` on that is free. What was taken, valid until taken_names_free(); NULL after fail().
 */
const char *taken_names_add(struct taken_names *, const char *name, size_t number);

#endif
