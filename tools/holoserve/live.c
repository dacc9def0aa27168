/* Viewers, by WebSocket. */
#include "connection.h"

#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define KEYS_MOST 8192		/* bytes of key lines */

/* Closes a connection that breaks the rules of holoserve(5). */
static int
close_with(struct lws *wsi, int code, const char *reason)
{
	unsigned char text[128];
	size_t n = strlen(reason);

	memcpy(text, reason, n < 120 ? n : 120);
	lws.close_reason(wsi, (enum lws_close_status)code, text, n < 120 ? n : 120);
	return -1;
}

/* ---- what a viewer says ---- */

/* The one encoding that is offered. One of video is offered beside JPEG and PNG, since few viewers
 * decode it. */
static enum live_kind
choose_kind(const struct server *server, const enum live_kind *kind, int kinds)
{
	const enum live_kind only = (enum live_kind)server->options.encode;
	const bool video = only == LIVE_H264 || only == LIVE_LUMA;

	for (int i = 0; i < kinds && only; i++)
		if (kind[i] == only)
			return only;
	for (int i = 0; i < kinds && (!only || video); i++)
		if (kind[i] == LIVE_JPEG || kind[i] == LIVE_PNG)
			return kind[i];
	return 0;
}

static bool
is_hasty(struct viewer *viewer)
{
	int64_t second = server_now_us(CLOCK_MONOTONIC) / 1000000;

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

static int
read_message(struct server *server, struct viewer *viewer, const char *text, size_t n)
{
	enum live_kind kind[LIVE_KINDS];
	uint64_t number;
	int kinds;

	if (viewer->kind) {
		if (live_read_number(text, n, &number) < 0)
			return close_with(viewer->wsi, 1008, "that is no number of a frame");
		take_shown(viewer, number);
		return 0;
	}
	kinds = live_read_can(text, n, kind);
	if (kinds < 0)
		return close_with(viewer->wsi, 1008, "the first message must be: can jpeg png");
	viewer->kind = choose_kind(server, kind, kinds);
	if (!viewer->kind)
		return close_with(viewer->wsi, 1008, server->options.encode == LIVE_JPEG ||
		    server->options.encode == LIVE_PNG ?
		    live_kind_names[server->options.encode] : "only jpeg and png are served");
	return 0;
}

static int
receive(struct server *server, struct viewer *viewer, const char *text, size_t n)
{
	struct lws *wsi = viewer->wsi;

	if (!lws.is_first_fragment(wsi) || !lws.is_final_fragment(wsi) ||
	    lws.remaining_packet_payload(wsi) || n > LIVE_CLIENT_BYTES)
		return close_with(wsi, 1008, "messages are of at most 64 bytes, in one piece");
	if (lws.frame_is_binary(wsi))
		return close_with(wsi, 1008, "messages are text");
	if (is_hasty(viewer))
		return close_with(wsi, 1008, "at most 200 messages a second");
	return read_message(server, viewer, text, n);
}

/* ---- what a viewer gets ---- */

/* Buffers of the kernel count as latency: about two pictures. */
static void
set_buffer(struct viewer *viewer, size_t bytes)
{
	int fd = lws.get_socket_fd(viewer->wsi), n = bytes > 1 << 24 ? 1 << 24 : (int)bytes;

	if (bytes <= viewer->largest + viewer->largest / 4)
		return;
	viewer->largest = bytes;
	n = n < 16384 ? 16384 : n;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n));	/* the kernel doubles it */
}

static int
send_keys(struct viewer *viewer)
{
	unsigned char text[LWS_PRE + KEYS_MOST];
	size_t n = strlen(viewer->packet->keys);

	if (n > KEYS_MOST)
		return close_with(viewer->wsi, 1011, "the keys are too long");
	memcpy(text + LWS_PRE, viewer->packet->keys, n);
	viewer->version = viewer->packet->version;
	return lws.write(viewer->wsi, text + LWS_PRE, n, LWS_WRITE_TEXT) < 0 ? -1 : 0;
}

static int
send_picture(struct server *server, struct viewer *viewer)
{
	struct packet *packet = viewer->packet;
	unsigned char *bytes = packet->bytes + LWS_PRE;
	struct live_head head = packet->head;
	int status;

	head.sent_us = server_now_us(CLOCK_REALTIME);
	if (feed_is_last(server->feed, head.number))
		head.flags |= LIVE_LAST;
	live_put_head(&head, bytes);
	set_buffer(viewer, packet->n);
	/* what the socket does not take now, libwebsockets keeps: one message at most */
	status = lws.write(viewer->wsi, bytes, packet->n, LWS_WRITE_BINARY);
	viewer->knows_end = head.flags & LIVE_LAST;
	viewer->sent[viewer->unshown++] = head.number;
	server->all_dropped += viewer->from ? head.number - viewer->from : 0;
	server->all_sent++;
	viewer->from = head.number + 1;
	packet_free(packet);
	viewer->packet = NULL;
	return status < 0 ? -1 : 0;
}

