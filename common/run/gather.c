/*
 * How incoming frames become inputs of a stage: colour images become the planes that it reads, and
 * planes are collected until a measurement is complete.
 */
#include "run/gather.h"

#include "base/process.h"

/* ---- colour ---- */

static bool
planes_equal(const struct frame *frame, size_t a, size_t b)
{
	size_t bytes = frame->head.w * sample_size(frame->head.type);

	for (size_t y = 0; y < frame->head.h; y++)
		if (memcmp(frame_row(frame, a, y), frame_row(frame, b, y), bytes))
			return false;
	return true;
}

int
colour_reduce(const struct run *run, struct frame **frame)
{
	size_t channel[3] = { 0, 1, 2 }, n = 1;
	struct frame *reduced;
	const struct frame_head *head = &(*frame)->head;
	bool grey_alpha = head->c == 2 && !strcmp(head->channel[1], "a");
	bool yuv = head->c == 3 && head_channel(head, "luma") == 0 &&
	    head_channel(head, "chroma_u") == 1 && head_channel(head, "chroma_v") == 2;

	if (run->colour == COLOUR_PLANES && !head_is_colour(head))
		return fail("--rgb", "image is not in colour: channel %.40s where r g b should be",
		    head->channel[0]);
	if (run->colour == COLOUR_KEEP || (yuv && run->colour == COLOUR_CHOOSE) ||
	    (!grey_alpha && !yuv && !head_is_colour(head)))
		return 0;
	if ((yuv && run->colour != COLOUR_GREY && run->colour != COLOUR_LUMA) ||
	    (!yuv && !grey_alpha && run->colour == COLOUR_LUMA))
		return fail("--channel", "image has the channels %s, and none of this name",
		    yuv ? "luma chroma_u chroma_v" : "r g b");
	if (yuv && run->verbose && !run->link->luma_noted)
		warn(NULL, "of images luma chroma_u chroma_v the luma is taken");
	run->link->luma_noted |= yuv;
	if (grey_alpha || yuv)
		n = 1;		/* opacity and differences of colour are no captures */
	else if (run->colour == COLOUR_PLANES)
		n = 3;
	else if (run->colour >= COLOUR_RED && run->colour <= COLOUR_BLUE)
		channel[0] = (size_t)run->colour - COLOUR_RED;
	else if (planes_equal(*frame, 0, 1) && planes_equal(*frame, 0, 2))
		n = 1;
	else if (run->colour == COLOUR_CHOOSE)
		return 0;
	else
		return fail(NULL, "image is in colour: name one with --channel, %s",
		    opt_row(run->stage->options, 0, "rgb") ?
		    "or say --rgb if its three planes are three captures" :
		    "red where a red laser or light made it");
	if (frame_select(*frame, channel, n, &reduced) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		strcpy(reduced->head.channel[i], "image");
	frame_replace(frame, reduced);
	return 0;
}

/* ---- gathering ---- */

/* Channels first .. first + n - 1 of a frame; lists in the metadata are cut alike. */
static int
select_part(const struct frame *frame, size_t first, size_t n, struct frame **part)
{
	size_t *channel = must_alloc(n, sizeof(*channel));
	int status;

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
	link->image_planes = in->head.c;
	if (check_alike(link, in) < 0) {
		frame_free(in);
		return -1;
	}
	if (link->waitings == link->waiting_room) {
		link->waiting_room = 2 * link->waitings + 16;
		link->waiting = must_resize(link->waiting, link->waiting_room,
		    sizeof(*link->waiting));
		link->part = must_resize(link->part, link->waiting_room, sizeof(*link->part));
	}
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
