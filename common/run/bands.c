/*
 * Computes rows: cuts a frame into bands, takes each band through all maps of a segment, and hands
 * over the planes that pass a stage unchanged and the state from frame to frame. Tables are cut
 * into ranges of columns.
 */
#include "run/bands.h"

#include <math.h>

#include "base/process.h"
#include "base/text.h"
#include "run/sampler.h"
#include "run/second_input.h"

/* Planes without a number: nothing is remembered before the first frame. */
static int
new_state(const struct link *link, struct frame **state)
{
	const size_t w = link->out.w, h = link->out.h;
	int status = frame_new_named(w, h, link->run.state, SAMPLE_FLOAT, NULL, state);

	for (size_t c = 0; c < link->run.state && status == 0; c++)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				frame_floats(*state, c, y)[x] = NAN;
	return status;
}

int
state_begin(struct segment *segment)
{
	for (size_t k = 0; k < segment->n; k++) {
		struct link *link = &segment->link[k];
		const struct frame *last = link->state[0];

		if (last && (last->head.c != link->run.state || last->head.w != link->out.w ||
		    last->head.h != link->out.h))
			state_free(link);
		for (int i = 0; i < 2 && link->run.state; i++)
			if (!link->state[i] && new_state(link, &link->state[i]) < 0)
				return -1;
	}
	return 0;
}

/* The two frames change places, so that no frame takes memory; the next one is written whole. */
void
state_finish(struct segment *segment, bool keep)
{
	for (size_t k = 0; k < segment->n && keep; k++) {
		struct link *link = &segment->link[k];
		struct frame *last = link->state[0];

		if (!link->state[1])
			continue;
		link->state[0] = link->state[1];
		link->state[1] = last;
	}
}

bool
state_used(const struct segment *segment)
{
	for (size_t k = 0; k < segment->n; k++)
		if (segment->link[k].run.state)
			return true;
	return false;
}

void
state_free(struct link *link)
{
	for (int i = 0; i < 2; i++) {
		frame_free(link->state[i]);
		link->state[i] = NULL;
	}
}

#define STEP_BYTES (1u << 20)	/* what is touched at a time, input to output: half a common L2 */
#define STEP_LEAST 24
#define STEP_MOST 64
/* New rows of all windows, between maps, at a time: half a common L3. Beyond, they go to memory and
 * back, which costs more than the calls of a lower step down to STEP_WIDE: a chain of six takes 5.9
 * instead of 5.0 ns a pixel at 16384 columns. A map alone has no windows, and calls alone count. */
#define WINDOW_BYTES (16u << 20)
#define STEP_WIDE 4
/* Rows that lie so far apart fall into the same lines of a first cache of 32 to 48 KiB, which holds
 * 8 to 12 of them: fewer than stages look at. */
#define SAME_LINES 4096

/* Bytes from row to row of a window, which are those of a frame or more. */
static size_t
band_window_stride(const struct frame_head *head)
{
	size_t stride = frame_stride(head->w, head->type);

	return stride % SAME_LINES ? stride : stride + 64;
}

static size_t
row_bytes(const struct frame_head *head)
{
	return head->c * band_window_stride(head);
}

