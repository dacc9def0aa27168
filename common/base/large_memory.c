#include "base/large_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_BYTES ((size_t)2 << 20)	/* the kernel's large pages */
#define LEAST_BYTES ((size_t)512 << 10)	/* that take longer to be touched than one of those */

void *
large_memory(size_t n, size_t bytes)
{
	void *memory;
	size_t all;

	if (__builtin_mul_overflow(n, bytes, &all) || all > SIZE_MAX - LARGE_BYTES)
		return NULL;
	if (all < LEAST_BYTES)
		return malloc(all);
	all = (all + LARGE_BYTES - 1) / LARGE_BYTES * LARGE_BYTES;
	memory = aligned_alloc(LARGE_BYTES, all);
	if (memory)
		(void)madvise(memory, all, MADV_HUGEPAGE);
	return memory;
}
