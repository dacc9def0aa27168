#define _GNU_SOURCE
#include "run/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/flow_gpu.h"
#include "run/placement.h"
#include "run/device.h"
#include "io/shared_frames.h"
#include "io/write_behind.h"
#include "base/progress.h"
#include "io/read_ahead.h"
#include "run/segment.h"

#define STEP_BYTES (1u << 20)	/* what is touched at a time, input to output: half a common L2 */
#define STEP_LEAST 24
#define STEP_MOST 64
#define STEALS_LEAST 8		/* rows that a thread takes off another's share */

static int push(struct chain *, size_t at, struct frame *);

/* ---- images beside the input ---- */

static int
second_input_load(struct second_input *beside)
{
	struct frame *frame;
	int got;

	if (beside->single)
		return 0;
	if (!beside->source) {
		beside->source = source_open(beside->path);
		if (!beside->source)
			return -1;
	}
	got = source_next(beside->source, &frame);
	if (got < 0)
		return -1;
	if (got == 0) {
		if (beside->frames != 1)
			return fail(beside->path,
			    "has only %zu frames for --%s, the input has more", beside->frames,
			    beside->opt->name);
		beside->single = true;
		return 0;
	}
	frame_free(beside->frame);
	got = frame_to_float(frame, &beside->frame);
	frame_free(frame);
	beside->frames++;
	return got;
}

static size_t
second_input_channels(const struct link *link)
{
	size_t n = 0;

	for (size_t i = 0; i < link->besides; i++)
		n += link->beside[i].frame->head.c;
	return n;
}

static int
second_input_check_size(const struct second_input *beside, const struct frame_head *head)
{
	const struct frame_head *own = &beside->frame->head;

	if (own->w == head->w && own->h == head->h)
		return 0;
	return fail(beside->path, "is %zu x %zu, the input is %zu x %zu", own->w, own->h, head->w,
	    head->h);
}

/* "OPTION.CHANNEL": what channel k of an image beside is called behind the input's own. */
static void
second_input_name(const struct second_input *beside, size_t k, char name[CHANNEL_NAME_SIZE])
{
	memset(name, 0, CHANNEL_NAME_SIZE);
	if (snprintf(name, CHANNEL_NAME_SIZE, "%s.%s", beside->opt->name,
	    beside->frame->head.channel[k]) >= CHANNEL_NAME_SIZE)
		name[CHANNEL_NAME_SIZE - 1] = '\0';
}

/* The head with the channels of what stands beside behind its own. */
static int
widen_head(const struct link *link, const struct frame_head *head, struct frame_head *wide)
{
	size_t more = second_input_channels(link), c = head->c;
	char (*names)[CHANNEL_NAME_SIZE];

	if (head_copy(wide, head) < 0)
		return -1;
	if (more == 0)
		return 0;
	names = reallocarray(wide->channel, c + more, sizeof(*names));
	if (!names) {
		head_free(wide);
		return fail_memory();
	}
	wide->channel = names;
	wide->c = c + more;
	for (size_t i = 0; i < link->besides; i++) {
		const struct second_input *beside = &link->beside[i];

		if (second_input_check_size(beside, head) < 0) {
			head_free(wide);
			return -1;
		}
		for (size_t k = 0; k < beside->frame->head.c; k++)
			second_input_name(beside, k, names[c++]);
	}
	return 0;
}

/* Fills the planes from c on with those beside. */
static void
share_second_inputs(const struct link *link, struct frame *to, size_t c)
{
	for (size_t i = 0; i < link->besides; i++)
		for (size_t k = 0; k < link->beside[i].frame->head.c; k++)
			to->plane[c++] = link->beside[i].frame->plane[k];
}

/* ---- planning ---- */

static void
unplan(struct link *link)
{
	if (!link->planned)
		return;
	head_free(&link->in);
	head_free(&link->out);
	link->planned = false;
}

int
run_pass(struct run *run, size_t out_c, size_t in_c)
{
	struct link *link = run->link;

	if (out_c >= link->froms) {
		size_t *more = reallocarray(link->from, out_c + 1, sizeof(*more));

		if (!more)
			return fail_memory();
		for (size_t c = link->froms; c < out_c; c++)
			more[c] = NO_CHANNEL;
		link->from = more;
		link->froms = out_c + 1;
	}
	link->from[out_c] = in_c;
	return 0;
}

/* Lands all frames that fly through any link from `first` to `last`: what they were planned with
 * may be needed till then. Frames that fly up to `first` only come behind the one at hand. */
static int
drain_span(struct chain *chain, size_t first, size_t last)
{
	for (size_t i = 0; i <= last; i++)
		if (device_drain(chain, &chain->link[i], first, push) < 0)
			return -1;
	return 0;
}

static int
drain_before(struct link *link)
{
	return drain_span(link->run.chain, link->run.position, link->run.position);
}

/* Takes the next frame of what stands beside, once per input. */
static int
read_second_inputs(struct link *link)
{
	for (size_t i = 0; !link->second_inputs_read && i < link->besides; i++)
		if (second_input_load(&link->beside[i]) < 0)
			return -1;
	link->second_inputs_read = true;
	return 0;
}

