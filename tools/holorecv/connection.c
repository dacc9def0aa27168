/*
 * The connection to a server of holoserve(5): its address, interruptions, connecting, handshake,
 * and the messages up to the end, with the reason of an end.
 */
#include "holorecv.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process.h"

/* ---- addresses ---- */

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
#define IPV6_BYTES "0123456789abcdefABCDEF:."

static int
fail_address(const char *text)
{
	return fail_usage(text, "is no address of a stream, such as ws://127.0.0.1:8080");
}

/* The text after the scheme; NULL after fail(). */
static const char *
skip_scheme(const char *text)
{
	const char *scheme = strstr(text, "://");

	if (!scheme)
		return text;
	if (!strncasecmp(text, "ws:", 3) || !strncasecmp(text, "http:", 5))
		return scheme + 3;
	if (!strncasecmp(text, "wss:", 4) || !strncasecmp(text, "https:", 6))
		fail_usage(text, "encrypted connections are not made here: a tunnel can, as ssh -L "
		    "makes it");
	else
		fail_address(text);
	return NULL;
}

/* Copies n bytes; -1 if not all are `allowed`, or if they do not fit. */
static int
copy(const char *from, size_t n, const char *allowed, char *to, size_t size)
{
	if (n == 0 || n >= size || strspn(from, allowed) < n)
		return -1;
	memcpy(to, from, n);
	to[n] = '\0';
	return 0;
}

int
address_parse(const char *text, struct address *address)
{
	const char *at = skip_scheme(text);
	size_t n;
	long port;

	if (!at)
		return -1;
	if (*at == '[') {
		n = strcspn(++at, "]");
		if (at[n] != ']' ||
		    copy(at, n, IPV6_BYTES, address->host, sizeof(address->host)) < 0)
			return fail_address(text);
		at += n + 1;
	} else {
		n = strcspn(at, ":/");
		if (copy(at, n, NAME_BYTES, address->host, sizeof(address->host)) < 0)
			return fail_address(text);
		at += n;
	}
	strcpy(address->port, "80");
	if (*at == ':') {
		n = strcspn(++at, "/");
		if (copy(at, n, "0123456789", address->port, sizeof(address->port)) < 0)
			return fail_address(text);
		at += n;
	}
	port = strtol(address->port, NULL, 10);
	if (port < 1 || port > 65535)
		return fail_usage(text, "ports are from 1 to 65535, not %s", address->port);
	if (!*at || !strcmp(at, "/"))
		at = "/live";
	/* blanks and ends of lines would end the request's line */
	for (n = 0; at[n] > ' ' && at[n] <= '~' && at[n] != '#'; n++)
		;
	if (*at != '/' || at[n] || n >= sizeof(address->path))
		return fail_address(text);
	strcpy(address->path, at);
	snprintf(address->shown, sizeof(address->shown),
	    strchr(address->host, ':') ? "[%s]:%s" : "%s:%s", address->host, address->port);
	return 0;
}

/* ---- interruptions ---- */

static int interruption = -1;	/* readable once one has come; -1: they end the process */

void
interrupt_watch(void)
{
	interruption = ending_signals_defer();
}

/* ---- ends ---- */

/* Sets end and reason. Returns 0. */
static int __attribute__((format(printf, 3, 4)))
end(struct connection *connection, enum connection_end how, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(connection->reason, sizeof(connection->reason), format, arguments);
	va_end(arguments);
	connection->end = how;
	return 0;
}

static int
end_errno(struct connection *connection, const char *what)
{
	return end(connection, CONNECTION_LOST, "%s: %s", what, strerror(errno));
}

/* ---- waiting ---- */

/* 1 when something happens on fd (-1: none), 0 after so many seconds, -1 if interrupted. */
static int
wait_for(int fd, short events, double seconds)
{
	struct pollfd poll_of[2] = { { .fd = interruption, .events = POLLIN },
		{ .fd = fd, .events = events } };
	int n;

	do
		n = poll(poll_of, 2, seconds > 1e6 ? 1000000000 : (int)(seconds * 1000));
	while (n < 0 && errno == EINTR);
	return n <= 0 ? 0 : poll_of[0].revents ? -1 : 1;
}

bool
connection_wait(double seconds)
{
	return wait_for(-1, 0, seconds) == 0;
}

