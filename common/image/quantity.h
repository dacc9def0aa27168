/* What the samples of a channel measure, for labels of axes and colour bars. */
#ifndef QUANTITY_H
#define QUANTITY_H

#include <stdbool.h>

#include "frame/frame.h"

/* Is it a length, like the coordinates of points? */
bool quantity_is_length(const char *channel);
/* The unit: rad of phases; of lengths the frame's key length_unit; NULL where none is known. */
const char *quantity_unit(const struct frame_head *, const char *channel);

#endif
