/*
 * The client's side of WebSocket (RFC 6455): what a server sends is taken apart, what it is sent is
 * put together. Knows no sockets. Extensions are never offered, and refused.
 */
#ifndef WEBSOCKET_H
#define WEBSOCKET_H

#include <stddef.h>
#include <sys/types.h>

#define WEBSOCKET_KEY 25	/* bytes of a key as text, the end included */
#define WEBSOCKET_ACCEPT 29

enum websocket_kind { WEBSOCKET_TEXT = 1, WEBSOCKET_BINARY, WEBSOCKET_CLOSE = 8, WEBSOCKET_PING,
	WEBSOCKET_PONG };

struct websocket {
	/* Up to n bytes, at least one; 0: there will be no more; -1 after fail(). */
	ssize_t (*read)(void *arg, void *to, size_t n);
	void *arg;
	unsigned char buffer[16384];
	size_t at, end;			/* of what is left in it */
	unsigned char *message;		/* as far as it has come */
	size_t n, room;
	int begun;			/* its kind; 0: none has begun */
	unsigned char control[125];
};

struct websocket_message {
	enum websocket_kind kind;
	const unsigned char *bytes;	/* until the next call */
	size_t n;
};

/* Frees what it holds; it is then as a new one that was zeroed. */
void websocket_free(struct websocket *);
/* 16 random bytes as the text of a key, and the server's answer to it. */
void websocket_key(const unsigned char random[16], char key[WEBSOCKET_KEY]);
void websocket_accept(const char *key, char accept[WEBSOCKET_ACCEPT]);
/*
 * Reads the head of the server's answer. *status is that of HTTP: 101 if it speaks this protocol
 * and has answered the key. 1; 0 where the connection ended before; -1 after fail() where it is no
 * such answer.
 */
int websocket_answer(struct websocket *, const char *key, const char *protocol, int *status);
/*
 * The next message, put together of its parts; control messages between them come at once. Longer
 * ones than `most` are refused before they are read. 1; 0: the connection has ended; -1 after
 * fail().
 */
int websocket_next(struct websocket *, size_t most, struct websocket_message *);
/* Writes a message of n <= 125 bytes as one frame, masked; returns its bytes, n + 6. */
size_t websocket_frame(enum websocket_kind, const void *from, size_t n,
    const unsigned char mask[4], unsigned char *to);
/* The code of a close message; 1005 where there is none. */
int websocket_close_code(const struct websocket_message *);

#endif
