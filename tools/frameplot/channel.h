/* Which channel is shown where none is named, and in what unit. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stddef.h>

#include "frame/head.h"

/* The index of the channel that is shown where none is named. */
size_t channel_usual(const struct frame_head *);
/* The unit of a channel, for a label; NULL: none. Lengths of unknown unit are taken for mm. */
const char *channel_unit(const struct frame_head *, const char *channel);

#endif