/* Sets what must come within so many seconds from now on. */
static void
expect(struct connection *connection, const char *what, double seconds)
{
	connection->awaited = what;
	connection->patience_s = seconds;
	connection->due_s = progress_seconds() + seconds;
}

/* Waits for the socket until the awaited thing is due, whatever else comes. 1; 0 with a reason. */
static int
wait_for_socket(struct connection *connection, short events)
{
	double left;

	while ((left = connection->due_s - progress_seconds()) > 0) {
		int status = wait_for(connection->fd, events, left);

		if (status > 0)
			return 1;
		if (status < 0)
			return end(connection, CONNECTION_INTERRUPTED, "interrupted");
	}
	return end(connection, CONNECTION_LOST, "no %s came in %g s", connection->awaited,
	    connection->patience_s);
}

/* ---- bytes ---- */

/* Sends n bytes. The socket's buffer has room for them: a request, or frames of 131 bytes. */
static int
put(struct connection *connection, const void *from, size_t n, bool more)
{
	const char *next = from;

	while (n > 0) {
		ssize_t put = send(connection->fd, next, n,
		    MSG_NOSIGNAL | (more ? MSG_MORE : 0));

		if (put < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (wait_for_socket(connection, POLLOUT) == 0)
				return 0;
			continue;
		}
		if (put < 0)
			return end_errno(connection, "nothing can be sent");
		next += put;
		n -= (size_t)put;
	}
	return 1;
}

/* For struct websocket. */
static ssize_t
write_bytes(void *arg, const void *from, size_t n, bool more)
{
	int status = put(arg, from, n, more);

	return status > 0 ? (ssize_t)n : status;
}

static int
put_message(struct connection *connection, enum wslay_opcode kind, const void *from, size_t n)
{
	websocket_put(&connection->socket, kind, from, n);
	return websocket_send(&connection->socket);
}

/* For struct websocket. */
static ssize_t
read_bytes(void *arg, void *to, size_t n)
{
	struct connection *connection = arg;

	while (wait_for_socket(connection, POLLIN) > 0) {
		ssize_t got = recv(connection->fd, to, n, 0);

		if (got > 0)
			return got;
		if (got == 0)
			return end(connection, CONNECTION_LOST, "it was cut");
		if (errno != EAGAIN && errno != EINTR)
			return end_errno(connection, "nothing can be received");
	}
	return 0;
}

/* ---- connecting ---- */

#define CONNECT_SECONDS 10
#define HANDSHAKE_SECONDS 5

/* 1 with a connected descriptor; 0 with a reason. */
static int
connect_to(struct connection *connection, const struct addrinfo *to)
{
	int error = 0, one = 1;
	socklen_t size = sizeof(error);

	connection->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (connection->fd < 0)
		return end_errno(connection, "no socket");
	if (connect(connection->fd, to->ai_addr, to->ai_addrlen) < 0 && errno != EINPROGRESS)
		return end_errno(connection, "no connection");
	expect(connection, "connection", CONNECT_SECONDS);
	if (wait_for_socket(connection, POLLOUT) == 0)
		return 0;
	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error) {
		errno = error;
		return end_errno(connection, "no connection");
	}
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 1;
}

/* localhost and names that end in it are this machine, whatever a resolver says (RFC 6761, 6.3). */
static bool
is_localhost(const char *host)
{
	size_t n = strlen(host);

	n -= n > 0 && host[n - 1] == '.';
	return n >= 9 && !strncasecmp(host + n - 9, "localhost", 9) &&
	    (n == 9 || (n > 10 && host[n - 10] == '.'));
}

static int
connect_any(struct connection *connection, const struct address *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	/* for NULL, getaddrinfo() gives the loopback addresses */
	const char *name = is_localhost(address->host) ? NULL : address->host;
	int error = getaddrinfo(name, address->port, &hints, &list), status = 0;

	if (error)
		return end(connection, error == EAI_AGAIN ? CONNECTION_LOST : CONNECTION_REFUSED,
		    "no such host: %s", gai_strerror(error));
	for (const struct addrinfo *to = list; to && status == 0 &&
	    connection->end != CONNECTION_INTERRUPTED; to = to->ai_next) {
		if (connection->fd >= 0)
			close(connection->fd);
		status = connect_to(connection, to);
	}
	freeaddrinfo(list);
	return status;
}