/* Is the last plan good for this head, with what stands beside now? */
static bool
is_planned_for(const struct link *link, const struct frame_head *head)
{
	struct frame_head own = link->in;
	char name[CHANNEL_NAME_SIZE];
	size_t c = head->c;

	own.c = head->c;
	if (!link->planned || link->in.c != c + second_input_channels(link) || !head_equal(&own, head))
		return false;
	for (size_t i = 0; i < link->besides; i++) {
		const struct frame_head *beside = &link->beside[i].frame->head;

		if (beside->w != head->w || beside->h != head->h)
			return false;
		for (size_t k = 0; k < beside->c; k++) {
			second_input_name(&link->beside[i], k, name);
			if (memcmp(name, link->in.channel[c++], sizeof(name)))
				return false;
		}
	}
	return true;
}

/* Runs plan for this head unless it ran for the same one before. */
static int
prepare(struct link *link, const struct frame_head *head)
{
	const struct stage *stage = link->run.stage;
	struct frame_head in;
	int status;

	if (read_second_inputs(link) < 0)
		return -1;
	if (is_planned_for(link, head))
		return 0;
	if (widen_head(link, head, &in) < 0)
		return -1;
	if (drain_before(link) < 0) {
		head_free(&in);
		return -1;
	}
	unplan(link);
	if (head_copy(&link->out, head) < 0) {
		head_free(&in);
		return -1;
	}
	link->in = in;
	link->planned = link->planned_anew = true;
	link->froms = 0;
	link->out.type = SAMPLE_FLOAT;
	status = stage->plan ? stage->plan(&link->run, &link->in, &link->out) : 0;
	if (status == 0 && link->run.body->rows)
		status = meta_append_command(&link->out.meta, link->command);
	if (status == 0 && link->run.body->rows && link->out.h != link->in.h)
		status = fail(NULL, "internal error: a map changed the height");
	if (status < 0)
		unplan(link);
	return status;
}

static bool
takes(const struct link *link, enum sample type)
{
	return type == SAMPLE_FLOAT || (link->run.stage->traits & STAGE_ANY_TYPE);
}

/* ---- bands through consecutive maps ---- */

/* What one thread needs to take a band through a segment. */
struct scratch {
	void *memory;				/* rows between the maps */
	size_t bytes;
	struct plane *plane;			/* of all the views below */
	size_t planes;
	struct plane *in[SEGMENT_MOST], *out[SEGMENT_MOST];
	size_t first[SEGMENT_MOST];		/* first row of map k's output that is kept */
	size_t slot[SEGMENT_MOST];		/* and its place in the window, a ring */
	size_t done[SEGMENT_MOST];		/* rows of map k's output are made up to here */
	bool direct[SEGMENT_MOST];		/* see place_output() */
	double seconds[SEGMENT_MOST];		/* of this frame */
	size_t y0, y1;				/* of the band, as things stand */
};

static size_t
row_bytes(const struct frame_head *head)
{
	return head->c * frame_stride(head->w, head->type);
}

static size_t
at_least(size_t n, size_t least)
{
	return n < least ? least : n;
}

static size_t
at_most(size_t n, size_t most)
{
	return n > most ? most : n;
}

size_t
segment_passed_from(const struct segment *segment, size_t k, size_t c)
{
	const struct link *link = &segment->link[k];
	const struct frame_head *before = k ? &link[-1].out : &segment->in->head;
	size_t from = c < link->froms ? link->from[c] : NO_CHANNEL;

	/* what stands beside is behind the input's own channels */
	if (from == NO_CHANNEL || from >= before->c || before->type != link->out.type ||
	    before->w != link->out.w)
		return NO_CHANNEL;
	return from;
}

bool
segment_produced_by(const struct segment *segment, size_t *k, size_t *c)
{
	for (;; (*k)--) {
		size_t from = segment_passed_from(segment, *k, *c);

		if (from == NO_CHANNEL)
			return true;
		*c = from;
		if (*k == 0)
			return false;
	}
}

/* The last map that reads what map k made: the next one, or further ones to which channels are
 * passed. */
static size_t
last_reader(const struct segment *segment, size_t k)
{
	size_t last = k + 1;

	for (size_t m = k + 1; m + 1 < segment->n; m++)
		for (size_t c = 0; c < segment->link[m].out.c; c++) {
			size_t maker = m, channel = c;

			if (segment_produced_by(segment, &maker, &channel) && maker == k)
				last = m + 1;
		}
	return last;
}

void
segment_halos(struct segment *segment)
{
	segment->halo[segment->n - 1] = 0;
	for (size_t k = segment->n - 1; k > 0; k--)
		segment->halo[k - 1] = segment->halo[k] + segment->link[k].run.halo;
}

