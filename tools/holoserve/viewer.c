/*
 * A viewer of the stream of holoserve(5), by WebSocket: what it says, what it gets, and when it is
 * given up. The server's thread calls live_step() for each viewer whenever something happens.
 */
#include "holoserve.h"

#include <stdio.h>
#include <sys/socket.h>

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
	enum live_kind first = 0;

	viewer->kind = 0;
	for (int i = viewer->cans - 1; i >= 0; i--) {
		enum live_kind kind = viewer->can[i];

		if ((!only || live_is_video(only)) && !live_is_video(kind))
			first = kind;
		if (kind == only && !feed_ask(server->feed, FEED_IS_LOST, kind, 0))
			viewer->kind = kind;
	}
	if (!viewer->kind)
		viewer->kind = first;
	return viewer->kind;
}

static void
hear_text(const struct server *server, struct viewer *viewer, const char *text, size_t n)
{
	const int encode = server->options.encode;
	uint64_t number;
	int kept = 0;

	if (!viewer->kind) {
		viewer->cans = live_read_can(text, n, viewer->can);
		if (viewer->cans < 0)
			viewer_close(viewer, 1008, "the first message must be: can jpeg png");
		else if (!viewer_choose(server, viewer))
			viewer_close(viewer, 1008, encode && !live_is_video(encode) ?
			    live_kind_names[encode] : "only jpeg and png are served");
		return;
	}
	if (live_read_number(text, n, &number) < 0) {
		viewer_close(viewer, 1008, "that is no number of a frame");
		return;
	}
	/* The viewer has shown pictures up to this one. Such answers do not count as messages:
	 * there are no more of them than pictures. */
	for (int i = 0; i < viewer->unshown; i++)
		if (viewer->sent[i] > number)
			viewer->sent[kept++] = viewer->sent[i];
	if (kept < viewer->unshown)
		viewer->messages--;
	viewer->unshown = kept;
}

