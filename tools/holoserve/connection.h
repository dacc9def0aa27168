/* What the server's files share. */
#ifndef HOLOSERVE_CONNECTION_H
#define HOLOSERVE_CONNECTION_H

#include <poll.h>

#include "live/http_head.h"
#include "server.h"

#define SECOND_US 1000000
#define HANDSHAKE_SECONDS 5	/* for a request, and again to take the answer */
#define CLOSE_SECONDS 2		/* for clients to close their end; for viewers to get the last
				 * picture */

/* A connection speaks HTTP until it becomes a viewer. */
struct connection {
	int fd;
	short events;			/* what it waits for, of poll() */
	int64_t due_us;			/* then it is looked at if nothing happens */
	struct viewer *viewer;		/* NULL: none yet */
	char head[HTTP_HEAD_MOST];	/* of the request */
	size_t n;
	char *answer;			/* NULL: none yet */
	size_t answer_n, answered;	/* its bytes, and those that are sent */
};

struct server {
	struct server_options options;
	struct access_rules rules;
	char url[160];
	int listener, reserve, wake;	/* descriptors: one for want of any, and an eventfd */
	pthread_t thread;
	bool running;
	struct feed *feed;
	struct connection **connection;
	struct pollfd *poll;		/* listener, wake, and the connections */
	long connections, viewers;
	int64_t closing_since;		/* 0: not yet */
	atomic_int code;		/* why connections are to be closed; 0: they are not */
	atomic_bool interrupted;
	void (*done)(void *);
	void *done_arg;
	size_t all_viewers;
	uint64_t all_sent, all_dropped;
};

int64_t connection_now_us(clockid_t);

/* Listens; sets url. -1 after fail(). */
int listener_open(struct server *);
/* The next connection that waits, which does not block; -1: none does. Where descriptors are
 * short, room is made, and where that cannot be it is dropped. */
int listener_accept(struct server *);
/* Closes the oldest connection that has not sent its whole request yet. False: there is none. */
bool server_make_room(struct server *);

/* Both go on with a connection, to which poll() says that something happened, or 0. False: it is
 * over. */
bool web_step(struct server *, struct connection *, short happened, int64_t now_us);
bool live_step(struct server *, struct connection *, short happened, int64_t now_us);
/* A viewer whose handshake is done; NULL: no memory. */
struct viewer *live_enter(struct server *, int fd);
void live_leave(struct server *, struct viewer *);

#endif
