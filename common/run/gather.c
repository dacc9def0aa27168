/* Collects the planes of incoming frames until a measurement is complete. */
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
	if (n > 0 && link->waitings > 0)	/* a link that no frame has reached has no list */
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

	if (status < 0)		/* what waits is not whole any more */
		link->run.chain->losses.stopped = true;
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

/* Forgets the first n planes that wait, of which there are as many. */
static void
drop_planes(struct link *link, size_t n)
{
	size_t used = 0;

	link->planes -= n;
	while (n > 0) {
		size_t left = link->waiting[used]->head.c - link->taken;
		size_t take = left < n ? left : n;

		link->taken = take == left ? 0 : link->taken + take;
		used += take == left;
		n -= take;
	}
	drop_waiting(link, used);
}

/* As gather_next(), where the measurement at hand is lost: its planes are only counted. How many
 * planes a measurement has is known from the last one, or from its first frame that can be read. */
static int
count_lost(struct link *link, bool *whole)
{
	struct gather_loss *loss = &link->loss;

	*whole = false;
	if (link->want == 0 && link->waitings && ask_stage(link) < 0)
		return -1;
	if (link->want == 0 || (loss->images && link->image_planes == 0))
		return 0;
	loss->planes += loss->images * link->image_planes;
	loss->images = 0;
	if (loss->planes + link->planes < link->want) {
		loss->planes += link->planes;
		drop_planes(link, link->planes);
		return 0;
	}
	if (loss->planes < link->want) {
		drop_planes(link, link->want - loss->planes);
		loss->planes = link->want;
	}
	loss->planes -= link->want;
	loss->on = loss->planes > 0;
	return GATHER_LOST;
}

/* Two frames of one measurement differ in size or type: says which file it is. */
static int
check_alike(const struct link *link, const struct frame *in)
{
	const struct losses *losses = &link->run.chain->losses;
	const struct frame_head *head = &in->head, *first;

	if (!losses->on || !losses->path || link->run.position || link->waitings == 0)
		return 0;
	first = &link->waiting[0]->head;
	if (head->w == first->w && head->h == first->h && head->type == first->type)
		return 0;
	return fail(losses->path, "is %zu x %zu %s, %s before it %zu x %zu %s", head->w, head->h,
	    sample_name(head->type), losses->first ? losses->first : "one",
	    first->w, first->h, sample_name(first->type));
}

void
gather_lose(struct link *link, size_t images, const struct fail_record *reason)
{
	struct gather_loss *loss = &link->loss;

	if (loss->on) {
		loss->more++;
	} else {
		*loss = (struct gather_loss){ .on = true, .reason = *reason };
		loss->planes = link->planes;
		drop_planes(link, link->planes);
	}
	loss->images += images;
}

bool
gather_break(struct link *link)
{
	bool incomplete = link->waitings || link->loss.on;

	if (!link->loss.on)
		link->loss.reason.message[0] = '\0';
	link->loss.on = false;
	drop_waiting(link, link->waitings);
	link->planes = link->taken = 0;
	return incomplete;
}

int
gather_put(struct link *link, struct frame *in)
{
	if (check_alike(link, in) < 0 || reserve_waiting(link) < 0) {
		link->image_planes = in->head.c;
		frame_free(in);
		return -1;
	}
	link->image_planes = in->head.c;
	link->waiting[link->waitings++] = in;
	link->planes += in->head.c;
	return 0;
}

size_t
gather_planes(const struct link *link)
{
	const struct gather_loss *loss = &link->loss;

	return link->planes + (loss->on ? loss->planes + loss->images * link->image_planes : 0);
}

int
gather_next(struct link *link, struct frame **out, bool *whole)
{
	*whole = false;
	if (link->loss.on)
		return count_lost(link, whole);
	if (link->waitings == 0)
		return 0;
	if (ask_stage(link) < 0)
		return -1;
	if (link->want == 0)
		return fail(NULL, "internal error: %s gathers no planes", link->run.stage->name);
	if (link->planes < link->want)
		return 0;
	*whole = true;
	return take_gathered(link, out) < 0 ? -1 : 1;
}
