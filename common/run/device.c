/*
 * Runs segments on the Vulkan device: lists the passes of their maps, copies frames to it, records
 * the passes of all stages into one command buffer, cuts frames that do not fit into tiles, and
 * copies results and samples back.
 */
#include "run/device.h"

#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "run/bands.h"
#include "run/cost_model.h"
#include "run/passes.h"
#include "run/sampler.h"

struct constant {
	struct gpu_block *host, *device;
	bool there;			/* on the device */
};

struct passes {
	struct gpu *gpu;
	const struct frame_head *in, *out;
	struct pass *pass;
	size_t n;
	bool *reads;			/* by channel of the input */
	size_t scratches;
	struct constant *constant;
	size_t constants;
	const char *refused;
	bool exact;			/* declared to give the processor's bytes */
	bool whole;			/* takes the frame in one tile */
	bool doubles;			/* some shader has them: Vulkan does not say how exact */
};

/* ---- the passes that a map lists ---- */

const struct frame_head *
passes_input(const struct passes *passes)
{
	return passes->in;
}

bool
passes_float64(const struct passes *passes)
{
	return gpu_facts(passes->gpu)->float64;
}

void
passes_add(struct passes *passes, const struct pass *pass)
{
	void *block = must_alloc(1, pass->bytes);

	memcpy(block, pass->block, pass->bytes);
	passes->doubles |= gpu_shader_has_doubles(pass->shader);
	passes->pass = must_resize(passes->pass, passes->n + 1, sizeof(*passes->pass));
	passes->pass[passes->n] = *pass;
	passes->pass[passes->n++].block = block;
}

void
passes_read(struct passes *passes, size_t c)
{
	if (c < passes->in->c)
		passes->reads[c] = true;
}

bool
passes_reads(const struct passes *passes, size_t c)
{
	return passes->reads[c];
}

void
passes_scratch(struct passes *passes, size_t n)
{
	passes->scratches = n;
}

int
passes_constant(struct passes *passes, const void *table, size_t bytes)
{
	struct constant constant = { .host = gpu_block_new(passes->gpu, GPU_HOST, bytes),
		.there = gpu_facts(passes->gpu)->unified };

	if (constant.host && !constant.there)
		constant.device = gpu_block_new(passes->gpu, GPU_DEVICE, bytes);
	if (!constant.host || (!constant.there && !constant.device)) {
		gpu_block_free(passes->gpu, constant.host);
		return -1;
	}
	memcpy(constant.host->host, table, bytes);
	passes->constant = must_resize(passes->constant, passes->constants + 1, sizeof(constant));
	passes->constant[passes->constants++] = constant;
	return 0;
}

void
passes_exact(struct passes *passes)
{
	passes->exact = true;
}

void
passes_whole(struct passes *passes)
{
	passes->whole = true;
}

int
passes_refuse(struct passes *passes, const char *why)
{
	passes->refused = why;
	return 0;
}

static void
free_passes(struct passes *passes)
{
	if (!passes)
		return;
	for (size_t i = 0; i < passes->n; i++)
		free((void *)passes->pass[i].block);
	for (size_t i = 0; i < passes->constants; i++) {
		gpu_block_free(passes->gpu, passes->constant[i].host);
		gpu_block_free(passes->gpu, passes->constant[i].device);
	}
	free_all(passes->pass, passes->reads, passes->constant, passes);
}

void
passes_unplan(struct link *link)
{
	free_passes(link->passes);
	link->passes = NULL;
}

bool
passes_are_exact(const struct gpu *device, const struct passes *passes)
{
	return passes->exact && !passes->doubles && gpu_facts(device)->exact;
}

void
passes_refused(struct link *link, const char *why)
{
	if (link->run.chain->verbose && !link->refused)
		fprintf(stderr, "%s: %s runs on the processor: %s\n", fail_program(),
		    link->run.stage->name, why);
	link->refused = true;
}

/* Shaders count columns, rows and the bytes of a row in 32 bits. */
static bool
too_large(const struct frame_head *head)
{
	return head->w > UINT32_MAX / 8 || head->h > UINT32_MAX;
}

int
passes_plan(struct gpu *device, struct link *link, bool *able)
{
	struct passes *passes;
	bool too_many = too_large(&link->in) || too_large(&link->out);
	int status;

	*able = false;
	if (!link->run.body->passes) {
		passes_unplan(link);
		return 0;
	}
	passes = must_alloc(1, sizeof(*passes));
	passes->gpu = device;
	passes->in = &link->in;
	passes->out = &link->out;
	passes->exact = link->run.stage->agree == AGREE_EXACT;
	passes->reads = must_alloc(link->in.c, sizeof(*passes->reads));
	status = link->run.body->passes(&link->run, passes);
	passes_unplan(link);
	if (status < 0) {
		free_passes(passes);
		return -1;
	}
	for (size_t i = 0; i < link->second_inputs; i++)
		too_many |= too_large(&link->second_input[i].frame->head);
	if (head_is_table(&link->in))
		passes_refuse(passes, "tables are the processor's");
	if (too_many)
		passes_refuse(passes, "rows of 4 GiB are more than shaders can address");
	if (passes->refused || passes->n == 0) {
		passes_refused(link, passes->refused ? passes->refused : "nothing to do");
		free_passes(passes);
		return 0;
	}
	link->passes = passes;
	*able = true;
	return 0;
}