/* What a band needs: halos from the last map back to the first, heights, scratch layout. */
static void
lay_out(struct segment *segment)
{
	size_t bytes = row_bytes(&segment->in->head);

	segment_halos(segment);
	for (size_t k = 0; k < segment->n; k++)
		bytes += row_bytes(&segment->link[k].out);
	segment->step = at_most(at_least(STEP_BYTES / bytes, STEP_LEAST), STEP_MOST);
	segment->bytes = 0;
	for (size_t k = 0; k + 1 < segment->n; k++) {
		/* a band begins with so many at once, and never needs more */
		segment->window[k] =
		    at_most(segment->step + 2 * segment->halo[k], segment->h);
		segment->offset[k] = segment->bytes;
		segment->reader[k] = last_reader(segment, k);
		segment->bytes += row_bytes(&segment->link[k].out) * segment->window[k];
	}
}

static int
scratch_reserve(struct scratch *scratch, const struct segment *segment)
{
	size_t planes = 0, at = 0;

	if (scratch->bytes < segment->bytes) {
		free(scratch->memory);
		scratch->memory = aligned_alloc(64, segment->bytes);
		scratch->bytes = scratch->memory ? segment->bytes : 0;
		if (!scratch->memory)
			return fail_memory();
	}
	for (size_t k = 0; k < segment->n; k++)
		planes += segment->link[k].in.c + segment->link[k].out.c;
	if (scratch->planes < planes) {
		free(scratch->plane);
		scratch->plane = calloc(planes, sizeof(*scratch->plane));
		scratch->planes = scratch->plane ? planes : 0;
		if (!scratch->plane)
			return fail_memory();
	}
	for (size_t k = 0; k < segment->n; k++) {
		scratch->in[k] = scratch->plane + at;
		at += segment->link[k].in.c;
		scratch->out[k] = scratch->plane + at;
		at += segment->link[k].out.c;
	}
	return 0;
}

static size_t
lower(size_t y, size_t by)
{
	return y > by ? y - by : 0;
}

/* Where a channel of the window begins. */
static char *
window_at(const struct segment *segment, size_t k, const struct scratch *scratch, size_t c)
{
	const struct frame_head *head = &segment->link[k].out;

	return (char *)scratch->memory + segment->offset[k] +
	    c * frame_stride(head->w, head->type) * segment->window[k];
}

/*
 * Points the planes of map k's output at the segment's output, at the window in the scratch memory,
 * or at the plane that it only hands on. What all further maps hand on is made in the segment's
 * output at once where `direct`.
 */
static void
place_output(const struct segment *segment, size_t k, struct scratch *scratch)
{
	const struct frame_head *head = &segment->link[k].out;

	for (size_t c = 0; c < head->c; c++) {
		size_t from = segment_passed_from(segment, k, c);

		if (k + 1 == segment->n)
			scratch->out[k][c] = segment->out->plane[c];
		else if (from != NO_CHANNEL)
			scratch->out[k][c] = scratch->in[k][from];
		else
			scratch->out[k][c] = (struct plane){
				.host = window_at(segment, k, scratch, c),
				.y_first = scratch->first[k],
				.slot = scratch->slot[k],
				.rows = segment->window[k] };
	}
	for (size_t c = 0; c < segment->out->head.c && scratch->direct[k]; c++)
		if (segment->maker[c].k == k)
			scratch->out[k][segment->maker[c].c] = segment->out->plane[c];
}

/* The first row of map k's output that a reader of it has not done with. */
static size_t
first_needed(const struct segment *segment, size_t k, const struct scratch *scratch)
{
	size_t first = scratch->done[k];

	for (size_t m = k + 1; m <= segment->reader[k]; m++)
		first = at_most(first, lower(scratch->done[m], segment->link[m].run.halo));
	return first;
}

/* Forgets the rows of map k's output that all its readers are through with. */
static void
move_window(const struct segment *segment, size_t k, struct scratch *scratch)
{
	size_t first = first_needed(segment, k, scratch);

	scratch->slot[k] = (scratch->slot[k] + first - scratch->first[k]) % segment->window[k];
	scratch->first[k] = first;
}

/* Rows that map k has made of the segment's output channel c: to where it makes them now. */
static void
move_rows(const struct segment *segment, size_t c, struct scratch *scratch, size_t y0, size_t y1)
{
	size_t k = segment->maker[c].k, stride = segment->out->stride;

	for (size_t y = y0; y < y1; y++) {
		size_t row = (scratch->slot[k] + y - scratch->first[k]) % segment->window[k];
		char *in_window =
		    window_at(segment, k, scratch, segment->maker[c].c) + row * stride;
		char *in_output = (char *)segment->out->plane[c].host + y * stride;

		if (scratch->direct[k])
			memcpy(in_output, in_window, stride);
		else
			memcpy(in_window, in_output, stride);
	}
}

/*
 * Map k is to make rows up to `end`: may it make them in the segment's output? Only rows of the
 * band itself, for beyond it another thread makes them too. Rows still needed change places.
 */
