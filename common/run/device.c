#define _GNU_SOURCE
#include "run/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/placement.h"

#define JOBS_IN_FLIGHT 3		/* frames under way: one up, one computed, one down */
#define ALIGNMENT 256		/* of planes and blocks */
#define BLOCKS_LEFT 64		/* of the device's, for what is no frame */

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
};

/* The push block of gpu.glsl. */
struct push {
	uint64_t planes, block;
	uint32_t w, h, y0, y1;
	uint32_t in_stride, out_stride, scratch_stride;
	uint32_t outputs, scratches, constants;
};
_Static_assert(sizeof(struct push) <= GPU_PUSH_MOST, "fits every device");

/* Memory that grows when it is needed. */
struct gpu_job_slot {
	struct gpu_job *job;
	struct gpu_block *arena;	/* planes on the device */
	struct gpu_block *words_host, *words;	/* addresses and blocks; the same if unified */
	struct gpu_block *staging;	/* planes in memory that the device does not reach */
	struct frame **held;		/* whose pixels it uses */
	size_t holds;
	struct frame *lands;		/* the frame whose last band it is */
	struct copy_back {
		void *to;
		size_t at, bytes;
	} *copy_back;			/* from the staging block, when it is done */
	size_t copies_back;
};

/* Of a segment, kept by its first link. */
struct gpu_jobs {
	struct gpu_job_slot flight[JOBS_IN_FLIGHT];
	size_t started, landed;
	size_t at;			/* the stage that gets what lands */
	struct link *link;
	size_t n;			/* maps */
	double up_s, down_s;
	size_t up_bytes, down_bytes, frames;
};

struct device {
	struct gpu *gpu;
	bool verbose;
};

/* ---- pixel stores that the device reaches ---- */

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

int
device_open(const char *which, bool verbose, struct device **out)
{
	struct device *device = calloc(1, sizeof(*device));

	*out = NULL;
	if (!device)
		return fail_memory();
	if (gpu_open(which, &device->gpu) < 0) {
		free(device);
		return -1;
	}
	device->verbose = verbose;
	frame_use_memory(&(struct memory_source){
	    .take = take_store, .give = give_store, .arg = device });
	*out = device;
	return 0;
}

int
device_close(struct device *device)
{
	int status;

	if (!device)
		return 0;
	frame_release_stores();
	frame_use_memory(NULL);
	status = gpu_close(device->gpu);
	free(device);
	return status;
}

const struct gpu_facts *
device_facts(const struct device *device)
{
	return gpu_facts(device->gpu);
}

/* ---- planning ---- */

const struct frame_head *
passes_input(const struct passes *passes)
{
	return passes->in;
}

const struct frame_head *
passes_output(const struct passes *passes)
{
	return passes->out;
}

bool
passes_float64(const struct passes *passes)
{
	return gpu_facts(passes->gpu)->float64;
}

int
passes_add(struct passes *passes, const struct pass *pass)
{
	struct pass *more =
	    reallocarray(passes->pass, passes->n + 1, sizeof(*more));
	void *block = malloc(pass->bytes + 1);

	if (more)
		passes->pass = more;
	if (!more || !block) {
		free(block);
		return fail_memory();
	}
	memcpy(block, pass->block, pass->bytes);
	more[passes->n] = *pass;
	more[passes->n++].block = block;
	return 0;
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
	struct constant *more =
	    reallocarray(passes->constant, passes->constants + 1, sizeof(*more));
	struct constant constant = { 0 };

	if (!more)
		return fail_memory();
	passes->constant = more;
	constant.host = gpu_block_new(passes->gpu, GPU_HOST, bytes);
	if (!constant.host)
		return -1;
	memcpy(constant.host->host, table, bytes);
	constant.there = gpu_facts(passes->gpu)->unified;
	if (!constant.there) {
		constant.device = gpu_block_new(passes->gpu, GPU_DEVICE, bytes);
		if (!constant.device) {
			gpu_block_free(passes->gpu, constant.host);
			return -1;
		}
	}
	more[passes->constants++] = constant;
	return 0;
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
	free(passes->pass);
	free(passes->reads);
	free(passes->constant);
	free(passes);
}

void
device_unplan(struct link *link)
{
	free_passes(link->passes);
	link->passes = NULL;
}

