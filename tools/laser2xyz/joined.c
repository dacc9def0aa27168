#include "joined.h"

#include <math.h>

#include "base/fail.h"

/* What is true of one frame alone has no place in the table of all. */
static const char *const own_keys[] = { "name", "stage_mm", "stage_deg", "time_s", "points" };

static int
begin(struct joined *joined, const struct frame_head *head)
{
	size_t c = head->c;

	if (head_channel(head, "frame") != NO_CHANNEL)
		return fail("--join", "input has a channel frame already");
	if (head_copy(&joined->head, head) < 0)
		return -1;
	joined->begun = true;
	if (head_set_count(&joined->head, c + 1) < 0)
		return -1;
	memcpy(joined->head.channel[c], "frame", 6);
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
		meta_remove(&joined->head.meta, own_keys[i]);
	joined->head.spacing[0] = joined->head.spacing[1] = NAN;
	joined->rows.c = c + 1;
	return 0;
}

static bool
same_channels(const struct joined *joined, const struct frame_head *head)
{
	if (head->c + 1 != joined->head.c)
		return false;
	for (size_t k = 0; k < head->c; k++)
		if (strcmp(head->channel[k], joined->head.channel[k]))
			return false;
	return true;
}

int
joined_add(struct joined *joined, const struct frame *frame, double number)
{
	const struct frame_head *head = &frame->head;
	size_t c = head->c;

	if (!joined->begun && begin(joined, head) < 0)
		return -1;
	if (!same_channels(joined, head))
		return fail("--join", "frame %.0f has other channels than the first one", number);
	for (size_t i = 0; i < head->w * head->h; i++) {
		size_t x = i % head->w, y = i / head->w;
		float *row;

		if (isnan(frame_floats(frame, c - 1, y)[x]))
			continue;
		row = table_rows_add(&joined->rows);
		if (!row)
			return -1;
		for (size_t k = 0; k < c; k++)
			row[k] = frame_floats(frame, k, y)[x];
		row[c] = (float)number;
	}
	return 0;
}

int
joined_take(struct joined *joined, struct frame **out)
{
	int status = table_rows_frame(&joined->rows, &joined->head, out);

	joined_free(joined);
	return status;
}

void
joined_free(struct joined *joined)
{
	if (joined->begun)
		head_free(&joined->head);
	table_rows_free(&joined->rows);
	*joined = (struct joined){ 0 };
}