static void
choose_place(const struct segment *segment, size_t k, struct scratch *scratch, size_t end)
{
	size_t first = first_needed(segment, k, scratch);
	bool direct = first >= scratch->y0 && end <= scratch->y1;

	if (direct == scratch->direct[k])
		return;
	scratch->direct[k] = direct;
	for (size_t c = 0; c < segment->out->head.c; c++)
		if (segment->maker[c].k == k)
			move_rows(segment, c, scratch, first, scratch->done[k]);
}

/* Makes rows of map k's output up to `end`. */
static void
make_rows(const struct segment *segment, size_t k, struct scratch *scratch, size_t end)
{
	struct link *link = &segment->link[k];
	const struct frame_head *before = k ? &segment->link[k - 1].out : &segment->in->head;
	struct frame in = { link->in, frame_stride(before->w, before->type), scratch->in[k] };
	struct frame out = { link->out, frame_stride(link->out.w, link->out.type),
		scratch->out[k] };

	if (k + 1 < segment->n) {
		if (end - scratch->first[k] > segment->window[k])
			move_window(segment, k, scratch);
		choose_place(segment, k, scratch, end);
	}
	memcpy(scratch->in[k], k ? scratch->out[k - 1] : segment->in->plane,
	    before->c * sizeof(struct plane));
	share_second_inputs(link, &in, before->c);
	place_output(segment, k, scratch);
	scratch->seconds[k] -= progress_seconds();
	link->run.body->rows(&link->run, &in, &out, scratch->done[k], end);
	scratch->seconds[k] += progress_seconds();
	all_invalid_scan(&link->blank, &in, &out, scratch->done[k], end);
	scratch->done[k] = end;
}

/* Takes a band through all maps of the segment, until its rows up to y1 are made. */
static void
advance_band(const struct segment *segment, struct scratch *scratch, size_t y1)
{
	size_t end[SEGMENT_MOST];

	end[segment->n - 1] = y1;
	for (size_t k = segment->n - 1; k > 0; k--)
		end[k - 1] = at_most(end[k] + segment->link[k].run.halo, segment->h);
	for (size_t k = 0; k < segment->n; k++)
		if (end[k] > scratch->done[k])
			make_rows(segment, k, scratch, end[k]);
}

/* Works on a share, and on what it takes off others: each time that is a band. */
static void
run_share(void *arg, size_t item, int thread)
{
	const struct segment *segment = arg;
	struct scratch *scratch = &segment->chain->scratch[thread];
	struct piece piece;

	while (row_shares_take(&segment->chain->shares, item, &piece)) {
		for (size_t k = 0; k < segment->n && piece.begins; k++) {
			scratch->first[k] = scratch->done[k] = lower(piece.y0, segment->halo[k]);
			scratch->slot[k] = 0;
			scratch->direct[k] = false;
		}
		scratch->y0 = piece.begins ? piece.y0 : scratch->y0;
		scratch->y1 = piece.end;
		advance_band(segment, scratch, piece.y1);
	}
}

/* Shares the rows out: those that a thread has made directly in the output, a halo beyond what it
 * has taken, are not another's. 0 after fail(). */
static size_t
divide(const struct segment *segment)
{
	struct chain *chain = segment->chain;
	size_t step = segment->step;

	if (chain->band)
		return row_shares_divide(&chain->shares, segment->h,
		    (segment->h + chain->band - 1) / chain->band, at_most(step, chain->band),
		    SIZE_MAX);
	return row_shares_divide(&chain->shares, segment->h, (size_t)chain->threads, step,
	    at_least(segment->halo[0], STEALS_LEAST));
}

/* Can this link be a map further down a segment? */
static bool
joins(const struct chain *chain, size_t at, enum sample type)
{
	const struct body *body = chain->link[at].run.body;

	return body->rows && !body->gather && !body->survey && takes(&chain->link[at], type);
}

/* The frame with what stands beside behind its own planes; borrowed planes, so that only its arrays
 * are to be freed with free_view(). */
static int
make_view(const struct link *link, const struct frame *frame, struct frame *view)
{
	view->head = link->in;
	view->stride = frame->stride;
	view->plane = calloc(link->in.c, sizeof(*view->plane));
	if (!view->plane)
		return fail_memory();
	memcpy(view->plane, frame->plane, frame->head.c * sizeof(*view->plane));
	share_second_inputs(link, view, frame->head.c);
	return 0;
}

static int
survey(struct link *link, const struct frame *in)
{
	struct frame view;
	int status;

	if (!link->run.body->survey)
		return 0;
	if (make_view(link, in, &view) < 0)
		return -1;
	status = link->run.body->survey(&link->run, &view);
	free(view.plane);
	return status;
}

/* Channels of the input that all maps hand on are the output's without a copy. */
static void
share_passed(struct segment *segment)
{
	for (size_t c = 0; c < segment->out->head.c; c++) {
		size_t k = segment->n - 1, channel = c;

		if (!segment_produced_by(segment, &k, &channel))
			frame_share(segment->out, c, segment->in, channel);
	}
}

static void
conclude_map(const struct chain *chain, struct link *link)
{
	const struct stage *stage = link->run.stage;

	if (link->run.body->after)
		link->run.body->after(&link->run);
	all_invalid_warn(&link->blank, &link->out, chain->n > 1 ? stage->name : NULL, stage->advice);
}

