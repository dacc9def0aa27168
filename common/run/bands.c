#include "run/bands.h"

#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "run/second_input.h"

#define STEP_BYTES (1u << 20)	/* what is touched at a time, input to output: half a common L2 */
#define STEP_LEAST 24
#define STEP_MOST 64
#define STEALS_LEAST 8		/* rows that a thread takes off another's share */

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

/* The last map that reads what map k made: the next one, or further ones to which channels are
 * passed. */
static size_t
last_reader(const struct segment *segment, size_t k)
{
	size_t last = k + 1;

	for (size_t m = k + 1; m + 1 < segment->n; m++)
		for (size_t c = 0; c < segment->link[m].out.c; c++) {
			size_t producer = m, channel = c;

			if (segment_produced_by(segment, &producer, &channel) && producer == k)
				last = m + 1;
		}
	return last;
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
		if (segment->producer[c].k == k)
			scratch->out[k][segment->producer[c].c] = segment->out->plane[c];
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
	size_t k = segment->producer[c].k, stride = segment->out->stride;

	for (size_t y = y0; y < y1; y++) {
		size_t row = (scratch->slot[k] + y - scratch->first[k]) % segment->window[k];
		char *in_window =
		    window_at(segment, k, scratch, segment->producer[c].c) + row * stride;
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
		if (segment->producer[c].k == k)
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
	second_inputs_lend(link, &in, before->c);
	place_output(segment, k, scratch);
	scratch->seconds[k] -= progress_seconds();
	link->run.body->rows(&link->run, &in, &out, scratch->done[k], end);
	scratch->seconds[k] += progress_seconds();
	all_invalid_scan(&link->all_invalid, &in, &out, scratch->done[k], end);
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

static void
conclude_map(const struct chain *chain, struct link *link)
{
	const struct stage *stage = link->run.stage;

	if (link->run.body->after)
		link->run.body->after(&link->run);
	all_invalid_warn(&link->all_invalid, &link->out, chain->n > 1 ? stage->name : NULL, stage->advice);
}

/* Finds what the last map hands on and no two of its channels share. */
static int
find_producers(struct segment *segment)
{
	size_t channels = segment->link[segment->n - 1].out.c;
	struct chain *chain = segment->chain;

	if (chain->producers < channels) {
		free(chain->producer);
		chain->producer = calloc(channels, sizeof(*chain->producer));
		chain->producers = chain->producer ? channels : 0;
	}
	if (!chain->producer)
		return fail_memory();
	segment->producer = chain->producer;
	for (size_t c = 0; c < channels; c++) {
		struct producer *producer = &segment->producer[c];
		bool found;

		*producer = (struct producer){ segment->n - 1, c };
		found = segment_produced_by(segment, &producer->k, &producer->c) &&
		    producer->k + 1 < segment->n;
		for (size_t i = 0; i < c && found; i++)
			found = memcmp(&segment->producer[i], producer, sizeof(*producer)) != 0;
		if (!found)
			producer->k = segment->n;
	}
	return 0;
}

/* The segment on the processor. */
int
bands_run(struct segment *segment)
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
		all_invalid_begin(&segment->link[k].all_invalid,
		    segment_passed_from(segment, k, 0) != NO_CHANNEL);
	thread_pool_for(chain->pool, shares, run_share, segment);
	for (size_t k = 0; k < segment->n; k++) {
		conclude_map(chain, &segment->link[k]);
		segment->link[k].scanned = true;
	}
	return 0;
}

/* Threads share the work evenly, so that their sum is that many times what a frame takes. */
void
bands_add_times(struct segment *segment)
{
	struct chain *chain = segment->chain;

	for (size_t k = 0; k < segment->n; k++) {
		struct timing *timing = &segment->link[k].timing[false];

		for (int i = 0; i < chain->threads; i++)
			timing->seconds += chain->scratch[i].seconds[k] / chain->threads;
		timing->samples += link_samples(&segment->link[k]);
		timing->frames++;
	}
}

int
bands_init(struct chain *chain)
{
	row_shares_init(&chain->shares);
	chain->scratch = calloc((size_t)chain->threads, sizeof(*chain->scratch));
	return chain->scratch ? 0 : fail_memory();
}

void
bands_free(struct chain *chain)
{
	for (int i = 0; i < chain->threads && chain->scratch; i++) {
		free(chain->scratch[i].memory);
		free(chain->scratch[i].plane);
	}
	free(chain->scratch);
	row_shares_free(&chain->shares);
	free(chain->producer);
}
