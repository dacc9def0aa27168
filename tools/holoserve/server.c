/* One subject, and so one file: the listening socket, the way of a connection from accept() to
 * libwebsockets, and the loop that serves them all. */
#define _GNU_SOURCE
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG 128
#define REQUEST_LINE "GET /favicon.ico "	/* as much of it as is looked at */
#define WAITING 600	/* connections at a time besides those of viewers */

int64_t
server_now_us(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- connections ---- */

/* Without a descriptor to spare, the one in reserve takes the connection and drops it: else it
 * would wait, and the loop would turn for it. */
static void
drop_one(struct server *server)
{
	int fd;

	if (server->reserve >= 0)
		close(server->reserve);
	fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The connection's request line is looked at before libwebsockets reads it. */
static void
take_connection(struct server *server, int fd)
{
	const int yes = 1, line = (int)sizeof(REQUEST_LINE) - 1;
	lws_sock_file_fd_type file = { .filefd = fd };
	struct lws *wsi;

	if (server->connections >= server->options.clients + WAITING) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &line, sizeof(line));
	wsi = lws.adopt_descriptor_vhost(server->vhost, LWS_ADOPT_RAW_FILE_DESC, file, "request",
	    NULL);
	if (!wsi)
		return;
	server->connections++;
	lws.set_timer_usecs(wsi, LINE_SECONDS * LWS_US_PER_SEC);
}

/* Is it a GET of a path that is served, as it was sent? libwebsockets resolves "..", "//" and
 * %-escapes before anybody sees the path. */
static bool
is_known(const char *line, size_t n)
{
	static const char *const known[] = { "GET / ", "GET " LIVE_PATH " ", REQUEST_LINE };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (n >= strlen(known[i]) && !memcmp(line, known[i], strlen(known[i])))
			return true;
	return false;
}

/* Hands a connection on to the HTTP server. Always ends the one that waited for the line, which
 * closes its descriptor. */
static int
hand_on(struct server *server, int fd, bool known)
{
	const int one = 1;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct lws *wsi;

	if (own < 0)
		return -1;
	setsockopt(own, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
	wsi = lws.adopt_socket_vhost(server->vhost, own);
	if (!wsi)
		return -1;
	server->connections++;
	lws.set_opaque_user_data(wsi, known ? &server->known_path : NULL);
	lws.set_timer_usecs(wsi, (HANDSHAKE_SECONDS - LINE_SECONDS) * LWS_US_PER_SEC);
	return -1;
}

static int
request_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t n)
{
	struct server *server = lws.context_user(lws.get_context(wsi));
	char line[sizeof(REQUEST_LINE) - 1];
	int fd = lws.get_socket_fd(wsi);
	ssize_t got;

	(void)user;
	(void)in;
	(void)n;
	if (reason == LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION)	/* a WebSocket asks for it */
		return web_refuse(wsi, "400 Bad Request", NULL);
	if (reason == LWS_CALLBACK_TIMER)			/* the line took too long */
		return -1;
	if (reason != LWS_CALLBACK_RAW_RX_FILE)
		return 0;
	got = recv(fd, line, sizeof(line), MSG_PEEK | MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	/* shorter ones are no request, and end */
	return got == 0 ? -1 : hand_on(server, fd, is_known(line, (size_t)got));
}

static int
listen_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t n)
{
	struct server *server = lws.context_user(lws.get_context(wsi));
	int fd;

	(void)user;
	(void)in;
	(void)n;
	if (reason == LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION)	/* a WebSocket asks for it */
		return web_refuse(wsi, "400 Bad Request", NULL);
	if (reason != LWS_CALLBACK_RAW_RX_FILE)
		return 0;
	for (int i = 0; i < BACKLOG; i++) {
		fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0)
			take_connection(server, fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			drop_one(server);
		else if (errno != EINTR && errno != ECONNABORTED)
			break;
	}
	return 0;
}

/* ---- the loop ---- */

/* Goes on until all viewers have left after server_close(), or are given up. */
static bool
goes_on(struct server *server)
{
	int64_t now = server_now_us(CLOCK_MONOTONIC);

	if (server->interrupted)
		atomic_store(&server->code, 1001);
	if (!atomic_load(&server->code))
		return true;
	if (!server->closing_since) {
		server->closing_since = now;
		live_wake(server);
	}
	lws.set_timer_usecs(server->listening, CLOSE_LOOK_US);	/* lws_service() returns */
	return server->viewers > 0 && now - server->closing_since < CLOSE_SECONDS * 1000000;
}

static void *
serve(void *arg)
{
	struct server *server = arg;

	while (goes_on(server))
		if (lws.service(server->context, 0) < 0)
			break;
	if (server->interrupted && server->done)
		server->done(server->done_arg);
	return NULL;
}

static struct lws_context *
make_context(struct server *server)
{
	static const struct lws_protocols protocols[] = {
		{ "http", web_callback, 0, 1024, 0, NULL, 0 },
		{ LIVE_PROTOCOL, live_callback, sizeof(struct viewer), 4 * LIVE_CLIENT_BYTES, 0,
		    NULL, 0 },
		{ "listen", listen_callback, 0, 0, 0, NULL, 0 },
		{ "request", request_callback, 0, 0, 0, NULL, 0 },
		{ 0 },
	};
	static const lws_retry_bo_t idle = { .secs_since_valid_ping = 10,
		.secs_since_valid_hangup = 25 };
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = protocols,
		.gid = (gid_t)-1,
		.uid = (uid_t)-1,
		.user = server,
		.timeout_secs = HANDSHAKE_SECONDS,
		.keepalive_timeout = HANDSHAKE_SECONDS,
		.max_http_header_data = 4096,
		.fd_limit_per_thread = (unsigned)server->options.clients + WAITING + 64,
		.retry_and_idle_policy = &idle,
		.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
		.vhost_name = "holoserve",
	};
	struct lws_context *context;
	struct sigaction pipe_action;
	lws_sock_file_fd_type listener = { .filefd = server->listener };

	lws.set_log_level(0, NULL);
	sigaction(SIGPIPE, NULL, &pipe_action);
	context = lws.create_context(&info);
	sigaction(SIGPIPE, &pipe_action, NULL);	/* libwebsockets ignores it for all */
	if (!context)
		return NULL;
	server->vhost = lws.create_vhost(context, &info);
	server->listening = server->vhost ? lws.adopt_descriptor_vhost(server->vhost,
	    LWS_ADOPT_RAW_FILE_DESC, listener, "listen", NULL) : NULL;
	if (server->listening)
		return context;
	lws.context_destroy(context);
	return NULL;
}

