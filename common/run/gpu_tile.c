/* Lays out the planes of a tile on the device and records the job that computes it. */
#include "run/gpu_tile.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 256		/* of planes and blocks */

_Static_assert(sizeof(struct gpu_push) <= GPU_PUSH_MOST, "fits every device");

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

/* The device's block that holds a plane's pixels; NULL: ordinary memory. */
static const struct gpu_block *
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

static struct gpu_plane
plane_at(uint64_t address, size_t stride, enum sample type)
{
	return (struct gpu_plane){ address, (uint32_t)stride, (uint32_t)type };
}

/* Brings rows of a plane to the device. */
static struct gpu_plane
bring(struct tile *tile, const struct plane *plane, struct rows rows)
{
	const struct gpu_block *block = tile_block(plane);
	size_t stride = plane->stride, bytes = (rows.end - rows.first) * stride, at, staged = 0;
	char *from = (char *)plane->host + rows.first * stride;
	bool unified = gpu_facts(tile->device->gpu)->unified;
	uint64_t address;

	if (block && unified)
		return plane_at(block->address + offset_in(block, plane), stride, plane->type);
	if (!block) {
		staged = tile->staging;
		tile->staging += aligned(bytes);
		if (tile->fills)
			memcpy((char *)tile->slot->staging->host + staged, from, bytes);
		if (unified)
			return plane_at(tile->fills ? tile->slot->staging->address + staged -
				rows.first * stride : 0, stride, plane->type);
	}
	address = place(tile, rows, stride, &at);
	if (tile->fills) {
		tile->up_bytes += bytes;
		gpu_job_upload(tile->slot->job, block ? block : tile->slot->staging,
		    block ? offset_in(block, plane) + rows.first * stride : staged,
		    tile->slot->arena, at, bytes);
	}
	return plane_at(address, stride, plane->type);
}

/* A plane of the host that the device makes `rows` of, of which the tile's own are wanted. */
static struct gpu_plane
bring_back(struct tile *tile, const struct plane *plane, struct rows rows)
{
	const struct gpu_block *block = tile_block(plane);
	size_t stride = plane->stride, bytes = (tile->y1 - tile->y0) * stride;
	size_t at, from, staged = 0;
	uint64_t address;

	if (block && gpu_facts(tile->device->gpu)->unified)
		return plane_at(block->address + offset_in(block, plane), stride, plane->type);
	address = place(tile, rows, stride, &at);
	from = at + (tile->y0 - rows.first) * stride;
	if (!block) {
		staged = tile->staging;
		tile->staging += aligned(bytes);
	}
	if (!tile->fills)
		return plane_at(0, stride, plane->type);
	tile->down_bytes += bytes;
	gpu_job_download(tile->slot->job, tile->slot->arena, from,
	    block ? block : tile->slot->staging,
	    block ? offset_in(block, plane) + tile->y0 * stride : staged, bytes);
	if (!block)
		tile->slot->copy_back[tile->slot->copies_back++] = (struct copy_back){
			(char *)plane->host + tile->y0 * stride, staged, bytes
		};
	return plane_at(address, stride, plane->type);
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

		if (!segment_produced_by(segment, &producer, &channel))
			continue;
		if (tile->final[producer][channel] == NO_CHANNEL)
			tile->final[producer][channel] = c;
		else
			frame_share(segment->out, c, segment->out, tile->final[producer][channel]);
	}
}

/* Planes of a map's input: the map before has them, or the host. */
static void
lay_out_input(struct tile *tile, size_t k, struct rows read)
{
	const struct segment *segment = tile->segment;
	const struct link *link = &segment->link[k];
	const struct frame_head *before = k ? &segment->link[k - 1].out : &segment->in->head;
	struct gpu_plane *in = tile->in[k];

	for (size_t c = 0; c < before->c; c++)
		if (k > 0)
			in[c] = tile->out[k - 1][c];
		else if (tile->wanted[c])
			in[c] = bring(tile, &segment->in->plane[c], read);
	for (size_t i = 0, c = before->c; i < link->second_inputs; i++) {
		const struct frame *second = link->second_input[i].frame;
		struct rows all = { 0, second->head.h };
		bool same = second->head.h == segment->h;

		for (size_t p = 0; p < second->head.c; p++, c++)
			if (link->passes->reads[c])
				in[c] = bring(tile, &second->plane[p], same ? read : all);
	}
	for (size_t i = 0; i < link->run.state; i++)
		in[link->in.c + i] = bring(tile, &link->state[0]->plane[i], read);
}