/* Could the device do this? After plan, and after each survey. *anew: that was asked again. */
static int
plan_passes(struct chain *chain, struct link *link, bool *anew)
{
	bool again = link->planned_anew || link->run.body->survey;

	link->planned_anew = false;
	if (!chain->device || link->wish == PLACE_PROCESSOR || !again)
		return 0;
	*anew = true;
	if (drain_before(link) < 0)
		return -1;
	return device_plan(chain->device, link, &link->able);
}

/* Finds what the last map hands on and no two of its channels share. */
static int
find_producers(struct segment *segment)
{
	size_t channels = segment->link[segment->n - 1].out.c;
	struct chain *chain = segment->chain;

	if (chain->makers < channels) {
		free(chain->maker);
		chain->maker = calloc(channels, sizeof(*chain->maker));
		chain->makers = chain->maker ? channels : 0;
	}
	if (!chain->maker)
		return fail_memory();
	segment->maker = chain->maker;
	for (size_t c = 0; c < channels; c++) {
		struct producer *maker = &segment->maker[c];
		bool found;

		*maker = (struct producer){ segment->n - 1, c };
		found = segment_produced_by(segment, &maker->k, &maker->c) &&
		    maker->k + 1 < segment->n;
		for (size_t i = 0; i < c && found; i++)
			found = memcmp(&segment->maker[i], maker, sizeof(*maker)) != 0;
		if (!found)
			maker->k = segment->n;
	}
	return 0;
}

double
link_samples(const struct link *link)
{
	return (double)link->in.w * (double)link->in.h * (double)link->in.c +
	    (double)link->out.w * (double)link->out.h * (double)link->out.c;
}

/* Plans the maps from the segment's first on, as many as can go together on one side. */
static int
plan_maps(struct segment *segment, bool *anew)
{
	struct chain *chain = segment->chain;
	const struct frame_head *head = &segment->in->head;
	size_t at = segment->link->run.position;

	segment->n = 0;
	do {
		struct link *link = &segment->link[segment->n];

		if (prepare(link, head) < 0)
			return -1;
		if (segment->n > 0 && link->run.body->survey)
			break;		/* as its plan has found */
		/* the survey before the next plan: it may have something to say in the metadata */
		if ((segment->n == 0 && survey(link, segment->in) < 0) ||
		    plan_passes(chain, link, anew) < 0)
			return -1;
		head = &link->out;
		segment->n++;
	} while (segment->n < SEGMENT_MOST && at + segment->n < chain->n &&
	    joins(chain, at + segment->n, head->type));
	return 0;
}

/* Decides which of the planned maps the device shall do; *moved: some change sides. */
static int
apply_placement(struct segment *segment, bool *moved)
{
	struct chain *chain = segment->chain;
	size_t first = segment->link->run.position;
	bool on_device[SEGMENT_MOST];

	*moved = false;
	placement_choose(segment, on_device);
	for (size_t k = 0; k < segment->n; k++)
		*moved |= on_device[k] != segment->link[k].on_device;
	if (*moved && drain_span(chain, first, first + segment->n - 1) < 0)
		return -1;
	for (size_t k = 0; k < segment->n; k++)
		segment->link[k].on_device = on_device[k];
	return 0;
}

/* The segment: planned maps that go together on one side. What was landed meanwhile may have been
 * planned otherwise, so that maps are planned again once they have changed sides. */
static int
collect(struct segment *segment)
{
	struct chain *chain = segment->chain;
	bool anew = false, moved;
	size_t n = 1;

	if (chain->opens)
		placement_open_device(chain);
	if (plan_maps(segment, &anew) < 0)
		return -1;
	while (anew) {
		anew = false;
		if (apply_placement(segment, &moved) < 0)
			return -1;
		if (moved && plan_maps(segment, &anew) < 0)
			return -1;
	}
	while (n < segment->n && segment->link[n].on_device == segment->link->on_device)
		n++;
	segment->n = n;
	segment->h = segment->in->head.h;
	for (size_t k = 0; k < n; k++)
		segment->link[k].second_inputs_read = false;
	return 0;
}

/* Threads share the work evenly, so that their sum is that many times what a frame takes. */
static void
add_timing(struct segment *segment)
{
	struct chain *chain = segment->chain;

	for (size_t k = 0; k < segment->n; k++) {
		struct timing *spent = &segment->link[k].spent[false];

		for (int i = 0; i < chain->threads; i++)
			spent->seconds += chain->scratch[i].seconds[k] / chain->threads;
		spent->samples += link_samples(&segment->link[k]);
		spent->frames++;
	}
}

