/* Memory for large arrays. */
#ifndef LARGE_MEMORY_H
#define LARGE_MEMORY_H

#include <stddef.h>

/* Memory of n items of `bytes` each, unset, on large pages where the kernel has them: touching a
 * page of 4 KiB for the first time takes longer than most work on what it holds. Free with free().
 * NULL: out of memory (nothing recorded). */
void *large_memory(size_t n, size_t bytes);

#endif
