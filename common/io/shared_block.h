/*
 * Memory that two processes map: pixels, then a page with the number of references and a mark. A
 * process that sends a plane adds a reference, the process that has done with the plane removes it,
 * and the one that made the memory writes to it again when no reference is left. The mark tells the
 * others that it will not: so they need not keep it for a later frame.
 */
#ifndef SHARED_BLOCK_H
#define SHARED_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct shared_block {
	int fd;
	dev_t device;
	ino_t inode;
	void *pixels;
	size_t bytes;			/* of pixels, whole pages */
	atomic_uint *references;	/* the mark comes next */
	/* In the process that received it: */
	struct shared_receiver *receiver;
	size_t users;			/* planes of frames in it */
	struct shared_block *next;
};

/* Maps the memory of a descriptor, which it owns then. NULL: not such memory, or no mapping. */
struct shared_block *shared_block_map(int fd, int protection);
/* New memory for `bytes`, or NULL. */
struct shared_block *shared_block_make(size_t bytes);
/* Sets the mark: the process that made it frees it. */
void shared_block_give_up(struct shared_block *);
bool shared_block_is_given_up(const struct shared_block *);
void shared_block_free(struct shared_block *);

#endif