/* ---- lays out the planes of a tile on the device and records the job that computes it ---- */

/* A tile: the rows of a frame that one job of the device makes, through all maps of a segment. */

/* Memory that grows when it is needed. */
struct gpu_job_slot {
	struct gpu_job *job;
	struct gpu_block *arena;	/* planes on the device */
	struct gpu_block *words_host, *words;	/* addresses and blocks; the same if unified */
	struct gpu_block *staging;	/* planes in memory that the device does not reach */
	struct frame **held;		/* whose pixels it uses */
	size_t holds;
	struct frame *completes;	/* the frame whose last tile it is */
	struct device_frame *frame;	/* likewise */
	struct copy_back {
		void *to;
		size_t at, bytes;
	} *copy_back;			/* from the staging block, when it is done */
	size_t copies_back;
};

/* Rows that checks look at, of a plane that the segment's maps make: channel c of the rows is
 * channel `channel` of map k's output. */
struct sampled_plane {
	struct check_rows *rows;
	size_t c, k, channel;
	size_t final;	/* the channel of the segment's output that it is; NO_CHANNEL: none */
};

/* A frame under way, till its last tile is done. */
struct device_frame {
	struct segment segment;		/* only what does not change meanwhile is of use */
	struct frame *in;		/* shares its pixels */
	struct frame **second;		/* inputs of its maps, one map after the other, likewise */
	size_t seconds;
	struct check_sample *sample;	/* of each map; NULL: no map has had checks */
	struct sampled_plane *plane;
	size_t planes, room;
};

/* A plane as shaders see it (gpu.glsl). */
struct gpu_plane {
	uint64_t address;		/* of row 0 */
	uint32_t stride, type;		/* bytes from row to row; enum sample */
};

/* One tile of one frame on its way through the segment. */
struct tile {
	struct gpu *device;
	struct segment *segment;
	struct gpu_job_slot *slot;
	struct device_frame *frame;
	size_t y0, y1;
	bool fills;			/* false: only sizes are found */
	size_t arena, words, staging;	/* bytes used so far */
	size_t up_bytes, down_bytes;	/* that cross */
	bool fits;			/* no dispatch has more workgroups than the device takes */
	/* planes of map k's input, output and state, in the order of struct frame */
	struct gpu_plane *in[SEGMENT_MOST], *out[SEGMENT_MOST];
	bool *wanted;			/* of the segment's input: read by some map */
	size_t *final[SEGMENT_MOST]; /* by channel of map k: the output's channel that it is */
	struct gpu_plane *planes;	/* memory of the lists above */
	size_t *channels;
};

#define ALIGNMENT 256		/* of planes and blocks */

_Static_assert(sizeof(struct gpu_push) <= GPU_PUSH_MOST, "fits every device");

static void
tile_close(struct tile *tile)
{
	free_all(tile->planes, tile->channels, tile->wanted);
}

static void *
take_store(void *device, size_t bytes, void **owner)
{
	struct gpu_block *block = gpu_block_try(device, GPU_HOST, bytes);

	*owner = block;
	return block ? block->host : NULL;
}

static void
give_store(void *device, void *owner)
{
	gpu_block_free(device, owner);
}

struct rows {
	size_t first, end;
};

/* Of h rows in all. */
static struct rows
rows_around(size_t h, struct rows of, size_t beyond)
{
	struct rows rows = { of.first > beyond ? of.first - beyond : 0, of.end + beyond };

	if (rows.end > h)
		rows.end = h;
	return rows;
}

/* The rows that a tile is for, of map k's output: all of a frame that is not cut into tiles. */
static struct rows
tile_rows(const struct tile *tile, size_t k)
{
	const struct link *link = &tile->segment->link[k];

	return link->passes->whole ? (struct rows){ 0, link->out.h } :
	    (struct rows){ tile->y0, tile->y1 };
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
	bool unified = gpu_facts(tile->device)->unified;
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
		gpu_job_copy(tile->slot->job, block ? block : tile->slot->staging,
		    block ? offset_in(block, plane) + rows.first * stride : staged,
		    tile->slot->arena, at, bytes);
	}
	return plane_at(address, stride, plane->type);
}

