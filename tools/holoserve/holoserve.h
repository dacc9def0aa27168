/*
 * What the files of holoserve share, in the order of a frame's way: picture.c takes its depth,
 * packing.c encodes it, feed.c hands the newest one to viewers, viewer.c sends it, by the server's
 * thread.
 */
#pragma once

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/cpu_level.h"
#include "base/opt.h"
#include "frame/frame.h"
#include "holo/depthcode.h"
#include "holo/holo.h"
#include "image/depth_range.h"
#include "image/texture.h"
#include "live/websocket.h"

struct viewer;
struct video_encoder;

/* ---- pictures: the depth and texture of a frame, and these as a Holoimage ---- */

struct video_options {
	double crf;		/* how lossy, of x264; NaN: the best for the kind */
	double bitrate;		/* Mbit/s at most; NaN: no limit */
	double fps;		/* pictures a second, for the bit rate; NaN: 30 */
};

struct picture_options {
	struct holo_options holo;
	struct opt_size size;		/* at most; 0 x 0: as large as the frame */
	long quality;			/* of JPEG */
	struct video_options video;
	bool luma;			/* the depth itself is sent */
};

/* What is kept from frame to frame. */
struct picture_maker {
	const struct picture_options *options;
	/* the depth range of all frames so far if none was given: it only grows, so that it seldom
	 * changes; low > high: none yet */
	double low, high;
	struct depth_use use;		/* of a range that was given */
	double step;			/* of its depths, as they are encoded */
	struct hole_value hole;
	bool outside, stray, unused;	/* a line was printed: about depths outside of a given
					 * range, about stray ones in another, about options */
	bool bright;			/* a texture was judged */
};

struct picture {
	size_t w, h;
	bool textured;
	bool flat;			/* a camera's: a plane that is seen from the front */
	struct frame *image;		/* of 8 bits, r g b or r g b and the texture, whose channels
					 * are one or three; NULL: not yet */
	struct meta keys;		/* of the image */
	char unit[16];
	/* if the input is no Holoimage: */
	struct frame *source;		/* of floats */
	size_t depth;			/* its channel */
	struct texture_source texture;	/* likewise: one, or red, green and blue */
	double white;			/* of the texture */
	struct holo holo;		/* of a Holoimage the layout alone */
};

/* Does a frame with this head show anything? */
bool picture_shows(const struct frame_head *);
/* For plan: can a frame with this head be encoded by the options? -1 after fail(). */
int picture_check(const struct picture_options *, const struct frame_head *);
/* Takes a frame. 0; 1 if it has no depth at all; -1 after fail(). */
int picture_make(struct picture_maker *, const struct frame *, struct picture *);
/* The Holoimage, which the first call encodes. NULL after fail(). */
const struct frame *picture_image(struct picture *);
void picture_free(struct picture *);
/* The depth of a picture as a frame of one channel of ushort, and its texture, if there is one,
 * below from row `begin` on; the rows between repeat the depth's last one. -1 after fail(). */
int luma_make(const struct picture *, size_t begin, struct frame **out);
/* The keys that decode it: those of depthcode(5), and where its pixels lie. */
void luma_keys(const struct picture *, struct meta *);

/* The loops of a picture. */
struct holoserve_rows {
	/* Row y of a channel made smaller: means over step x step pixels; NaN where fewer than half
	 * of them have a value. */
	void (*shrink_row)(const struct frame *, size_t c, size_t y, size_t step, float *row,
	    size_t w);
	/* The least and greatest finite sample of a channel; low > high if there is none. */
	void (*find_range)(const struct picture *, size_t channel, double *low, double *high);
	/* All rows of picture_image() and of luma_make(). */
	void (*holoimage_rows)(const struct picture *, struct frame *out);
	/* Three channels r g b from a row on as luma and the differences of blue and red. */
	void (*to_luma)(struct frame *, size_t begin);
	void (*luma_rows)(const struct picture *, struct depthcode_code, size_t begin,
	    struct frame *out);
};
LEVELS_OF(holoserve_rows)

/* ---- packing: pictures as the bytes that viewers get, and the key lines that decode them ---- */

struct packer {
	const struct picture_options *options;
	struct video_encoder *video[LIVE_KINDS];	/* NULL: not running */
};

struct packing {
	unsigned char *bytes;	/* after `lead` bytes for the caller */
	size_t n;		/* without these */
	bool keyframe;		/* can be decoded by itself */
	char *keys;		/* key lines */
};

/* anew: a video begins again, with a keyframe. -1 after fail(), with *out empty. */
int packing_make(struct packer *, struct picture *, enum live_kind, bool anew, size_t lead,
    struct packing *out);
/* Ends all encoders. */
void packing_stop(struct packer *);
/* Is there an ffmpeg for video? 0, or -1 after fail(). */
int video_check(void);

/* ---- feed: from the pipeline to the viewers ---- */

/* An encoded frame, for all viewers of its encoding. */
struct packet {
	atomic_int users;
	struct live_head head;		/* without the time of sending, and flags of the end */
	unsigned version;		/* of the keys: viewers with another one need them */
	uint64_t place;			/* among those of its kind, from 1: without a keyframe's
					 * flag it needs the previous one */
	char *keys;			/* key lines */
	unsigned char *bytes;		/* head and picture */
	size_t n;			/* of both */
};