static int
list_passes(struct device *device, struct link *link, struct passes **out)
{
	struct passes *passes = calloc(1, sizeof(*passes));

	*out = passes;
	if (!passes)
		return fail_memory();
	passes->gpu = device->gpu;
	passes->in = &link->in;
	passes->out = &link->out;
	passes->reads = calloc(link->in.c + 1, sizeof(*passes->reads));
	if (!passes->reads)
		return fail_memory();
	return link->run.body->passes(&link->run, passes);
}

void
device_refused(const struct device *device, struct link *link, const char *why)
{
	if (device->verbose && !link->refused)
		fprintf(stderr, "%s: %s runs on the processor: %s\n", fail_program(),
		    link->run.stage->name, why);
	link->refused = true;
}

int
device_plan(struct device *device, struct link *link, bool *able)
{
	struct passes *passes;
	int status = 0;

	*able = false;
	if (!link->run.body->passes) {
		device_unplan(link);
		return 0;
	}
	status = list_passes(device, link, &passes);
	device_unplan(link);
	if (status < 0) {
		free_passes(passes);
		return -1;
	}
	if (passes->refused || passes->n == 0) {
		device_refused(device, link, passes->refused ? passes->refused : "nothing to do");
		free_passes(passes);
		return 0;
	}
	link->passes = passes;
	*able = true;
	return 0;
}

/* ---- where everything lies ---- */

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

/* One band of one frame on its way through the segment. */
struct band {
	struct device *device;
	struct segment *segment;
	struct gpu_job_slot *flight;
	size_t y0, y1;
	bool fills;			/* false: only sizes are found */
	size_t arena, words, staging;	/* bytes used so far */
	size_t up_bytes, down_bytes;	/* that cross */
	uint64_t *in[SEGMENT_MOST], *out[SEGMENT_MOST];	/* addresses of row 0 */
	bool *wanted;			/* of the segment's input: read by some map */
	size_t *final[SEGMENT_MOST]; /* by channel of map k: the output's channel that it is */
	uint64_t *memory;		/* of the lists above */
	bool *flags;
};

/* Is the plane's memory what the device reaches? */
static const struct gpu_block *
block_of(const struct plane *plane)
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
place(struct band *band, struct rows rows, size_t stride, size_t *at)
{
	*at = band->arena;
	band->arena += aligned((rows.end - rows.first) * stride);
	return band->fills ? band->flight->arena->address + *at - rows.first * stride : 0;
}

/* Brings rows of a plane to the device; the address of its row 0. */
static uint64_t
bring(struct band *band, const struct plane *plane, struct rows rows, size_t stride)
{
	const struct gpu_block *block = block_of(plane);
	size_t bytes = (rows.end - rows.first) * stride, at, staged = 0;
	char *from = (char *)plane->host + rows.first * stride;
	uint64_t address;

	if (block && gpu_facts(band->device->gpu)->unified)
		return block->address + offset_in(block, plane);
	if (!block) {
		staged = band->staging;
		band->staging += aligned(bytes);
		if (band->fills)
			memcpy((char *)band->flight->staging->host + staged, from, bytes);
		if (gpu_facts(band->device->gpu)->unified)
			return band->fills ? band->flight->staging->address + staged -
				rows.first * stride : 0;
	}
	address = place(band, rows, stride, &at);
	if (!band->fills)
		return 0;
	band->up_bytes += bytes;
	if (block)
		gpu_job_upload(band->flight->job, block,
		    offset_in(block, plane) + rows.first * stride, band->flight->arena, at, bytes);
	else
		gpu_job_upload(band->flight->job, band->flight->staging, staged,
		    band->flight->arena, at, bytes);
	return address;
}

/* A plane of the final output, of which the device makes `rows` and the band's own are wanted. */
static uint64_t
bring_back(struct band *band, size_t c, struct rows rows, size_t stride)
{
	const struct frame *out = band->segment->out;
	const struct plane *plane = &out->plane[c];
	const struct gpu_block *block = block_of(plane);
	size_t bytes = (band->y1 - band->y0) * stride, at, from, staged = 0;
	uint64_t address;

	if (block && gpu_facts(band->device->gpu)->unified)
		return block->address + offset_in(block, plane);
	address = place(band, rows, stride, &at);
	from = at + (band->y0 - rows.first) * stride;
	if (!block) {
		staged = band->staging;
		band->staging += aligned(bytes);
	}
	if (!band->fills)
		return 0;
	band->down_bytes += bytes;
	if (block) {
		gpu_job_download(band->flight->job, band->flight->arena, from, block,
		    offset_in(block, plane) + band->y0 * stride, bytes);
	} else {
		gpu_job_download(band->flight->job, band->flight->arena, from,
		    band->flight->staging, staged, bytes);
		band->flight->copy_back[band->flight->copies_back++] = (struct copy_back){
			(char *)plane->host + band->y0 * stride, staged, bytes
		};
	}
	return address;
}

