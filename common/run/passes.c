/* Lists a map's compute passes on the device and checks what their shaders read and write. */
#include "run/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/device.h"

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
	passes->doubles |= gpu_shader_has_doubles(pass->shader);
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

void
passes_exact(struct passes *passes)
{
	passes->exact = true;
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
passes_unplan(struct link *link)
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
	passes->exact = link->run.stage->agree == AGREE_EXACT;
	passes->reads = calloc(link->in.c + 1, sizeof(*passes->reads));
	if (!passes->reads)
		return fail_memory();
	return link->run.body->passes(&link->run, passes);
}

void
passes_refused(const struct device *device, struct link *link, const char *why)
{
	if (device->verbose && !link->refused)
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
passes_plan(struct device *device, struct link *link, bool *able)
{
	struct passes *passes;
	bool too_many = false;
	int status = 0;

	*able = false;
	if (!link->run.body->passes) {
		passes_unplan(link);
		return 0;
	}
	status = list_passes(device, link, &passes);
	passes_unplan(link);
	if (status < 0) {
		free_passes(passes);
		return -1;
	}
	if (head_is_table(&link->in))
		passes_refuse(passes, "tables are the processor's");
	too_many |= too_large(&link->in) || too_large(&link->out);
	for (size_t i = 0; i < link->second_inputs; i++)
		too_many |= too_large(&link->second_input[i].frame->head);
	if (too_many)
		passes_refuse(passes, "rows of 4 GiB are more than shaders can address");
	if (passes->refused || passes->n == 0) {
		passes_refused(device, link, passes->refused ? passes->refused : "nothing to do");
		free_passes(passes);
		return 0;
	}
	link->passes = passes;
	*able = true;
	return 0;
}
