#include "io/write_behind.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/*
 * Frames that may wait for the thread, and their bytes together. Three threads share two cores, and
 * for whole frames the system may run the other two: with room for one frame the chain waited. More
 * than two gained nothing, and leave the cache before they are written.
 */
#define WAITING_MOST 2
#define WAITING_BYTES ((size_t)64 << 20)

struct waiting {
	struct frame *frame;
	size_t skip;			/* numbers to be left out before it */
};

struct write_behind {
	struct target *target;
	bool alone;			/* no thread could be started: the caller writes */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct waiting waiting[WAITING_MOST];	/* the first of them is the next one written */
	size_t n, room;			/* how many wait, and how many may */
	size_t bytes;			/* of those that wait */
	bool ending;
	int status;
	struct fail_record failure;	/* of the thread, where status is -1 */
};

static bool
has_room(const struct write_behind *writer, size_t bytes)
{
	return writer->n == 0 ||
	    (writer->n < writer->room && writer->bytes + bytes <= WAITING_BYTES);
}

/* Waits for the next frame; NULL when none will come. */
static struct frame *
take(struct write_behind *writer, size_t *skip)
{
	struct frame *frame = NULL;

	pthread_mutex_lock(&writer->lock);
	while (writer->n == 0 && !writer->ending)
		pthread_cond_wait(&writer->changed, &writer->lock);
	if (writer->n) {
		frame = writer->waiting[0].frame;
		*skip = writer->waiting[0].skip;
		writer->n--;
		writer->bytes -= frame_bytes(frame);
		memmove(writer->waiting, writer->waiting + 1,
		    writer->n * sizeof(*writer->waiting));
	}
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	return frame;
}

static void *
write_frames(void *arg)
{
	struct write_behind *writer = arg;
	struct frame *frame;
	size_t skip;

	while ((frame = take(writer, &skip))) {
		int status;

		target_skip(writer->target, skip);
		status = writer->status < 0 ? -1 : target_put(writer->target, frame);

		frame_free(frame);
		pthread_mutex_lock(&writer->lock);
		if (status < 0 && writer->status == 0)
			fail_take(&writer->failure);
		writer->status = status;
		pthread_mutex_unlock(&writer->lock);
	}
	return NULL;
}

struct write_behind *
write_behind_open(struct target *target, bool live)
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
	writer->alone = pthread_create(&writer->thread, NULL, write_frames, writer) != 0;
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

int
write_behind_put(struct write_behind *writer, struct frame *frame, size_t skip)
{
	size_t bytes = frame_bytes(frame);
	int status;

	if (writer->alone)
		return put_alone(writer, frame, skip);
	pthread_mutex_lock(&writer->lock);
	while (!has_room(writer, bytes))
		pthread_cond_wait(&writer->changed, &writer->lock);
	writer->waiting[writer->n++] = (struct waiting){ frame, skip };
	writer->bytes += bytes;
	status = writer->status;
	if (status < 0)
		fail_put(&writer->failure);
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	return status;
}

static void
end_thread(struct write_behind *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->ending = true; /* the waiting frame is still written: a stream's frames are whole */
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	if (writer->status < 0)
		fail_put(&writer->failure);
}

int
write_behind_close(struct write_behind *writer, bool keep)
{
	int status;

	if (!writer->alone)
		end_thread(writer);
	status = writer->status;
	if (target_close(writer->target, keep && status == 0) < 0)
		status = -1;
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->changed);
	free(writer);
	return keep ? status : 0;
}