/* Which of the segment's inputs are read, and which planes of which map are the final ones. */
static void
trace(struct band *band)
{
	const struct segment *segment = band->segment;
	size_t last = segment->n - 1;

	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];
		size_t before = k ? segment->link[k - 1].out.c : segment->in->head.c;

		for (size_t c = 0; c < link->out.c; c++)
			band->final[k][c] = NO_CHANNEL;
		for (size_t c = 0; c < before; c++) {
			size_t maker = k - 1, channel = c;

			if (link->passes->reads[c] &&
			    (k == 0 || !segment_produced_by(segment, &maker, &channel)))
				band->wanted[channel] = true;
		}
	}
	for (size_t c = 0; c < segment->link[last].out.c; c++) {
		size_t maker = last, channel = c;

		if (segment_produced_by(segment, &maker, &channel) &&
		    band->final[maker][channel] == NO_CHANNEL)
			band->final[maker][channel] = c;
	}
}

/* Addresses of all planes, and the copies that this takes. */
static void
lay_out_planes(struct band *band)
{
	const struct segment *segment = band->segment;
	const struct frame_head *before = &segment->in->head;

	for (size_t k = 0; k < segment->n; k++) {
		const struct link *link = &segment->link[k];
		struct rows rows = rows_around(segment, band->y0, band->y1, segment->halo[k]);
		struct rows read = rows_around(segment, rows.first, rows.end, link->run.halo);
		size_t stride = frame_stride(link->out.w, link->out.type);

		for (size_t c = 0; c < before->c; c++) {
			if (k > 0)
				band->in[k][c] = band->out[k - 1][c];
			else if (band->wanted[c])
				band->in[k][c] = bring(band, &segment->in->plane[c],
				    rows_around(segment, band->y0, band->y1,
					segment->halo[0] + link->run.halo),
				    segment->in->stride);
		}
		for (size_t i = 0, c = before->c; i < link->besides; i++) {
			const struct frame *beside = link->beside[i].frame;

			for (size_t p = 0; p < beside->head.c; p++, c++)
				if (link->passes->reads[c])
					band->in[k][c] =
					    bring(band, &beside->plane[p], read, beside->stride);
		}
		for (size_t c = 0; c < link->out.c; c++) {
			size_t from = segment_passed_from(segment, k, c), at;

			if (from != NO_CHANNEL)
				band->out[k][c] = band->in[k][from];
			else if (band->final[k][c] != NO_CHANNEL)
				band->out[k][c] = bring_back(band, band->final[k][c], rows, stride);
			else
				band->out[k][c] = place(band, rows, stride, &at);
		}
		before = &link->out;
	}
}

