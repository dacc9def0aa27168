/*
 * HTTP for the browser: who may ask (Host and Origin), and the answers to requests of three paths,
 * one of which leads to the stream.
 */
#include "holoserve.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>

/*
 * ---- access ----
 *
 * Web pages of other sites must not read the stream through their reader's browser, neither as
 * themselves (Origin) nor under a name that they point to this machine (Host, DNS rebinding).
 */

#define NAME_SIZE 256

/* Copies the host without its port, and an IPv6 address without its brackets. False: it is none. */
static bool
cut_port(const char *host, char name[NAME_SIZE], bool *bracketed)
{
	bool brackets = host[0] == '[';
	const char *end, *rest;
	size_t n;

	*bracketed = brackets;
	if (brackets)
		host++;
	end = host + strcspn(host, brackets ? "]" : ":");
	if (brackets && !*end)
		return false;
	rest = brackets ? end + 1 : end;
	if (*rest && (*rest != ':' || rest[1 + strspn(rest + 1, "0123456789")]))
		return false;
	n = (size_t)(end - host);
	if (n == 0 || n >= NAME_SIZE)
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	return true;
}

static bool
is_listed(const struct opt_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcasecmp(list->v[i], name))
			return true;
	return false;
}

/* Is a request's Host, with or without a port, localhost, an address, or a name that was given? */
static bool
access_host(const struct server_options *options, const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];
	char name[NAME_SIZE];
	bool bracketed;

	if (!cut_port(host, name, &bracketed))
		return false;
	if (inet_pton(bracketed ? AF_INET6 : AF_INET, name, address) == 1)
		return true;
	return !bracketed && (!strcasecmp(name, "localhost") || !strcasecmp(name, options->bind) ||
	    is_listed(&options->host, name));
}

/* Is a request's Origin this host, by http or https, or one that was given? */
static bool
access_origin(const struct server_options *options, const char *host, const char *origin)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(schemes[i]);

		if (!strncasecmp(origin, schemes[i], n) && !strcasecmp(origin + n, host))
			return true;
	}
	return is_listed(&options->origin, origin);
}

/* ---- requests and answers ---- */

/* Sends more of the answer, and shuts the connection after it. False: the client has gone. */
static bool
send_answer(struct connection *connection)
{
	ssize_t sent = live_write(connection->fd, connection->answer + connection->answered,
	    connection->answer_n - connection->answered, false);

	if (sent < 0)
		return false;
	connection->answered += (size_t)sent;
	if (connection->answered < connection->answer_n)
		return true;
	connection->events = POLLIN;
	return shutdown(connection->fd, SHUT_WR) == 0;
}

/* Answers a request; then the connection closes. False: it is closed already. */
static bool
answer(struct connection *connection, const char *status, const char *more, const void *body,
    size_t n)
{
	char *head = must_format("HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
	    "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n%s\r\n", status, n,
	    more);
	size_t length = strlen(head);

	connection->answer = must_resize(head, length + n, 1);
	memcpy(connection->answer + length, body, n);
	connection->answer_n = length + n;
	connection->events = POLLOUT;
	connection->due_us = connection_now_us(CLOCK_MONOTONIC) + HANDSHAKE_SECONDS * SECOND_US;
	return send_answer(connection);
}

static bool
refuse(struct connection *connection, const char *status, const char *more)
{
	return answer(connection, status, more, "", 0);
}

enum field { HOST, ORIGIN, UPGRADE, CONNECTION, KEY, VERSION, PROTOCOL, FIELDS };

struct request {
	char *method, *path;
	const char *field[FIELDS];	/* empty where it is not there */
};

/* False: it is no request, or a field stands there twice. */
static bool
read_request(char *bytes, size_t n, struct request *request)
{
	static const char *const names[FIELDS] = { "Host", "Origin", "Upgrade", "Connection",
		"Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol" };
	struct http_head head;
	char *blank, *version;

	if (!http_head_read(bytes, n, &head))
		return false;
	blank = strchr(head.line, ' ');
	version = strrchr(head.line, ' ');
	if (!blank || blank == head.line || strcmp(version, " HTTP/1.1") != 0)
		return false;
	*blank = *version = '\0';
	request->method = head.line;
	request->path = blank + 1;
	for (int i = 0; i < FIELDS; i++)
		if (http_head_field(&head, names[i], &request->field[i]) > 1)
			return false;
	return blank < version && !strpbrk(request->path, " \t");
}