/* A plane of the host that the device makes `rows` of, of which the tile's `own` are wanted. */
static struct gpu_plane
bring_back(struct tile *tile, const struct plane *plane, struct rows rows, struct rows own)
{
	const struct gpu_block *block = tile_block(plane);
	size_t stride = plane->stride, bytes = (own.end - own.first) * stride;
	size_t at, from, staged = 0;
	uint64_t address;

	if (block && gpu_facts(tile->device)->unified)
		return plane_at(block->address + offset_in(block, plane), stride, plane->type);
	address = place(tile, rows, stride, &at);
	from = at + (own.first - rows.first) * stride;
	if (!block) {
		staged = tile->staging;
		tile->staging += aligned(bytes);
	}
	if (!tile->fills)
		return plane_at(0, stride, plane->type);
	tile->down_bytes += bytes;
	gpu_job_copy(tile->slot->job, tile->slot->arena, from,
	    block ? block : tile->slot->staging,
	    block ? offset_in(block, plane) + own.first * stride : staged, bytes);
	if (!block)
		tile->slot->copy_back[tile->slot->copies_back++] = (struct copy_back){
			(char *)plane->host + own.first * stride, staged, bytes
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
	struct rows whole = { 0, segment->in->head.h };

	for (size_t c = 0; c < before->c; c++)
		if (k > 0)
			in[c] = tile->out[k - 1][c];
		else if (tile->wanted[c])
			in[c] = bring(tile, &segment->in->plane[c],
			    whole.end == segment->h ? read : whole);
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
			gpu_job_copy(tile->slot->job, tile->slot->arena,
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
			tile->out[k][c] = bring_back(tile,
			    &segment->out->plane[tile->final[k][c]], rows, tile_rows(tile, k));
		} else {
			tile->out[k][c] =
			    plane_at(place(tile, rows, stride, &at), stride, link->out.type);
			sample_plane(tile, k, c, at, rows.first, stride);
		}
	}
	for (size_t i = 0; i < link->run.state; i++)
		tile->out[k][link->out.c + i] = bring_back(tile, &link->state[1]->plane[i], rows,
		    tile_rows(tile, k));
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
			gpu_job_copy(tile->slot->job, constant->host, 0, constant->device, 0,
			    constant->host->bytes);
	}
}

static int
record_pass(struct tile *tile, size_t k, const struct pass *pass, struct rows rows,
    struct gpu_push *push)
{
	const uint32_t *most = gpu_facts(tile->device)->groups_most;
	const struct frame_head *out = &tile->segment->link[k].out;
	struct rows made = rows_around(out->h, rows, pass->beyond);
	uint32_t groups[2] = {
		(uint32_t)((out->w + pass->tile[0] - 1) / pass->tile[0]),
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
	    pass->beside);
}

/* A map's table of planes and its blocks, and its dispatches. */
static int
record_map(struct tile *tile, size_t k)
{
	const struct segment *segment = tile->segment;
	const struct link *link = &segment->link[k];
	const struct passes *passes = link->passes;
	struct rows rows = rows_around(link->out.h, tile_rows(tile, k), segment->halo[k]), more;
	size_t in = link->in.c + link->run.state, planes = in + link->out.c + link->run.state;
	size_t beyond = 0;
	size_t stride = frame_stride(link->out.w, SAMPLE_FLOAT), at;
	struct gpu_plane *table = table_of(tile);
	struct gpu_push push = {
		.planes = tile->fills ? tile->slot->words->address + tile->words : 0,
		.w = (uint32_t)link->out.w, .h = (uint32_t)link->out.h,
		.states = (uint32_t)link->in.c,
		.outputs = (uint32_t)in,
		.new_states = (uint32_t)(in + link->out.c),
		.scratches = (uint32_t)planes,
		.constants = (uint32_t)(planes + passes->scratches),
	};

	if (tile->fills)
		fill_table(tile, k, &push);
	for (size_t i = 0; i < passes->n; i++)
		beyond = passes->pass[i].beyond > beyond ? passes->pass[i].beyond : beyond;
	more = rows_around(link->out.h, rows, beyond);
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

/* Goes over everything once: to find the sizes, or (fills) to record the job. -1 after fail(). */
static int
tile_record(struct tile *tile, bool fills)
{
	tile->fills = fills;
	tile->arena = tile->words = tile->staging = 0;
	tile->up_bytes = tile->down_bytes = 0;
	tile->fits = true;
	for (size_t k = 0; k < tile->segment->n; k++) {
		const struct segment *segment = tile->segment;
		const struct link *link = &segment->link[k];
		struct rows rows = rows_around(link->out.h, tile_rows(tile, k), segment->halo[k]);

		lay_out_input(tile, k, link->passes->whole ? (struct rows){ 0, segment->h } :
		    rows_around(segment->h, rows, link->run.halo));
		lay_out_output(tile, k, rows);
	}
	for (size_t k = 0; k < tile->segment->n; k++)
		if (record_map(tile, k) < 0)
			return -1;
	return 0;
}

/* Finds what the tile's segment reads and makes. Channels of the output that are made once and
 * handed on twice become one plane. */
static void
tile_open(struct tile *tile)
{
	const struct segment *segment = tile->segment;
	size_t planes = 0, channels = 0;

	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		planes += link->in.c + link->out.c + 2 * link->run.state;
		channels += link->out.c;
	}
	tile->planes = must_alloc(planes, sizeof(*tile->planes));
	tile->channels = must_alloc(channels, sizeof(*tile->channels));
	tile->wanted = must_alloc(segment->in->head.c, sizeof(*tile->wanted));
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
}

/* A segment of its own, outside the chain: one frame at a time, which the caller waits for. */
struct flow_gpu {
	struct link link;
	bool able;
	struct frame *completed;
};

