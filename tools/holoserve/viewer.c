/*
 * A viewer of the stream of holoserve(5), by WebSocket: what it says, what it gets, and when it is
 * given up. The server's thread calls live_step() for each viewer whenever something happens.
 */
#include "holoserve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fail.h"
#include "live/websocket.h"

#define MESSAGES_A_SECOND 200	/* of a viewer; more close its connection */
#define PING_SECONDS 10		/* after which a silent viewer gets a ping */
#define SILENCE_SECONDS 25	/* after which it is given up, even if it takes nothing */

struct viewer {
	int fd;
	struct websocket socket;
	enum live_kind can[LIVE_KINDS];	/* what it decodes, best first */
	int cans;
	enum live_kind kind;		/* that it gets; 0: it has not said what it can decode */
	enum live_kind keys_kind;	/* of the keys that it has, */
	unsigned version;		/* and their version */
	uint64_t from;			/* the least number of its next picture */
	uint64_t place;			/* of its last picture among those of a video */
	uint64_t sent[LIVE_UNSHOWN];	/* numbers of pictures that it has not shown */
	int unshown;
	bool knows_end;			/* it was told that its last picture is the stream's */
	struct packet *packet;		/* goes out next, */
	bool goes_out;			/* or now */
	size_t largest;			/* message so far */
	int64_t second;			/* in which messages are counted */
	int messages;
	int64_t heard_us;		/* when it last sent something, or took some of a message
					 * that waited */
	bool asked;			/* by a ping, since then */
	unsigned char pong[WEBSOCKET_CONTROL];	/* the answer to its last ping, */
	size_t pong_n;
	bool owes_pong;			/* which is still to be sent */
	unsigned char small[WEBSOCKET_CONTROL];	/* a message of our own that goes out */
	int code;			/* with which the connection closes; 0: it does not yet */
	const char *reason;
	int64_t closed_us;		/* since when */
	bool said_close, heard_close;
	bool deaf;			/* what it sends is discarded */
};

/* ---- what a viewer says ---- */

/* Closes the connection as soon as no message is half sent. */
static void
viewer_close(struct viewer *viewer, int code, const char *reason)
{
	if (viewer->code)
		return;
	viewer->code = code;
	viewer->reason = reason;
	viewer->closed_us = connection_now_us(CLOCK_MONOTONIC);
}

/* The same, and ignores all further messages. */
static void
break_off(struct viewer *viewer, int code, const char *reason)
{
	viewer_close(viewer, code, reason);
	viewer->deaf = true;
}

/* Chooses an encoding that the viewer decodes and the server offers. The server offers one, or JPEG
 * and PNG; a video in addition to these two, since few viewers decode it, until it is given up.
 * False: there is none. */
static bool
viewer_choose(const struct server *server, struct viewer *viewer)
{
	const enum live_kind only = (enum live_kind)server->options.encode;
	const bool video = only == LIVE_H264 || only == LIVE_LUMA;
	enum live_kind first = 0;

	viewer->kind = 0;
	for (int i = viewer->cans - 1; i >= 0; i--) {
		enum live_kind kind = viewer->can[i];

		if ((!only || video) && (kind == LIVE_JPEG || kind == LIVE_PNG))
			first = kind;
		if (kind == only && !feed_has_lost(server->feed, kind))
			viewer->kind = kind;
	}
	if (!viewer->kind)
		viewer->kind = first;
	return viewer->kind;
}

static bool
is_hasty(struct viewer *viewer)
{
	int64_t second = connection_now_us(CLOCK_MONOTONIC) / SECOND_US;

	if (second != viewer->second)
		viewer->messages = 0;
	viewer->second = second;
	return ++viewer->messages > MESSAGES_A_SECOND;
}

/* The viewer has shown pictures up to this one. Such answers do not count as messages: there are
 * no more of them than pictures. */
static void
take_shown(struct viewer *viewer, uint64_t number)
{
	int kept = 0;

	for (int i = 0; i < viewer->unshown; i++)
		if (viewer->sent[i] > number)
			viewer->sent[kept++] = viewer->sent[i];
	if (kept < viewer->unshown)
		viewer->messages--;
	viewer->unshown = kept;
}

static void
hear_text(const struct server *server, struct viewer *viewer, const char *text, size_t n)
{
	uint64_t number;

	if (viewer->kind) {
		if (live_read_number(text, n, &number) < 0)
			viewer_close(viewer, 1008, "that is no number of a frame");
		else
			take_shown(viewer, number);
		return;
	}
	viewer->cans = live_read_can(text, n, viewer->can);
	if (viewer->cans < 0)
		viewer_close(viewer, 1008, "the first message must be: can jpeg png");
	else if (!viewer_choose(server, viewer))
		viewer_close(viewer, 1008, server->options.encode == LIVE_JPEG ||
		    server->options.encode == LIVE_PNG ?
		    live_kind_names[server->options.encode] : "only jpeg and png are served");
}