/* Rows that are made at a time. */
static size_t
step_of(const struct segment *segment)
{
	size_t bytes = row_bytes(&segment->in->head), windows = 1, least;

	for (size_t k = 0; k < segment->n; k++)
		bytes += row_bytes(&segment->link[k].out);
	for (size_t k = 0; k + 1 < segment->n; k++)
		windows += row_bytes(&segment->link[k].out);
	least = size_at_most(size_at_least(WINDOW_BYTES / windows, STEP_WIDE), STEP_LEAST);
	return size_at_most(size_at_least(STEP_BYTES / bytes, least), STEP_MOST);
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

/* Rows that map k makes at once, at most: a band begins with its halos on both sides. */
static size_t
band_most_rows(const struct segment *segment, size_t k)
{
	return size_at_most(segment->step + 2 * segment->halo[k], segment->h);
}

/* Bytes of a row of a state plane. */
static size_t
band_state_stride(const struct link *link)
{
	return frame_stride(link->out.w, SAMPLE_FLOAT);
}

void
band_lay_out(struct segment *segment)
{
	segment_halos(segment);
	segment->step = step_of(segment);
	segment->bytes = 0;
	for (size_t k = 0; k + 1 < segment->n; k++) {
		segment->window[k] = band_most_rows(segment, k);
		segment->offset[k] = segment->bytes;
		segment->reader[k] = last_reader(segment, k);
		segment->bytes += row_bytes(&segment->link[k].out) * segment->window[k];
	}
	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		segment->state_offset[k] = segment->bytes;
		segment->bytes +=
		    link->run.state * band_state_stride(link) * band_most_rows(segment, k);
		segment->scratch_offset[k] = segment->bytes;
		segment->bytes += (link->run.scratch_bytes + 63) & ~(size_t)63;
	}
}

/* Memory that shares no cache line with other memory, to be freed by free(). NULL after fail(). */
static void *
band_alloc(size_t bytes)
{
	size_t rounded = (bytes + BAND_ALIGN - 1) / BAND_ALIGN * BAND_ALIGN;
	void *memory = NULL;

	if (rounded >= bytes)
		memory = rounded < LARGE_MEMORY_LEAST ? aligned_alloc(BAND_ALIGN, rounded) :
		    large_memory(1, rounded);
	if (!memory)
		fail_memory();
	return memory;
}

struct band_memory *
band_memory_new(size_t threads)
{
	const size_t bytes = threads * sizeof(struct band_memory);
	struct band_memory *memory = aligned_alloc(BAND_ALIGN, bytes);

	if (!memory)
		out_of_memory();
	return memset(memory, 0, bytes);
}

void
band_memory_free(struct band_memory *memory, size_t threads)
{
	for (size_t i = 0; i < threads; i++) {
		free(memory[i].memory);
		free(memory[i].plane);
	}
	free(memory);
}

int
band_reserve(struct band_memory *band, const struct segment *segment)
{
	size_t planes = 0, at = 0;

	if (band->bytes < segment->bytes) {
		free(band->memory);
		band->memory = band_alloc(segment->bytes);
		band->bytes = band->memory ? segment->bytes : 0;
		if (!band->memory)
			return -1;
	}
	for (size_t k = 0; k < segment->n; k++)
		planes += segment->link[k].in.c + segment->link[k].out.c +
		    2 * segment->link[k].run.state;
	if (band->planes < planes) {
		free(band->plane);
		band->plane = must_aligned(planes, sizeof(*band->plane));
		memset(band->plane, 0, planes * sizeof(*band->plane));
		band->planes = planes;
	}
	for (size_t k = 0; k < segment->n; k++) {
		band->in[k] = band->plane + at;
		at += segment->link[k].in.c + segment->link[k].run.state;
		band->out[k] = band->plane + at;
		at += segment->link[k].out.c + segment->link[k].run.state;
	}
	return 0;
}

void
band_find_producers(struct segment *segment, struct producers *room)
{
	size_t channels = segment->link[segment->n - 1].out.c, first[SEGMENT_MOST], all = 0;
	bool *used;

	for (size_t k = 0; k < segment->n; k++) {
		first[k] = all;
		all += segment->link[k].out.c;
	}
	if (channels > room->room)
		room->producer = must_resize(room->producer, room->room = channels,
		    sizeof(*room->producer));
	if (all > room->used_room)
		room->used = must_resize(room->used, room->used_room = all, sizeof(*used));
	segment->producer = room->producer;
	used = room->used;
	memset(used, 0, all * sizeof(*used));
	for (size_t c = 0; c < channels; c++) {
		struct producer *producer = &segment->producer[c];
		bool *mark;

		*producer = (struct producer){ segment->n - 1, c };
		mark = segment_produced_by(segment, &producer->k, &producer->c) ?
		    &used[first[producer->k] + producer->c] : NULL;
		if (!mark || producer->k + 1 == segment->n || *mark)
			producer->k = segment->n;
		if (mark)
			*mark = true;
	}
}

