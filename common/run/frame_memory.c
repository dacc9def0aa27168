#include "run/frame_memory.h"

#include <stdlib.h>
#include <string.h>

int
run_frame_memory(struct run *run, void *pointer, size_t bytes)
{
	struct link *link = run->link;
	size_t at = (size_t)((char *)pointer - (char *)run->priv);
	struct frame_memory *more;

	if (at + sizeof(void *) > run->stage->private_size)
		return fail(NULL, "internal error: %s names memory that is not its own",
		    run->stage->name);
	more = reallocarray(link->frame_memory, link->frame_memories + 1, sizeof(*more));
	if (!more)
		return fail_memory();
	link->frame_memory = more;
	more[link->frame_memories++] = (struct frame_memory){ at, bytes };
	return 0;
}

/* Where a priv keeps the pointer to a piece of memory. */
static void **
pointer_in(void *priv, const struct frame_memory *memory)
{
	return (void **)((char *)priv + memory->at);
}

static int
copy_memory(struct stage_copy *copy, const struct link *link, size_t i)
{
	const void *from = *pointer_in(link->run.priv, &link->frame_memory[i]);

	if (!from)		/* of a check that is off */
		return 0;
	copy->memory[i] = malloc(link->frame_memory[i].bytes);
	if (!copy->memory[i])
		return fail_memory();
	memcpy(copy->memory[i], from, link->frame_memory[i].bytes);
	return 0;
}

static int
make(struct stage_copy *copy, const struct link *link)
{
	copy->run = link->run;
	copy->run.priv = NULL;
	copy->memories = link->frame_memories;
	if (link->run.stage->private_size) {
		copy->run.priv = malloc(link->run.stage->private_size);
		if (!copy->run.priv)
			return fail_memory();
	}
	if (copy->memories == 0)
		return 0;
	copy->memory = calloc(copy->memories, sizeof(*copy->memory));
	if (!copy->memory)
		return fail_memory();
	for (size_t i = 0; i < copy->memories; i++)
		if (copy_memory(copy, link, i) < 0)
			return -1;
	return 0;
}

int
stage_copy_open(struct stage_copy *copy, const struct link *link)
{
	if (copy->plans == link->plans)
		return 0;
	stage_copy_close(copy);
	if (make(copy, link) < 0) {
		stage_copy_close(copy);
		return -1;
	}
	copy->plans = link->plans;
	return 0;
}

void
stage_copy_begin(struct stage_copy *copy, const struct link *link)
{
	void *priv = copy->run.priv;

	copy->run = link->run;
	copy->run.priv = priv;
	if (priv)
		memcpy(priv, link->run.priv, link->run.stage->private_size);
	for (size_t i = 0; i < copy->memories; i++)
		*pointer_in(priv, &link->frame_memory[i]) = copy->memory[i];
}

void
stage_copy_exchange(struct stage_copy *copy, struct link *link)
{
	for (size_t i = 0; i < copy->memories; i++) {
		void **pointer = pointer_in(link->run.priv, &link->frame_memory[i]);
		void *memory = *pointer;

		*pointer = copy->memory[i];
		copy->memory[i] = memory;
	}
}

void
stage_copy_close(struct stage_copy *copy)
{
	for (size_t i = 0; i < copy->memories && copy->memory; i++)
		free(copy->memory[i]);
	free(copy->memory);
	free(copy->run.priv);
	*copy = (struct stage_copy){ 0 };
}
