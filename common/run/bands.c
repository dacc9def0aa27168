#include "run/bands.h"

#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "run/band_layout.h"
#include "run/sampler.h"
#include "run/second_input.h"
#include "run/table_bands.h"

#define STEALS_LEAST 8		/* rows that a thread takes off another's share */

static size_t
lower(size_t y, size_t by)
{
	return y > by ? y - by : 0;
}

/* Where a channel of the window begins. */
static char *
window_at(const struct segment *segment, size_t k, const struct band_memory *band, size_t c)
{
	const struct frame_head *head = &segment->link[k].out;

	return (char *)band->memory + segment->offset[k] +
	    c * band_window_stride(head) * segment->window[k];
}

/*
 * Points the planes of map k's output at the segment's output, at the window in the thread's
 * memory, or at the plane that it only hands on. What all further maps hand on is made in the
 * segment's output at once where `direct`.
 */
static void
place_output(const struct segment *segment, size_t k, struct band_memory *band)
{
	const struct frame_head *head = &segment->link[k].out;

	for (size_t c = 0; c < head->c; c++) {
		size_t from = segment_passed_from(segment, k, c);

		if (k + 1 == segment->n)
			band->out[k][c] = segment->out->plane[c];
		else if (from != NO_CHANNEL)
			band->out[k][c] = band->in[k][from];
		else
			band->out[k][c] = (struct plane){
				.host = window_at(segment, k, band, c),
				.y_first = band->first[k],
				.slot = band->slot[k],
				.rows = segment->window[k],
				.stride = band_window_stride(head),
				.type = head->type };
	}
	for (size_t c = 0; c < segment->out->head.c && band->direct[k]; c++)
		if (segment->producer[c].k == k)
			band->out[k][segment->producer[c].c] = segment->out->plane[c];
}

/* The first row of map k's output that a reader of it has not done with. */
static size_t
first_needed(const struct segment *segment, size_t k, const struct band_memory *band)
{
	size_t first = band->done[k];

	for (size_t m = k + 1; m <= segment->reader[k]; m++)
		first = size_at_most(first, lower(band->done[m], segment->link[m].run.halo));
	return first;
}

/* Forgets the rows of map k's output that all its readers are through with. */
static void
move_window(const struct segment *segment, size_t k, struct band_memory *band)
{
	size_t first = first_needed(segment, k, band);

	band->slot[k] = (band->slot[k] + first - band->first[k]) % segment->window[k];
	band->first[k] = first;
}

