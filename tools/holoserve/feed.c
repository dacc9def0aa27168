/*
 * From the pipeline to the viewers: the newest frame, and its encodings.
 *
 * The pipeline swaps a pointer under a lock. The encoder's thread encodes the newest frame, once
 * for each encoding that a viewer waits for. A frame that no viewer asked for before the next one
 * came is dropped.
 *
 * A picture of a video needs the previous ones. A viewer that has not had the last one waits for
 * the next keyframe. If that takes too long, since frames are few or the last one is shown, the
 * video begins anew for this viewer, and at the next frame once more for all.
 *
 * If a video fails, it begins anew with the next frame. If it then fails again, it is given up.
 */
#include "holoserve.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

#define JOIN_SECONDS 0.6	/* a group of a video takes as long at 25 frames/s */

void
packet_free(struct packet *packet)
{
	if (!packet || atomic_fetch_sub(&packet->users, 1) > 1)
		return;
	free_all(packet->keys, packet->bytes, packet);
}

/* ---- the encoder's thread ---- */

/* When the encoder has something to do for a viewer; INFINITY: it has not. With the lock. */
static double
next_work(const struct feed *feed)
{
	double first = INFINITY;

	for (int kind = 1; kind < LIVE_KINDS; kind++) {
		if (!feed->wanted[kind])
			continue;
		if (feed->pending || (feed->shows && feed->shown_number >= feed->next[kind]))
			return feed->due;
		if (feed->shows)
			first = fmin(first, fmax(feed->join[kind], feed->due));
	}
	return first;
}

/* Wakes the encoder if there is something to do. With the lock. */
static void
call_encoder(struct feed *feed)
{
	if (!feed->busy && !isinf(next_work(feed)))
		pthread_cond_signal(&feed->changed);
}

/* Waits for work until it is due. With the lock. False: the feed stops. */
static bool
wait_for_work(struct feed *feed)
{
	struct timespec until;

	while (!feed->stopping) {
		double begins = next_work(feed);

		if (isinf(begins)) {
			pthread_cond_wait(&feed->changed, &feed->lock);
			continue;
		}
		if (progress_seconds() >= begins)
			return true;
		until.tv_sec = (time_t)begins;
		until.tv_nsec = (long)(1e9 * (begins - (double)until.tv_sec));
		pthread_cond_timedwait(&feed->changed, &feed->lock, &until);
	}
	return false;
}

/* A frame that cannot be shown does not stop the others. */
static void
give_up(struct feed *feed, uint64_t number)
{
	if (!feed->warned)
		warn(NULL, "frame %llu cannot be shown: %s (later ones are not named)",
		    (unsigned long long)number, fail_message());
	feed->warned = true;
	fail_clear();
}

/* NULL after fail(). */
static struct packet *
compress(struct feed *feed, enum live_kind kind, bool anew)
{
	struct packet *packet;
	struct packing packing;

	if (packing_make(&feed->packer, &feed->shown, kind, anew, LIVE_HEAD_BYTES, &packing) < 0)
		return NULL;
	packet = must_alloc(1, sizeof(*packet));
	atomic_init(&packet->users, 1);
	packet->head = (struct live_head){ .kind = kind,
		.flags = packing.keyframe ? LIVE_KEYFRAME : 0,
		.number = feed->shown_number, .captured_us = feed->shown_us };
	packet->keys = packing.keys;
	packet->bytes = packing.bytes;
	packet->n = packing.n + LIVE_HEAD_BYTES;
	return packet;
}

/* With the lock. */
static void
publish(struct feed *feed, enum live_kind kind, struct packet *packet)
{
	struct packet *before = feed->latest[kind];

	if (!before || strcmp(before->keys, packet->keys))
		feed->version[kind]++;
	packet->version = feed->version[kind];
	packet->place = ++feed->places[kind];
	/* viewers that had the same frame before do not take it again, but the next one needs it */
	feed->anew[kind] = before && before->head.number == packet->head.number;
	packet_free(before);
	feed->latest[kind] = packet;
	feed->wanted[kind] = false;
	feed->encoded++;
}

