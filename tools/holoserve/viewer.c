/* What a viewer says: the rules of holoserve(5). */
#include "viewer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

void
viewer_close(struct viewer *viewer, int code, const char *reason)
{
	if (viewer->code)
		return;
	viewer->code = code;
	viewer->reason = reason;
	viewer->closed_us = connection_now_us(CLOCK_MONOTONIC);
}

/* And hears no more of it. */
static void
break_off(struct viewer *viewer, int code, const char *reason)
{
	viewer_close(viewer, code, reason);
	viewer->deaf = true;
}

/* One encoding is offered, or JPEG and PNG. One of video is offered beside these two, since few
 * viewers decode it, and until it is given up. */
bool
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

/* Pictures up to this one are shown. An answer to one does not count as a message: there are no
 * more of these than pictures. */
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

ssize_t
viewer_read(void *arg, void *to, size_t n)
{
	const struct viewer *viewer = arg;
	ssize_t got = recv(viewer->fd, to, n, 0);

	return got > 0 ? got : got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

bool
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
