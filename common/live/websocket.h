/* WebSocket connections and the messages of the live view. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <wslay/wslay.h>

/*
 * Messages of a WebSocket (RFC 6455) behind its handshake, at either end, in frames of wslay. Knows
 * no sockets. Extensions are never offered, and refused.
 */

#define WEBSOCKET_CONTROL 125	/* bytes of a control message at most */

struct websocket_message {
	enum wslay_opcode kind;
	const unsigned char *bytes;	/* until the next call */
	size_t n;
};

/* The caller fills in what is above the line, and zeros below. */
struct websocket {
	/* Both handle up to n bytes, and return how many, or 0 or -1 where that ends what is being
	 * done, which then returns the same. `more` follows at once. */
	ssize_t (*read)(void *arg, void *to, size_t n);
	ssize_t (*write)(void *arg, const void *from, size_t n, bool more);
	void *arg;
	bool server;			/* this end is: the other one masks its frames */
	bool whole;			/* what comes must be of one piece, */
	size_t most;			/* and of so many bytes at most */
	/* ---- */
	struct wslay_frame_context *frames;
	int status;			/* of the last call of read or write */
	unsigned char control[WEBSOCKET_CONTROL];
	unsigned char *in;		/* of a message, as far as it has come */
	size_t control_n, in_n, room;
	uint64_t part_n;		/* bytes of its last part that have come */
	int begun;			/* its kind; 0: none has begun */
	enum wslay_opcode kind;		/* of what goes out */
	const unsigned char *out;
	size_t out_n, sent;
	bool sends;
};

/* -1 after fail(). */
int websocket_open(struct websocket *);
/* Frees what it holds. */
void websocket_free(struct websocket *);
/*
 * The next message, put together of its parts; control messages between them come at once. 1; 0 or
 * -1 of read, also -1 after fail(). Or else the code of RFC 6455 for what the other end did wrong,
 * with the reason; nothing can be received then.
 */
int websocket_receive(struct websocket *, struct websocket_message *, const char **reason);
/* Begins a message; its bytes have to stay until it is sent. Not while there is one on its way. */
void websocket_put(struct websocket *, enum wslay_opcode, const void *from, size_t n);
/* Goes on with it. 1: nothing is left; 0 or -1 of write. */
int websocket_send(struct websocket *);

/* Bytes of a socket that does not block. 0: none now; -1: the other end has gone. */
ssize_t live_read(int fd, void *to, size_t n);
ssize_t live_write(int fd, const void *from, size_t n, bool more);

/*
 * Messages of the live stream, holoserve(5): what a client says, and the head of a picture. They
 * come from strangers: every byte is checked.
 */

#define LIVE_PATH "/live"
#define LIVE_PROTOCOL "fringepipe.1"	/* the WebSocket subprotocol */
#define LIVE_CLIENT_BYTES 64		/* of a client's message, at most */
#define LIVE_HEAD_BYTES 32		/* before a picture */
#define LIVE_BLOCK 8			/* rows of JPEG's blocks: a texture below begins at one */
#define LIVE_UNSHOWN 2			/* pictures that a client may have that it has not shown */

/* Encodings; their numbers are those of a picture's head. */
enum live_kind { LIVE_JPEG = 1, LIVE_PNG, LIVE_H264, LIVE_LUMA, LIVE_KINDS };

static inline bool
live_is_video(enum live_kind kind)
{
	return kind == LIVE_H264 || kind == LIVE_LUMA;
}

extern const char *const live_kind_names[LIVE_KINDS];	/* by kind; 0 is empty */

enum live_flag { LIVE_KEYFRAME = 1, LIVE_LAST = 2 };

struct live_head {
	enum live_kind kind;
	unsigned flags;			/* of live_flag */
	uint64_t number;		/* of the frame, from 0, dropped ones counted */
	int64_t captured_us;		/* 0: not known */
	int64_t sent_us;		/* since the epoch */
};

void live_put_head(const struct live_head *, unsigned char to[LIVE_HEAD_BYTES]);
/* The head of a message; its kind may be any byte. -1 where the message has none. */
int live_read_head(const unsigned char *message, size_t n, struct live_head *);

/* "can jpeg png": the kinds that a client decodes, best first; other words are passed over.
 * Returns their number, 0 where it decodes none that we know; -1 where it is no such message. */
int live_read_can(const char *text, size_t n, enum live_kind kind[LIVE_KINDS]);
/* The number of a frame, digits alone. -1 where it is none. */
int live_read_number(const char *text, size_t n, uint64_t *number);

/*
 * The head of a message of HTTP/1.1 (RFC 9112), read strictly: lines end with CR LF, a field is a
 * name, a colon and a value on one line, and no line holds a control character. Knows no sockets.
 */

#define HTTP_HEAD_MOST 4096	/* bytes */

struct http_head {
	char *line;		/* the first one */
	const char *fields;	/* name and value of each as strings; ends with an empty name */
};

/* How many of n bytes are a head, its empty line included; 0: there is no end yet. */
size_t http_head_length(const char *bytes, size_t n);
/* Reads a head of n bytes in place. False: it is none. */
bool http_head_read(char *bytes, size_t n, struct http_head *);
/* How often a field is there, in any case of letters; *value is that of the first, without blanks
 * around it, or empty. */
int http_head_field(const struct http_head *, const char *name, const char **value);
/* Is a word among those of a value, which commas separate? In any case of letters. */
bool http_head_lists(const char *value, const char *word);

/* ---- what both ends of a WebSocket compute for its handshake (RFC 6455, 1.3) ---- */

#define HANDSHAKE_KEY 25	/* bytes of a key as text, the end included */
#define HANDSHAKE_ACCEPT 29

/* 16 random bytes as the text of a client's key. */
void handshake_key(const unsigned char random[16], char key[HANDSHAKE_KEY]);
/* Is it such a text? */
bool handshake_is_key(const char *);
/* The server's answer to a key. */
void handshake_accept(const char *key, char accept[HANDSHAKE_ACCEPT]);
/* What a client reads from the head of the answer to its key: *status of HTTP, which is 101 if the
 * server speaks this protocol and has answered the key. -1 after fail() where it is no such
 * answer. */
int handshake_check(const struct http_head *, const char *key, const char *protocol, int *status);
