/* Memory for large arrays. */
#ifndef LARGE_MEMORY_H
#define LARGE_MEMORY_H

#include <stddef.h>

#define LARGE_MEMORY_PAGE ((size_t)2 << 20)	/* bytes of the kernel's large pages */
/* Bytes that take longer to be touched, 4 KiB by 4 KiB, than one of those. */
#define LARGE_MEMORY_LEAST ((size_t)512 << 10)

/* Memory of n items of `bytes` each, unset, on large pages where the kernel has them: touching a
 * page of 4 KiB for the first time takes longer than most work on what it holds. From
 * LARGE_MEMORY_LEAST bytes on it begins on a large page; less is aligned as malloc() does. Free
 * with free(). NULL: out of memory (nothing recorded). */
void *large_memory(size_t n, size_t bytes);

#endif