/* Encodes the current frame in a kind, if it is wanted. With the lock, which it releases while it
 * works. A video that fails at its first picture is not tried again. */
static void
make_packet(struct feed *feed, enum live_kind kind)
{
	const bool joins = progress_seconds() >= feed->join[kind], anew = feed->anew[kind] || joins;
	struct packet *packet;

	if (!feed->wanted[kind] || (feed->shown_number < feed->next[kind] && !joins))
		return;
	pthread_mutex_unlock(&feed->lock);
	packet = compress(feed, kind, anew);
	pthread_mutex_lock(&feed->lock);
	feed->next[kind] = feed->shown_number + 1;
	if (!packet || packet->head.flags & LIVE_KEYFRAME)
		feed->join[kind] = INFINITY;
	if (packet) {
		publish(feed, kind, packet);
	} else if (live_is_video(kind) && !feed->works[kind]) {
		warn(NULL, "%s is given up, viewers get jpeg or png: %s", live_kind_names[kind],
		    fail_message());
		fail_clear();
		feed->lost[kind] = true;
		feed->wanted[kind] = false;
	} else {
		give_up(feed, feed->shown_number);
	}
	feed->works[kind] = packet;
	pthread_mutex_unlock(&feed->lock);
	feed->published(feed->arg);
	pthread_mutex_lock(&feed->lock);
}

/* Encodes the newest frame in all wanted kinds. With the lock, which it releases while it works. */
static void
work(struct feed *feed)
{
	struct frame *frame = feed->pending;
	int64_t captured_us = feed->pending_us;
	uint64_t number = feed->frames - 1;
	struct picture picture;
	int status = 1;

	feed->pending = NULL;
	feed->busy = true;
	feed->due = progress_seconds() + feed->interval;
	if (frame) {
		pthread_mutex_unlock(&feed->lock);
		status = picture_make(&feed->maker, frame, &picture);
		frame_free(frame);
		if (status < 0)
			give_up(feed, number);
		pthread_mutex_lock(&feed->lock);
	}
	if (status == 0) {
		picture_free(&feed->shown);
		feed->shown = picture;
		feed->shown_number = number;
		feed->shown_us = captured_us;
		feed->shows = true;
	}
	for (int kind = 1; kind < LIVE_KINDS && feed->shows; kind++)
		make_packet(feed, (enum live_kind)kind);
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

	for (int kind = 0; kind < LIVE_KINDS; kind++)
		feed->join[kind] = INFINITY;
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
	packing_stop(&feed->packer);
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
	call_encoder(feed);
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
feed_take(struct feed *feed, enum live_kind kind, uint64_t from, uint64_t place)
{
	struct packet *packet;
	bool decodable;

	pthread_mutex_lock(&feed->lock);
	packet = feed->latest[kind];
	decodable = packet &&
	    (packet->head.flags & LIVE_KEYFRAME || packet->place == place + 1);
	if (decodable && packet->head.number >= from) {
		atomic_fetch_add(&packet->users, 1);
	} else {
		if (packet && !decodable && packet->place != place)	/* it gets a keyframe */
			feed->join[kind] = fmin(feed->join[kind],
			    progress_seconds() + (feed->ended ? 0 : JOIN_SECONDS));
		packet = NULL;
		feed->wanted[kind] = !feed->lost[kind];
		call_encoder(feed);
	}
	pthread_mutex_unlock(&feed->lock);
	return packet;
}

bool
feed_ask(struct feed *feed, enum feed_question question, enum live_kind kind, uint64_t number)
{
	const struct packet *packet;
	bool more, ended, last, lost;

	pthread_mutex_lock(&feed->lock);
	packet = feed->latest[kind];
	more = feed->pending || feed->busy || (packet && packet->head.number >= number) ||
	    (feed->shows && feed->shown_number >= number &&
		feed->shown_number >= feed->next[kind]);
	ended = feed->ended;
	last = ended && number + 1 == feed->frames;
	lost = feed->lost[kind];
	pthread_mutex_unlock(&feed->lock);
	return question == FEED_HAS_MORE ? more
	    : question == FEED_IS_OVER	 ? ended && !more
	    : question == FEED_IS_LAST	 ? last
					 : lost;
}
