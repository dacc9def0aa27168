#include "channels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

int
channels_keep(const struct frame *in, size_t own, struct frame **kept)
{
	static const char *const colours[] = { "r", "g", "b" };
	size_t *channel = calloc(own, sizeof(*channel)), n = 0;
	struct frame *chosen;
	int status;

	if (!channel)
		return fail_memory();
	for (size_t c = 0; c < own; c++) {
		bool is_colour = false;

		for (size_t k = 0; k < 3; k++)
			is_colour |= !strcmp(in->head.channel[c], colours[k]);
		if (!is_colour)
			channel[n++] = c;
	}
	status = frame_select(in, channel, n, &chosen);
	free(channel);
	if (status < 0)
		return -1;
	status = frame_to_float(chosen, kept);
	frame_free(chosen);
	return status;
}

int
channels_begin(const struct frame *kept, double white, struct frame **colours, struct frame **out)
{
	static const char *const names[] = { "r", "g", "b" };
	size_t c = kept->head.c;
	struct frame_head head;
	int status;

	if (head_init(&head, kept->head.w, kept->head.h, 3, SAMPLE_FLOAT) < 0)
		return -1;
	status = frame_new(&head, colours);
	head_free(&head);
	if (status < 0 || head_copy(&head, &kept->head) < 0)
		return -1;
	status = head_set_count(&head, c + 3);
	for (size_t k = 0; k < 3 && status == 0; k++)
		snprintf(head.channel[c + k], CHANNEL_NAME_SIZE, "%s", names[k]);
	if (status == 0)
		status = meta_set_number(&head.meta, "max_value", white);
	if (status == 0)
		status = frame_new_empty(&head, out);
	head_free(&head);
	for (size_t k = 0; k < c + 3 && status == 0; k++)
		frame_share(*out, k, k < c ? kept : *colours, k < c ? k : k - c);
	return status;
}
