#include "io/write_behind.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"

struct write_behind {
	struct target *target;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct frame *waiting;		/* NULL: there is room for one */
	bool ending;
	int status;
};

/* The frame that waits, or NULL when there will be none. */
static struct frame *
take(struct write_behind *box)
{
	struct frame *frame;

	pthread_mutex_lock(&box->lock);
	while (!box->waiting && !box->ending)
		pthread_cond_wait(&box->changed, &box->lock);
	frame = box->waiting;
	box->waiting = NULL;
	pthread_cond_signal(&box->changed);
	pthread_mutex_unlock(&box->lock);
	return frame;
}

static void *
write_frames(void *arg)
{
	struct write_behind *box = arg;
	struct frame *frame;

	while ((frame = take(box))) {
		int status = box->status < 0 ? -1 : target_put(box->target, frame);

		frame_free(frame);
		pthread_mutex_lock(&box->lock);
		box->status = status;
		pthread_mutex_unlock(&box->lock);
	}
	return NULL;
}

struct write_behind *
write_behind_open(struct target *target)
{
	struct write_behind *box = calloc(1, sizeof(*box));

	if (!box) {
		target_close(target, false);
		fail_memory();
		return NULL;
	}
	box->target = target;
	pthread_mutex_init(&box->lock, NULL);
	pthread_cond_init(&box->changed, NULL);
	if (pthread_create(&box->thread, NULL, write_frames, box) != 0) {
		target_close(target, false);
		free(box);
		fail(NULL, "no thread for writing could be started");
		return NULL;
	}
	return box;
}

int
write_behind_put(struct write_behind *box, struct frame *frame)
{
	int status;

	pthread_mutex_lock(&box->lock);
	while (box->waiting)
		pthread_cond_wait(&box->changed, &box->lock);
	box->waiting = frame;
	status = box->status;
	pthread_cond_signal(&box->changed);
	pthread_mutex_unlock(&box->lock);
	return status;
}

int
write_behind_close(struct write_behind *box, bool keep)
{
	int status;

	pthread_mutex_lock(&box->lock);
	box->ending = true; /* what waits is written all the same: a stream's frames are whole */
	pthread_cond_signal(&box->changed);
	pthread_mutex_unlock(&box->lock);
	pthread_join(box->thread, NULL);
	status = box->status;
	if (target_close(box->target, keep && status == 0) < 0)
		status = -1;
	pthread_mutex_destroy(&box->lock);
	pthread_cond_destroy(&box->changed);
	free(box);
	return keep ? status : 0;
}