/* Did the viewer get the last picture before the server knew that it is? */
static bool
owes_end(struct server *server, const struct viewer *viewer)
{
	return viewer->from > 0 && !viewer->knows_end &&
	    feed_is_over(server->feed, viewer->kind, viewer->from);
}

/* The head alone of the picture that the viewer has. */
static int
send_end(struct viewer *viewer)
{
	unsigned char text[LWS_PRE + LIVE_HEAD_BYTES];
	const struct live_head head = { .kind = viewer->kind, .flags = LIVE_LAST,
		.number = viewer->from - 1, .sent_us = server_now_us(CLOCK_REALTIME) };

	live_put_head(&head, text + LWS_PRE);
	viewer->knows_end = true;
	return lws.write(viewer->wsi, text + LWS_PRE, LIVE_HEAD_BYTES, LWS_WRITE_BINARY) < 0 ?
	    -1 : 0;
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

static int
write_next(struct server *server, struct viewer *viewer)
{
	int code = atomic_load(&server->code), status;

	if (code != 1000 && code != 0)
		return close_with(viewer->wsi, code, code == 1001 ? "interrupted" : "failed");
	if (finds_picture(server, viewer)) {
		status = viewer->packet->version == viewer->version ?
		    send_picture(server, viewer) : send_keys(viewer);
		if (status == 0)
			lws.callback_on_writable(viewer->wsi);
		return status;
	}
	if (is_through(server, viewer, code))
		return close_with(viewer->wsi, code, "the input has ended");
	return owes_end(server, viewer) ? send_end(viewer) : 0;
}

void
live_wake(struct server *server)
{
	int code = server->interrupted ? 1001 : atomic_load(&server->code);

	for (struct viewer *viewer = server->viewer; viewer; viewer = viewer->next)
		if (code || finds_picture(server, viewer) || owes_end(server, viewer))
			lws.callback_on_writable(viewer->wsi);
}

/* ---- a viewer comes and goes ---- */

static int
admit(struct server *server, struct lws *wsi)
{
	char path[16], version[4];
	int status = web_check_request(server, wsi);

	if (status != 0)
		return status;
	if (lws.hdr_copy(wsi, path, sizeof(path), WSI_TOKEN_GET_URI) < 0 ||
	    strcmp(path, LIVE_PATH) || !web_knows_path(server, wsi))
		return web_refuse(wsi, "404 Not Found", NULL);
	if (lws.hdr_copy(wsi, version, sizeof(version), WSI_TOKEN_VERSION) < 0 ||
	    strcmp(version, "13"))
		return web_refuse(wsi, "426 Upgrade Required", "Sec-WebSocket-Version: 13\r\n");
	if (server->viewers >= server->options.clients)
		return web_refuse(wsi, "503 Service Unavailable", "Retry-After: 5\r\n");
	return 0;
}

static void
enter(struct server *server, struct viewer *viewer, struct lws *wsi)
{
	*viewer = (struct viewer){ .next = server->viewer, .wsi = wsi };
	server->viewer = viewer;
	server->viewers++;
	server->all_viewers++;
	lws.set_timer_usecs(wsi, -1);	/* the handshake is done */
}

static void
leave(struct server *server, struct viewer *viewer)
{
	for (struct viewer **at = &server->viewer; *at; at = &(*at)->next)
		if (*at == viewer) {
			*at = viewer->next;
			server->viewers--;
			packet_free(viewer->packet);
			return;
		}
}

int
live_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t n)
{
	struct server *server = lws.context_user(lws.get_context(wsi));
	int status;

	switch (reason) {
	case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
		return admit(server, wsi);
	case LWS_CALLBACK_ESTABLISHED:
		enter(server, user, wsi);
		return 0;
	case LWS_CALLBACK_RECEIVE:
		status = receive(server, user, in, n);
		if (status == 0)
			lws.callback_on_writable(wsi);
		return status;
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return write_next(server, user);
	case LWS_CALLBACK_CLOSED:
		leave(server, user);
		return 0;
	default:
		return 0;
	}
}
