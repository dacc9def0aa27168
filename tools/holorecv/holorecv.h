/*
 * What the files of holorecv share: connection.c has the address and the connection to the server,
 * live_stream.c the messages of the stream and the decoder of its videos.
 */
#pragma once

#include "base/cpu_level.h"
#include "frame/frame.h"
#include "live/websocket.h"

struct ffmpeg;
struct pixel_format;

/* ---- connection.c ---- */

struct address {
	char host[256];		/* without the brackets of IPv6 */
	char port[6];
	char path[256];		/* "/live" if the text has none */
	char shown[270];	/* host and port, for Host: and for messages */
};

/* Takes ws://HOST[:PORT][/PATH], or http:// as holoserve prints it, or HOST[:PORT]. 0, or -1 after
 * fail_usage(). */
int address_parse(const char *text, struct address *);

/* From now on the first interruption (SIGINT, SIGTERM, SIGHUP) ends reception as the end of the
 * stream does, so that the received frames are kept; a second one ends the process. */
void interrupt_watch(void);

enum connection_end {
	CONNECTION_LOST,	/* or not established: another one may last */
	CONNECTION_REFUSED,	/* so will the next one be */
	CONNECTION_STREAM_END,
	CONNECTION_INTERRUPTED,
};

struct connection {
	int fd;
	double silence_s;		/* without a picture for this long it is lost */
	bool renewed;			/* a picture has come since that time began */
	const char *awaited;		/* what must come ... */
	double patience_s, due_s;	/* ... within so many seconds, and by this time */
	enum connection_end end;	/* once a function has returned 0 or -1 */
	char reason[200];		/* of an end with a message */
	struct websocket socket;
};

/* Connects, and sends what can be decoded. 1; 0 with end and reason; -1 after fail(). */
int connection_open(struct connection *, const struct address *, double silence_s,
    const char *can);
/* Receives the next text or picture of up to `most` bytes. Returns the same. */
int connection_next(struct connection *, size_t most, struct websocket_message *);
/* Reports that a frame is done. Returns the same. */
int connection_answer(struct connection *, unsigned long long number);
/* Closes, with a message to the server if there is a connection. */
void connection_close(struct connection *);
/* Waits so many seconds. False: it was interrupted. */
bool connection_wait(double seconds);

/* ---- live_stream.c: the messages of holoserve(5) ---- */

#define LIVE_KEYS_MOST ((size_t)64 << 10)	/* bytes of key lines */

enum live_texture { LIVE_NO_TEXTURE, LIVE_ALPHA, LIVE_BELOW };

struct live_keys {
	enum live_kind encoding;
	enum live_texture texture;
	size_t w, h;			/* of the depth */
	size_t texture_row;		/* of the picture, where a texture below begins */
	bool colour;			/* it has three planes */
	struct meta meta;		/* the other keys */
};

struct live_picture {
	struct live_head head;
	const unsigned char *bytes;
	size_t n;
};

/* Overwrites *keys, without freeing it. 0, or -1 after fail(). */
int live_read_keys(const unsigned char *text, size_t n, struct live_keys *);
void live_free_keys(struct live_keys *);
/* The largest size of a picture's message in bytes. */
size_t live_picture_most(const struct live_keys *);
/* Reads the head of a message. 0, or -1 after fail(). */
int live_read_picture(const unsigned char *message, size_t n, struct live_picture *);
/*
 * Decodes a Holoimage to a frame r g b, or r g b a with the texture in a, or with one in colour
 * below as holoenc(1) writes it, with the stream's keys, frame_number, sent_s, and time_s if the
 * time of capture is known. path: for messages. 0, or -1 after fail(). Not for videos.
 */
int live_decode(const struct live_keys *, const struct live_picture *, const char *path,
    struct frame **out);

#define VIDEO_BEHIND 16		/* pictures that the decoder may keep back */

/* The decoder of a video, an ffmpeg. It may keep a picture or two back until the next ones come. */
struct video {
	const char *server;		/* the caller's, for messages */
	struct ffmpeg *ffmpeg;		/* NULL: not running */
	enum live_kind kind;
	const struct pixel_format *format;
	size_t w, h;			/* of the pictures, as coded */
	unsigned char *raw;		/* the next picture, */
	size_t bytes, got;		/* its size, and how much of it has come */
	size_t behind;			/* pictures that the decoder keeps back, as far as seen */
	struct video_sent {
		struct live_keys keys;
		struct live_head head;
		bool unwanted;		/* needed only because others depend on it */
	} sent[VIDEO_BEHIND + 1];	/* those that have not come back, the oldest first */
	size_t n;
	unsigned char *keyframe;	/* the last one, for pictures that are kept back */
	size_t keyframe_bytes;
};

/* Is there an ffmpeg? */
bool video_is_there(void);
/* Sends a picture to the decoder; the caller has taken all earlier ones. -1 after fail(). */
int video_send(struct video *, const struct live_keys *, const struct live_picture *,
    bool unwanted, const char *path);
/* Takes the next picture. 1, with *out NULL if it is unwanted; 0: none yet, or, once the input has
 * ended, no more. -1 after fail(). */
int video_take(struct video *, bool ended, const char *path, struct live_head *,
    struct frame **out);
void video_stop(struct video *);

/* ---- holorecv_rows.c ---- */

struct holorecv_rows {
	/* A row of a texture: the mean of three colours, or the first one if it is luma. */
	void (*texture_row)(const unsigned char *const colour[3], bool luma, unsigned char *a,
	    size_t w);
};
LEVELS_OF(holorecv_rows)
