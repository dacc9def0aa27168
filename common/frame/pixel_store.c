/*
 * Memory for pixels, counted by its users. Stores that are free are kept for the next frame of the
 * same size.
 */
#include "frame/pixel_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/process.h"

/* ---- blocks on large pages, for several arrays each ---- */

#define BLOCK_BYTES (2 * LARGE_MEMORY_PAGE)	/* a page that nobody has touched takes no memory */
/* Less is touched as quickly as a large page is cleared. */
#define BLOCK_LEAST_BYTES ((size_t)128 << 10)

struct large_block {
	unsigned char *memory;
	void *mapped;
	size_t used, users;		/* bytes, arrays */
};

static struct {
	pthread_mutex_t lock;
	struct large_block *block;	/* the one with room */
} current = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct large_block *
block_new(void)
{
	struct large_block *block = must_alloc(1, sizeof(*block));

	block->mapped = mmap(NULL, BLOCK_BYTES + LARGE_MEMORY_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (block->mapped == MAP_FAILED) {
		free(block);
		return NULL;
	}
	block->memory = (unsigned char *)(((uintptr_t)block->mapped + LARGE_MEMORY_PAGE - 1) &
	    ~(uintptr_t)(LARGE_MEMORY_PAGE - 1));
	(void)madvise(block->memory, BLOCK_BYTES, MADV_HUGEPAGE);
	return block;
}

void *
large_block_take(size_t bytes, struct large_block **out)
{
	void *memory = NULL;

	if (bytes < BLOCK_LEAST_BYTES || bytes >= LARGE_MEMORY_PAGE)
		return NULL;
	pthread_mutex_lock(&current.lock);
	if (!current.block || BLOCK_BYTES - current.block->used < bytes)
		current.block = block_new();	/* the last one goes with its users */
	*out = current.block;
	if (*out) {
		memory = (*out)->memory + (*out)->used;
		(*out)->used += (bytes + 63) & ~(size_t)63;
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
		munmap(block->mapped, BLOCK_BYTES + LARGE_MEMORY_PAGE);
		free(block);
	}
	pthread_mutex_unlock(&current.lock);
}

/* ---- stores ---- */

#define TAIL_BYTES (LARGE_MEMORY_PAGE / 2)	/* at least so much of the last one is used */
#define LEAST_BYTES 65536	/* smaller stores always use ordinary memory */

/* How many unused stores are kept. Sanitizers see every one anew. */
#if SANITIZED
#define KEPT_MOST 0
#else
#define KEPT_MOST 16
#endif

struct pixel_store {
	atomic_int users;
	void *memory, *allocated;	/* memory is aligned to 64 */
	struct large_block *block;	/* instead of allocated: the block in which it lies */
	void *owner;			/* likewise: the owner of the memory */
	struct memory_source source;	/* of the owner */
	size_t bytes;			/* 0: cannot be kept */
};

static struct {
	pthread_mutex_t lock;
	struct pixel_store *store[KEPT_MOST + 1];
	size_t n, bytes;
	size_t used, most_used;		/* bytes of the stores that have users, now and at most */
	struct memory_source source;	/* of new stores; zero: malloc */
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Takes store i off the list, which stays in the order of age. The caller holds the lock. */
static struct pixel_store *
kept_remove(size_t i)
{
	struct pixel_store *store = kept.store[i];

	kept.n--;
	kept.bytes -= store->bytes;
	memmove(kept.store + i, kept.store + i + 1, (kept.n - i) * sizeof(*kept.store));
	return store;
}

static void
count_used(size_t bytes)
{
	kept.used += bytes;
	if (kept.used > kept.most_used)
		kept.most_used = kept.used;
}

/* A kept store of exactly this size, or NULL; scratch: one of ordinary memory. */
static struct pixel_store *
kept_take(size_t bytes, bool scratch)
{
	struct pixel_store *found = NULL;

	pthread_mutex_lock(&kept.lock);
	for (size_t i = kept.n; i-- > 0 && !found;)
		if (kept.store[i]->bytes == bytes && !(scratch && kept.store[i]->owner) &&
		    !(kept.store[i]->owner && kept.store[i]->source.busy &&
		    kept.store[i]->source.busy(kept.store[i]->source.arg, kept.store[i]->owner)))
			found = kept_remove(i);
	if (found)
		count_used(bytes);
	pthread_mutex_unlock(&kept.lock);
	return found;
}

/*
 * Before a store of so many bytes is made: the oldest kept one, to be freed, where all together
 * would be more than twice what was ever in use at once; else NULL. So the frames of a stream that
 * changes its sizes replace one another, and sizes that alternate are kept.
 */
static struct pixel_store *
kept_excess(size_t bytes)
{
	struct pixel_store *excess = NULL;
	size_t used, most;

	pthread_mutex_lock(&kept.lock);
	used = kept.used + bytes;
	most = used > kept.most_used ? used : kept.most_used;
	if (kept.n && kept.bytes + used > 2 * most)
		excess = kept_remove(0);
	pthread_mutex_unlock(&kept.lock);
	return excess;
}

/* Keeps a store; returns the one to be freed instead: this one, the oldest, or none. */
static struct pixel_store *
kept_add(struct pixel_store *store)
{
	struct pixel_store *out = NULL;

	if (KEPT_MOST == 0 || store->bytes == 0)
		return store;
	pthread_mutex_lock(&kept.lock);
	kept.used -= store->bytes;
	if (kept.n == KEPT_MOST)
		out = kept_remove(0);
	kept.store[kept.n++] = store;
	kept.bytes += store->bytes;
	pthread_mutex_unlock(&kept.lock);
	return out;
}

static void
store_free(struct pixel_store *store)
{
	if (!store)
		return;
	if (store->owner)
		store->source.give(store->source.arg, store->owner);
	if (store->block)
		large_block_give(store->block);
	free(store->allocated);
	free(store);
}

/*
 * Memory that is zero, on large pages where the kernel has them: a process that makes one
 * measurement touches each page of its frames for the first time, which takes 1.2 us a page of
 * 4 KiB, and 0.06 us for each 4 KiB of a page of 2 MiB.
 */
static void
store_allocate(struct pixel_store *store)
{
	const bool large = store->bytes >= LARGE_MEMORY_PAGE &&
	    store->bytes < SIZE_MAX - 2 * LARGE_MEMORY_PAGE;
	const size_t align = large ? LARGE_MEMORY_PAGE : 64;
	const size_t tail = store->bytes % LARGE_MEMORY_PAGE;	/* on the last page */
	const size_t bytes = large && tail >= TAIL_BYTES ?
	    store->bytes - tail + LARGE_MEMORY_PAGE : store->bytes;

	if (KEPT_MOST)
		store->memory = large_block_take(bytes, &store->block);
	if (store->memory)
		return;
	if (bytes <= SIZE_MAX - align)
		store->allocated = calloc(1, bytes + align - 1);
	if (!store->allocated)
		return;
	store->memory = (void *)(((uintptr_t)store->allocated + align - 1) &
	    ~(uintptr_t)(align - 1));
	if (large)
		(void)madvise(store->memory, bytes, MADV_HUGEPAGE);
}

/* A new store from the source, else from malloc. */
static struct pixel_store *
store_make(size_t bytes, struct memory_source source, bool *zeroed)
{
	struct pixel_store *store = must_alloc(1, sizeof(*store));

	*zeroed = true;
	store->bytes = bytes;
	if (source.take && bytes >= LEAST_BYTES)
		store->memory = source.take(source.arg, bytes, &store->owner);
	if (store->memory) {
		store->source = source;
		*zeroed = source.zeroed;
		return store;
	}
	store_allocate(store);
	if (!store->memory) {
		free(store);
		return NULL;
	}
	return store;
}

static struct pixel_store *
store_take(size_t bytes, bool scratch, void **memory, bool *zeroed)
{
	struct pixel_store *store = kept_take(bytes, scratch), *excess;
	struct memory_source source = { 0 };

	*zeroed = false;
	if (!store) {
		while ((excess = kept_excess(bytes)))
			store_free(excess);
		pthread_mutex_lock(&kept.lock);
		if (!scratch)
			source = kept.source;
		pthread_mutex_unlock(&kept.lock);
		store = store_make(bytes, source, zeroed);
		if (!store)
			return NULL;
		pthread_mutex_lock(&kept.lock);
		count_used(bytes);
		pthread_mutex_unlock(&kept.lock);
	}
	atomic_init(&store->users, 1);
	*memory = store->memory;
	return store;
}

struct pixel_store *
pixel_store_new(size_t bytes, size_t users, void **memory, bool *zeroed)
{
	struct pixel_store *store = store_take(bytes, false, memory, zeroed);

	if (store)
		atomic_store(&store->users, (int)users);
	return store;
}

struct pixel_store *
pixel_store_scratch(size_t bytes, void **memory)
{
	bool zeroed;

	return store_take(bytes, true, memory, &zeroed);
}

struct pixel_store *
pixel_store_adopt(void *owner, void (*give)(void *arg, void *owner))
{
	struct pixel_store *store = must_alloc(1, sizeof(*store));

	store->owner = owner;
	store->source.give = give;
	atomic_init(&store->users, 1);
	return store;
}

void *
pixel_store_owner(const struct pixel_store *store, void (*give)(void *arg, void *owner))
{
	return store && store->source.give == give ? store->owner : NULL;
}

void
pixel_store_share(struct pixel_store *store)
{
	if (store)
		atomic_fetch_add(&store->users, 1);
}

void
pixel_store_drop(struct pixel_store *store)
{
	if (store && atomic_fetch_sub(&store->users, 1) == 1)
		store_free(kept_add(store));
}

void
pixel_store_release(void)
{
	struct pixel_store *store;

	do {
		pthread_mutex_lock(&kept.lock);
		store = kept.n ? kept_remove(kept.n - 1) : NULL;
		pthread_mutex_unlock(&kept.lock);
		store_free(store);
	} while (store);
}

void
pixel_store_use_memory(const struct memory_source *source)
{
	pixel_store_release();
	pthread_mutex_lock(&kept.lock);
	kept.source = source ? *source : (struct memory_source){ 0 };
	pthread_mutex_unlock(&kept.lock);
}
