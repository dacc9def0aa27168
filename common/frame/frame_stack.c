/* Several frames of one size as one frame of all their channels; declared in frame.h. */
#include "frame/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static int
check_stackable(struct frame *const *frames, size_t n, size_t *channels)
{
	const struct frame_head *first = &frames[0]->head;

	*channels = 0;
	for (size_t i = 0; i < n; i++) {
		const struct frame_head *head = &frames[i]->head;

		if (head->w != first->w || head->h != first->h)
			return fail(NULL, "images differ in size: %zu x %zu, then %zu x %zu",
			    first->w, first->h, head->w, head->h);
		if (head->type != first->type)
			return fail(NULL, "images differ in sample type: %s, then %s",
			    sample_name(first->type), sample_name(head->type));
		*channels += head->c;
	}
	return 0;
}

static int
stacked_head(struct frame *const *frames, size_t n, size_t channels, struct frame_head *head)
{
	const struct meta **meta = calloc(n, sizeof(*meta));
	size_t *planes = calloc(n, sizeof(*planes)), c = 0;
	int status = -1;

	if (!meta || !planes) {
		fail_memory();
		goto done;
	}
	if (head_init(head, frames[0]->head.w, frames[0]->head.h, channels, frames[0]->head.type) <
	    0)
		goto done;
	memcpy(head->spacing, frames[0]->head.spacing, sizeof(head->spacing));
	memcpy(head->unit, frames[0]->head.unit, sizeof(head->unit));
	for (size_t i = 0; i < n; i++) {
		meta[i] = &frames[i]->head.meta;
		planes[i] = frames[i]->head.c;
		for (size_t k = 0; k < planes[i]; k++, c++)
			memcpy(head->channel[c], frames[i]->head.channel[k], CHANNEL_NAME_SIZE);
	}
	status = meta_gather(&head->meta, meta, planes, n);
	if (status < 0)
		head_free(head);
done:
	free(meta);
	free(planes);
	return status;
}

void
frame_stacking_free(struct frame_stacking *last)
{
	for (size_t i = 0; i < last->n; i++)
		head_free(&last->part[i]);
	free(last->part);
	head_free(&last->whole);
	*last = (struct frame_stacking){ 0 };
}

static bool
is_stacked_again(const struct frame_stacking *last, struct frame *const *frames, size_t n)
{
	for (size_t i = 0; i < n && n == last->n; i++)
		if (!head_equal(&last->part[i], &frames[i]->head))
			return false;
	return n == last->n;
}

/* Makes the head of the whole and keeps copies of the heads it was made of. */
static int
stacking_new(struct frame_stacking *last, struct frame *const *frames, size_t n)
{
	size_t channels;

	frame_stacking_free(last);
	if (check_stackable(frames, n, &channels) < 0 ||
	    stacked_head(frames, n, channels, &last->whole) < 0)
		return -1;
	last->part = calloc(n, sizeof(*last->part));
	if (!last->part)
		return fail_memory();
	for (; last->n < n; last->n++)
		if (head_copy(&last->part[last->n], &frames[last->n]->head) < 0)
			return -1;
	return 0;
}

int
frame_stack(struct frame *const *frames, size_t n, struct frame_stacking *last, struct frame **out)
{
	size_t c = 0;

	*out = NULL;
	if (!is_stacked_again(last, frames, n) && stacking_new(last, frames, n) < 0) {
		frame_stacking_free(last);
		return -1;
	}
	if (frame_new_empty(&last->whole, out) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < frames[i]->head.c; k++)
			frame_share(*out, c++, frames[i], k);
	return 0;
}