void
flow_gpu_end(struct chain *chain, struct link *owner)
{
	struct flow_gpu *flow = owner->flow_gpu;

	if (!flow)
		return;
	device_abandon(chain->device, &flow->link);
	head_free(&flow->link.in);
	head_free(&flow->link.out);
	free(flow);
	owner->flow_gpu = NULL;
}

static int
take_completed(struct chain *chain, size_t at, struct frame *frame)
{
	chain->link[at - 1].flow_gpu->completed = frame;
	return 0;
}

static int
plan_flow(struct flow_gpu *flow, struct run *run, const struct frame_head *in,
    const struct frame_head *out)
{
	struct link *link = &flow->link;

	head_free(&link->in);
	head_free(&link->out);
	link->run = *run;
	link->run.link = link;
	head_copy(&link->in, in);
	head_copy(&link->out, out);
	return passes_plan(run->chain->device, link, &flow->able);
}

/* Not 0 after fail(). */
static int
submit_flow(struct flow_gpu *flow, struct frame *in)
{
	struct chain *chain = flow->link.run.chain;
	struct frame *again = NULL;
	struct segment segment = { .chain = chain, .link = &flow->link, .n = 1,
		.h = flow->link.out.h };
	int status = -1;

	if (frame_duplicate(in, &again) == 0 && frame_new(&flow->link.out, &segment.out) == 0) {
		segment.in = again;
		segment_halos(&segment);
		status = device_start(chain->device, &segment, take_completed);
	}
	if (status != 0) {
		frame_free(again);
		frame_free(segment.out);
		return status;
	}
	return device_drain(chain, &flow->link, 0, take_completed);
}

bool
run_wants_device(const struct run *run)
{
	return run->chain->device && (run->link->place == PLACE_DEVICE ||
	    (run->link->place == PLACE_AUTO && placement_flow_gains(run->link)));
}

int
run_passes(struct run *run, struct frame *in, const struct frame_head *out, struct frame **made)
{
	struct link *owner = run->link;
	struct flow_gpu *flow = owner->flow_gpu;
	int status;

	*made = NULL;
	if (!run_wants_device(run))
		return 0;
	if (!flow)
		flow = owner->flow_gpu = must_alloc(1, sizeof(*flow));
	if (plan_flow(flow, run, &in->head, out) < 0)
		return -1;
	if (!flow->able || (owner->place == PLACE_AUTO &&
	    !passes_are_exact(run->chain->device, flow->link.passes)))
		return 0;
	status = submit_flow(flow, in);
	if (status != 0 && owner->place == PLACE_AUTO &&
	    (status == 1 || gpu_lost(run->chain->device))) {
		device_gives_way(run->chain);
		owner->place = PLACE_PROCESSOR;
		return 0;
	}
	*made = flow->completed;
	flow->completed = NULL;
	owner->flow_on_device |= status == 0;
	return status == 0 ? 0 : -1;
}

#define JOBS_IN_FLIGHT 3		/* frames under way: one up, one computed, one down */

/* Of a segment, kept by its first link. */
struct gpu_jobs {
	struct gpu_job_slot slot[JOBS_IN_FLIGHT];
	struct device_frame frame[JOBS_IN_FLIGHT + 1];	/* a ring, by `frames` */
	size_t started, completed;
	size_t at;			/* the stage that gets what completes */
	struct link *link;
	size_t n;			/* maps */
	double up_s, down_s;
	size_t up_bytes, down_bytes, frames;
};

int
device_open(const char *which, struct gpu **device)
{
	struct memory_source source = { .take = take_store, .give = give_store };

	if (gpu_open(which, device) < 0)
		return -1;
	source.arg = *device;
	frame_use_memory(&source);
	return 0;
}

int
device_close(struct gpu *device)
{
	if (!device)
		return 0;
	frame_release_stores();
	frame_use_memory(NULL);
	return gpu_close(device);
}

static int
grow(struct gpu *gpu, struct gpu_block **block, enum gpu_place place, size_t bytes)
{
	if (bytes == 0 || (*block && (*block)->bytes >= bytes))
		return 0;
	gpu_block_free(gpu, *block);
	*block = gpu_block_new(gpu, place, bytes);
	return *block ? 0 : -1;
}

/* Memory for what tile_record() has counted. */
static int
reserve_slot(struct tile *tile)
{
	struct gpu_job_slot *slot = tile->slot;
	struct gpu *gpu = tile->device;
	size_t copies = tile->segment->out->head.c;	/* at most */

	for (size_t k = 0; k < tile->segment->n; k++)
		copies += tile->segment->link[k].run.state;
	for (size_t i = 0; i < tile->frame->planes; i++)
		copies += tile->frame->plane[i].rows->frame.head.h;

	if (gpu_facts(gpu)->unified)	/* it is the same block as words_host */
		slot->words = NULL;
	if (!slot->job)
		slot->job = gpu_job_new(gpu);
	if (!slot->job || grow(gpu, &slot->arena, GPU_DEVICE, tile->arena) < 0 ||
	    grow(gpu, &slot->staging, GPU_HOST, tile->staging) < 0 ||
	    grow(gpu, &slot->words_host, GPU_HOST, tile->words) < 0)
		return -1;
	if (gpu_facts(gpu)->unified)
		slot->words = slot->words_host;
	else if (grow(gpu, &slot->words, GPU_DEVICE, tile->words) < 0)
		return -1;
	slot->copy_back = must_resize(slot->copy_back, copies, sizeof(*slot->copy_back));
	slot->copies_back = 0;
	return 0;
}

