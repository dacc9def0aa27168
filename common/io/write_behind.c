#include "io/write_behind.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/*
 * Frames that may wait for a thread of their own, and their bytes together. Three threads share two
 * cores, and for whole frames the system may run the other two: with room for one frame the chain
 * waited. More than two gained nothing, and leave the cache before they are written. For the pool
 * one waits: the chain that finds no room decodes meanwhile.
 */
#define WAITING_MOST 2
#define WAITING_IN_POOL 1
#define WAITING_BYTES ((size_t)64 << 20)

struct waiting {
	struct frame *frame;
	size_t skip;			/* numbers to be left out before it */
};

struct write_behind {
	struct target *target;
	struct thread_pool *pool;	/* its threads write; NULL: another, or the caller */
	struct thread_pool_idle idle;	/* writing the next frame */
	bool alone;			/* the caller writes: there is no thread for it */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct waiting waiting[WAITING_MOST];	/* the first of them is the next one written */
	size_t n, room;			/* how many wait, and how many may */
	size_t bytes;			/* of those that wait */
	bool writing;			/* a thread is at it */
	bool ending;
	int status;
	struct fail_record failure;	/* of a thread that wrote, where status is -1 */
};

static bool
has_room(const struct write_behind *writer, size_t bytes)
{
	return writer->n == 0 ||
	    (writer->n < writer->room && writer->bytes + bytes <= WAITING_BYTES);
}

/* Writes the frame that waits longest. The caller holds the lock; it is free meanwhile. */
static void
write_first(struct write_behind *writer)
{
	const struct waiting first = writer->waiting[0];
	int status = writer->status;

	writer->n--;
	writer->bytes -= frame_bytes(first.frame);
	memmove(writer->waiting, writer->waiting + 1, writer->n * sizeof(*writer->waiting));
	writer->writing = true;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	target_skip(writer->target, first.skip);
	if (status == 0)
		status = target_put(writer->target, first.frame);
	frame_free(first.frame);
	pthread_mutex_lock(&writer->lock);
	if (status < 0 && writer->status == 0)
		fail_take(&writer->failure);
	writer->status = status;
	writer->writing = false;
	pthread_cond_signal(&writer->changed);
}

/* The thread of its own. */
static void *
write_frames(void *arg)
{
	struct write_behind *writer = arg;

	pthread_mutex_lock(&writer->lock);
	while (writer->n || !writer->ending) {
		if (writer->n)
			write_first(writer);
		else
			pthread_cond_wait(&writer->changed, &writer->lock);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* What a thread of the pool does meanwhile: writes the next frame, unless another one writes. */
static bool
write_next(void *arg, int thread)
{
	struct write_behind *writer = arg;
	bool free;

	(void)thread;
	pthread_mutex_lock(&writer->lock);
	free = writer->n && !writer->writing;
	if (free)
		write_first(writer);
	pthread_mutex_unlock(&writer->lock);
	return free;
}

struct write_behind *
write_behind_open(struct target *target, bool live, struct thread_pool *pool)
{
	struct write_behind *writer = calloc(1, sizeof(*writer));

	if (!writer) {
		target_close(target, false);
		fail_memory();
		return NULL;
	}
	writer->target = target;
	writer->room = live ? 1 : WAITING_MOST;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	if (target_waits(target)) {
		writer->alone =
		    pthread_create(&writer->thread, NULL, write_frames, writer) != 0;
	} else if (thread_pool_threads(pool) == 1) {
		writer->alone = true;
	} else {
		writer->pool = pool;
		writer->room = WAITING_IN_POOL;
		writer->idle = (struct thread_pool_idle){ write_next, writer };
		thread_pool_add_idle(pool, &writer->idle);
	}
	return writer;
}

static int
put_alone(struct write_behind *writer, struct frame *frame, size_t skip)
{
	target_skip(writer->target, skip);
	if (writer->status == 0)
		writer->status = target_put(writer->target, frame);
	frame_free(frame);
	return writer->status;
}

/* Waits for room. While a thread of the pool writes, the caller does other idle work. The caller
 * holds the lock; it is free meanwhile. */
static void
make_room(struct write_behind *writer, size_t bytes)
{
	while (!has_room(writer, bytes)) {
		bool helped = false;

		if (writer->pool) {
			pthread_mutex_unlock(&writer->lock);
			helped = thread_pool_help(writer->pool);
			pthread_mutex_lock(&writer->lock);
		}
		if (!helped && !has_room(writer, bytes) && (!writer->pool || writer->writing))
			pthread_cond_wait(&writer->changed, &writer->lock);
	}
}

int
write_behind_put(struct write_behind *writer, struct frame *frame, size_t skip)
{
	size_t bytes = frame_bytes(frame);
	int status;

	if (writer->alone)
		return put_alone(writer, frame, skip);
	pthread_mutex_lock(&writer->lock);
	make_room(writer, bytes);
	writer->waiting[writer->n++] = (struct waiting){ frame, skip };
	writer->bytes += bytes;
	status = writer->status;
	if (status < 0)
		fail_put(&writer->failure);
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	if (writer->pool)
		thread_pool_call_idle(writer->pool);
	return status;
}

/* What waits is still written, also where the chain has failed: a stream's frames are whole. */
static void
end_thread(struct write_behind *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->ending = true;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
}

/* Likewise, by the caller where no thread of the pool is at it. */
static void
end_in_pool(struct write_behind *writer)
{
	struct fail_record pending;

	fail_take(&pending);
	pthread_mutex_lock(&writer->lock);
	while (writer->n || writer->writing) {
		if (writer->writing)
			pthread_cond_wait(&writer->changed, &writer->lock);
		else
			write_first(writer);
	}
	pthread_mutex_unlock(&writer->lock);
	thread_pool_remove_idle(&writer->idle);
	fail_put(&pending);
}

int
write_behind_close(struct write_behind *writer, bool keep)
{
	int status;

	if (writer->pool)
		end_in_pool(writer);
	else if (!writer->alone)
		end_thread(writer);
	status = writer->status;
	if (status < 0 && !writer->alone)
		fail_put(&writer->failure);
	if (target_close(writer->target, keep && status == 0) < 0)
		status = -1;
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->changed);
	free(writer);
	return keep ? status : 0;
}
