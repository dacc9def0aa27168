#include "frame/large_block.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_BYTES ((size_t)2 << 20)	/* the kernel's large pages */
#define BLOCK_BYTES (2 * LARGE_BYTES)	/* a page that nobody has touched takes no memory */
#define LEAST_BYTES ((size_t)128 << 10)	/* less is touched as quickly as a large page is cleared */
#define ALIGN 64

struct large_block {
	unsigned char *memory;
	void *mapped;
	size_t used, users;		/* bytes, arrays */
};

static struct {
	pthread_mutex_t lock;
	struct large_block *block;	/* the one with room */
} current = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
block_free(struct large_block *block)
{
	munmap(block->mapped, BLOCK_BYTES + LARGE_BYTES);
	free(block);
}

static struct large_block *
block_new(void)
{
	struct large_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->mapped = mmap(NULL, BLOCK_BYTES + LARGE_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (block->mapped == MAP_FAILED) {
		free(block);
		return NULL;
	}
	block->memory = (unsigned char *)(((uintptr_t)block->mapped + LARGE_BYTES - 1) &
	    ~(uintptr_t)(LARGE_BYTES - 1));
	(void)madvise(block->memory, BLOCK_BYTES, MADV_HUGEPAGE);
	return block;
}

/* The block with room for so many bytes, or NULL. The caller holds the lock. */
static struct large_block *
block_with_room(size_t bytes)
{
	if (!current.block || BLOCK_BYTES - current.block->used < bytes)
		current.block = block_new();	/* the last one goes with its users */
	return current.block;
}

void *
large_block_take(size_t bytes, struct large_block **out)
{
	void *memory = NULL;

	if (bytes < LEAST_BYTES || bytes >= LARGE_BYTES)
		return NULL;
	pthread_mutex_lock(&current.lock);
	*out = block_with_room(bytes);
	if (*out) {
		memory = (*out)->memory + (*out)->used;
		(*out)->used += (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
		(*out)->users++;
	}
	pthread_mutex_unlock(&current.lock);
	return memory;
}

void
large_block_give(struct large_block *block)
{
	pthread_mutex_lock(&current.lock);
	if (--block->users == 0) {
		if (block == current.block)
			current.block = NULL;
		block_free(block);
	}
	pthread_mutex_unlock(&current.lock);
}