/* As device_start(). */
static int
submit_tile(struct tile *tile)
{
	struct gpu_job_slot *slot = tile->slot;

	if (tile_record(tile, false) < 0)
		return -1;
	if (reserve_slot(tile) < 0)
		return 1;
	gpu_job_begin(slot->job);
	if (tile_record(tile, true) < 0)
		return -1;
	if (slot->words != slot->words_host)
		gpu_job_copy(slot->job, slot->words_host, 0, slot->words, 0, tile->words);
	if (gpu_job_submit(slot->job) < 0)
		return gpu_lost(tile->device) ? 1 : -1;
	for (size_t k = 0; k < tile->segment->n; k++) {	/* for the next one it will be there */
		struct passes *passes = tile->segment->link[k].passes;

		for (size_t i = 0; i < passes->constants; i++)
			passes->constant[i].there = true;
	}
	return 0;
}

/* Bytes that a tile may take: jobs share half of the device's memory. */
static size_t
most_of_tile(const struct gpu *device)
{
	const struct gpu_facts *facts = gpu_facts(device);
	size_t share = facts->memory_bytes / (2 * JOBS_IN_FLIGHT);

	return share < facts->allocation_most ? share : facts->allocation_most;
}

static bool
is_whole(const struct segment *segment)
{
	return segment->link[segment->n - 1].passes->whole;
}

/* How many rows of the output fit at once. */
static size_t
rows_that_fit(struct tile *tile)
{
	size_t most = most_of_tile(tile->device), rows = tile->segment->h;

	for (;;) {
		tile->y0 = 0;
		tile->y1 = rows;
		if (tile_record(tile, false) < 0 ||
		    (tile->fits && tile->arena <= most && tile->staging <= most))
			return rows;
		if (rows == 1 || is_whole(tile->segment))
			return 0;
		rows = (rows + 1) / 2;
	}
}

static void
add_times(struct gpu_jobs *jobs, struct gpu_job_slot *slot, bool whole)
{
	size_t dispatch = 0;
	double up, down;

	gpu_job_copy_seconds(slot->job, &up, &down);
	jobs->up_s += isnan(up) ? 0 : up;
	jobs->down_s += isnan(down) ? 0 : down;
	for (size_t k = 0; k < jobs->n; k++) {
		struct link *link = &jobs->link[k];

		for (size_t i = 0; link->passes && i < link->passes->n; i++, dispatch++)
			link->timing[true].seconds +=
			    gpu_job_dispatch_seconds(slot->job, dispatch);
		if (whole) {
			link->timing[true].samples += link_samples(link);
			link->timing[true].frames++;
		}
	}
}

static void
release_frames(struct gpu_job_slot *slot)
{
	while (slot->holds)
		frame_free(slot->held[--slot->holds]);
}

static int
hold(struct gpu_job_slot *slot, const struct frame *frame)
{
	slot->held = must_resize(slot->held, slot->holds + 1, sizeof(*slot->held));
	if (frame_duplicate(frame, &slot->held[slot->holds]) < 0)
		return -1;
	slot->holds++;
	return 0;
}

/* The frames that a tile needs stay till it has completed. */
static int
hold_all(struct gpu_job_slot *slot, const struct segment *segment)
{
	if (hold(slot, segment->in) < 0 || hold(slot, segment->out) < 0)
		return -1;
	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];

		for (size_t i = 0; i < link->second_inputs; i++)
			if (hold(slot, link->second_input[i].frame) < 0)
				return -1;
		for (size_t i = 0; i < 2 && link->run.state; i++)
			if (hold(slot, link->state[i]) < 0)
				return -1;
	}
	return 0;
}

/* ---- checks of what a device makes ---- */

/* Notes that channel c of the rows, where some check looks at it, is made by a map, or copies it
 * from the segment's input. k: the map whose output it is; n: the segment's input. */
static void
find_sampled(const struct tile *tile, struct check_rows *rows, size_t c, size_t k, size_t channel)
{
	const struct segment *segment = tile->segment;
	struct device_frame *frame = tile->frame;

	if (!rows->frame.plane[c].host)
		return;
	if (k == segment->n || !segment_produced_by(segment, &k, &channel)) {
		check_rows_copy(rows, c, segment->in, channel);
		return;
	}
	if (frame->planes == frame->room) {
		frame->room = 2 * frame->room + 16;
		frame->plane = must_resize(frame->plane, frame->room, sizeof(*frame->plane));
	}
	frame->plane[frame->planes++] = (struct sampled_plane){ rows, c, k, channel,
		tile->final[k][channel] };
}

static void
sample_map(const struct tile *tile, size_t k)
{
	struct check_sample *sample = &tile->frame->sample[k];
	struct link *link = &tile->segment->link[k];

	checks_begin(link, sample);
	for (size_t c = 0; sample->on && c < sample->in.frame.head.c; c++)
		find_sampled(tile, &sample->in, c, k ? k - 1 : tile->segment->n, c);
	for (size_t c = 0; sample->on && c < link->out.c; c++)
		find_sampled(tile, &sample->out, c, k, c);
}

