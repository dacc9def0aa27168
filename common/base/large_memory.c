#include "base/large_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *
large_memory(size_t n, size_t bytes)
{
	void *memory;
	size_t all;

	if (__builtin_mul_overflow(n, bytes, &all) || all > SIZE_MAX - LARGE_MEMORY_PAGE)
		return NULL;
	if (all < LARGE_MEMORY_LEAST)
		return malloc(all);
	all = (all + LARGE_MEMORY_PAGE - 1) / LARGE_MEMORY_PAGE * LARGE_MEMORY_PAGE;
	memory = aligned_alloc(LARGE_MEMORY_PAGE, all);
	if (memory)
		(void)madvise(memory, all, MADV_HUGEPAGE);
	return memory;
}
