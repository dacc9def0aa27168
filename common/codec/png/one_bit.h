/* The key that makes one bit of a PNG file's sample the values 0 and 1, not 0 and 255. */
#ifndef ONE_BIT_H
#define ONE_BIT_H

#include <stdbool.h>
#include <string.h>

#include "frame/head.h"

static inline bool
png_is_one_bit(const struct frame_head *head)
{
	const char *bits = meta_get(&head->meta, "bits");

	return bits && !strcmp(bits, "1");
}

#endif
