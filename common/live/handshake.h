/* What both ends of a WebSocket compute for its handshake (RFC 6455, 1.3). */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include <stdbool.h>

#include "live/http_head.h"

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

#endif
