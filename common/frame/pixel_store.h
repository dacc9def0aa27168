/*
 * Memory for pixels, counted by its users. Stores that nobody uses any more are kept for the next
 * frame of the same size: the frames of a stream are alike, and fresh pages cost more than the
 * arithmetic on their pixels. All functions may be called by several threads at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Where the memory comes from. Several threads may call the functions at once. */
struct memory_source {
	/* Memory of `bytes`, aligned to 64, and its owner; NULL: the store uses ordinary memory. */
	void *(*take)(void *arg, size_t bytes, void **owner);
	void (*give)(void *arg, void *owner);
	/* Does another process still read it? Then it is not used again yet. NULL: never. */
	bool (*busy)(void *arg, void *owner);
	void *arg;
	bool zeroed;		/* what take() returns is zero */
};

struct pixel_store;

/*
 * A store of `bytes` with so many users and its memory, aligned to 64. *zeroed: the memory is zero,
 * by pages that the kernel adds when they are used, so that a header that lies about its size on a
 * pipe costs no memory. NULL: out of memory (nothing recorded).
 */
struct pixel_store *pixel_store_new(size_t bytes, size_t users, void **memory, bool *zeroed);
/* Ordinary memory, unset, with one user, wherever frames have theirs: for what never leaves the
 * process. NULL: out of memory (nothing recorded). */
struct pixel_store *pixel_store_scratch(size_t bytes, void **memory);
/* A store with one user whose memory an owner has: the last user's drop calls give(NULL, owner). */
struct pixel_store *pixel_store_adopt(void *owner, void (*give)(void *arg, void *owner));
/* The owner, if `give` takes it back; else NULL. */
void *pixel_store_owner(const struct pixel_store *, void (*give)(void *arg, void *owner));
/* One user more, one less; NULL is allowed. */
void pixel_store_share(struct pixel_store *);
void pixel_store_drop(struct pixel_store *);
/* Frees the kept stores. */
void pixel_store_release(void);
/* Frees the kept stores; new ones come from this source. NULL: ordinary memory. */
void pixel_store_use_memory(const struct memory_source *);

struct large_block;

/*
 * Memory for arrays that are smaller than the kernel's large pages, several of them on one:
 * touching a page of 4 KiB for the first time, and giving it back, takes 1.4 us, which for the
 * images of one measurement is as long as unwrapping its phases. All functions may be called by
 * several threads at once.
 */

/* Memory of `bytes`, zero, aligned to 64, and the block in which it lies. NULL: this size belongs
 * on pages of its own, or there is none (nothing recorded). */
void *large_block_take(size_t bytes, struct large_block **);
/* Gives it back; the block goes with the last one. */
void large_block_give(struct large_block *);
