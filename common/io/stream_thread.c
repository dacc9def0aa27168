#include "io/stream_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"

#define TIMEOUT_NS 200000000	/* for a frame being read, when a chain fails */

struct stream_thread {
	struct source *source;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool wanted, stop;		/* the caller sets them; the thread clears `wanted` */
	struct frame *frame;
	int got;			/* what source_next() returned */
	struct fail_record failure;	/* where that is -1 */
};

static void *
read_stream(void *arg)
{
	struct stream_thread *stream = arg;

	pthread_mutex_lock(&stream->lock);
	while (!stream->stop) {
		struct frame *frame;
		int got;

		if (!stream->wanted) {
			pthread_cond_wait(&stream->changed, &stream->lock);
			continue;
		}
		pthread_mutex_unlock(&stream->lock);
		got = source_next(stream->source, &frame);
		pthread_mutex_lock(&stream->lock);
		stream->got = got;
		if (got < 0)
			fail_take(&stream->failure);
		stream->frame = got == 1 ? frame : NULL;
		stream->wanted = false;
		pthread_cond_signal(&stream->changed);
	}
	pthread_mutex_unlock(&stream->lock);
	return NULL;
}

struct stream_thread *
stream_thread_open(struct source *source)
{
	struct stream_thread *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->source = source;
	stream->wanted = true;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->changed, NULL);
	if (pthread_create(&stream->thread, NULL, read_stream, stream) == 0)
		return stream;
	free(stream);
	return NULL;
}

int
stream_thread_next(struct stream_thread *stream, struct frame **out)
{
	int got;

	pthread_mutex_lock(&stream->lock);
	while (stream->wanted)
		pthread_cond_wait(&stream->changed, &stream->lock);
	got = stream->got;
	if (got < 0)
		fail_put(&stream->failure);
	*out = stream->frame;
	stream->frame = NULL;
	stream->wanted = got == 1;
	pthread_cond_signal(&stream->changed);
	pthread_mutex_unlock(&stream->lock);
	return got;
}

bool
stream_thread_is_ready(struct stream_thread *stream)
{
	bool ready;

	pthread_mutex_lock(&stream->lock);
	ready = !stream->wanted;
	pthread_mutex_unlock(&stream->lock);
	return ready;
}

/* Waits until the thread has read the wanted frame, or for the timeout. */
static bool
wait_for_frame(struct stream_thread *stream)
{
	struct timespec end;
	int status = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += TIMEOUT_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (stream->wanted && status == 0)
		status = pthread_cond_timedwait(&stream->changed, &stream->lock, &end);
	return !stream->wanted;
}

/* Keeps the memory that an abandoned thread uses reachable, for leak checkers. */
static struct stream_thread *volatile abandoned __attribute__((used));

bool
stream_thread_close(struct stream_thread *stream)
{
	bool done;

	pthread_mutex_lock(&stream->lock);
	stream->stop = true;
	done = wait_for_frame(stream);
	pthread_cond_signal(&stream->changed);
	if (!done) {		/* nobody waits for it any more */
		abandoned = stream;
		pthread_detach(stream->thread);
	}
	pthread_mutex_unlock(&stream->lock);
	if (!done)
		return false;
	pthread_join(stream->thread, NULL);
	pthread_mutex_destroy(&stream->lock);
	pthread_cond_destroy(&stream->changed);
	frame_free(stream->frame);
	free(stream);
	return true;
}
