/* HTTP heads and the WebSocket handshake. */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
