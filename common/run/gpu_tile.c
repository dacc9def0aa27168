#include "run/gpu_tile.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 256		/* of planes and blocks */

/* The push block of gpu.glsl. */
struct push {
	uint64_t planes, block;
	uint32_t w, h, y0, y1;
	uint32_t in_stride, out_stride, scratch_stride;
	uint32_t outputs, scratches, constants;
};

_Static_assert(sizeof(struct push) <= GPU_PUSH_MOST, "fits every device");

static void *
take_store(void *arg, size_t bytes, void **owner)
{
	struct device *device = arg;
	struct gpu_block *block = gpu_block_try(device->gpu, GPU_HOST, bytes);

	*owner = block;
	return block ? block->host : NULL;
}

static void
give_store(void *arg, void *owner)
{
	struct device *device = arg;

	gpu_block_free(device->gpu, owner);
}

void
tile_memory(struct device *device, struct memory_source *source)
{
	*source = (struct memory_source){ .take = take_store, .give = give_store, .arg = device };
}

struct rows {
	size_t first, end;
};

static struct rows
rows_around(const struct segment *segment, size_t y0, size_t y1, size_t beyond)
{
	struct rows rows = { y0 > beyond ? y0 - beyond : 0, y1 + beyond };

	if (rows.end > segment->h)
		rows.end = segment->h;
	return rows;
}

static size_t
aligned(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* Is the plane's memory what the device reaches? */
const struct gpu_block *
tile_block(const struct plane *plane)
{
	return frame_memory_owner(plane, give_store);
}

static size_t
offset_in(const struct gpu_block *block, const struct plane *plane)
{
	return (size_t)((char *)plane->host - (char *)block->host);
}

/* Room for rows of a plane on the device; the address of its row 0. */
static uint64_t
place(struct tile *tile, struct rows rows, size_t stride, size_t *at)
{
	*at = tile->arena;
	tile->arena += aligned((rows.end - rows.first) * stride);
	return tile->fills ? tile->slot->arena->address + *at - rows.first * stride : 0;
}

/* Brings rows of a plane to the device; the address of its row 0. */
static uint64_t
bring(struct tile *tile, const struct plane *plane, struct rows rows, size_t stride)
{
	const struct gpu_block *block = tile_block(plane);
	size_t bytes = (rows.end - rows.first) * stride, at, staged = 0;
	char *from = (char *)plane->host + rows.first * stride;
	uint64_t address;

	if (block && gpu_facts(tile->device->gpu)->unified)
		return block->address + offset_in(block, plane);
	if (!block) {
		staged = tile->staging;
		tile->staging += aligned(bytes);
		if (tile->fills)
			memcpy((char *)tile->slot->staging->host + staged, from, bytes);
		if (gpu_facts(tile->device->gpu)->unified)
			return tile->fills ? tile->slot->staging->address + staged -
				rows.first * stride : 0;
	}
	address = place(tile, rows, stride, &at);
	if (!tile->fills)
		return 0;
	tile->up_bytes += bytes;
	if (block)
		gpu_job_upload(tile->slot->job, block,
		    offset_in(block, plane) + rows.first * stride, tile->slot->arena, at, bytes);
	else
		gpu_job_upload(tile->slot->job, tile->slot->staging, staged,
		    tile->slot->arena, at, bytes);
	return address;
}

/* A plane of the final output, of which the device makes `rows` and the tile's own are wanted. */
static uint64_t
bring_back(struct tile *tile, size_t c, struct rows rows, size_t stride)
{
	const struct frame *out = tile->segment->out;
	const struct plane *plane = &out->plane[c];
	const struct gpu_block *block = tile_block(plane);
	size_t bytes = (tile->y1 - tile->y0) * stride, at, from, staged = 0;
	uint64_t address;

	if (block && gpu_facts(tile->device->gpu)->unified)
		return block->address + offset_in(block, plane);
	address = place(tile, rows, stride, &at);
	from = at + (tile->y0 - rows.first) * stride;
	if (!block) {
		staged = tile->staging;
		tile->staging += aligned(bytes);
	}
	if (!tile->fills)
		return 0;
	tile->down_bytes += bytes;
	if (block) {
		gpu_job_download(tile->slot->job, tile->slot->arena, from, block,
		    offset_in(block, plane) + tile->y0 * stride, bytes);
	} else {
		gpu_job_download(tile->slot->job, tile->slot->arena, from,
		    tile->slot->staging, staged, bytes);
		tile->slot->copy_back[tile->slot->copies_back++] = (struct copy_back){
			(char *)plane->host + tile->y0 * stride, staged, bytes
		};
	}
	return address;
}

/* Which of the segment's inputs are read, and which planes of which map are the final ones. */
static void
trace(struct tile *tile)
{
	const struct segment *segment = tile->segment;
	size_t last = segment->n - 1;

	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];
		size_t before = k ? segment->link[k - 1].out.c : segment->in->head.c;

		for (size_t c = 0; c < link->out.c; c++)
			tile->final[k][c] = NO_CHANNEL;
		for (size_t c = 0; c < before; c++) {
			size_t producer = k - 1, channel = c;

			if (link->passes->reads[c] &&
			    (k == 0 || !segment_produced_by(segment, &producer, &channel)))
				tile->wanted[channel] = true;
		}
	}
	for (size_t c = 0; c < segment->link[last].out.c; c++) {
		size_t producer = last, channel = c;

		if (segment_produced_by(segment, &producer, &channel) &&
		    tile->final[producer][channel] == NO_CHANNEL)
			tile->final[producer][channel] = c;
	}
}

