#include "io/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/progress.h"
#include "io/source.h"

#define AHEAD 2			/* files a thread, so that one that is done early has another */
#define PATIENCE_NS 200000000	/* for a read ahead, when a chain fails */
#define AHEAD_FROM 2		/* frames of a file, from which on one is read ahead */

/* A thread that reads a stream's next frame while the last one is worked. */
struct frame_ahead {
	struct source *source;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool wanted, stop;		/* told to the thread; it answers by taking back `wanted` */
	struct frame *frame;
	int got;			/* what source_next() said of it */
};

/* A file whose first frame is there already. */
struct slot {
	const char *path;
	struct source *source;
	struct frame *first;
	int got;			/* what source_next() said of it */
	size_t frames;			/* given out */
	struct frame_ahead *ahead;
};

struct read_ahead {
	struct thread_pool *pool;
	char **path;
	size_t paths, next;		/* files, and the first one not opened yet */
	struct slot *slot;		/* a ring without wrap: filled when empty */
	size_t slots, room, at;
};

static int
add_operand(struct read_ahead *reader, const char *operand)
{
	char **files, **more;
	size_t n;

	if (source_files(operand, &files, &n) < 0)
		return -1;
	more = reallocarray(reader->path, reader->paths + n, sizeof(*more));
	if (!more) {
		for (size_t i = 0; i < n; i++)
			free(files[i]);
		free(files);
		return fail_memory();
	}
	reader->path = more;
	for (size_t i = 0; i < n; i++)
		more[reader->paths++] = files[i];
	free(files);
	return 0;
}

struct read_ahead *
read_ahead_open(char *const *operand, size_t operands, struct thread_pool *pool)
{
	struct read_ahead *reader = calloc(1, sizeof(*reader));
	int status = 0;

	if (!reader) {
		fail_memory();
		return NULL;
	}
	reader->pool = pool;
	if (operands == 0)
		status = add_operand(reader, "-");
	for (size_t i = 0; i < operands && status == 0; i++)
		status = add_operand(reader, operand[i]);
	reader->room = thread_pool_threads(pool) > 1 ? AHEAD * (size_t)thread_pool_threads(pool) : 1;
	reader->slot = calloc(reader->room, sizeof(*reader->slot));
	if (status == 0 && !reader->slot)
		status = fail_memory();
	if (status < 0) {
		read_ahead_close(reader);
		return NULL;
	}
	return reader;
}

static void
open_slot(void *arg, size_t item, int thread)
{
	struct slot *slot = &((struct read_ahead *)arg)->slot[item];

	(void)thread;
	slot->source = source_open(slot->path);
	slot->got = slot->source ? source_next(slot->source, &slot->first) : -1;
}

static void *
read_ahead(void *arg)
{
	struct frame_ahead *ahead = arg;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop) {
		struct frame *frame;
		int got;

		if (!ahead->wanted) {
			pthread_cond_wait(&ahead->changed, &ahead->lock);
			continue;
		}
		pthread_mutex_unlock(&ahead->lock);
		got = source_next(ahead->source, &frame);
		pthread_mutex_lock(&ahead->lock);
		ahead->got = got;
		ahead->frame = got == 1 ? frame : NULL;
		ahead->wanted = false;
		pthread_cond_signal(&ahead->changed);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* Begins to read the next frame. NULL: there is no thread, and none is needed. */
static struct frame_ahead *
ahead_open(struct source *source)
{
	struct frame_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return NULL;
	ahead->source = source;
	ahead->wanted = true;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	if (pthread_create(&ahead->thread, NULL, read_ahead, ahead) == 0)
		return ahead;
	free(ahead);
	return NULL;
}

/* The frame that was read, and begins with the next one. */
static int
ahead_next(struct frame_ahead *ahead, struct frame **out)
{
	int got;

	pthread_mutex_lock(&ahead->lock);
	while (ahead->wanted)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	got = ahead->got;
	*out = ahead->frame;
	ahead->frame = NULL;
	ahead->wanted = got == 1;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	return got;
}

/* Waits until the thread has read what was wanted, for a while. */
static bool
ahead_settle(struct frame_ahead *ahead)
{
	struct timespec end;
	int status = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += PATIENCE_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (ahead->wanted && status == 0)
		status = pthread_cond_timedwait(&ahead->changed, &ahead->lock, &end);
	return !ahead->wanted;
}

/* What a thread that was not waited for goes on to use. */
static struct frame_ahead *volatile given_up __attribute__((used));

/* False where the thread still waits for input: when a chain fails nobody waits with it for long,
 * and it ends with the process. */
static bool
ahead_close(struct frame_ahead *ahead)
{
	bool settled;

	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	settled = ahead_settle(ahead);
	pthread_cond_signal(&ahead->changed);
	if (!settled)
		given_up = ahead;
	pthread_mutex_unlock(&ahead->lock);
	if (!settled)
		return false;
	pthread_join(ahead->thread, NULL);
	pthread_mutex_destroy(&ahead->lock);
	pthread_cond_destroy(&ahead->changed);
	frame_free(ahead->frame);
	free(ahead);
	return true;
}

/* The frame after the first one. */
static int
slot_next(struct slot *slot, struct frame **out)
{
	if (slot->frames == AHEAD_FROM)
		slot->ahead = ahead_open(slot->source);
	return slot->ahead ? ahead_next(slot->ahead, out) : source_next(slot->source, out);
}

static void
close_slot(struct slot *slot)
{
	if (!slot->ahead || ahead_close(slot->ahead))
		source_close(slot->source);
	frame_free(slot->first);
	*slot = (struct slot){ 0 };
}

/* Opens the next files, on all threads. */
static void
fill(struct read_ahead *reader)
{
	reader->at = 0;
	reader->slots = reader->paths - reader->next;
	if (reader->slots > reader->room)
		reader->slots = reader->room;
	progress_input(reader->next, reader->paths);
	for (size_t i = 0; i < reader->slots; i++)
		reader->slot[i].path = reader->path[reader->next++];
	thread_pool_for(reader->pool, reader->slots, open_slot, reader);
}

int
read_ahead_next(struct read_ahead *reader, struct frame **out)
{
	for (;;) {
		struct slot *slot = &reader->slot[reader->at];
		int got;

		if (reader->at == reader->slots) {
			if (reader->next == reader->paths)
				return 0;
			fill(reader);
			continue;
		}
		if (slot->first) {
			*out = slot->first;
			slot->first = NULL;
			slot->frames = 1;
			return 1;
		}
		got = slot->got == 1 ? slot_next(slot, out) : slot->got;
		slot->frames += got == 1;
		if (got != 0)
			return got;
		close_slot(slot);
		reader->at++;
	}
}

void
read_ahead_close(struct read_ahead *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->slots; i++)
		close_slot(&reader->slot[i]);
	for (size_t i = 0; i < reader->paths; i++)
		free(reader->path[i]);
	free(reader->path);
	free(reader->slot);
	free(reader);
}
