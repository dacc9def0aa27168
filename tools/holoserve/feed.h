/*
 * From the pipeline to the viewers: the newest frame, and what it was encoded to.
 *
 * The pipeline's side swaps a pointer under a lock. A thread of its own encodes the newest frame,
 * once for each encoding that somebody waits for, and not at all where nobody does; what it was not
 * asked for before the next frame came is dropped.
 *
 * A picture of a video needs those before it. A viewer that has not had the last one waits for the
 * next keyframe; where that is long in coming, since frames are few or the last one is shown, the
 * video begins anew for it, and at the next frame once more for all.
 *
 * Where a video fails it begins anew with the next frame; where it then fails again it is given up.
 */
#ifndef HOLOSERVE_FEED_H
#define HOLOSERVE_FEED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fail.h"
#include "packing.h"

/* An encoded frame, for all viewers of its encoding. */
struct packet {
	atomic_int users;
	struct live_head head;		/* without the time of sending, and flags of the end */
	unsigned version;		/* of the keys: a viewer that has another one needs them */
	uint64_t place;			/* among those of its kind, from 1: without a flag of a
					 * keyframe it needs the one before */
	char *keys;			/* key lines */
	unsigned char *bytes;		/* head and picture */
	size_t n;			/* of both */
};

struct feed {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t encoder;
	bool running;			/* the encoder is */
	struct picture_maker maker;
	struct packer packer;
	double interval;		/* seconds between frames, at least */
	void (*published)(void *arg);	/* there is a packet, or the last frame is known */
	void *arg;
	/* under the lock */
	struct frame *pending;		/* the newest frame, if it is not begun */
	int64_t pending_us;
	uint64_t frames;		/* handed over; the newest one's number is one less */
	bool wanted[LIVE_KINDS];	/* somebody waits for it */
	struct packet *latest[LIVE_KINDS];
	unsigned version[LIVE_KINDS];
	uint64_t places[LIVE_KINDS];	/* packets made */
	uint64_t next[LIVE_KINDS];	/* the least number that is neither encoded nor given up */
	double join[LIVE_KINDS];	/* when somebody who needs a keyframe gets one at the
					 * latest; INFINITY: nobody does */
	bool busy, ended, stopping;
	bool warned;			/* of a frame that could not be encoded */
	bool works[LIVE_KINDS];		/* the last picture was made */
	bool lost[LIVE_KINDS];		/* a video that is given up: it made no picture at all */
	bool quiet;
	uint64_t encoded;		/* pictures made, for -v */
	/* the encoder's own */
	struct picture shown;		/* the last one that was begun */
	uint64_t shown_number;
	int64_t shown_us;
	bool shows;
	bool anew[LIVE_KINDS];		/* the next picture of this kind is to be a keyframe */
	double due;			/* when the next one may begin */
};

/* Starts the encoder. -1 after fail(). */
int feed_start(struct feed *);
/* Hands the newest frame over, which the feed then owns; never waits. */
void feed_put(struct feed *, struct frame *, int64_t captured_us);
/* No further frame comes. */
void feed_end(struct feed *);
/* Ends the encoder and frees everything. */
void feed_stop(struct feed *);

/* For the sender. The newest packet of a kind with a number from `from` on, which who has the one
 * at `place` can decode; NULL where there is none: it is made as soon as there is a frame. */
struct packet *feed_take(struct feed *, enum live_kind, uint64_t from, uint64_t place);
/* Is, or will there be, a packet with a number from `from` on, if no frame comes any more? */
bool feed_has_more(struct feed *, enum live_kind, uint64_t from);
/* The input has ended, and no such packet is there or to come. */
bool feed_is_over(struct feed *, enum live_kind, uint64_t from);
/* Is this kind given up, so that no packet of it will come? */
bool feed_has_lost(struct feed *, enum live_kind);
/* Is this the last frame, which is known once the input has ended? */
bool feed_is_last(struct feed *, uint64_t number);
void packet_free(struct packet *);

#endif