/* Gives the maps the second inputs that a frame was made with, in exchange for those at hand. */
static void
swap_seconds(struct device_frame *frame)
{
	struct frame **second = frame->second;

	for (size_t k = 0; k < frame->segment.n; k++) {
		struct link *link = &frame->segment.link[k];

		for (size_t i = 0; i < link->second_inputs; i++, second++) {
			struct frame *at_hand = link->second_input[i].frame;

			link->second_input[i].frame = *second;
			*second = at_hand;
		}
	}
}

/* Keeps the second inputs at hand. -1 after fail(). */
static int
keep_seconds(struct device_frame *frame)
{
	size_t n = 0;

	for (size_t k = 0; k < frame->segment.n; k++)
		n += frame->segment.link[k].second_inputs;
	frame->second = must_alloc(n, sizeof(*frame->second));
	for (size_t k = 0; k < frame->segment.n; k++) {
		const struct link *link = &frame->segment.link[k];

		for (size_t i = 0; i < link->second_inputs; i++, frame->seconds++)
			if (frame_duplicate(link->second_input[i].frame,
			    &frame->second[frame->seconds]) < 0)
				return -1;
	}
	return 0;
}

static void
free_inputs(struct device_frame *frame)
{
	frame_free(frame->in);
	frame->in = NULL;
	while (frame->seconds)
		frame_free(frame->second[--frame->seconds]);
	free(frame->second);
	frame->second = NULL;
}

/* A frame begins on the device: copies rows of its input that checks look at, and notes where the
 * other ones will be. -1 after fail(). */
static int
begin_frame(struct tile *tile)
{
	const struct segment *segment = tile->segment;
	struct device_frame *frame = tile->frame;

	frame->segment = *segment;
	frame->planes = 0;
	free_inputs(frame);
	if (frame_duplicate(segment->in, &frame->in) < 0 || keep_seconds(frame) < 0)
		return -1;
	frame->segment.in = frame->in;
	for (size_t k = 0; k < segment->n; k++) {
		if (!segment->link[k].checks)
			continue;
		if (!frame->sample)
			frame->sample = must_alloc(SEGMENT_MOST, sizeof(*frame->sample));
		sample_map(tile, k);
	}
	return 0;
}

/* No pixel of the frame, or of its input, is valid: the processor finds at which map they are lost.
 */
static int
find_invalid(struct device_frame *frame, bool empty)
{
	struct segment scan = frame->segment;
	const struct link *first = scan.link;
	int status;

	if (empty && (first->all_invalid.warned_empty || first->run.position))
		return 0;

	scan.scan = SCAN_VALID;
	scan.in = frame->in;
	scan.n = segment_maps(&scan);
	for (size_t k = 0; k < scan.n; k++)
		if ((!empty && scan.link[k].all_invalid.warned) || scan.link[k].run.state)
			return 0;
	swap_seconds(frame);
	status = frame_new(&scan.link[scan.n - 1].out, &scan.out);
	if (status == 0)
		status = bands_run(&scan);
	frame_free(scan.out);
	swap_seconds(frame);
	return status;
}

/* Have the frame, which is NULL where only `valid` is known of it, and its input valid pixels? It
 * counts for all maps. -1 after fail(). */
static int
look_for_valid(struct device_frame *frame, const struct frame *out, bool valid)
{
	const struct segment *segment = &frame->segment;
	struct all_invalid ends = { .out = valid };
	int status = 0;

	all_invalid_take(&ends, frame->in);
	if (out)
		all_invalid_emit(&ends, out);
	for (size_t k = 0; k < segment_maps(segment); k++) {
		struct all_invalid *seen = &segment->link[k].all_invalid;

		all_invalid_begin(seen, segment_passed_from(segment, k, 0) != NO_CHANNEL);
		seen->frames++;
		seen->concluded = true;
		seen->results |= ends.inputs && (ends.out || seen->out);
	}
	if (!ends.out || !ends.inputs)
		status = find_invalid(frame, !ends.inputs);
	return status;
}

/* A frame is complete, which is NULL where a flow has taken it: what there is to say of it. -1
 * after fail(). */
static int
conclude_frame(struct device_frame *frame, const struct frame *out, bool valid)
{
	const struct segment *segment = &frame->segment;
	int status = 0;

	if (segment->link->run.body->rows)	/* a flow's passes make a part of its frame */
		status = look_for_valid(frame, out, valid);
	for (size_t i = 0; i < frame->planes; i++)
		if (frame->plane[i].final != NO_CHANNEL)
			check_rows_copy(frame->plane[i].rows, frame->plane[i].c, out,
			    frame->plane[i].final);
	for (size_t k = 0; k < segment->n; k++) {
		const char *before = warn_stage(segment->link[k].title);

		if (segment->link[k].checks) {
			check_sample_whole(&frame->sample[k], k ? NULL : frame->in);
			checks_judge(&segment->link[k], &frame->sample[k], CHECK_COMPLETE);
		}
		warn_stage(before);
	}
	free_inputs(frame);
	return status;
}