/* The segment on the processor. */
static int
run_bands(struct segment *segment)
{
	struct chain *chain = segment->chain;
	size_t shares;

	lay_out(segment);
	for (int i = 0; i < chain->threads; i++) {
		if (scratch_reserve(&chain->scratch[i], segment) < 0)
			return -1;
		memset(chain->scratch[i].seconds, 0, sizeof(chain->scratch[i].seconds));
	}
	shares = divide(segment);
	if (shares == 0 || find_producers(segment) < 0)
		return -1;
	for (size_t k = 0; k < segment->n; k++)
		all_invalid_begin(&segment->link[k].blank,
		    segment_passed_from(segment, k, 0) != NO_CHANNEL);
	thread_pool_for(chain->pool, shares, run_share, segment);
	for (size_t k = 0; k < segment->n; k++) {
		conclude_map(chain, &segment->link[k]);
		segment->link[k].looked = true;
	}
	return 0;
}

/* Makes room for the segment's output. */
static int
open_output(struct segment *segment)
{
	if (frame_new(&segment->link[segment->n - 1].out, &segment->out) < 0)
		return -1;
	share_passed(segment);
	return 0;
}

/* What warnings are told from is counted by the processor only: so that takes the first frame of a
 * run through the segment too, and what it makes is thrown away. */
static int
look_once(const struct segment *segment)
{
	struct segment look = *segment;
	bool looked = segment->chain->quiet;
	int status;

	for (size_t k = 0; k < segment->n && !looked; k++)
		looked = segment->link[k].looked;
	if (looked)
		return 0;
	status = open_output(&look);
	if (status == 0)
		status = run_bands(&look);
	frame_free(look.out);
	return status;
}

/* -d auto does not fail where the processor would not: these stages stay with it from now on. */
static int
return_to_processor(struct segment *segment)
{
	struct chain *chain = segment->chain;

	for (size_t k = 0; k < segment->n; k++)
		if (segment->link[k].wish == PLACE_DEVICE)
			return -1;
	if (chain->verbose)
		fprintf(stderr, "%s: the processor goes on: %s\n", fail_program(), fail_message());
	fail_clear();
	if (device_drain(chain, segment->link, segment->link->run.position, push) < 0)
		return -1;
	for (size_t k = 0; k < segment->n; k++) {
		segment->link[k].wish = PLACE_PROCESSOR;
		segment->link[k].on_device = segment->link[k].able = false;
	}
	frame_free(segment->out);
	segment->out = NULL;
	return open_output(segment);
}

/* 0: the segment's frame is on its way on the device. 1: the processor shall do it. */
static int
fly(struct segment *segment)
{
	int status;

	if (!segment->link->on_device)
		return 1;
	if (look_once(segment) < 0)
		return -1;
	segment_halos(segment);
	status = device_start(segment->chain->device, segment, push);
	return status == 1 && return_to_processor(segment) < 0 ? -1 : status;
}

/* Plans and runs the maps from `at` on, as many as go together; hands the result to what follows.
 */
static int
run_maps(struct chain *chain, size_t at, struct frame *in)
{
	struct segment segment = { .chain = chain, .link = &chain->link[at], .in = in };
	int status = collect(&segment);

	if (status == 0)
		status = open_output(&segment);
	if (status == 0)
		status = fly(&segment);
	if (status == 0)
		return 0;
	if (status == 1) {
		status = run_bands(&segment);
		add_timing(&segment);
	}
	frame_free(in);
	if (status < 0) {
		frame_free(segment.out);
		return -1;
	}
	return push(chain, at + segment.n, segment.out);
}

/* ---- flows ---- */

/* Adds the planes beside to the frame itself, which the flow will own. */
static int
add_second_inputs(const struct link *link, struct frame **frame)
{
	struct frame *wide;
	size_t c = (*frame)->head.c;

	if (link->besides == 0)
		return 0;
	if (frame_new_empty(&link->in, &wide) < 0)
		return -1;
	for (size_t i = 0; i < c; i++)
		frame_share(wide, i, *frame, i);
	for (size_t i = 0; i < link->besides; i++)
		for (size_t k = 0; k < link->beside[i].frame->head.c; k++)
			frame_share(wide, c++, link->beside[i].frame, k);
	frame_free(*frame);
	*frame = wide;
	return 0;
}

static int
run_flow(struct chain *chain, size_t at, struct frame *in)
{
	struct link *link = &chain->link[at];

	if (prepare(link, &in->head) < 0 || add_second_inputs(link, &in) < 0) {
		frame_free(in);
		return -1;
	}
	link->second_inputs_read = false;
	return link->run.body->flow(&link->run, in);
}

int
run_emit(struct run *run, struct frame *frame)
{
	if (meta_append_command(&frame->head.meta, run->link->command) < 0) {
		frame_free(frame);
		return -1;
	}
	return push(run->chain, run->position + 1, frame);
}

struct for_job {
	void (*fn)(void *arg, size_t i);
	void *arg;
};

static void
for_item(void *arg, size_t item, int thread)
{
	const struct for_job *job = arg;

	(void)thread;
	job->fn(job->arg, item);
}

void
run_for(struct run *run, size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
	struct for_job job = { fn, arg };

	thread_pool_for(run->chain->pool, n, for_item, &job);
}

/* ---- gathering ---- */