void
band_free_producers(struct producers *room)
{
	free(room->producer);
	free(room->used);
}

#define PIECE_COLUMNS 4096	/* of a table; a multiple of 64, so that pieces begin at 64 bytes */

static size_t
piece_stride(const struct frame_head *head)
{
	return frame_stride(PIECE_COLUMNS, head->type);
}

/* Columns x to x + n - 1 of a plane; the stride is that of the piece, so that who copies a row
 * copies no more. */
static struct plane
columns(struct plane plane, size_t x, size_t n)
{
	plane.host = (char *)plane.host + x * sample_size(plane.type);
	plane.stride = frame_stride(n, plane.type);
	return plane;
}

/* As band_lay_out(), for pieces of columns. */
static void
table_bands_lay_out(struct segment *segment)
{
	segment->bytes = 0;
	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		segment->offset[k] = segment->bytes;
		if (k + 1 < segment->n)
			segment->bytes += link->out.c * piece_stride(&link->out);
		segment->scratch_offset[k] = segment->bytes;
		segment->bytes += (link->run.scratch_bytes + 63) & ~(size_t)63;
	}
}

/* The piece of all planes of map k's input: those of the map before, second inputs, state. */
static void
place_input(const struct segment *segment, size_t k, struct band_memory *band, size_t x,
    size_t n)
{
	const struct link *link = &segment->link[k];
	const struct frame_head *before = k ? &segment->link[k - 1].out : &segment->in->head;
	struct plane *in = band->in[k];
	size_t c = before->c;

	for (size_t i = 0; i < before->c; i++)
		in[i] = k ? band->out[k - 1][i] : columns(segment->in->plane[i], x, n);
	second_inputs_lend(link, in + c);
	for (size_t i = 0; i < link->second_inputs; i++)
		for (size_t p = 0; p < link->second_input[i].frame->head.c; p++, c++)
			if (link->second_input[i].opt->type == OPT_FRAME)
				in[c] = columns(in[c], x, n);
	for (size_t i = 0; i < link->run.state; i++)
		in[c + i] = columns(link->state[0]->plane[i], x, n);
}

static void
place_output(const struct segment *segment, size_t k, struct band_memory *band, size_t x,
    size_t n)
{
	const struct link *link = &segment->link[k];
	size_t stride = piece_stride(&link->out);

	for (size_t c = 0; c < link->out.c; c++) {
		size_t from = segment_passed_from(segment, k, c);

		if (k + 1 == segment->n)
			band->out[k][c] = columns(segment->out->plane[c], x, n);
		else if (from != NO_CHANNEL)
			band->out[k][c] = band->in[k][from];
		else
			band->out[k][c] = (struct plane){
				.host = (char *)band->memory + segment->offset[k] + c * stride,
				.stride = frame_stride(n, link->out.type), .type = link->out.type };
	}
	for (size_t i = 0; i < link->run.state; i++)
		band->out[k][link->out.c + i] = columns(link->state[1]->plane[i], x, n);
}