static void
hear_message(const struct server *server, struct viewer *viewer,
    const struct websocket_message *message)
{
	if (is_hasty(viewer))
		break_off(viewer, 1008, "at most 200 messages a second");
	switch (message->kind) {
	case WSLAY_TEXT_FRAME:
		if (!viewer->code)
			hear_text(server, viewer, (const char *)message->bytes, message->n);
		return;
	case WSLAY_PING:
		memcpy(viewer->pong, message->bytes, message->n);
		viewer->pong_n = message->n;
		viewer->owes_pong = true;
		return;
	case WSLAY_PONG:
		return;
	case WSLAY_CONNECTION_CLOSE:
		viewer->heard_close = true;
		viewer_close(viewer, 1000, "");
		return;
	default:
		viewer_close(viewer, 1008, "messages are text");
	}
}

/* For struct websocket: reads what has come. 0: nothing has; -1: the viewer has gone. */
static ssize_t
viewer_read(void *arg, void *to, size_t n)
{
	const struct viewer *viewer = arg;
	ssize_t got = recv(viewer->fd, to, n, 0);

	return got > 0 ? got : got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* Handles what has come. False: the viewer has gone. */
static bool
viewer_hear(const struct server *server, struct viewer *viewer, int64_t now_us)
{
	struct websocket_message message;
	unsigned char unread[4096];
	const char *reason;
	int status;

	viewer->heard_us = now_us;
	viewer->asked = false;
	if (viewer->deaf)
		return viewer_read(viewer, unread, sizeof(unread)) >= 0;
	do {
		status = websocket_receive(&viewer->socket, &message, &reason);
		if (status == 1)
			hear_message(server, viewer, &message);
		else if (status > 1)
			break_off(viewer, status, reason);
	} while (status == 1 && !viewer->deaf);
	return status >= 0;
}

/* ---- what a viewer gets ---- */

/* The kernel's buffer adds latency: it gets room for about two pictures. */
static void
set_buffer(struct viewer *viewer, size_t bytes)
{
	int n = bytes > 1 << 24 ? 1 << 24 : (int)bytes;

	if (bytes <= viewer->largest + viewer->largest / 4)
		return;
	viewer->largest = bytes;
	n = n < 16384 ? 16384 : n;	/* the kernel doubles it */
	setsockopt(viewer->fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n));
}

static void
put_keys(struct viewer *viewer)
{
	const char *keys = viewer->packet->keys;

	viewer->keys_kind = viewer->packet->head.kind;
	viewer->version = viewer->packet->version;
	websocket_put(&viewer->socket, WSLAY_TEXT_FRAME, keys, strlen(keys));
}

static void
put_picture(struct server *server, struct viewer *viewer)
{
	struct packet *packet = viewer->packet;
	struct live_head head = packet->head;

	head.sent_us = connection_now_us(CLOCK_REALTIME);
	if (feed_is_last(server->feed, head.number))
		head.flags |= LIVE_LAST;
	live_put_head(&head, packet->bytes);
	set_buffer(viewer, packet->n);
	websocket_put(&viewer->socket, WSLAY_BINARY_FRAME, packet->bytes, packet->n);
	viewer->goes_out = true;
	viewer->knows_end = head.flags & LIVE_LAST;
	viewer->sent[viewer->unshown++] = head.number;
	server->all_dropped += viewer->from ? head.number - viewer->from : 0;
	server->all_sent++;
	viewer->from = head.number + 1;
}

/* Did the viewer get the last picture before the server knew that it was the last? */
static bool
owes_end(struct server *server, const struct viewer *viewer)
{
	return viewer->from > 0 && !viewer->knows_end &&
	    feed_is_over(server->feed, viewer->kind, viewer->from);
}

/* The head alone of the picture that the viewer has. */
static void
put_end(struct viewer *viewer)
{
	const struct live_head head = { .kind = viewer->kind, .flags = LIVE_LAST,
		.number = viewer->from - 1, .sent_us = connection_now_us(CLOCK_REALTIME) };

	live_put_head(&head, viewer->small);
	viewer->knows_end = true;
	websocket_put(&viewer->socket, WSLAY_BINARY_FRAME, viewer->small, LIVE_HEAD_BYTES);
}

/* Takes the newest picture, if the viewer has shown what it has. */
static bool
finds_picture(struct server *server, struct viewer *viewer)
{
	if (!viewer->kind || viewer->unshown >= LIVE_UNSHOWN)
		return false;
	if (!viewer->packet) {
		viewer->packet = feed_take(server->feed, viewer->kind, viewer->from, viewer->place);
		if (viewer->packet)
			viewer->place = viewer->packet->place;
	}
	return viewer->packet != NULL;
}

/* Has the viewer everything that it waits for, so that the connection can close? */
static bool
is_through(struct server *server, struct viewer *viewer, int code)
{
	if (code != 1000 || !viewer->kind)
		return code != 0;
	return !feed_has_more(server->feed, viewer->kind, viewer->from);
}

static void
put_close(struct viewer *viewer)
{
	int n = snprintf((char *)viewer->small, sizeof(viewer->small), "%c%c%s", viewer->code >> 8,
	    viewer->code & 255, viewer->reason);

	viewer->said_close = true;
	websocket_put(&viewer->socket, WSLAY_CONNECTION_CLOSE, viewer->small, (size_t)n);
}

