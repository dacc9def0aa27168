/* Reading ahead and writing behind: threads between files and the chain. */
#pragma once

#include "base/thread_pool.h"
#include "frame/frame.h"
#include "io/source.h"
#include "io/target.h"

struct read_ahead;
struct write_behind;

/*
 * The frames of a chain's operands, in order. Where there are several files, the next few are
 * opened and their first images decoded on all threads at once: decoding PNG costs more than most
 * stages. A thread reads a stream's next frame while the chain works on the last one.
 */

/* Frames that cannot be read. A stream cannot be taken up behind a fault: its rest is lost. */
struct read_ahead_loss {
	size_t images;	/* as many as other files hold behind where this one fails, 1 at least */
	bool guessed;	/* other files do not tell how many they are */
	bool cut;	/* more may be lost */
	bool last;	/* no file follows */
};

/* How operands are read. */
struct read_ahead_how {
	bool keep_going;	/* what cannot be read is no failure */
	const char *raw;	/* they are samples without a head: words of --raw; or NULL */
	bool follow;		/* those that are folders are followed, after all others */
	double idle_s;		/* and for so long nothing comes then; NaN: until a signal comes */
};

/* Operands: files, folders, "-"; none: standard input. NULL after fail(). */
struct read_ahead *read_ahead_open(char *const *operand, size_t operands,
    const struct read_ahead_how *, struct thread_pool *);
/*
 * The next frame: 1 and *out, 0 at the end, -1 after fail(). Where it keeps going also
 * READ_AHEAD_LOST, after fail() with the reason: see read_ahead_lost(); and READ_AHEAD_SEAM where a
 * folder ends, if the operands are folders that hold different numbers of images.
 */
int read_ahead_next(struct read_ahead *, struct frame **out);
/* Does the next call find a frame, or the end, without waiting for what another program writes? Not
 * where that is not known. */
bool read_ahead_has_more(struct read_ahead *);
#define READ_AHEAD_LOST 2
#define READ_AHEAD_SEAM 3
const struct read_ahead_loss *read_ahead_lost(const struct read_ahead *);
/* The file that the last frame, loss or seam came from; it lives as long as the reader. */
const char *read_ahead_path(const struct read_ahead *);
void read_ahead_close(struct read_ahead *);

/*
 * Writing while the chain computes: frames go to a target in the order they were put, by a thread
 * of its own where the target may wait (for a reader, or for the disk), else by the pool's threads
 * while they have no items: a thread more than cores would hold up the others. A pool of one thread
 * writes each frame at once, out of the cache of the core that made it. A few frames may
 * wait besides the one that is being written, of a live stream one.
 */

/* Takes ownership of the target. live: its reader wants the newest frame, so that no more than one
 * waits. All calls come from the pool's thread 0. NULL after fail() (the target is closed then). */
struct write_behind *write_behind_open(struct target *, bool live, struct thread_pool *);
/* Takes ownership of the frame. skip: so many numbers stay free before it. While there is no room
 * it blocks, or does idle work of the pool. -1 once writing has failed. */
int write_behind_put(struct write_behind *, struct frame *, size_t skip);
/* Writes the waiting frames, completes (keep) or removes the output. 0, or -1 after fail(). */
int write_behind_close(struct write_behind *, bool keep);