/* ---- listening ---- */

static bool
is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;

	if (address->sa_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static int
listen_at(struct server *server, const struct addrinfo *address)
{
	const int yes = 1;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	server->listener = fd;
	if (fd < 0)
		return fail_errno(server->options.bind, "cannot open a socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return fail_errno(server->options.bind, errno == EADDRNOTAVAIL ?
		    "cannot listen at port %ld: no address of this machine" :
		    "cannot listen at port %ld", server->options.port);
	return 0;
}

/* The port may have been the system's choice. */
static int
make_url(struct server *server)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage room;
	} own;
	socklen_t n = sizeof(own);
	char port[16];

	if (getsockname(server->listener, &own.any, &n) < 0 ||
	    getnameinfo(&own.any, n, server->bound, sizeof(server->bound), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return fail_errno(server->options.bind, "cannot tell its own address");
	if (!is_loopback(&own.any))
		warn("--bind", "no password: everybody who reaches %s sees the stream",
		    server->bound);
	snprintf(server->url, sizeof(server->url),
	    own.any.sa_family == AF_INET6 ? "http://[%s]:%s/" : "http://%s:%s/", server->bound,
	    port);
	return 0;
}

static int
start_listening(struct server *server)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE };
	struct addrinfo *found;
	char port[16];
	int status;

	snprintf(port, sizeof(port), "%ld", server->options.port);
	status = getaddrinfo(server->options.bind, port, &hints, &found);
	if (status != 0)
		return fail(server->options.bind, "no address: %s", gai_strerror(status));
	status = listen_at(server, found);
	freeaddrinfo(found);
	return status < 0 ? -1 : make_url(server);
}

int
server_open(const struct server_options *options, struct server **out)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server)
		return fail_memory();
	*out = server;
	server->options = *options;
	server->rules = (struct access_rules){ options->bind, &server->options.host,
		&server->options.origin };
	server->listener = -1;
	server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return start_listening(server);
}

/* ---- from outside ---- */

const char *
server_url(const struct server *server)
{
	return server->url;
}

size_t
server_lead(void)
{
	return LWS_PRE;
}

int
server_start(struct server *server, struct feed *feed)
{
	sigset_t all, before;

	server->feed = feed;
	if (libwebsockets_load() < 0)
		return -1;
	server->context = make_context(server);
	if (!server->context)
		return fail(NULL, "libwebsockets does not start");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&server->thread, NULL, serve, server);
	server->running = errno == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return server->running ? 0 : fail_errno(NULL, "cannot start a thread");
}

void
server_wake(struct server *server)
{
	if (server->context)
		lws.cancel_service(server->context);
}

void
server_close(struct server *server, int code)
{
	int none = 0;

	atomic_compare_exchange_strong(&server->code, &none, code);
	server_wake(server);
}

void
server_interrupt(struct server *server)
{
	server->interrupted = 1;
	server_wake(server);
}

void
server_when_interrupted(struct server *server, void (*done)(void *arg), void *arg)
{
	server->done = done;
	server->done_arg = arg;
}

void
server_join(struct server *server)
{
	if (server->running)
		pthread_join(server->thread, NULL);
	server->running = false;
}

void
server_count(const struct server *server, size_t *viewers, uint64_t *sent, uint64_t *dropped)
{
	*viewers = server->all_viewers;
	*sent = server->all_sent;
	*dropped = server->all_dropped;
}

void
server_free(struct server *server)
{
	if (!server)
		return;
	server_join(server);
	if (server->context)
		lws.context_destroy(server->context);
	else if (server->listener >= 0)
		close(server->listener);
	if (server->reserve >= 0)
		close(server->reserve);
	free(server);
}