/* Addresses of all planes, and the copies that this takes. */
static void
lay_out_planes(struct tile *tile)
{
	const struct segment *segment = tile->segment;
	const struct frame_head *before = &segment->in->head;

	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];
		struct rows rows = rows_around(segment, tile->y0, tile->y1, segment->halo[k]);
		struct rows read = rows_around(segment, rows.first, rows.end, link->run.halo);
		size_t stride = frame_stride(link->out.w, link->out.type);

		for (size_t c = 0; c < before->c; c++) {
			if (k > 0)
				tile->in[k][c] = tile->out[k - 1][c];
			else if (tile->wanted[c])
				tile->in[k][c] = bring(tile, &segment->in->plane[c],
				    rows_around(segment, tile->y0, tile->y1,
					segment->halo[0] + link->run.halo),
				    segment->in->plane[c].stride);
		}
		for (size_t i = 0, c = before->c; i < link->second_inputs; i++) {
			const struct frame *second = link->second_input[i].frame;

			for (size_t p = 0; p < second->head.c; p++, c++)
				if (link->passes->reads[c])
					tile->in[k][c] =
					    bring(tile, &second->plane[p], read, second->plane[p].stride);
		}
		for (size_t c = 0; c < link->out.c; c++) {
			size_t from = segment_passed_from(segment, k, c), at;

			if (from != NO_CHANNEL)
				tile->out[k][c] = tile->in[k][from];
			else if (tile->final[k][c] != NO_CHANNEL)
				tile->out[k][c] = bring_back(tile, tile->final[k][c], rows, stride);
			else
				tile->out[k][c] = place(tile, rows, stride, &at);
		}
		before = &link->out;
	}
}