static void
put_pong(struct viewer *viewer)
{
	memcpy(viewer->small, viewer->pong, viewer->pong_n);
	viewer->owes_pong = false;
	websocket_put(&viewer->socket, WSLAY_PONG, viewer->small, viewer->pong_n);
}

/* Begins the next message of the stream. False: there is none. */
static bool
put_stream(struct server *server, struct viewer *viewer)
{
	if (finds_picture(server, viewer)) {
		if (viewer->packet->head.kind == viewer->keys_kind &&
		    viewer->packet->version == viewer->version)
			put_picture(server, viewer);
		else
			put_keys(viewer);
		return true;
	}
	if (!owes_end(server, viewer))
		return false;
	put_end(viewer);
	return true;
}

/* Begins the next message; the previous one is sent. False: there is none. */
static bool
put_next(struct server *server, struct viewer *viewer, int64_t now_us)
{
	const int code = atomic_load(&server->code);

	if (viewer->goes_out) {
		packet_free(viewer->packet);
		viewer->packet = NULL;
		viewer->goes_out = false;
	}
	if (viewer->said_close)
		return false;
	if (code > 1000)
		viewer_close(viewer, code, code == 1001 ? "interrupted" : "failed");
	if (!viewer->code && viewer->owes_pong) {
		put_pong(viewer);
		return true;
	}
	if (!viewer->code && !viewer->asked &&
	    now_us - viewer->heard_us >= PING_SECONDS * SECOND_US) {
		viewer->asked = true;
		websocket_put(&viewer->socket, WSLAY_PING, "", 0);
		return true;
	}
	if (!viewer->code && viewer->kind && feed_has_lost(server->feed, viewer->kind) &&
	    !viewer_choose(server, viewer))
		viewer_close(viewer, 1011, "the video failed");
	if (!viewer->code && put_stream(server, viewer))
		return true;
	if (!viewer->code && is_through(server, viewer, code))
		viewer_close(viewer, code, "the input has ended");
	if (viewer->code)
		put_close(viewer);
	return viewer->code;
}

/* For struct websocket. */
static ssize_t
write_bytes(void *arg, const void *from, size_t n, bool more)
{
	const struct viewer *viewer = arg;
	ssize_t put = send(viewer->fd, from, n, MSG_NOSIGNAL | (more ? MSG_MORE : 0));

	return put > 0 ? put : put < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* Sends as much as the socket takes. False: the viewer has gone. */
static bool
talk_to(struct server *server, struct viewer *viewer, int64_t now_us)
{
	int status;

	while ((status = websocket_send(&viewer->socket)) > 0)
		if (!put_next(server, viewer, now_us))
			break;
	if (status > 0 && viewer->said_close)
		shutdown(viewer->fd, SHUT_WR);
	return status >= 0;
}

/* Does the server wait for the viewer? No ping goes out while a message waits for the viewer to
 * take it. */
static bool
is_waited_for(const struct viewer *viewer)
{
	return viewer->code || viewer->asked || viewer->socket.sends;
}

/* When the viewer gets a ping, or is given up. */
static int64_t
due_at(const struct viewer *viewer)
{
	if (viewer->code)
		return viewer->closed_us + CLOSE_SECONDS * SECOND_US;
	return viewer->heard_us +
	    (is_waited_for(viewer) ? SILENCE_SECONDS : PING_SECONDS) * SECOND_US;
}

bool
live_step(struct server *server, struct connection *connection, short happened, int64_t now_us)
{
	struct viewer *viewer = connection->viewer;

	if (happened & POLLIN && !viewer_hear(server, viewer, now_us))
		return false;
	if (happened & POLLOUT)
		viewer->heard_us = now_us;
	if (now_us >= due_at(viewer) && is_waited_for(viewer))
		return false;
	if (!talk_to(server, viewer, now_us))
		return false;
	connection->events = viewer->socket.sends ? POLLIN | POLLOUT : POLLIN;
	connection->due_us = due_at(viewer);
	return viewer->socket.sends || !viewer->said_close || !viewer->heard_close;
}

/* ---- a viewer comes and goes ---- */

struct viewer *
live_enter(struct server *server, int fd)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));

	if (!viewer)
		return NULL;
	viewer->fd = fd;
	viewer->socket = (struct websocket){ .read = viewer_read, .write = write_bytes,
		.arg = viewer, .server = true, .whole = true, .most = LIVE_CLIENT_BYTES };
	if (websocket_open(&viewer->socket) < 0) {
		fail_clear();
		free(viewer);
		return NULL;
	}
	viewer->heard_us = connection_now_us(CLOCK_MONOTONIC);
	server->viewers++;
	server->all_viewers++;
	return viewer;
}

void
live_leave(struct server *server, struct viewer *viewer)
{
	if (!viewer)
		return;
	server->viewers--;
	packet_free(viewer->packet);
	websocket_free(&viewer->socket);
	free(viewer);
}
