#include "feed.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void
packet_free(struct packet *packet)
{
	if (!packet || atomic_fetch_sub(&packet->users, 1) > 1)
		return;
	free(packet->keys);
	free(packet->bytes);
	free(packet);
}

/* ---- the encoder's thread ---- */

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Is there something to do? With the lock. */
static bool
finds_work(const struct feed *feed)
{
	for (int kind = 1; kind < LIVE_KINDS; kind++)
		if (feed->wanted[kind] && (feed->pending || (feed->shows &&
		    (!feed->latest[kind] ||
			feed->latest[kind]->head.number < feed->shown_number))))
			return true;
	return false;
}

/* Waits for work, and until it is due. With the lock. False: the feed stops. */
static bool
wait_for_work(struct feed *feed)
{
	struct timespec until;

	while (!feed->stopping) {
		if (!finds_work(feed)) {
			pthread_cond_wait(&feed->changed, &feed->lock);
			continue;
		}
		if (now() >= feed->due)
			return true;
		until.tv_sec = (time_t)feed->due;
		until.tv_nsec = (long)(1e9 * (feed->due - (double)until.tv_sec));
		pthread_cond_timedwait(&feed->changed, &feed->lock, &until);
	}
	return false;
}

/* A frame that cannot be shown costs the others nothing. */
static void
give_up(struct feed *feed, uint64_t number)
{
	if (!feed->warned)
		warn(NULL, "frame %llu cannot be shown: %s (later ones are not named)",
		    (unsigned long long)number, fail_message());
	feed->warned = true;
	fail_clear();
}

/* Makes the picture of a frame, which it frees. */
static void
begin_frame(struct feed *feed, struct frame *frame, uint64_t number, int64_t captured_us)
{
	struct picture picture;
	int status = picture_make(&feed->maker, frame, &picture);

	frame_free(frame);
	if (status < 0)
		give_up(feed, number);
	if (status != 0)
		return;
	picture_free(&feed->shown);
	feed->shown = picture;
	feed->shown_number = number;
	feed->shown_us = captured_us;
	feed->shows = true;
}

static struct packet *
compress(struct feed *feed, enum live_kind kind)
{
	struct packet *packet = calloc(1, sizeof(*packet));

	if (!packet) {
		fail_memory();
		return NULL;
	}
	atomic_init(&packet->users, 1);
	packet->head = (struct live_head){ .kind = kind, .flags = LIVE_KEYFRAME,
		.number = feed->shown_number, .captured_us = feed->shown_us };
	packet->keys = picture_keys(&feed->shown, kind);
	if (packet->keys)
		packet->bytes = (unsigned char *)picture_compress(&feed->maker, &feed->shown, kind,
		    feed->lead + LIVE_HEAD_BYTES, &packet->n);
	if (!packet->bytes) {
		packet_free(packet);
		return NULL;
	}
	packet->n += LIVE_HEAD_BYTES;
	return packet;
}

/* With the lock. */
static void
publish(struct feed *feed, enum live_kind kind, struct packet *packet)
{
	const struct packet *before = feed->latest[kind];

	if (!before || strcmp(before->keys, packet->keys))
		feed->version[kind]++;
	packet->version = feed->version[kind];
	packet_free(feed->latest[kind]);
	feed->latest[kind] = packet;
	feed->wanted[kind] = false;
	feed->encoded++;
}

/* Encodes what is wanted of the newest frame. With the lock, which it leaves while it works. */
static void
work(struct feed *feed)
{
	struct frame *frame = feed->pending;
	int64_t captured_us = feed->pending_us;
	uint64_t number = feed->frames - 1;

	feed->pending = NULL;
	feed->busy = true;
	feed->due = now() + feed->interval;
	if (frame) {
		pthread_mutex_unlock(&feed->lock);
		begin_frame(feed, frame, number, captured_us);
		pthread_mutex_lock(&feed->lock);
	}
	for (int kind = 1; kind < LIVE_KINDS && feed->shows; kind++) {
		struct packet *packet;

		if (!feed->wanted[kind])
			continue;
		pthread_mutex_unlock(&feed->lock);
		packet = compress(feed, (enum live_kind)kind);
		pthread_mutex_lock(&feed->lock);
		if (packet)
			publish(feed, (enum live_kind)kind, packet);
		else
			give_up(feed, feed->shown_number);
		feed->shows &= packet != NULL;
	}
	feed->busy = false;
}

static void *
encode(void *arg)
{
	struct feed *feed = arg;

	pthread_mutex_lock(&feed->lock);
	while (wait_for_work(feed)) {
		work(feed);
		pthread_mutex_unlock(&feed->lock);
		feed->published(feed->arg);
		pthread_mutex_lock(&feed->lock);
	}
	pthread_mutex_unlock(&feed->lock);
	return NULL;
}

/* ---- beginning and end ---- */

int
feed_start(struct feed *feed)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	int error;

	pthread_mutex_init(&feed->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&feed->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&feed->encoder, NULL, encode, feed);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	feed->running = error == 0;
	return error ? fail_errno(NULL, "cannot start a thread") : 0;
}

void
feed_stop(struct feed *feed)
{
	if (!feed->running)
		return;
	pthread_mutex_lock(&feed->lock);
	feed->stopping = true;
	pthread_cond_signal(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
	pthread_join(feed->encoder, NULL);
	feed->running = false;
	frame_free(feed->pending);
	feed->pending = NULL;
	for (int kind = 1; kind < LIVE_KINDS; kind++) {
		packet_free(feed->latest[kind]);
		feed->latest[kind] = NULL;
	}
	picture_free(&feed->shown);
	pthread_cond_destroy(&feed->changed);
	pthread_mutex_destroy(&feed->lock);
}

/* ---- the pipeline's side ---- */

void
feed_put(struct feed *feed, struct frame *frame, int64_t captured_us)
{
	struct frame *before;

	pthread_mutex_lock(&feed->lock);
	before = feed->pending;
	feed->pending = frame;
	feed->pending_us = captured_us;
	feed->frames++;
	if (!feed->busy && finds_work(feed))
		pthread_cond_signal(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
	frame_free(before);
}

void
feed_end(struct feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	feed->ended = true;
	pthread_mutex_unlock(&feed->lock);
	feed->published(feed->arg);
}

/* ---- the sender's side ---- */

struct packet *
feed_take(struct feed *feed, enum live_kind kind, uint64_t from)
{
	struct packet *packet;

	pthread_mutex_lock(&feed->lock);
	packet = feed->latest[kind];
	if (packet && packet->head.number >= from) {
		atomic_fetch_add(&packet->users, 1);
	} else {
		packet = NULL;
		feed->wanted[kind] = true;
		if (!feed->busy && finds_work(feed))
			pthread_cond_signal(&feed->changed);
	}
	pthread_mutex_unlock(&feed->lock);
	return packet;
}

bool
feed_has_more(struct feed *feed, enum live_kind kind, uint64_t from)
{
	const struct packet *packet;
	bool more;

	pthread_mutex_lock(&feed->lock);
	packet = feed->latest[kind];
	more = feed->pending || feed->busy || (packet && packet->head.number >= from) ||
	    (feed->shows && feed->shown_number >= from);
	pthread_mutex_unlock(&feed->lock);
	return more;
}

bool
feed_is_last(struct feed *feed, uint64_t number)
{
	bool last;

	pthread_mutex_lock(&feed->lock);
	last = feed->ended && number + 1 == feed->frames;
	pthread_mutex_unlock(&feed->lock);
	return last;
}
