#include "image/quantity.h"

#include <string.h>

bool
quantity_is_length(const char *channel)
{
	static const char *const lengths[] = { "depth", "x", "y", "z", "deviation" };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		if (!strcmp(channel, lengths[i]))
			return true;
	return false;
}

const char *
quantity_unit(const struct frame_head *head, const char *channel)
{
	if (strstr(channel, "phase"))
		return "rad";
	return quantity_is_length(channel) ? meta_get(&head->meta, "length_unit") : NULL;
}