/* Takes piece `item` through all maps (a function for thread_pool_for(); arg: the segment). */
static void
table_bands_run(void *arg, size_t item, int thread)
{
	const struct segment *segment = arg;
	struct band_memory *band = &segment->chain->memory[thread];
	size_t x = item * PIECE_COLUMNS, n = segment->in->head.w - x;

	band->worked = true;
	if (n > PIECE_COLUMNS)
		n = PIECE_COLUMNS;
	for (size_t k = 0; k < segment->n; k++) {
		struct link *link = &segment->link[k];
		struct frame in = { link->in, band->in[k] }, out = { link->out, band->out[k] };
		struct row_scratch scratch = { 0 };

		in.head.w = out.head.w = n;
		if (link->run.scratch_bytes)
			scratch.memory = (char *)band->memory + segment->scratch_offset[k];
		place_input(segment, k, band, x, n);
		place_output(segment, k, band, x, n);
		band->seconds[k] -= progress_seconds();
		link->run.body->rows(&link->run, &in, &out, 0, 1, &scratch);
		run_pass_rows(&link->run, &in, &out, 0, 1);
		band->seconds[k] += progress_seconds();
		all_invalid_scan(&link->all_invalid, &in, (k ? segment->link[k - 1].out :
		    segment->in->head).c, &out, 0, 1);
		check_sample_take_columns(segment->sample[k], &in, &out, x, n);
	}
}

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
place_band_output(const struct segment *segment, size_t k, struct band_memory *band)
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
		if (end - band->first[k] > segment->window[k]) {
			size_t first = first_needed(segment, k, band);

			/* all readers are through with the rows before it */
			band->slot[k] += first - band->first[k];
			band->slot[k] %= segment->window[k];
			band->first[k] = first;
		}
		choose_place(segment, k, band, end);
	}
	memcpy(band->in[k], k ? band->out[k - 1] : segment->in->plane,
	    before->c * sizeof(struct plane));
	second_inputs_lend(link, band->in[k] + before->c);
	place_band_output(segment, k, band);
	place_state(segment, k, band, end);
	band->seconds[k] -= progress_seconds();
	link->run.body->rows(segment->run[k], &in, &out, band->done[k], end, &scratch);
	run_pass_rows(&link->run, &in, &out, band->done[k], end);
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
bands_make(const struct segment *segment, struct band_memory *band, const struct row_piece *piece)
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
	struct row_piece piece;

	while (row_shares_take(&segment->chain->shares, item, true, &piece))
		bands_make(segment, &segment->chain->memory[thread], &piece);
}

size_t
bands_least(const struct segment *segment)
{
	return size_at_least(segment->halo[0], STEALS_LEAST);
}

/* Shares the rows out: those that a thread has made directly in the output, a halo beyond what it
 * has taken, are not another's. */
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
	/* what may explain it comes last, where summaries look */
	all_invalid_warn(&link->all_invalid, &link->out, link->run.stage->hint,
	    link->run.position == 0);
	if (sample)
		checks_judge(link, sample, CHECK_COMPLETE);
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
	shares = table ? (segment->in->head.w + PIECE_COLUMNS - 1) / PIECE_COLUMNS :
	    divide(segment);
	if (!table)
		band_find_producers(segment, &chain->producers);
	for (size_t k = 0; k < segment->n; k++) {
		segment->run[k] = &segment->link[k].run;
		segment->all_invalid[k] = &segment->link[k].all_invalid;
		segment->sample[k] = NULL;
		if (segment->link[k].checks && !segment->scan)
			segment->sample[k] = &segment->link[k].checks->sample;
		if (segment->sample[k]) {
			checks_begin(&segment->link[k], segment->sample[k]);
			check_sample_whole(segment->sample[k], k ? NULL : segment->in);
		}
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

/* Threads share the work evenly, so that their sum is that many times what a frame takes. A small
 * frame has no rows for some of them. */
void
bands_add_times(struct segment *segment)
{
	struct chain *chain = segment->chain;
	int worked = 0;

	for (int i = 0; i < chain->threads; i++)
		worked += chain->memory[i].worked;
	for (size_t k = 0; k < segment->n; k++) {
		struct timing *timing = &segment->link[k].timing[false];

		for (int i = 0; i < chain->threads; i++)
			timing->seconds += chain->memory[i].seconds[k] / (worked > 0 ? worked : 1);
		timing->samples += link_samples(&segment->link[k]);
		timing->frames++;
	}
}
