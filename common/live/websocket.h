/*
 * Messages of a WebSocket (RFC 6455) behind its handshake, at either end, in frames of wslay. Knows
 * no sockets. Extensions are never offered, and refused.
 */
#ifndef WEBSOCKET_H
#define WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <wslay/wslay.h>

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

#endif