static void
hear_message(const struct server *server, struct viewer *viewer,
    const struct websocket_message *message)
{
	int64_t second = connection_now_us(CLOCK_MONOTONIC) / SECOND_US;

	if (second != viewer->second)
		viewer->messages = 0;
	viewer->second = second;
	if (++viewer->messages > MESSAGES_A_SECOND)
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

/* For struct websocket. */
static ssize_t
viewer_read(void *arg, void *to, size_t n)
{
	return live_read(((const struct viewer *)arg)->fd, to, n);
}

static ssize_t
viewer_write(void *arg, const void *from, size_t n, bool more)
{
	return live_write(((const struct viewer *)arg)->fd, from, n, more);
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
put_picture(struct server *server, struct viewer *viewer)
{
	struct packet *packet = viewer->packet;
	struct live_head head = packet->head;

	head.sent_us = connection_now_us(CLOCK_REALTIME);
	if (feed_ask(server->feed, FEED_IS_LAST, head.kind, head.number))
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

static void
put_close(struct viewer *viewer)
{
	int n = snprintf((char *)viewer->small, sizeof(viewer->small), "%c%c%s", viewer->code >> 8,
	    viewer->code & 255, viewer->reason);

	viewer->said_close = true;
	websocket_put(&viewer->socket, WSLAY_CONNECTION_CLOSE, viewer->small, (size_t)n);
}

/* Begins the next message of the stream: the newest picture, if the viewer has shown what it has,
 * or the keys that it needs; or the head alone of the picture that it got before the server knew
 * that it was the last. False: there is none. */
static bool
put_stream(struct server *server, struct viewer *viewer)
{
	const struct packet *packet;
	struct live_head end;

	if (!viewer->packet && viewer->kind && viewer->unshown < LIVE_UNSHOWN) {
		viewer->packet = feed_take(server->feed, viewer->kind, viewer->from, viewer->place);
		if (viewer->packet)
			viewer->place = viewer->packet->place;
	}
	packet = viewer->packet;
	if (packet && viewer->unshown < LIVE_UNSHOWN) {
		if (packet->head.kind == viewer->keys_kind && packet->version == viewer->version) {
			put_picture(server, viewer);
			return true;
		}
		viewer->keys_kind = packet->head.kind;
		viewer->version = packet->version;
		websocket_put(&viewer->socket, WSLAY_TEXT_FRAME, packet->keys,
		    strlen(packet->keys));
		return true;
	}
	if (viewer->from == 0 || viewer->knows_end ||
	    !feed_ask(server->feed, FEED_IS_OVER, viewer->kind, viewer->from))
		return false;
	end = (struct live_head){ .kind = viewer->kind, .flags = LIVE_LAST,
		.number = viewer->from - 1, .sent_us = connection_now_us(CLOCK_REALTIME) };
	live_put_head(&end, viewer->small);
	viewer->knows_end = true;
	websocket_put(&viewer->socket, WSLAY_BINARY_FRAME, viewer->small, LIVE_HEAD_BYTES);
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
		memcpy(viewer->small, viewer->pong, viewer->pong_n);
		viewer->owes_pong = false;
		websocket_put(&viewer->socket, WSLAY_PONG, viewer->small, viewer->pong_n);
		return true;
	}
	if (!viewer->code && !viewer->asked &&
	    now_us - viewer->heard_us >= PING_SECONDS * SECOND_US) {
		viewer->asked = true;
		websocket_put(&viewer->socket, WSLAY_PING, "", 0);
		return true;
	}
	if (!viewer->code && viewer->kind &&
	    feed_ask(server->feed, FEED_IS_LOST, viewer->kind, 0) && !viewer_choose(server, viewer))
		viewer_close(viewer, 1011, "the video failed");
	if (!viewer->code && put_stream(server, viewer))
		return true;
	/* a viewer gets all that it waits for before the connection closes with 1000 */
	if (!viewer->code && code && (code != 1000 || !viewer->kind ||
	    !feed_ask(server->feed, FEED_HAS_MORE, viewer->kind, viewer->from)))
		viewer_close(viewer, code, "the input has ended");
	if (viewer->code)
		put_close(viewer);
	return viewer->code;
}

/* When the viewer gets a ping, or is given up, if the server waits for it: no ping goes out while a
 * message waits for the viewer to take it. */
static int64_t
due_at(const struct viewer *viewer, bool *waits)
{
	*waits = viewer->code || viewer->asked || viewer->socket.sends;
	return viewer->code ? viewer->closed_us + CLOSE_SECONDS * SECOND_US
			    : viewer->heard_us +
		(*waits ? SILENCE_SECONDS : PING_SECONDS) * SECOND_US;
}

bool
live_step(struct server *server, struct connection *connection, short happened, int64_t now_us)
{
	struct viewer *viewer = connection->viewer;
	bool waits;
	int status;

	if (happened & POLLIN && !viewer_hear(server, viewer, now_us))
		return false;
	if (happened & POLLOUT)
		viewer->heard_us = now_us;
	if (now_us >= due_at(viewer, &waits) && waits)
		return false;
	while ((status = websocket_send(&viewer->socket)) > 0)
		if (!put_next(server, viewer, now_us))
			break;
	if (status < 0)
		return false;
	if (status > 0 && viewer->said_close)
		shutdown(viewer->fd, SHUT_WR);
	connection->events = viewer->socket.sends ? POLLIN | POLLOUT : POLLIN;
	connection->due_us = due_at(viewer, &waits);
	return viewer->socket.sends || !viewer->said_close || !viewer->heard_close;
}

/* ---- a viewer comes and goes ---- */

struct viewer *
live_enter(struct server *server, int fd)
{
	struct viewer *viewer = must_alloc(1, sizeof(*viewer));

	viewer->fd = fd;
	viewer->socket = (struct websocket){ .read = viewer_read, .write = viewer_write,
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