/* Reads the answer up to the empty line, byte by byte: the WebSocket follows. */
static int
take_head(struct connection *connection, char bytes[HTTP_HEAD_MOST], struct http_head *head)
{
	size_t n = 0;

	while (http_head_length(bytes, n) == 0) {
		ssize_t got = n < HTTP_HEAD_MOST ? read_bytes(connection, bytes + n, 1)
						 : fail(NULL, "answers with too long a head");

		if (got <= 0)
			return (int)got;
		n++;
	}
	return http_head_read(bytes, n, head) ? 1 : fail(NULL, "its answer is not HTTP");
}

static int
shake_hands(struct connection *connection, const struct address *address)
{
	unsigned char random[16];
	char key[HANDSHAKE_KEY], request[1400], answer[HTTP_HEAD_MOST];
	struct http_head head;
	int code = 0, n, status;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return fail_errno(NULL, "no random bytes");
	handshake_key(random, key);
	expect(connection, "handshake", HANDSHAKE_SECONDS);
	n = snprintf(request, sizeof(request),
	    "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Origin: http://%s\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Protocol: " LIVE_PROTOCOL "\r\n\r\n",
	    address->path, address->shown, address->shown, key);
	status = put(connection, request, (size_t)n, false);
	if (status > 0)
		status = take_head(connection, answer, &head);
	if (status <= 0)
		return status;
	if (handshake_check(&head, key, LIVE_PROTOCOL, &code) < 0)
		return -1;
	if (code == 101)
		return 1;
	if (code >= 500)		/* 503: it has enough clients */
		return end(connection, CONNECTION_LOST, "it answers %d%s", code,
		    code == 503 ? ", it is busy" : "");
	return end(connection, CONNECTION_REFUSED, "it answers %d", code);
}

int
connection_open(struct connection *connection, const struct address *address, double silence_s,
    const char *can)
{
	int status;

	*connection = (struct connection){ .fd = -1, .silence_s = silence_s,
		.socket = { .read = read_bytes, .write = write_bytes, .arg = connection } };
	status = websocket_open(&connection->socket);
	if (status == 0)
		status = connect_any(connection, address);
	if (status > 0)
		status = shake_hands(connection, address);
	connection->renewed = true;
	if (status > 0)
		status = put_message(connection, WSLAY_TEXT_FRAME, can, strlen(can));
	return status;
}

/* ---- messages ---- */

int
connection_next(struct connection *connection, size_t most, struct websocket_message *message)
{
	const unsigned char *bytes;
	const char *reason;
	int code, n, status;

	connection->socket.most = most;
	if (connection->renewed)	/* not earlier: the last picture may have taken long */
		expect(connection, "picture", connection->silence_s);
	connection->renewed = false;
	do {
		status = websocket_receive(&connection->socket, message, &reason);
		if (status > 1)
			return fail(NULL, "breaks the rules of WebSocket: %s", reason);
		if (status <= 0 || message->kind == WSLAY_CONNECTION_CLOSE)
			break;
		connection->renewed = message->kind == WSLAY_BINARY_FRAME;
		if (message->kind == WSLAY_TEXT_FRAME || connection->renewed)
			return 1;
		if (message->kind == WSLAY_PING)
			status = put_message(connection, WSLAY_PONG, message->bytes, message->n);
	} while (status > 0);
	if (status <= 0)
		return status;
	bytes = message->bytes;
	code = message->n < 2 ? 1005 : bytes[0] << 8 | bytes[1];
	n = message->n > 2 ? (int)message->n - 2 : 0;
	if (code == 1000)
		return end(connection, CONNECTION_STREAM_END, "the stream has ended");
	if (code == 1001)
		return end(connection, CONNECTION_LOST, "the server was stopped");
	return end(connection, code == 1008 ? CONNECTION_REFUSED : CONNECTION_LOST,
	    "the server closed it with code %d%s%.*s", code, n ? ", " : "", n,
	    (const char *)bytes + (n ? 2 : 0));
}

int
connection_answer(struct connection *connection, unsigned long long number)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu", number);

	return put_message(connection, WSLAY_TEXT_FRAME, text, (size_t)n);
}

void
connection_close(struct connection *connection)
{
	static const unsigned char frame[8] = { 0x88, 0x82, 0, 0, 0, 0, 1000 >> 8, 1000 & 255 };

	if (connection->fd >= 0) {
		/* may fail: nobody waits for it */
		(void)send(connection->fd, frame, sizeof(frame), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(connection->fd);
	}
	connection->fd = -1;
	websocket_free(&connection->socket);
}
