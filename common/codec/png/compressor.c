#include "codec/png/compressor.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/sanitized.h"

#define LEVEL_MOST 9	/* those of higher levels take up to 10 MB and are not kept */
#define KEPT_MOST 2	/* of a level */

static _Atomic(struct libdeflate_compressor *) kept[LEVEL_MOST + 1][KEPT_MOST];

struct libdeflate_compressor *
compressor_take(int level)
{
	struct libdeflate_compressor *found = NULL;

	for (size_t i = 0; level <= LEVEL_MOST && i < KEPT_MOST && !found; i++)
		found = atomic_exchange(&kept[level][i], NULL);
	return found ? found : libdeflate_alloc_compressor(level);
}

/* Sanitizers see every one anew. */
void
compressor_give(struct libdeflate_compressor *compressor, int level)
{
	for (size_t i = 0; !SANITIZED && level <= LEVEL_MOST && i < KEPT_MOST && compressor; i++)
		compressor = atomic_exchange(&kept[level][i], compressor);
	libdeflate_free_compressor(compressor);
}
