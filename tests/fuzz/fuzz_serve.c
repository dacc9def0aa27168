/*
 * What a client sends to holoserve, through a socket and in pieces: a request of HTTP, or frames of
 * WebSocket behind the handshake. What the server answers is HTTP, or are frames that a client
 * takes; a frame without a mask ends the connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

#include "../../tools/holoserve/viewer.c"
#include "../../tools/holoserve/web.c"

#define MOST 65536	/* bytes of the server */
#define LIVE "GET /live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n" \
	"Connection: Upgrade\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Protocol: fringepipe.1\r\n\r\n"

/* ---- the rest of the server: no time goes by, and there is one picture ---- */

static const int64_t now_us = 5000000;
static int pictures;	/* that are in use */
const unsigned char holoserve_page[] = "page";
__asm__(".globl holoserve_page_end\nholoserve_page_end = holoserve_page + 4");
const char holoserve_page_policy[] = "default-src 'none'";

int64_t
connection_now_us(clockid_t clock)
{
	(void)clock;
	return now_us;
}

struct packet *
feed_take(struct feed *feed, enum live_kind kind, uint64_t from, uint64_t place)
{
	struct packet *packet;

	(void)feed;
	(void)place;
	if (from > 2)
		return NULL;
	packet = calloc(1, sizeof(*packet));
	check(packet != NULL, "memory");
	packet->head = (struct live_head){ .kind = kind, .number = from };
	packet->version = 1;
	packet->keys = strdup("a: b\n");
	packet->n = LIVE_HEAD_BYTES + 200;
	packet->bytes = calloc(1, packet->n);
	check(packet->keys && packet->bytes, "memory");
	pictures++;
	return packet;
}

bool
feed_ask(struct feed *feed, enum feed_question question, enum live_kind kind, uint64_t number)
{
	(void)feed;
	(void)kind;
	switch (question) {
	case FEED_HAS_MORE:
		return number <= 2;
	case FEED_IS_OVER:
		return number > 2;
	case FEED_IS_LAST:
		return number == 2;
	case FEED_IS_LOST:
		break;
	}
	return false;
}

void
packet_free(struct packet *packet)
{
	if (!packet)
		return;
	pictures--;
	free(packet->keys);
	free(packet->bytes);
	free(packet);
}

/* ---- the client ---- */

struct client {
	int fd;
	unsigned char answer[MOST];
	size_t n, at;
};

/* Takes what the server has sent. */
static void
drain(struct client *client)
{
	ssize_t got;

	while ((got = recv(client->fd, client->answer + client->n, MOST - client->n,
	    MSG_DONTWAIT)) > 0)
		client->n += (size_t)got;
	check(client->n < MOST, "too much is sent");
}

static ssize_t
read_answer(void *arg, void *to, size_t n)
{
	struct client *client = arg;
	size_t left = client->n - client->at;

	n = n < left ? n : left;
	memcpy(to, client->answer + client->at, n);
	client->at += n;
	return (ssize_t)n;
}

static void
check_messages(struct client *client)
{
	struct websocket socket = { .read = read_answer, .arg = client, .most = MOST };
	struct websocket_message message;
	const char *reason = "";
	bool closed = false;
	int status;

	check(websocket_open(&socket) == 0, "memory");
	while ((status = websocket_receive(&socket, &message, &reason)) == 1) {
		int code = message.n < 2 ? 0 : message.bytes[0] << 8 | message.bytes[1];

		check(!closed, "a message behind the last one");
		closed = message.kind == WSLAY_CONNECTION_CLOSE;
		check(!closed || code == 1000 || code == 1002 || code == 1008 || code == 1009,
		    "code of the end");
	}
	check(status == 0, reason);
	websocket_free(&socket);
}

/* An answer to anything is HTTP, and that to an upgrade has frames behind it. */
static void
check_answer(struct client *client, bool viewer)
{
	size_t head = http_head_length((const char *)client->answer, client->n);
	struct http_head read;
	char copy[HTTP_HEAD_MOST];

	if (client->n == 0)
		return;
	check(head > 0 && head <= sizeof(copy), "no head");
	memcpy(copy, client->answer, head);
	check(http_head_read(copy, head, &read), "head");
	check(!strncmp(read.line, "HTTP/1.1 ", 9), "line of status");
	check(viewer == !strncmp(read.line, "HTTP/1.1 101", 12), "upgrade");
	client->at = head;
	if (viewer)
		check_messages(client);
}

/* The first frame of n bytes has no mask: nothing was made of it. */
static void
check_mask(const struct viewer *viewer, const unsigned char *frame, size_t n)
{
	if (n >= 2 && !(frame[1] & 0x80) && frame[1] < 126 && n > (frame[1] ? 2 : 1))
		check(viewer->code == WSLAY_CODE_PROTOCOL_ERROR && !viewer->messages,
		    "a frame without a mask");
}

static bool
step(struct server *server, struct connection *connection, struct client *client)
{
	bool goes_on = (connection->viewer ? live_step : web_step)(server, connection,
	    POLLIN | POLLOUT, now_us);

	drain(client);
	return goes_on;
}

/* Sends all, in pieces whose lengths the bytes say, or up to where the server ends it. */
static bool
send_all(struct server *server, struct connection *connection, struct client *client,
    const unsigned char *from, size_t n)
{
	while (n > 0) {
		size_t some = *from % 8 ? n : 1 + from[n - 1] % 16;

		some = some < n ? some : n;
		if (send(client->fd, from, some, MSG_NOSIGNAL) != (ssize_t)some)
			return false;
		if (!step(server, connection, client))
			return false;
		from += some;
		n -= some;
	}
	return true;
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	static struct client client;
	static struct server server;
	static struct connection connection;
	int pair[2];
	bool goes_on = true;

	if (n == 0)
		return 0;
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "sockets");
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	client = (struct client){ .fd = pair[1] };
	server = (struct server){ .options = { .bind = "127.0.0.1", .clients = 1 } };
	connection = (struct connection){ .fd = pair[0], .due_us = now_us + 1 };
	if (data[0] != 'H')
		goes_on = send_all(&server, &connection, &client, (const unsigned char *)LIVE,
		    sizeof(LIVE) - 1);
	check(goes_on && (data[0] == 'H') == !connection.viewer, "handshake");
	if (send_all(&server, &connection, &client, data + 1, n - 1)) {
		shutdown(client.fd, SHUT_WR);
		step(&server, &connection, &client);
	}
	check(!connection.viewer || connection.viewer->messages <= MESSAGES_A_SECOND + 1 ||
	    connection.viewer->code, "too many messages");
	if (data[0] != 'H')
		check_mask(connection.viewer, data + 1, n - 1);
	check_answer(&client, connection.viewer != NULL);
	live_leave(&server, connection.viewer);
	free(connection.answer);
	check(pictures == 0 && server.viewers == 0, "something is left");
	close(pair[0]);
	close(pair[1]);
	check_status(0);
	return 0;
}
