/*
 * Memory for arrays that are smaller than the kernel's large pages, several of them on one: touching
 * a page of 4 KiB for the first time, and giving it back, takes 1.4 us, which for the images of one
 * measurement is as long as unwrapping its phases. All functions may be called by several threads at
 * once.
 */
#ifndef LARGE_BLOCK_H
#define LARGE_BLOCK_H

#include <stddef.h>

struct large_block;

/* Memory of `bytes`, zero, aligned to 64, and the block in which it lies. NULL: this size belongs on
 * pages of its own, or there is none (nothing recorded). */
void *large_block_take(size_t bytes, struct large_block **);
/* Gives it back; the block goes with the last one. */
void large_block_give(struct large_block *);

#endif