/* A map's table of addresses and its blocks, and its dispatches. */
static int
record_map(struct band *band, size_t k)
{
	const struct segment *segment = band->segment;
	const struct link *link = &segment->link[k];
	const struct passes *passes = link->passes;
	const struct frame_head *before = k ? &segment->link[k - 1].out : &segment->in->head;
	struct rows rows = rows_around(segment, band->y0, band->y1, segment->halo[k]), more;
	size_t table = band->words, planes = link->in.c + link->out.c, beyond = 0, at;
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
	if (band->fills) {
		address = (uint64_t *)((char *)band->flight->words_host->host + table);
		memcpy(address, band->in[k], link->in.c * sizeof(*address));
		memcpy(address + link->in.c, band->out[k], link->out.c * sizeof(*address));
		for (size_t i = 0; i < passes->constants; i++) {
			struct constant *constant = &passes->constant[i];

			address[push.constants + i] = constant->device ?
			    constant->device->address : constant->host->address;
			if (!constant->there)
				gpu_job_upload(band->flight->job, constant->host, 0,
				    constant->device, 0, constant->host->bytes);
			constant->there = true;
		}
	}
	for (size_t i = 0; i < passes->scratches; i++) {
		uint64_t there = place(band, more, scratch, &at);

		if (band->fills)
			address[push.scratches + i] = there;
	}
	band->words += aligned((push.constants + passes->constants) * sizeof(uint64_t));
	for (size_t i = 0; i < passes->n; i++) {
		const struct pass *pass = &passes->pass[i];
		struct rows made = rows_around(segment, rows.first, rows.end, pass->beyond);
		size_t n = made.end - made.first;
		uint32_t groups[2] = {
			(uint32_t)((link->out.w + pass->tile[0] - 1) / pass->tile[0]),
			(uint32_t)((n + pass->tile[1] - 1) / pass->tile[1])
		};

		push.planes = band->fills ? band->flight->words->address + table : 0;
		push.block = push.planes + (band->words - table);
		push.y0 = (uint32_t)made.first;
		push.y1 = (uint32_t)made.end;
		if (band->fills) {
			memcpy((char *)band->flight->words_host->host + band->words, pass->block,
			    pass->bytes);
			if (gpu_job_dispatch(band->flight->job, pass->shader, pass->local, groups,
			    &push, sizeof(push)) < 0)
				return -1;
		}
		band->words += aligned(pass->bytes);
	}
	return 0;
}

/* Goes over everything once: to find the sizes, or to fill the flight. */
static int
go_over(struct band *band, bool fills)
{
	band->fills = fills;
	band->arena = band->words = band->staging = 0;
	band->up_bytes = band->down_bytes = 0;
	lay_out_planes(band);
	for (size_t k = 0; k < band->segment->n; k++)
		if (record_map(band, k) < 0)
			return -1;
	return 0;
}

static int
open_band(struct band *band)
{
	const struct segment *segment = band->segment;
	size_t planes = 0, at = 0, k;

	for (k = 0; k < segment->n; k++)
		planes += segment->link[k].in.c + 2 * segment->link[k].out.c;
	band->memory = calloc(planes, sizeof(*band->memory));
	band->flags = calloc(segment->in->head.c, sizeof(*band->flags));
	if (!band->memory || !band->flags) {
		free(band->memory);
		free(band->flags);
		return fail_memory();
	}
	for (k = 0; k < segment->n; k++) {
		band->in[k] = band->memory + at;
		at += segment->link[k].in.c;
		band->out[k] = band->memory + at;
		at += segment->link[k].out.c;
		band->final[k] = (size_t *)(band->memory + at);
		at += segment->link[k].out.c;
	}
	band->wanted = band->flags;
	trace(band);
	return 0;
}

static void
close_band(struct band *band)
{
	free(band->memory);
	free(band->flags);
}

/* ---- flights ---- */

static int
grow(struct gpu *gpu, struct gpu_block **block, enum gpu_place place, size_t bytes)
{
	if (bytes == 0 || (*block && (*block)->bytes >= bytes))
		return 0;
	gpu_block_free(gpu, *block);
	*block = gpu_block_new(gpu, place, bytes);
	return *block ? 0 : -1;
}

/* Memory for what go_over() has counted. */
static int
reserve_slot(struct band *band)
{
	struct gpu_job_slot *flight = band->flight;
	struct gpu *gpu = band->device->gpu;
	size_t copies = band->segment->out->head.c;
	struct copy_back *more;

	if (!flight->job)
		flight->job = gpu_job_new(gpu);
	if (!flight->job || grow(gpu, &flight->arena, GPU_DEVICE, band->arena) < 0 ||
	    grow(gpu, &flight->staging, GPU_HOST, band->staging) < 0 ||
	    grow(gpu, &flight->words_host, GPU_HOST, band->words) < 0)
		return -1;
	if (gpu_facts(gpu)->unified)
		flight->words = flight->words_host;
	else if (grow(gpu, &flight->words, GPU_DEVICE, band->words) < 0)
		return -1;
	more = reallocarray(flight->copy_back, copies, sizeof(*more));
	if (!more)
		return fail_memory();
	flight->copy_back = more;
	flight->copies_back = 0;
	return 0;
}

