/* What a viewer gets: the stream of holoserve(5), by WebSocket. */
#include "viewer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PING_SECONDS 10		/* after which a viewer that says nothing is asked */
#define SILENCE_SECONDS 25	/* after which it is given up, also where it takes nothing */

/* Buffers of the kernel count as latency: about two pictures. */
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

/* Did the viewer get the last picture before the server knew that it is? */
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

/* Has it what it waits for, so that the connection can be closed? */
static bool
is_through(struct server *server, struct viewer *viewer, int code)
{
	if (code != 1000 || !viewer->kind)
		return code != 0;
	return !feed_has_more(server->feed, viewer->kind, viewer->from);
}

/* ---- messages one after the other ---- */

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

/* Begins the next message; the one before is sent. False: there is none. */
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

/* Sends as much as the socket takes. False: there is nobody. */
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

/* Has all been done that could be, so that only the viewer can go on? No ping goes out while a
 * message waits for the viewer to take it. */
static bool
is_waited_for(const struct viewer *viewer)
{
	return viewer->code || viewer->asked || viewer->socket.sends;
}

/* When something is to be done, or given up. */
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
