#include "run/band_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/large_memory.h"

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

size_t
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

size_t
band_most_rows(const struct segment *segment, size_t k)
{
	return size_at_most(segment->step + 2 * segment->halo[k], segment->h);
}

size_t
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
	struct band_memory *memory = band_alloc(threads * sizeof(*memory));

	if (memory)
		memset(memory, 0, threads * sizeof(*memory));
	return memory;
}

void
band_memory_free(struct band_memory *memory, size_t threads)
{
	for (size_t i = 0; i < threads && memory; i++) {
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
		band->plane = band_alloc(planes * sizeof(*band->plane));
		band->planes = band->plane ? planes : 0;
		if (!band->plane)
			return -1;
		memset(band->plane, 0, planes * sizeof(*band->plane));
	}
	for (size_t k = 0; k < segment->n; k++) {
		band->in[k] = band->plane + at;
		at += segment->link[k].in.c + segment->link[k].run.state;
		band->out[k] = band->plane + at;
		at += segment->link[k].out.c + segment->link[k].run.state;
	}
	return 0;
}

/* Memory for n items that lasts. NULL after fail(). */
static void *
reserve(void **memory, size_t *room, size_t n, size_t size)
{
	if (*room < n) {
		free(*memory);
		*memory = calloc(n, size);
		*room = *memory ? n : 0;
	}
	if (!*memory)
		fail_memory();
	return *memory;
}

int
band_find_producers(struct segment *segment, struct producers *room)
{
	size_t channels = segment->link[segment->n - 1].out.c, first[SEGMENT_MOST], all = 0;
	bool *used;

	for (size_t k = 0; k < segment->n; k++) {
		first[k] = all;
		all += segment->link[k].out.c;
	}
	segment->producer =
	    reserve((void **)&room->producer, &room->room, channels, sizeof(*room->producer));
	used = reserve((void **)&room->used, &room->used_room, all, sizeof(*used));
	if (!segment->producer || !used)
		return -1;
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
	return 0;
}

void
band_free_producers(struct producers *room)
{
	free(room->producer);
	free(room->used);
}
