#include "channel.h"

#include "image/quantity.h"

size_t
channel_usual(const struct frame_head *head)
{
	static const char *const usual[] = { "depth", "z", "absphase", NULL };

	for (size_t i = 0; usual[i]; i++) {
		size_t c = head_channel(head, usual[i]);

		if (c != NO_CHANNEL)
			return c;
	}
	return 0;
}

const char *
channel_unit(const struct frame_head *head, const char *channel)
{
	const char *unit = quantity_unit(head, channel);

	return unit || !quantity_is_length(channel) ? unit : "mm";
}