/* As device_start(). */
static int
submit_tile(struct band *band)
{
	struct gpu_job_slot *flight = band->flight;

	if (go_over(band, false) < 0)
		return -1;
	if (reserve_slot(band) < 0)
		return 1;
	if (gpu_job_begin(flight->job) < 0 || go_over(band, true) < 0)
		return -1;
	if (flight->words != flight->words_host)
		gpu_job_upload(flight->job, flight->words_host, 0, flight->words, 0, band->words);
	return gpu_job_submit(flight->job);
}

/* Bytes that a band may take: flights share half of the device's memory. */
static size_t
most_of_tile(const struct device *device)
{
	const struct gpu_facts *facts = gpu_facts(device->gpu);
	size_t share = facts->memory_bytes / (2 * JOBS_IN_FLIGHT);

	return share < facts->allocation_most ? share : facts->allocation_most;
}

/* How many rows of the output fit at once. */
static size_t
rows_that_fit(struct band *band)
{
	size_t most = most_of_tile(band->device), rows = band->segment->h;

	for (;;) {
		band->y0 = 0;
		band->y1 = rows;
		if (go_over(band, false) < 0 || (band->arena <= most && band->staging <= most))
			return rows;
		if (rows == 1)
			return 0;
		rows = (rows + 1) / 2;
	}
}

static void
add_times(struct gpu_jobs *flights, struct gpu_job_slot *flight)
{
	double up = gpu_job_upload_seconds(flight->job);
	double down = gpu_job_download_seconds(flight->job);
	size_t dispatch = 0;

	flights->up_s += isnan(up) ? 0 : up;
	flights->down_s += isnan(down) ? 0 : down;
	for (size_t k = 0; k < flights->n; k++) {
		struct link *link = &flights->link[k];

		for (size_t i = 0; link->passes && i < link->passes->n; i++, dispatch++)
			link->spent[true].seconds +=
			    gpu_job_dispatch_seconds(flight->job, dispatch);
		if (flight->lands) {
			link->spent[true].samples += link_samples(link);
			link->spent[true].frames++;
		}
	}
}

static void
release_frames(struct gpu_job_slot *flight)
{
	while (flight->holds)
		frame_free(flight->held[--flight->holds]);
}

static int
hold(struct gpu_job_slot *flight, const struct frame *frame)
{
	struct frame **more = reallocarray(flight->held, flight->holds + 1, sizeof(*more));

	if (!more)
		return fail_memory();
	flight->held = more;
	if (frame_duplicate(frame, &more[flight->holds]) < 0)
		return -1;
	flight->holds++;
	return 0;
}

/* The frames that a band needs stay till it has landed. */
static int
hold_all(struct gpu_job_slot *flight, const struct segment *segment)
{
	if (hold(flight, segment->in) < 0 || hold(flight, segment->out) < 0)
		return -1;
	for (size_t k = 0; k < segment->n; k++)
		for (size_t i = 0; i < segment->link[k].besides; i++)
			if (hold(flight, segment->link[k].beside[i].frame) < 0)
				return -1;
	return 0;
}

/* Waits for the oldest flight; *out is the frame if it was its last band. */
static int
complete_oldest(struct gpu_jobs *flights, struct frame **out)
{
	struct gpu_job_slot *flight = &flights->flight[flights->landed % JOBS_IN_FLIGHT];

	*out = NULL;
	flights->landed++;
	if (gpu_job_wait(flight->job) < 0)
		return -1;
	for (size_t i = 0; i < flight->copies_back; i++)
		memcpy(flight->copy_back[i].to,
		    (char *)flight->staging->host + flight->copy_back[i].at,
		    flight->copy_back[i].bytes);
	add_times(flights, flight);
	*out = flight->lands;
	flight->lands = NULL;
	release_frames(flight);
	return 0;
}

static int
complete_one(struct chain *chain, struct gpu_jobs *flights, device_complete *land)
{
	struct frame *frame;

	if (complete_oldest(flights, &frame) < 0) {
		frame_free(frame);
		return -1;
	}
	return frame ? land(chain, flights->at, frame) : 0;
}

int
device_drain(struct chain *chain, struct link *link, size_t to, device_complete *land)
{
	while (link->flights && link->flights->at > to &&
	    link->flights->landed < link->flights->started)
		if (complete_one(chain, link->flights, land) < 0)
			return -1;
	return 0;
}

