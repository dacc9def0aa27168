/* What the server's files share. */
#ifndef HOLOSERVE_CONNECTION_H
#define HOLOSERVE_CONNECTION_H

#include <signal.h>

#include "libwebsockets.h"
#include "server.h"

#define MESSAGES_A_SECOND 200	/* of a viewer; more close its connection */
#define HANDSHAKE_SECONDS 5	/* of these, the request line: */
#define LINE_SECONDS 3
#define CLOSE_SECONDS 2		/* for viewers to get the last picture */
#define CLOSE_LOOK_US 100000	/* between looks whether they have left */

/* A viewer; libwebsockets keeps it with its connection. */
struct viewer {
	struct viewer *next;
	struct lws *wsi;
	enum live_kind kind;		/* 0: it has not said what it can */
	unsigned version;		/* of the keys that it has */
	uint64_t from;			/* the number that its next picture has at least */
	uint64_t place;			/* of its last picture among those of a video */
	uint64_t sent[LIVE_UNSHOWN];	/* numbers of pictures that it has not shown */
	int unshown;
	bool knows_end;			/* it was sent that its last picture is the stream's */
	struct packet *packet;		/* goes out next */
	size_t largest;			/* message so far */
	int64_t second;			/* in which messages are counted */
	int messages;
};

struct server {
	struct server_options options;
	struct access_rules rules;
	char url[160];
	char bound[80];			/* the address, as text */
	struct lws *listening;
	char known_path;		/* its address: the path is served */
	int listener, reserve;		/* descriptors; the second for want of any */
	struct lws_context *context;
	struct lws_vhost *vhost;
	pthread_t thread;
	bool running;
	struct feed *feed;
	struct viewer *viewer;		/* all of them */
	long viewers, connections;
	int64_t closing_since;		/* 0: not yet */
	atomic_int code;		/* why connections are to be closed; 0: they are not */
	volatile sig_atomic_t interrupted;
	void (*done)(void *);
	void *done_arg;
	size_t all_viewers;
	uint64_t all_sent, all_dropped;
};

/* The callbacks of libwebsockets, by protocol. */
int web_callback(struct lws *, enum lws_callback_reasons, void *user, void *in, size_t n);
int live_callback(struct lws *, enum lws_callback_reasons, void *user, void *in, size_t n);

/* Something has changed: asks for a callback of every viewer for which there is something. */
void live_wake(struct server *);
/* Answers a request with an empty page of this status; to be returned by a callback. */
int web_refuse(struct lws *, const char *status, const char *more);
/* Is a request allowed by its Host and Origin? 0, or what a callback returns after an answer.
 */
int web_check_request(struct server *, struct lws *);
/* Is the path served, as it was sent, and without a query? */
bool web_knows_path(const struct server *, struct lws *);
int64_t server_now_us(clockid_t);

#endif