struct feed {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t encoder;
	bool running;			/* the encoder */
	struct picture_maker maker;
	struct packer packer;
	double interval;		/* seconds between frames, at least */
	void (*published)(void *arg);	/* called for each packet, and at the last frame */
	void *arg;
	/* under the lock */
	struct frame *pending;		/* the newest frame, if it is not begun */
	int64_t pending_us;
	uint64_t frames;		/* so far; the newest one's number is one less */
	bool wanted[LIVE_KINDS];	/* a viewer waits for it */
	struct packet *latest[LIVE_KINDS];
	unsigned version[LIVE_KINDS];
	uint64_t places[LIVE_KINDS];	/* packets so far */
	uint64_t next[LIVE_KINDS];	/* the least number that is neither encoded nor given up */
	double join[LIVE_KINDS];	/* when a viewer that needs a keyframe gets one at the
					 * latest; INFINITY: none does */
	bool busy, ended, stopping;
	bool warned;			/* about a frame that could not be encoded */
	bool works[LIVE_KINDS];		/* the last picture was encoded */
	bool lost[LIVE_KINDS];		/* a video that is given up, as it gave no picture at all */
	uint64_t encoded;		/* pictures, for -v */
	/* the encoder's own */
	struct picture shown;		/* the last one that was begun */
	uint64_t shown_number;
	int64_t shown_us;
	bool shows;
	bool anew[LIVE_KINDS];		/* the next picture of this kind must be a keyframe */
	double due;			/* when the next one may begin */
};

/* Starts the encoder. -1 after fail(). */
int feed_start(struct feed *);
/* Hands over the newest frame, which the feed then owns; never waits. */
void feed_put(struct feed *, struct frame *, int64_t captured_us);
/* No further frame comes. */
void feed_end(struct feed *);
/* Ends the encoder and frees everything. */
void feed_stop(struct feed *);

/* For the sender: the newest packet of a kind with a number from `from` on that a viewer with the
 * one at `place` can decode; NULL: none yet. The encoder makes it as soon as there is a frame. */
struct packet *feed_take(struct feed *, enum live_kind, uint64_t from, uint64_t place);
/* Of a kind, and of a frame's number. */
enum feed_question {
	FEED_HAS_MORE,	/* if no further frame comes, is there, or will there be, a packet with a
			 * number from this one on? */
	FEED_IS_OVER,	/* has the input ended, and will no such packet come? */
	FEED_IS_LAST,	/* is this the last frame? It is known once the input has ended */
	FEED_IS_LOST	/* is this kind given up, so that no packet of it will come? */
};

bool feed_ask(struct feed *, enum feed_question, enum live_kind, uint64_t number);
void packet_free(struct packet *);

/* ---- server ---- */

struct server_options {
	long port;			/* 0: any that is free */
	const char *bind;
	struct opt_list host, origin;
	long clients;			/* viewers at a time, at most */
	int encode;			/* enum live_kind that is offered: JPEG or PNG alone, a
					 * video in addition to both; 0: both */
};

#define SECOND_US 1000000
#define HANDSHAKE_SECONDS 5	/* for a request, and again for taking the answer */
#define CLOSE_SECONDS 2		/* for clients to close their end, and for viewers to get the last
				 * picture */

/* A connection speaks HTTP until it becomes a viewer. */
struct connection {
	int fd;
	short events;			/* of poll() that it waits for */
	int64_t due_us;			/* when it gets a turn if nothing happens */
	struct viewer *viewer;		/* NULL: none yet */
	char head[HTTP_HEAD_MOST];	/* of the request */
	size_t n;
	char *answer;			/* NULL: none yet */
	size_t answer_n, answered;	/* its bytes, and those that are sent */
};

struct server {
	struct server_options options;
	char url[160];			/* for a browser, "http://127.0.0.1:8080/" */
	int listener, reserve, wake;	/* descriptors: one in reserve, and an eventfd */
	pthread_t thread;
	bool running;
	struct feed *feed;
	struct connection **connection;
	struct pollfd *poll;		/* listener, wake, and the connections */
	long connections, viewers;
	int64_t closing_since;		/* 0: not yet */
	atomic_int code;		/* with which connections are closed; 0: they are not */
	atomic_bool interrupted;
	void (*done)(void *arg);	/* called by the thread after an interrupt */
	void *done_arg;
	size_t all_viewers;		/* so far, and pictures sent to them or dropped for one */
	uint64_t all_sent, all_dropped;
};

/* Listens. -1 after fail(): the address is not ours, or the port is in use or forbidden. */
int server_open(const struct server_options *, struct server **out);
/* Serves a feed from now on. -1 after fail(). */
int server_start(struct server *, struct feed *);
/* For a feed: there is something new for viewers. From any thread, and from a signal handler. */
void server_wake(void *server);
/* Closes the connections: with 1001 or 1011 now, else once viewers have what they wait for. */
void server_close(struct server *, int code);
/* For a signal handler: closes with 1001; then the server's thread calls server->done. */
void server_interrupt(struct server *);
/* Waits until all connections are closed. */
void server_join(struct server *);
void server_free(struct server *);

int64_t connection_now_us(clockid_t);

/* The page as built, and its Content-Security-Policy with a hash for each script and style. */
extern const unsigned char holoserve_page[], holoserve_page_end[];
extern const char holoserve_page_policy[];

/* Goes on with a connection that has no viewer. happened: of poll(), or 0. False: it is over. */
bool web_step(struct server *, struct connection *, short happened, int64_t now_us);

/* A viewer whose handshake is done; NULL: no memory. */
struct viewer *live_enter(struct server *, int fd);
/* Goes on with a viewer's connection. happened: of poll(), or 0. False: it is over. */
bool live_step(struct server *, struct connection *, short happened, int64_t now_us);
void live_leave(struct server *, struct viewer *);
