#include "run/gather.h"

#include <stdlib.h>
#include <string.h>

/* The first n channels of a frame in *part, the rest in *rest, lists in the metadata divided alike.
 */
static int
split(struct frame *frame, size_t n, struct frame **part, struct frame **rest)
{
	size_t c = frame->head.c, *channel = calloc(c, sizeof(*channel));
	int status;

	*rest = NULL;
	if (!channel)
		return fail_memory();
	for (size_t i = 0; i < c; i++)
		channel[i] = i;
	status = frame_select(frame, channel, n, part);
	if (status == 0 && frame_select(frame, channel + n, c - n, rest) < 0) {
		frame_free(*part);
		status = -1;
	}
	free(channel);
	if (status < 0)
		return -1;
	if (meta_slice(&(*part)->head.meta, c, 0, n) < 0 ||
	    meta_slice(&(*rest)->head.meta, c, n, c - n) < 0) {
		frame_free(*part);
		frame_free(*rest);
		return -1;
	}
	return 0;
}

/* Room for one more. */
static int
reserve_waiting(struct link *link)
{
	size_t room = link->waitings + 16;
	struct frame **more;

	if (link->waitings < link->waiting_room)
		return 0;
	more = reallocarray(link->waiting, room, sizeof(*more));
	if (!more)
		return fail_memory();
	link->waiting = more;
	link->waiting_room = room;
	return 0;
}

/* Takes exactly the wanted planes off the waiting frames. */
static int
take_gathered(struct link *link, struct frame **out)
{
	size_t taken = 0, n = 0;
	struct frame *part, *rest;
	int status;

	while (taken + link->waiting[n]->head.c < link->want)
		taken += link->waiting[n++]->head.c;
	if (taken + link->waiting[n]->head.c > link->want) {
		struct frame **more;

		if (reserve_waiting(link) < 0)
			return -1;
		more = link->waiting;
		if (split(more[n], link->want - taken, &part, &rest) < 0)
			return -1;
		frame_free(more[n]);
		memmove(more + n + 1, more + n, (link->waitings - n) * sizeof(*more));
		more[n] = part;
		more[n + 1] = rest;
		link->waitings++;
	}
	n++;
	if (n == 1) {
		*out = link->waiting[0];
		status = 0;
	} else {
		status = frame_stack(link->waiting, n, &link->stacking, out);
		for (size_t i = 0; i < n; i++)
			frame_free(link->waiting[i]);
	}
	link->waitings -= n;
	link->planes -= link->want;
	memmove(link->waiting, link->waiting + n, link->waitings * sizeof(*link->waiting));
	return status;
}

int
gather_put(struct link *link, struct frame *in)
{
	if (reserve_waiting(link) < 0) {
		frame_free(in);
		return -1;
	}
	link->waiting[link->waitings++] = in;
	link->planes += in->head.c;
	return 0;
}

int
gather_next(struct link *link, struct frame **out)
{
	if (link->waitings == 0)
		return 0;
	if (link->run.body->gather(&link->run, &link->waiting[0]->head, &link->want) < 0)
		return -1;
	if (link->planes < link->want)
		return 0;
	return take_gathered(link, out) < 0 ? -1 : 1;
}