/* Copies the tile's rows that checks look at from a plane that stays on the device; its first row
 * there is `first`. */
static void
sample_plane(struct tile *tile, size_t k, size_t c, size_t at, size_t first, size_t stride)
{
	for (size_t i = 0; i < tile->frame->planes; i++) {
		const struct sampled_plane *plane = &tile->frame->plane[i];
		size_t staged;

		if (plane->k != k || plane->channel != c)
			continue;
		for (size_t r = 0; r < plane->rows->frame.head.h; r++) {
			if (plane->rows->y[r] < tile->y0 || plane->rows->y[r] >= tile->y1)
				continue;
			staged = tile->staging;
			tile->staging += aligned(stride);
			if (!tile->fills)
				continue;
			gpu_job_download(tile->slot->job, tile->slot->arena,
			    at + (plane->rows->y[r] - first) * stride, tile->slot->staging, staged,
			    stride);
			tile->slot->copy_back[tile->slot->copies_back++] = (struct copy_back){
				frame_row(&plane->rows->frame, plane->c, r), staged, stride };
		}
	}
}

/* Planes of a map's output: the input's, the host's, or the device's own between two maps. */
static void
lay_out_output(struct tile *tile, size_t k, struct rows rows)
{
	const struct segment *segment = tile->segment;
	const struct link *link = &segment->link[k];
	size_t stride = frame_stride(link->out.w, link->out.type), at;

	for (size_t c = 0; c < link->out.c; c++) {
		size_t from = segment_passed_from(segment, k, c);

		if (from != NO_CHANNEL) {
			tile->out[k][c] = tile->in[k][from];
		} else if (tile->final[k][c] != NO_CHANNEL) {
			tile->out[k][c] =
			    bring_back(tile, &segment->out->plane[tile->final[k][c]], rows);
		} else {
			tile->out[k][c] =
			    plane_at(place(tile, rows, stride, &at), stride, link->out.type);
			sample_plane(tile, k, c, at, rows.first, stride);
		}
	}
	for (size_t i = 0; i < link->run.state; i++)
		tile->out[k][link->out.c + i] = bring_back(tile, &link->state[1]->plane[i], rows);
}

/* All planes, and the copies that this takes. */
static void
lay_out_planes(struct tile *tile)
{
	const struct segment *segment = tile->segment;

	for (size_t k = 0; k < segment->n; k++) {
		struct rows rows = rows_around(segment, tile->y0, tile->y1, segment->halo[k]);

		lay_out_input(tile, k,
		    rows_around(segment, rows.first, rows.end, segment->link[k].run.halo));
		lay_out_output(tile, k, rows);
	}
}

/* Where a map's table of planes is written; NULL while only sizes are found. */
static struct gpu_plane *
table_of(const struct tile *tile)
{
	return tile->fills ?
	    (struct gpu_plane *)((char *)tile->slot->words_host->host + tile->words) : NULL;
}

/* Writes the table of a map's planes, and uploads what its passes read of tables. */
static void
fill_table(struct tile *tile, size_t k, const struct gpu_push *push)
{
	const struct passes *passes = tile->segment->link[k].passes;
	struct gpu_plane *table = table_of(tile);

	memcpy(table, tile->in[k], push->outputs * sizeof(*table));
	memcpy(table + push->outputs, tile->out[k],
	    (push->scratches - push->outputs) * sizeof(*table));
	for (size_t i = 0; i < passes->constants; i++) {
		const struct constant *constant = &passes->constant[i];

		table[push->constants + i].address =
		    constant->device ? constant->device->address : constant->host->address;
		if (!constant->there)
			gpu_job_upload(tile->slot->job, constant->host, 0, constant->device, 0,
			    constant->host->bytes);
	}
}

static size_t
beyond_rows(const struct passes *passes)
{
	size_t beyond = 0;

	for (size_t i = 0; i < passes->n; i++)
		if (passes->pass[i].beyond > beyond)
			beyond = passes->pass[i].beyond;
	return beyond;
}