/* ---- jobs ---- */

/* Waits for the oldest slot; *out is the frame if it was its last tile. */
static int
complete_oldest(struct gpu_jobs *jobs, struct frame **out)
{
	struct gpu_job_slot *slot = &jobs->slot[jobs->completed % JOBS_IN_FLIGHT];

	*out = slot->completes;
	slot->completes = NULL;
	jobs->completed++;
	if (gpu_job_wait(slot->job) < 0)	/* the frames that it may still write to stay */
		return -1;
	for (size_t i = 0; i < slot->copies_back; i++)
		memcpy(slot->copy_back[i].to,
		    (char *)slot->staging->host + slot->copy_back[i].at,
		    slot->copy_back[i].bytes);
	add_times(jobs, slot, *out != NULL);
	release_frames(slot);
	return 0;
}

void
device_gives_way(struct chain *chain)
{
	if (!chain->gave_way && !chain->quiet)
		fprintf(stderr, "%s: the processor goes on: %s\n", fail_program(), fail_message());
	chain->gave_way = true;
	fail_clear();
}

/* May the processor compute frames that were under way when the device was lost? It can if -d auto
 * has brought them there, and nothing but the input is needed that the device alone has. */
static bool
can_take_over(const struct segment *segment)
{
	for (size_t k = 0; k < segment->n; k++)
		if (segment->link[k].place == PLACE_DEVICE || segment->link[k].masked)
			return false;
	return (segment->link->run.body->rows || segment->link->run.body->made) &&
	    !state_used(segment);
}

/* The processor computes a frame in place of the device. *out: NULL where a flow has emitted it. -1
 * after fail(). */
static int
take_over(struct device_frame *began, struct frame **out)
{
	struct segment again = began->segment;
	struct link *flow = NULL;
	const char *before;
	int status;

	again.n = segment_maps(&again);
	if (again.n < began->segment.n)
		flow = &again.link[again.n];
	swap_seconds(began);
	if (again.n == 0)
		status = frame_duplicate(began->in, &again.out);
	else
		status = frame_new(&again.link[again.n - 1].out, &again.out);
	if (status == 0 && again.n)
		status = bands_run(&again);
	swap_seconds(began);
	free_inputs(began);
	*out = again.out;
	if (status < 0 || !flow)
		return status;
	*out = NULL;
	all_invalid_take(&flow->all_invalid, again.out);
	before = warn_stage(flow->title);
	status = flow->run.body->frame(&flow->run, again.out);
	warn_stage(before);
	return status;
}

/* Hands a frame that the last link, a flow, has made to it. */
static int
conclude_flow(struct device_frame *began, struct frame *made)
{
	struct segment *segment = &began->segment;
	struct link *flow = &segment->link[segment->n - 1];
	struct all_invalid seen = flow->all_invalid;
	const char *before = warn_stage(flow->title);
	bool valid = *(uint32_t *)frame_row(made, 0, made->head.h - 1);
	int status;

	if (segment->n == 1) {
		all_invalid_take(&flow->all_invalid, began->in);
	} else {
		flow->all_invalid.frames++;
		flow->all_invalid.in = valid;
		flow->all_invalid.others = false;
	}
	status = flow->run.body->made(&flow->run, made);
	warn_stage(before);
	if (status == 1) {
		flow->all_invalid = seen;
		return take_over(began, &made);
	}
	return status < 0 ? -1 : conclude_frame(began, NULL, valid);
}

static int
complete_one(struct chain *chain, struct gpu_jobs *jobs, device_complete *complete)
{
	struct device_frame *began = jobs->slot[jobs->completed % JOBS_IN_FLIGHT].frame;
	struct frame *frame;
	int status = complete_oldest(jobs, &frame);

	if (status == 0 && frame && jobs->link[jobs->n - 1].run.body->made)
		return conclude_flow(began, frame);
	if (status < 0 && gpu_lost(chain->device) && can_take_over(&began->segment)) {
		device_gives_way(chain);
		status = frame ? take_over(began, &frame) : 0;
	} else if (status == 0 && frame) {
		status = conclude_frame(began, frame, true);
	}
	if (status < 0) {
		frame_free(frame);
		return -1;
	}
	return frame ? complete(chain, jobs->at, frame) : 0;
}

int
device_drain(struct chain *chain, struct link *link, size_t to, device_complete *complete)
{
	while (link->jobs && link->jobs->at > to &&
	    link->jobs->completed < link->jobs->started)
		if (complete_one(chain, link->jobs, complete) < 0)
			return -1;
	return 0;
}

