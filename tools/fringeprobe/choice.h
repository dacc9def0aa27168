/* Which of the images that were read are looked at. */
#ifndef CHOICE_H
#define CHOICE_H

#include "probe.h"

/* Images of one size that are all in colour or all grey. object: for messages. -1 after fail(). */
int choice_make(struct probe *, const char *object);
/* What a message adds where they are in colour; else "". */
const char *choice_colour_hint(const struct probe *);

#endif