/* One whole input for the stage: converted if need be, then through a map or a flow. */
static int
feed(struct chain *chain, size_t at, struct frame *in)
{
	struct link *link = &chain->link[at];
	struct frame *converted;
	int status;

	if (!takes(link, in->head.type)) {
		status = frame_to_float(in, &converted);
		frame_free(in);
		if (status < 0)
			return -1;
		in = converted;
	}
	return link->run.body->rows ? run_maps(chain, at, in) : run_flow(chain, at, in);
}

/* The first n channels of a frame in *part, the rest in *rest, lists in the metadata divided alike.
 */
static int
split(struct frame *frame, size_t n, struct frame **part, struct frame **rest)
{
	size_t c = frame->head.c, channel[c];

	for (size_t i = 0; i < c; i++)
		channel[i] = i;
	*rest = NULL;
	if (frame_select(frame, channel, n, part) < 0)
		return -1;
	if (frame_select(frame, channel + n, c - n, rest) < 0) {
		frame_free(*part);
		return -1;
	}
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

static int
gather(struct chain *chain, size_t at, struct frame *in)
{
	struct link *link = &chain->link[at];
	if (reserve_waiting(link) < 0) {
		frame_free(in);
		return -1;
	}
	link->waiting[link->waitings++] = in;
	link->planes += in->head.c;
	for (;;) {
		struct frame *whole;

		if (link->waitings == 0)
			return 0;
		if (link->run.body->gather(&link->run, &link->waiting[0]->head, &link->want) < 0)
			return -1;
		if (link->planes < link->want)
			return 0;
		if (take_gathered(link, &whole) < 0 || feed(chain, at, whole) < 0)
			return -1;
	}
}

/* ---- colour ---- */

static bool
is_colour(const struct frame_head *head)
{
	return (head->c == 3 || head->c == 4) && head_channel(head, "r") == 0 &&
	    head_channel(head, "g") == 1 && head_channel(head, "b") == 2;
}

static bool
planes_equal(const struct frame *frame, size_t a, size_t b)
{
	size_t bytes = frame->head.w * sample_size(frame->head.type);

	for (size_t y = 0; y < frame->head.h; y++)
		if (memcmp(frame_row(frame, a, y), frame_row(frame, b, y), bytes))
			return false;
	return true;
}

static int
reduce_colour(const struct run *run, struct frame **frame)
{
	size_t channel[3] = { 0, 1, 2 }, n = 1;
	struct frame *reduced;

	const struct frame_head *head = &(*frame)->head;
	bool grey_alpha = head->c == 2 && !strcmp(head->channel[1], "a");

	if (run->colour == COLOUR_KEEP || (!grey_alpha && !is_colour(head)))
		return 0;
	if (grey_alpha)
		n = 1;		/* opacity is no capture */
	else if (run->colour == COLOUR_PLANES)
		n = 3;
	else if (run->colour != COLOUR_GREY)
		channel[0] = (size_t)run->colour - COLOUR_RED;
	else if (!planes_equal(*frame, 0, 1) || !planes_equal(*frame, 0, 2))
		return fail(NULL,
		    "image is in colour: name one with --channel, or say --rgb if its three "
		    "planes are three captures");
	if (frame_select(*frame, channel, n, &reduced) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		strcpy(reduced->head.channel[i], "image");
	frame_free(*frame);
	*frame = reduced;
	return 0;
}

/* ---- the drive ---- */

bool
chain_drops(const struct chain *chain)
{
	return chain->output && !strcmp(chain->output, "null:");
}

static int
put(struct chain *chain, struct frame *frame)
{
	struct target *target;

	chain->frames++;
	progress_tick(chain->frames);
	if (chain_drops(chain)) {
		frame_free(frame);
		return 0;
	}
	if (!chain->outbox) {
		target = target_open(chain->output, chain->force, &chain->save);
		chain->outbox = target ? write_behind_open(target) : NULL;
	}
	if (!chain->outbox) {
		frame_free(frame);
		return -1;
	}
	return write_behind_put(chain->outbox, frame);
}

static int
push(struct chain *chain, size_t at, struct frame *frame)
{
	const struct body *body;

	if (at == chain->n)
		return put(chain, frame);
	body = chain->link[at].run.body;
	if (reduce_colour(&chain->link[at].run, &frame) < 0) {
		frame_free(frame);
		return -1;
	}
	return body->gather ? gather(chain, at, frame) : feed(chain, at, frame);
}

/* Keeps a frame that was read, for the repeats to come. */
static int
keep(struct chain *chain, struct frame *frame)
{
	struct frame **more = reallocarray(chain->kept, chain->keeps + 1, sizeof(*more));

	if (!more) {
		frame_free(frame);
		return fail_memory();
	}
	chain->kept = more;
	more[chain->keeps++] = frame;
	return 0;
}

static int
push_kept(struct chain *chain)
{
	struct frame *again;

	for (size_t i = 0; i < chain->keeps; i++)
		if (frame_duplicate(chain->kept[i], &again) < 0 || push(chain, 0, again) < 0)
			return -1;
	return 0;
}

static int
read_all(struct chain *chain)
{
	struct read_ahead *reader = read_ahead_open(chain->operand, chain->operands, chain->pool);
	struct frame *frame;
	int got;

	if (!reader)
		return -1;
	while ((got = read_ahead_next(reader, &frame)) > 0) {
		got = chain->repeat ? keep(chain, frame) : push(chain, 0, frame);
		if (got < 0)
			break;
	}
	read_ahead_close(reader);
	if (got < 0)
		return -1;
	if (chain->repeat)
		chain->start = progress_seconds();
	for (size_t i = 0; i < chain->repeat; i++)
		if (push_kept(chain) < 0)
			return -1;
	return 0;
}

/* Nothing more comes: remainders are errors, flows complete what they hold. */
static int
finish(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct link *link = &chain->link[i];

		if (device_drain(chain, link, 0, push) < 0)
			return -1;
		if (link->waitings)
			return fail(NULL,
			    "a measurement is %zu images, the input ends after %zu of one",
			    link->want, link->planes);
		if (link->run.body->flow &&
		    !(i == 0 && (link->run.stage->traits & (STAGE_SOURCE | STAGE_OPERANDS))) &&
		    link->run.body->flow(&link->run, NULL) < 0)
			return -1;
	}
	return 0;
}

/* What has no passes at all is known before the first frame. */
static void
tell_without_passes(struct chain *chain)
{
	for (size_t i = 0; i < chain->n && chain->device; i++) {
		struct link *link = &chain->link[i];
		const struct body *body = link->run.body;

		if (link->wish == PLACE_DEVICE && !body->passes)
			device_refused(chain->device, link,
			    body->no_passes ? body->no_passes : "it has no variant for the device");
	}
}

static int
drive(void *arg, struct thread_pool *pool)
{
	struct chain *chain = arg;
	struct run *first = &chain->link[0].run;
	int status;

	chain->pool = pool;
	tell_without_passes(chain);
	if (first->stage->traits & (STAGE_SOURCE | STAGE_OPERANDS))
		status = first->body->flow(first, NULL);
	else
		status = read_all(chain);
	return status < 0 ? -1 : finish(chain);
}

static void
release(struct chain *chain)
{
	for (size_t i = 0; i < chain->n; i++) {
		struct link *link = &chain->link[i];

		for (size_t k = 0; k < link->waitings; k++)
			frame_free(link->waiting[k]);
		free(link->waiting);
		frame_stacking_free(&link->stacking);
		for (size_t k = 0; k < link->besides; k++) {
			frame_free(link->beside[k].frame);
			source_close(link->beside[k].source);
		}
		flow_gpu_end(chain, link);
		if (chain->device)
			device_abandon(chain->device, link);
		unplan(link);
		free(link->from);
	}
	for (int i = 0; i < chain->threads; i++) {
		free(chain->scratch[i].memory);
		free(chain->scratch[i].plane);
	}
	free(chain->scratch);
	row_shares_free(&chain->shares);
	free(chain->maker);
	for (size_t i = 0; i < chain->keeps; i++)
		frame_free(chain->kept[i]);
	free(chain->kept);
	frame_release_stores();
	if (!chain->device)
		shared_frames_end();
}

/* "NAME: on the processor: phasewrap 0.400 ms, gauss 0.900 ms a frame" */
static void
report_processor(const struct chain *chain)
{
	size_t n = 0;

	for (size_t i = 0; i < chain->n; i++)
		if (chain->link[i].spent[false].frames) {
			if (n == 0)
				fprintf(stderr, "%s: on the processor:", fail_program());
			times_print(n++ ? "," : "", &chain->link[i], false);
		}
	if (n)
		fprintf(stderr, " a frame\n");
}

static void
report(const struct chain *chain)
{
	double spent = progress_seconds() - chain->start;

	if (!chain->verbose)
		return;
	report_processor(chain);
	if (chain->frames)
		fprintf(stderr, "%s: %zu frames in %.4f s, %.2f frames/s\n", fail_program(),
		    chain->frames, spent, (double)chain->frames / spent);
}

int
chain_run(struct chain *chain)
{
	const char *band = getenv("FRINGEPIPE_BAND"), *repeat = getenv("FRINGEPIPE_REPEAT");
	int status;

	if (band)
		chain->band = (size_t)strtoul(band, NULL, 10);
	if (repeat && !chain->repeat)
		chain->repeat = (size_t)strtoul(repeat, NULL, 10);
	chain->start = progress_seconds();
	row_shares_init(&chain->shares);
	chain->scratch = calloc((size_t)chain->threads, sizeof(*chain->scratch));
	if (!chain->scratch)
		return fail_memory();
	if (!chain->device && !chain->output)
		shared_frames_begin(STDOUT_FILENO);
	progress_start(!chain->quiet && isatty(STDERR_FILENO));
	status = thread_pool_run(chain->threads, drive, chain);
	progress_end();
	if (chain->outbox && write_behind_close(chain->outbox, status == 0) < 0)
		status = -1;
	if (status == 0)
		report(chain);
	release(chain);
	return status;
}