static int
submit_tiles(struct tile *tile, struct gpu_jobs *jobs, size_t rows, device_complete *complete)
{
	struct segment *segment = tile->segment;

	for (size_t y = 0; y < segment->h; y += rows) {
		bool last = y + rows >= segment->h;
		struct gpu_job_slot *slot;
		int status;

		while (jobs->started - jobs->completed == JOBS_IN_FLIGHT)
			if (complete_one(segment->chain, jobs, complete) < 0)
				return -1;
		if (gpu_lost(tile->device)) {
			fail(NULL, "the GPU was given up");
			return 1;
		}
		slot = tile->slot = &jobs->slot[jobs->started % JOBS_IN_FLIGHT];
		slot->frame = tile->frame;
		tile->y0 = y;
		tile->y1 = last ? segment->h : y + rows;
		status = hold_all(slot, segment) < 0 ? -1 : submit_tile(tile);
		if (status) {
			release_frames(slot);
			return status;
		}
		jobs->up_bytes += tile->up_bytes;
		jobs->down_bytes += tile->down_bytes;
		jobs->started++;
		if (last) {
			slot->completes = segment->out;
			jobs->frames++;
		}
	}
	return 0;
}

int
device_start(struct gpu *device, struct segment *segment, device_complete *complete)
{
	struct tile tile = { .device = device, .segment = segment };
	struct link *first = segment->link;
	size_t rows = segment->chain->band, most;
	int status = 1;

	if (!first->jobs)
		first->jobs = must_alloc(1, sizeof(*first->jobs));
	/* the last frame's state is made by a job that may still run */
	if (state_used(segment) && device_drain(segment->chain, first, 0, complete) < 0)
		return -1;
	first->jobs->at = first->run.position + segment->n;
	first->jobs->link = first;
	first->jobs->n = segment->n;
	tile_open(&tile);
	tile.frame = &first->jobs->frame[first->jobs->frames % (JOBS_IN_FLIGHT + 1)];
	if (begin_frame(&tile) < 0) {
		tile_close(&tile);
		return -1;
	}
	most = rows_that_fit(&tile);
	if (rows == 0 || rows > most || is_whole(segment))
		rows = most;
	if (rows == 0 && !tile.fits && tile.arena + tile.staging <= most_of_tile(device))
		fail(NULL,
		    "a row of %zu pixels takes more workgroups than the GPU computes at once",
		    segment->in->head.w);
	else if (rows == 0 && first->run.halo >= segment->h)
		fail(NULL, "an image of %zux%zu pixels does not fit the GPU as a whole: it takes "
		    "%zu bytes, of %zu", segment->in->head.w, segment->h,
		    tile.arena + tile.staging, most_of_tile(device));
	else if (rows == 0)
		fail(NULL, "a %s of %zu pixels does not fit the GPU: it takes %zu bytes, of %zu",
		    is_whole(segment) ? "frame" : "row", is_whole(segment) ?
		    segment->out->head.w * segment->out->head.h : segment->in->head.w,
		    tile.arena + tile.staging, most_of_tile(device));
	else
		status = submit_tiles(&tile, first->jobs, rows, complete);
	tile_close(&tile);
	if (status == 0)
		frame_free(segment->in);
	return status;
}

/* "NAME: 100 frames on DEVICE: up 2.88 MB 0.2 ms, phasewrap 0.02 ms, ... down ..., each frame" */
static void
report(const struct gpu *device, const struct gpu_jobs *jobs)
{
	double frames = (double)jobs->frames;
	bool crosses = !gpu_facts(device)->unified;

	if (!jobs->link->run.chain->verbose || !jobs->frames || gpu_lost(device))
		return;
	fprintf(stderr, "%s: %zu frames on %s:", fail_program(), jobs->frames,
	    gpu_facts(device)->name);
	if (crosses)
		fprintf(stderr, " up %.3f MB %.3f ms,", 1e-6 * (double)jobs->up_bytes / frames,
		    1e3 * jobs->up_s / frames);
	for (size_t k = 0; k < jobs->n; k++)
		times_print(k ? "," : "", &jobs->link[k], true);
	if (crosses)
		fprintf(stderr, ", down %.3f MB %.3f ms",
		    1e-6 * (double)jobs->down_bytes / frames, 1e3 * jobs->down_s / frames);
	fprintf(stderr, " a frame\n");
}

static void
free_jobs(struct gpu *device, struct gpu_jobs *jobs)
{
	struct frame *frame;

	while (jobs->completed < jobs->started) {
		complete_oldest(jobs, &frame);
		frame_free(frame);
	}
	report(device, jobs);
	for (size_t i = 0; i < JOBS_IN_FLIGHT; i++) {
		struct gpu_job_slot *slot = &jobs->slot[i];

		gpu_job_free(slot->job);
		gpu_block_free(device, slot->arena);
		gpu_block_free(device, slot->staging);
		if (slot->words && slot->words != slot->words_host)
			gpu_block_free(device, slot->words);
		gpu_block_free(device, slot->words_host);
		free(slot->copy_back);
		free(slot->held);
	}
	for (size_t i = 0; i <= JOBS_IN_FLIGHT; i++) {
		struct device_frame *began = &jobs->frame[i];

		for (size_t k = 0; k < SEGMENT_MOST && began->sample; k++)
			check_sample_free(&began->sample[k]);
		free(began->sample);
		free(began->plane);
		free_inputs(began);
	}
	free(jobs);
}

void
device_abandon(struct gpu *device, struct link *link)
{
	if (link->jobs)
		free_jobs(device, link->jobs);
	link->jobs = NULL;
	passes_unplan(link);
}