/* A map's table of addresses and its blocks, and its dispatches. */
static int
record_map(struct tile *tile, size_t k)
{
	const struct segment *segment = tile->segment;
	const struct link *link = &segment->link[k];
	const struct passes *passes = link->passes;
	const struct frame_head *before = k ? &segment->link[k - 1].out : &segment->in->head;
	struct rows rows = rows_around(segment, tile->y0, tile->y1, segment->halo[k]), more;
	size_t table = tile->words, planes = link->in.c + link->out.c, beyond = 0, at;
	size_t scratch = frame_stride(link->out.w, SAMPLE_FLOAT);
	uint64_t *address = NULL;
	struct push push = {
		.w = (uint32_t)link->out.w, .h = (uint32_t)segment->h,
		.in_stride = (uint32_t)frame_stride(before->w, before->type),
		.out_stride = (uint32_t)frame_stride(link->out.w, link->out.type),
		.scratch_stride = (uint32_t)scratch,
		.outputs = (uint32_t)link->in.c,
		.scratches = (uint32_t)planes,
		.constants = (uint32_t)(planes + passes->scratches),
	};

	for (size_t i = 0; i < passes->n; i++)
		if (passes->pass[i].beyond > beyond)
			beyond = passes->pass[i].beyond;
	more = rows_around(segment, rows.first, rows.end, beyond);
	if (tile->fills) {
		address = (uint64_t *)((char *)tile->slot->words_host->host + table);
		memcpy(address, tile->in[k], link->in.c * sizeof(*address));
		memcpy(address + link->in.c, tile->out[k], link->out.c * sizeof(*address));
		for (size_t i = 0; i < passes->constants; i++) {
			struct constant *constant = &passes->constant[i];

			address[push.constants + i] = constant->device ?
			    constant->device->address : constant->host->address;
			if (!constant->there)
				gpu_job_upload(tile->slot->job, constant->host, 0,
				    constant->device, 0, constant->host->bytes);
			constant->there = true;
		}
	}
	for (size_t i = 0; i < passes->scratches; i++) {
		uint64_t there = place(tile, more, scratch, &at);

		if (tile->fills)
			address[push.scratches + i] = there;
	}
	tile->words += aligned((push.constants + passes->constants) * sizeof(uint64_t));
	for (size_t i = 0; i < passes->n; i++) {
		const struct pass *pass = &passes->pass[i];
		struct rows made = rows_around(segment, rows.first, rows.end, pass->beyond);
		size_t n = made.end - made.first;
		uint32_t groups[2] = {
			(uint32_t)((link->out.w + pass->tile[0] - 1) / pass->tile[0]),
			(uint32_t)((n + pass->tile[1] - 1) / pass->tile[1])
		};

		push.planes = tile->fills ? tile->slot->words->address + table : 0;
		push.block = push.planes + (tile->words - table);
		push.y0 = (uint32_t)made.first;
		push.y1 = (uint32_t)made.end;
		if (tile->fills) {
			memcpy((char *)tile->slot->words_host->host + tile->words, pass->block,
			    pass->bytes);
			if (gpu_job_dispatch(tile->slot->job, pass->shader, pass->local, groups,
			    &push, sizeof(push)) < 0)
				return -1;
		}
		tile->words += aligned(pass->bytes);
	}
	return 0;
}

/* Goes over everything once: to find the sizes, or to fill the slot. */
int
tile_record(struct tile *tile, bool fills)
{
	tile->fills = fills;
	tile->arena = tile->words = tile->staging = 0;
	tile->up_bytes = tile->down_bytes = 0;
	lay_out_planes(tile);
	for (size_t k = 0; k < tile->segment->n; k++)
		if (record_map(tile, k) < 0)
			return -1;
	return 0;
}

int
tile_open(struct tile *tile)
{
	const struct segment *segment = tile->segment;
	size_t planes = 0, at = 0, k;

	for (k = 0; k < segment->n; k++)
		planes += segment->link[k].in.c + 2 * segment->link[k].out.c;
	tile->memory = calloc(planes, sizeof(*tile->memory));
	tile->flags = calloc(segment->in->head.c, sizeof(*tile->flags));
	if (!tile->memory || !tile->flags) {
		free(tile->memory);
		free(tile->flags);
		return fail_memory();
	}
	for (k = 0; k < segment->n; k++) {
		tile->in[k] = tile->memory + at;
		at += segment->link[k].in.c;
		tile->out[k] = tile->memory + at;
		at += segment->link[k].out.c;
		tile->final[k] = (size_t *)(tile->memory + at);
		at += segment->link[k].out.c;
	}
	tile->wanted = tile->flags;
	trace(tile);
	return 0;
}

void
tile_close(struct tile *tile)
{
	free(tile->memory);
	free(tile->flags);
}
