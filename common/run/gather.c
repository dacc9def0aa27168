#include "run/gather.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more. */
static int
reserve_waiting(struct link *link)
{
	size_t room = 2 * link->waitings + 16;
	struct frame **more;

	if (link->waitings < link->waiting_room)
		return 0;
	more = reallocarray(link->waiting, room, sizeof(*more));
	if (!more)
		return fail_memory();
	link->waiting = more;
	more = reallocarray(link->part, room, sizeof(*more));
	if (!more)
		return fail_memory();
	link->part = more;
	link->waiting_room = room;
	return 0;
}

/* Channels first .. first + n - 1 of a frame; lists in the metadata are cut alike. */
static int
select_part(const struct frame *frame, size_t first, size_t n, struct frame **part)
{
	size_t *channel;
	int status;

	channel = calloc(n, sizeof(*channel));
	if (!channel)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		channel[i] = first + i;
	status = frame_select(frame, channel, n, part);
	free(channel);
	if (status < 0)
		return -1;
	if (meta_slice(&(*part)->head.meta, frame->head.c, first, n) < 0) {
		frame_free(*part);
		return -1;
	}
	return 0;
}

/* How many planes the stage wants, by the head of what is left of the first waiting frame. */
static int
ask_stage(struct link *link)
{
	struct frame_head head = link->waiting[0]->head;
	size_t c = head.c;
	int status = 0;

	head.channel += link->taken;
	head.c -= link->taken;
	meta_copy(&head.meta, &link->waiting[0]->head.meta);
	if (link->taken)
		status = meta_slice(&head.meta, c, link->taken, head.c);
	if (status == 0)
		status = link->run.body->gather(&link->run, &head, &link->want);
	meta_free(&head.meta);
	return status;
}

/* Forgets the first waiting frames, all of whose planes were taken. */
static void
drop_waiting(struct link *link, size_t n)
{
	for (size_t i = 0; i < n; i++)
		frame_free(link->waiting[i]);
	link->waitings -= n;
	memmove(link->waiting, link->waiting + n, link->waitings * sizeof(*link->waiting));
}

/* Takes exactly the wanted planes off the waiting frames, as parts of which there are *n. */
static int
take_parts(struct link *link, struct frame **part, size_t *n)
{
	size_t wanted = link->want, used = 0;

	for (*n = 0; wanted > 0; (*n)++) {
		struct frame *frame = link->waiting[*n];
		size_t c = frame->head.c, left = c - link->taken;
		size_t take = left < wanted ? left : wanted;

		if (take == c) {	/* all of it */
			part[*n] = frame;
			link->waiting[*n] = NULL;
		} else if (select_part(frame, link->taken, take, &part[*n]) < 0) {
			return -1;
		}
		wanted -= take;
		link->taken = take == left ? 0 : link->taken + take;
		used += take == left;
	}
	drop_waiting(link, used);
	link->planes -= link->want;
	return 0;
}

static int
take_gathered(struct link *link, struct frame **out)
{
	struct frame **part = link->part;
	size_t n = 0;
	int status = take_parts(link, part, &n);

	if (status == 0 && n == 1) {
		*out = part[0];
		part[0] = NULL;
	} else if (status == 0) {
		status = frame_stack(part, n, &link->stacking, out);
	}
	for (size_t i = 0; i < n; i++)
		frame_free(part[i]);
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
	if (ask_stage(link) < 0)
		return -1;
	if (link->want == 0)
		return fail(NULL, "internal error: %s gathers no planes", link->run.stage->name);
	if (link->planes < link->want)
		return 0;
	return take_gathered(link, out) < 0 ? -1 : 1;
}
