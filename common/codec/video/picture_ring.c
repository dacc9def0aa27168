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
 * All of these must be FFMPEG_LENT bytes at least.
 */
static size_t
count_pictures(size_t bytes)
{
	return 1 + (FFMPEG_LENT + bytes - 1) / bytes;
}

int
picture_ring_new(struct picture_ring *ring, size_t bytes, size_t rest_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), total;

	*ring = (struct picture_ring){ .bytes = bytes, .rest_bytes = rest_bytes };
	ring->n = count_pictures(bytes + rest_bytes);
	ring->stride = round_up(bytes, page);
	if (size_multiply(ring->stride, ring->n, &total) < 0)
		return -1;
	total += round_up(rest_bytes, page);
	ring->memory = aligned_alloc(page, total);
	if (!ring->memory)
		return fail_memory();
	memset(ring->memory, 0, total);
	ring->rest = ring->memory + ring->n * ring->stride;
	return 0;
}

void
picture_ring_free(struct picture_ring *ring)
{
	free(ring->memory);
	*ring = (struct picture_ring){ 0 };
}

unsigned char *
picture_ring_get(const struct picture_ring *ring)
{
	return ring->memory + ring->at * ring->stride;
}

int
picture_ring_send(struct picture_ring *ring, struct ffmpeg *ffmpeg)
{
	int status = ffmpeg_lend(ffmpeg, picture_ring_get(ring), ring->bytes);

	if (status == 0 && ring->rest_bytes)
		status = ffmpeg_lend(ffmpeg, ring->rest, ring->rest_bytes);
	ring->at = (ring->at + 1) % ring->n;
	return status;
}
