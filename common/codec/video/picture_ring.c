#define _GNU_SOURCE
#include "picture_ring.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"

/* Up to a whole number of pages: what two pictures share would be written while one is lent. */
static size_t
round_up(size_t bytes, size_t page)
{
	return (bytes + page - 1) / page * page;
}

/*
 * A picture is written again when n - 1 later ones are handed over, and so is the rest behind it.
 * All of these must be FFMPEG_LENT bytes at least. Less than a page is copied into the pipe: it
 * would take a page of the ring, and so many of them.
 */
static size_t
count_pictures(size_t bytes, size_t page)
{
	return bytes < page ? 1 : 1 + (FFMPEG_LENT + bytes - 1) / bytes;
}

/* Memory of whole pages, all zero. */
static unsigned char *
new_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), rounded = round_up(bytes, page);
	unsigned char *memory = aligned_alloc(page, rounded ? rounded : page);

	if (memory)
		memset(memory, 0, rounded);
	else
		fail_memory();
	return memory;
}

int
picture_ring_new(struct picture_ring *ring, size_t bytes, size_t rest_bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*ring = (struct picture_ring){ .bytes = bytes, .rest_bytes = rest_bytes };
	ring->n = count_pictures(bytes + rest_bytes, page);
	ring->hand_over = ring->n > 1 ? ffmpeg_lend : ffmpeg_write;
	ring->stride = round_up(bytes, page);
	ring->frame = calloc(ring->n, sizeof(struct frame *));
	if (!ring->frame)
		return fail_memory();
	ring->rest = new_pages(rest_bytes);
	return ring->rest ? 0 : -1;
}

static void
drop(struct picture_ring *ring, size_t at)
{
	if (ring->frame[at])
		frame_free(ring->frame[at]);
	ring->frame[at] = NULL;
}

void
picture_ring_free(struct picture_ring *ring)
{
	for (size_t i = 0; ring->frame && i < ring->n; i++)
		drop(ring, i);
	free(ring->frame);
	free(ring->memory);
	free(ring->rest);
	*ring = (struct picture_ring){ 0 };
}

unsigned char *
picture_ring_memory(struct picture_ring *ring)
{
	size_t total;

	if (!ring->memory) {
		if (size_multiply(ring->stride, ring->n, &total) < 0)
			return NULL;
		ring->memory = new_pages(total);
	}
	drop(ring, ring->at);
	return ring->memory ? ring->memory + ring->at * ring->stride : NULL;
}

int
picture_ring_take(struct picture_ring *ring, const struct frame *frame)
{
	drop(ring, ring->at);
	return frame_duplicate(frame, &ring->frame[ring->at]);
}

const unsigned char *
picture_ring_start(const struct picture_ring *ring)
{
	const struct frame *frame = ring->frame[ring->at];

	return frame ? frame_row(frame, 0, 0) : ring->memory + ring->at * ring->stride;
}

static int
send_frame(const struct picture_ring *ring, const struct frame *frame, struct ffmpeg *ffmpeg)
{
	const size_t bytes = ring->bytes / frame->head.c;
	int status = 0;

	for (size_t c = 0; c < frame->head.c && status == 0; c++)
		status = ring->hand_over(ffmpeg, frame_row(frame, c, 0), bytes);
	return status;
}

int
picture_ring_send(struct picture_ring *ring, struct ffmpeg *ffmpeg)
{
	const struct frame *frame = ring->frame[ring->at];
	int status = frame ? send_frame(ring, frame, ffmpeg) :
	    ring->hand_over(ffmpeg, picture_ring_start(ring), ring->bytes);

	if (status == 0 && ring->rest_bytes)
		status = ring->hand_over(ffmpeg, ring->rest, ring->rest_bytes);
	ring->at = (ring->at + 1) % ring->n;
	return status;
}
