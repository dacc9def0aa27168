/*
 * The server: HTTP for the page, WebSocket for the stream, in one thread with one loop.
 * It reads no file, and answers three paths.
 */
#ifndef HOLOSERVE_SERVER_H
#define HOLOSERVE_SERVER_H

#include "access.h"
#include "feed.h"

struct server_options {
	long port;			/* 0: any that is free */
	const char *bind;
	struct opt_list host, origin;
	long clients;			/* viewers at a time, at most */
	int encode;			/* enum live_kind that is offered: JPEG or PNG, alone; a
					 * video beside both; 0: both */
};

struct server;

/* Listens. -1 after fail(): the address is not ours, or the port is in use or forbidden. */
int server_open(const struct server_options *, struct server **out);
/* Where a browser finds it, "http://127.0.0.1:8080/". */
const char *server_url(const struct server *);
/* Serves a feed from now on. -1 after fail(). */
int server_start(struct server *, struct feed *);
/* There is something new for viewers. From any thread, and from a signal handler. */
void server_wake(struct server *);
/* Closes the connections as soon as viewers have what they wait for; or, with 1001 or 1011, at
 * once. */
void server_close(struct server *, int code);
/* For a signal handler: a close with 1001, after which done(arg) is called by the server's thread.
 */
void server_interrupt(struct server *);
void server_when_interrupted(struct server *, void (*done)(void *arg), void *arg);
/* Waits until all connections are closed. */
void server_join(struct server *);
/* Viewers that there were, and pictures that were sent to them or dropped for one of them. */
void server_count(const struct server *, size_t *viewers, uint64_t *sent, uint64_t *dropped);
void server_free(struct server *);

#endif