static int
record_pass(struct tile *tile, size_t k, const struct pass *pass, struct rows rows,
    struct gpu_push *push)
{
	const uint32_t *most = gpu_facts(tile->device->gpu)->groups_most;
	struct rows made = rows_around(tile->segment, rows.first, rows.end, pass->beyond);
	size_t w = tile->segment->link[k].out.w;
	uint32_t groups[2] = {
		(uint32_t)((w + pass->tile[0] - 1) / pass->tile[0]),
		(uint32_t)((made.end - made.first + pass->tile[1] - 1) / pass->tile[1])
	};
	size_t block = tile->words;

	tile->fits &= groups[0] <= most[0] && groups[1] <= most[1];
	tile->words += aligned(pass->bytes);
	if (!tile->fills)
		return 0;
	push->block = tile->slot->words->address + block;
	push->y0 = (uint32_t)made.first;
	push->y1 = (uint32_t)made.end;
	memcpy((char *)tile->slot->words_host->host + block, pass->block, pass->bytes);
	return gpu_job_dispatch(tile->slot->job, pass->shader, pass->local, groups, push,
	    sizeof(*push), pass->beside);
}

/* A map's table of planes and its blocks, and its dispatches. */
static int
record_map(struct tile *tile, size_t k)
{
	const struct segment *segment = tile->segment;
	const struct link *link = &segment->link[k];
	const struct passes *passes = link->passes;
	struct rows rows = rows_around(segment, tile->y0, tile->y1, segment->halo[k]);
	struct rows more = rows_around(segment, rows.first, rows.end, beyond_rows(passes));
	size_t in = link->in.c + link->run.state, planes = in + link->out.c + link->run.state;
	size_t stride = frame_stride(link->out.w, SAMPLE_FLOAT), at;
	struct gpu_plane *table = table_of(tile);
	struct gpu_push push = {
		.planes = tile->fills ? tile->slot->words->address + tile->words : 0,
		.w = (uint32_t)link->out.w, .h = (uint32_t)segment->h,
		.states = (uint32_t)link->in.c,
		.outputs = (uint32_t)in,
		.new_states = (uint32_t)(in + link->out.c),
		.scratches = (uint32_t)planes,
		.constants = (uint32_t)(planes + passes->scratches),
	};

	if (tile->fills)
		fill_table(tile, k, &push);
	for (size_t i = 0; i < passes->scratches; i++) {
		uint64_t there = place(tile, more, stride, &at);

		if (tile->fills)
			table[push.scratches + i] = plane_at(there, stride, SAMPLE_FLOAT);
	}
	tile->words += aligned((push.constants + passes->constants) * sizeof(*table));
	for (size_t i = 0; i < passes->n; i++)
		if (record_pass(tile, k, &passes->pass[i], rows, &push) < 0)
			return -1;
	return 0;
}

/* Goes over everything once: to find the sizes, or to fill the slot. */
int
tile_record(struct tile *tile, bool fills)
{
	tile->fills = fills;
	tile->arena = tile->words = tile->staging = 0;
	tile->up_bytes = tile->down_bytes = 0;
	tile->fits = true;
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
	size_t planes = 0, channels = 0;

	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		planes += link->in.c + link->out.c + 2 * link->run.state;
		channels += link->out.c;
	}
	tile->planes = calloc(planes, sizeof(*tile->planes));
	tile->channels = calloc(channels, sizeof(*tile->channels));
	tile->wanted = calloc(segment->in->head.c, sizeof(*tile->wanted));
	if (!tile->planes || !tile->channels || !tile->wanted) {
		tile_close(tile);
		return fail_memory();
	}
	planes = channels = 0;
	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		tile->in[k] = tile->planes + planes;
		planes += link->in.c + link->run.state;
		tile->out[k] = tile->planes + planes;
		planes += link->out.c + link->run.state;
		tile->final[k] = tile->channels + channels;
		channels += link->out.c;
	}
	trace(tile);
	return 0;
}

void
tile_close(struct tile *tile)
{
	free(tile->planes);
	free(tile->channels);
	free(tile->wanted);
}

void
tile_submitted(struct tile *tile)
{
	for (size_t k = 0; k < tile->segment->n; k++) {
		struct passes *passes = tile->segment->link[k].passes;

		for (size_t i = 0; i < passes->constants; i++)
			passes->constant[i].there = true;
	}
}