/* Makes the connection a viewer. The answer fits into the empty socket. */
static bool
upgrade(struct server *server, struct connection *connection, const char *key)
{
	char accept[HANDSHAKE_ACCEPT], text[256];
	int n;

	handshake_accept(key, accept);
	n = snprintf(text, sizeof(text), "HTTP/1.1 101 Switching Protocols\r\n"
	    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"
	    "Sec-WebSocket-Protocol: " LIVE_PROTOCOL "\r\n\r\n", accept);
	if (send(connection->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		return false;
	connection->viewer = live_enter(server, connection->fd);
	return connection->viewer && live_step(server, connection, 0,
	    connection_now_us(CLOCK_MONOTONIC));
}

static bool
answer_live(struct server *server, struct connection *connection, const struct request *request)
{
	if (!*request->field[UPGRADE])
		return refuse(connection, "426 Upgrade Required", "Upgrade: websocket\r\n");
	if (strcmp(request->field[VERSION], "13") != 0)
		return refuse(connection, "426 Upgrade Required", "Sec-WebSocket-Version: 13\r\n");
	if (!http_head_lists(request->field[CONNECTION], "upgrade") ||
	    !handshake_is_key(request->field[KEY]))
		return refuse(connection, "400 Bad Request", "");
	if (!http_head_lists(request->field[PROTOCOL], LIVE_PROTOCOL))
		return refuse(connection, "400 Bad Request",
		    "Sec-WebSocket-Protocol: " LIVE_PROTOCOL "\r\n");
	if (server->viewers >= server->options.clients)
		return refuse(connection, "503 Service Unavailable", "Retry-After: 5\r\n");
	return upgrade(server, connection, request->field[KEY]);
}

static bool
answer_request(struct server *server, struct connection *connection, const struct request *request)
{
	const char *host = request->field[HOST], *origin = request->field[ORIGIN];
	char *more;
	bool lasts;

	if (!access_host(&server->options, host))
		return refuse(connection, "403 Forbidden", "X-Reason: Host, see --host\r\n");
	if (*origin && !access_origin(&server->options, host, origin))
		return refuse(connection, "403 Forbidden", "X-Reason: Origin, see --origin\r\n");
	if (strcmp(request->method, "GET") != 0)
		return refuse(connection, "405 Method Not Allowed", "Allow: GET\r\n");
	if (*request->field[UPGRADE] && strcasecmp(request->field[UPGRADE], "websocket") != 0)
		return refuse(connection, "400 Bad Request", "");
	if (!strcmp(request->path, LIVE_PATH))
		return answer_live(server, connection, request);
	if (!strcmp(request->path, "/favicon.ico"))
		return refuse(connection, "204 No Content", "");
	if (strcmp(request->path, "/") != 0 || *request->field[UPGRADE])
		return refuse(connection, "404 Not Found", "");
	more = must_format("Content-Type: text/html; charset=utf-8\r\n"
	    "Referrer-Policy: no-referrer\r\nContent-Security-Policy: %s\r\n",
	    holoserve_page_policy);
	lasts = answer(connection, "200 OK", more, holoserve_page,
	    (size_t)(holoserve_page_end - holoserve_page));
	free(more);
	return lasts;
}

/* Reads more of a request. Nobody may send more than that: a WebSocket client waits for the
 * answer. */
static bool
take_request(struct server *server, struct connection *connection)
{
	ssize_t got = live_read(connection->fd, connection->head + connection->n,
	    sizeof(connection->head) - connection->n);
	struct request request;
	size_t length;

	if (got <= 0)
		return got == 0;
	connection->n += (size_t)got;
	length = http_head_length(connection->head, connection->n);
	if (length == 0 && connection->n < sizeof(connection->head))
		return true;
	if (length == 0)
		return refuse(connection, "431 Request Header Fields Too Large", "");
	if (length < connection->n || !read_request(connection->head, length, &request))
		return refuse(connection, "400 Bad Request", "");
	return answer_request(server, connection, &request);
}

bool
web_step(struct server *server, struct connection *connection, short happened, int64_t now_us)
{
	if (now_us >= connection->due_us)
		return false;
	if (!connection->answer)
		return !(happened & POLLIN) || take_request(server, connection);
	if (connection->answered < connection->answer_n)
		return !(happened & POLLOUT) || send_answer(connection);
	/* what comes until the client closes its end is discarded: a connection that is closed with
	 * unread bytes loses its answer */
	return !(happened & POLLIN) ||
	    live_read(connection->fd, connection->head, sizeof(connection->head)) >= 0;
}