/* Rows that map k has made of the segment's output channel c: to where it makes them now. */
static void
move_rows(const struct segment *segment, size_t c, struct band_memory *band, size_t y0, size_t y1)
{
	size_t k = segment->producer[c].k, stride = segment->out->plane[c].stride;
	size_t window_stride = band_window_stride(&segment->link[k].out);

	for (size_t y = y0; y < y1; y++) {
		size_t row = (band->slot[k] + y - band->first[k]) % segment->window[k];
		char *in_window = window_at(segment, k, band, segment->producer[c].c) +
		    row * window_stride;
		char *in_output = (char *)segment->out->plane[c].host + y * stride;

		if (band->direct[k])
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
choose_place(const struct segment *segment, size_t k, struct band_memory *band, size_t end)
{
	size_t first = first_needed(segment, k, band);
	bool direct = first >= band->y0 && end <= band->y1;

	if (direct == band->direct[k])
		return;
	band->direct[k] = direct;
	for (size_t c = 0; c < segment->out->head.c; c++)
		if (segment->producer[c].k == k)
			move_rows(segment, c, band, first, band->done[k]);
}

/* Does map k make only rows of the band itself? Beyond it another thread makes them, too. */
static bool
is_own(const struct band_memory *band, size_t k, size_t end)
{
	return band->done[k] >= band->y0 && end <= band->y1;
}

/* Puts the state planes behind the input's and the output's: this frame's are written at their
 * place, or in the thread's memory where the band does not own all rows. */
static void
place_state(const struct segment *segment, size_t k, struct band_memory *band, size_t end)
{
	const struct link *link = &segment->link[k];
	size_t stride = band_state_stride(link), rows = band_most_rows(segment, k);

	for (size_t i = 0; i < link->run.state; i++) {
		band->in[k][link->in.c + i] = link->state[0]->plane[i];
		band->out[k][link->out.c + i] = link->state[1]->plane[i];
		if (!is_own(band, k, end))
			band->out[k][link->out.c + i] = (struct plane){
				.host = (char *)band->memory + segment->state_offset[k] +
				    i * rows * stride,
				.y_first = band->done[k], .rows = rows, .stride = stride,
				.type = SAMPLE_FLOAT };
	}
}

/* Copies the band's own rows of a state that stands in the thread's memory to their place. */
static void
keep_state(const struct segment *segment, size_t k, const struct frame *out,
    const struct band_memory *band, size_t end)
{
	const struct link *link = &segment->link[k];
	size_t y0 = size_at_least(band->done[k], band->y0), y1 = size_at_most(end, band->y1);

	for (size_t i = 0; i < link->run.state && !is_own(band, k, end); i++)
		for (size_t y = y0; y < y1; y++)
			memcpy(frame_row(link->state[1], i, y), frame_row(out, link->out.c + i, y),
			    band_state_stride(link));
}

/* Makes rows of map k's output up to `end`. */
static void
make_rows(const struct segment *segment, size_t k, struct band_memory *band, size_t end)
{
	const struct link *link = &segment->link[k];
	const struct frame_head *before = k ? &segment->link[k - 1].out : &segment->in->head;
	struct frame in = { link->in, band->in[k] };
	struct frame out = { link->out, band->out[k] };
	struct row_scratch scratch = { .continues = band->continues[k] };

	if (link->run.scratch_bytes)
		scratch.memory = (char *)band->memory + segment->scratch_offset[k];
	if (k + 1 < segment->n) {
		if (end - band->first[k] > segment->window[k])
			move_window(segment, k, band);
		choose_place(segment, k, band, end);
	}
	memcpy(band->in[k], k ? band->out[k - 1] : segment->in->plane,
	    before->c * sizeof(struct plane));
	second_inputs_lend(link, band->in[k] + before->c);
	place_output(segment, k, band);
	place_state(segment, k, band, end);
	band->seconds[k] -= progress_seconds();
	link->run.body->rows(segment->run[k], &in, &out, band->done[k], end, &scratch);
	band->seconds[k] += progress_seconds();
	all_invalid_scan(segment->all_invalid[k], &in, before->c, &out, band->done[k], end);
	check_sample_take(segment->sample[k], &in, &out, size_at_least(band->done[k], band->y0),
	    size_at_most(end, band->y1));
	keep_state(segment, k, &out, band, end);
	band->continues[k] = true;
	band->done[k] = end;
}

/* Takes a band through all maps of the segment, until its rows up to y1 are made. */
static void
advance_band(const struct segment *segment, struct band_memory *band, size_t y1)
{
	size_t end[SEGMENT_MOST];

	end[segment->n - 1] = y1;
	for (size_t k = segment->n - 1; k > 0; k--)
		end[k - 1] = size_at_most(end[k] + segment->link[k].run.halo, segment->h);
	for (size_t k = 0; k < segment->n; k++)
		if (end[k] > band->done[k])
			make_rows(segment, k, band, end[k]);
}

void
bands_make(const struct segment *segment, struct band_memory *band, const struct piece *piece)
{
	for (size_t k = 0; k < segment->n && piece->begins; k++) {
		band->first[k] = band->done[k] = lower(piece->y0, segment->halo[k]);
		band->slot[k] = 0;
		band->direct[k] = band->continues[k] = false;
	}
	band->worked = true;
	band->y0 = piece->begins ? piece->y0 : band->y0;
	band->y1 = piece->end;
	advance_band(segment, band, piece->y1);
}

/* Works on a share, and on what it takes off others: each time that is a band. */
static void
run_share(void *arg, size_t item, int thread)
{
	const struct segment *segment = arg;
	struct piece piece;

	while (row_shares_take(&segment->chain->shares, item, true, &piece))
		bands_make(segment, &segment->chain->memory[thread], &piece);
}

size_t
bands_least(const struct segment *segment)
{
	return size_at_least(segment->halo[0], STEALS_LEAST);
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
		    (segment->h + chain->band - 1) / chain->band, size_at_most(step, chain->band),
		    SIZE_MAX);
	return row_shares_divide(&chain->shares, segment->h, (size_t)chain->threads, step,
	    bands_least(segment));
}

void
bands_conclude_map(struct link *link, const struct check_sample *sample)
{
	const char *before = warn_stage(link->title);

	link->made++;
	link->all_invalid.frames++;
	if (link->run.body->after)
		link->run.body->after(&link->run);
	if (sample)
		checks_conclude(link, sample);
	all_invalid_warn(&link->all_invalid, &link->out, link->run.stage->hint,
	    link->run.position == 0);
	warn_stage(before);
}

/* The same of a frame that a device makes. */
static void
conclude_scan(struct link *link, int scan)
{
	const char *before = warn_stage(link->title);

	if (scan == SCAN_AFTER && link->run.body->after)
		link->run.body->after(&link->run);
	if (scan == SCAN_VALID)
		all_invalid_warn(&link->all_invalid, &link->out, link->run.stage->hint,
		    link->run.position == 0);
	link->scanned |= scan == SCAN_AFTER;
	warn_stage(before);
}

/* The segment on the processor. */
int
bands_run(struct segment *segment)
{
	struct chain *chain = segment->chain;
	bool table = head_is_table(&segment->in->head);
	size_t shares;

	if (table)
		table_bands_lay_out(segment);
	else
		band_lay_out(segment);
	for (int i = 0; i < chain->threads; i++) {
		if (band_reserve(&chain->memory[i], segment) < 0)
			return -1;
		memset(chain->memory[i].seconds, 0, sizeof(chain->memory[i].seconds));
		chain->memory[i].worked = false;
	}
	shares = table ? table_bands_pieces(segment) : divide(segment);
	if (shares == 0 || (!table && band_find_producers(segment, &chain->producers) < 0))
		return -1;
	for (size_t k = 0; k < segment->n; k++) {
		segment->run[k] = &segment->link[k].run;
		segment->all_invalid[k] = &segment->link[k].all_invalid;
		segment->sample[k] = NULL;
		if (segment->link[k].checks && !segment->scan)
			segment->sample[k] = &segment->link[k].checks->sample;
		if (segment->sample[k] && checks_begin(&segment->link[k], segment->sample[k]) < 0)
			return -1;
		all_invalid_begin(segment->all_invalid[k],
		    segment_passed_from(segment, k, 0) != NO_CHANNEL);
	}
	thread_pool_for(chain->pool, shares, table ? table_bands_run : run_share, segment);
	for (size_t k = 0; k < segment->n; k++) {
		if (segment->scan) {
			conclude_scan(&segment->link[k], segment->scan);
			continue;
		}
		bands_conclude_map(&segment->link[k], segment->sample[k]);
		segment->link[k].scanned = true;
	}
	return 0;
}

/* Threads that had rows of the last frame to make; a small frame has none for some. */
static int
threads_at_work(const struct chain *chain)
{
	int n = 0;

	for (int i = 0; i < chain->threads; i++)
		n += chain->memory[i].worked;
	return n > 0 ? n : 1;
}

/* Threads share the work evenly, so that their sum is that many times what a frame takes. */
void
bands_add_times(struct segment *segment)
{
	struct chain *chain = segment->chain;

	for (size_t k = 0; k < segment->n; k++) {
		struct timing *timing = &segment->link[k].timing[false];

		for (int i = 0; i < chain->threads; i++)
			timing->seconds += chain->memory[i].seconds[k] / threads_at_work(chain);
		timing->samples += link_samples(&segment->link[k]);
		timing->frames++;
	}
}

int
bands_init(struct chain *chain)
{
	row_shares_init(&chain->shares);
	chain->memory = band_memory_new((size_t)chain->threads);
	return chain->memory ? 0 : -1;
}

void
bands_free(struct chain *chain)
{
	band_memory_free(chain->memory, (size_t)chain->threads);
	row_shares_free(&chain->shares);
	band_free_producers(&chain->producers);
}