/* Channels of the output that are made once and handed on twice. */
static void
share_twins(const struct segment *segment)
{
	size_t last = segment->n - 1;

	for (size_t c = 0; c < segment->out->head.c; c++)
		for (size_t b = 0; b < c; b++) {
			size_t k = last, m = last, channel = c, other = b;

			if (segment_produced_by(segment, &k, &channel) &&
			    segment_produced_by(segment, &m, &other) && k == m && channel == other)
				frame_share(segment->out, c, segment->out, b);
		}
}

static int
submit_tiles(struct band *band, struct gpu_jobs *flights, size_t rows, device_complete *land)
{
	struct segment *segment = band->segment;

	for (size_t y = 0; y < segment->h; y += rows) {
		bool last = y + rows >= segment->h;
		struct gpu_job_slot *flight;
		int status;

		while (flights->started - flights->landed == JOBS_IN_FLIGHT)
			if (complete_one(segment->chain, flights, land) < 0)
				return -1;
		flight = band->flight = &flights->flight[flights->started % JOBS_IN_FLIGHT];
		band->y0 = y;
		band->y1 = last ? segment->h : y + rows;
		status = hold_all(flight, segment) < 0 ? -1 : submit_tile(band);
		if (status) {
			release_frames(flight);
			return status;
		}
		flights->up_bytes += band->up_bytes;
		flights->down_bytes += band->down_bytes;
		flights->started++;
		if (last) {
			flight->lands = segment->out;
			flights->frames++;
		}
	}
	return 0;
}

int
device_start(struct device *device, struct segment *segment, device_complete *land)
{
	struct band band = { .device = device, .segment = segment };
	struct link *first = segment->link;
	size_t rows = segment->chain->band;
	int status = 1;

	if (!first->flights)
		first->flights = calloc(1, sizeof(*first->flights));
	if (!first->flights)
		return fail_memory();
	first->flights->at = first->run.position + segment->n;
	first->flights->link = first;
	first->flights->n = segment->n;
	share_twins(segment);
	if (open_band(&band) < 0)
		return -1;
	if (rows == 0)
		rows = rows_that_fit(&band);
	if (rows == 0)
		fail(NULL, "a row of %zu pixels does not fit the GPU: it takes %zu bytes, of %zu",
		    segment->in->head.w, band.arena + band.staging, most_of_tile(device));
	else
		status = submit_tiles(&band, first->flights, rows, land);
	close_band(&band);
	if (status == 0)
		frame_free(segment->in);
	return status;
}

/* "NAME: 100 frames on DEVICE: up 2.88 MB 0.2 ms, phasewrap 0.02 ms, ... down ..., each frame" */
static void
report(const struct device *device, const struct gpu_jobs *flights)
{
	double frames = (double)flights->frames;
	bool crosses = !gpu_facts(device->gpu)->unified;

	if (!device->verbose || !flights->frames)
		return;
	fprintf(stderr, "%s: %zu frames on %s:", fail_program(), flights->frames,
	    gpu_facts(device->gpu)->name);
	if (crosses)
		fprintf(stderr, " up %.3f MB %.3f ms,", 1e-6 * (double)flights->up_bytes / frames,
		    1e3 * flights->up_s / frames);
	for (size_t k = 0; k < flights->n; k++)
		times_print(k ? "," : "", &flights->link[k], true);
	if (crosses)
		fprintf(stderr, ", down %.3f MB %.3f ms",
		    1e-6 * (double)flights->down_bytes / frames, 1e3 * flights->down_s / frames);
	fprintf(stderr, " a frame\n");
}

void
device_abandon(struct device *device, struct link *link)
{
	struct gpu_jobs *flights = link->flights;

	if (flights) {
		struct frame *frame;

		while (flights->landed < flights->started) {
			complete_oldest(flights, &frame);
			frame_free(frame);
		}
		report(device, flights);
		for (size_t i = 0; i < JOBS_IN_FLIGHT; i++) {
			struct gpu_job_slot *flight = &flights->flight[i];

			gpu_job_free(flight->job);
			gpu_block_free(device->gpu, flight->arena);
			gpu_block_free(device->gpu, flight->staging);
			if (flight->words != flight->words_host)
				gpu_block_free(device->gpu, flight->words);
			gpu_block_free(device->gpu, flight->words_host);
			free(flight->copy_back);
			free(flight->held);
		}
		free(flights);
		link->flights = NULL;
	}
	device_unplan(link);
}
