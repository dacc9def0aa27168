/*
 * The server: HTTP for the page and WebSocket for the stream, in one thread with one loop; it reads
 * no file. Here are its connections, the listening socket, the page and the loop. web.c answers
 * requests, viewer.c has the stream.
 */
#include "holoserve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "page_policy.h"	/* PAGE_POLICY, which page/policy makes of the page */

/* ---- connections ---- */

int64_t
connection_now_us(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * SECOND_US + time.tv_nsec / 1000;
}

static void
free_connection(struct server *server, struct connection *connection)
{
	live_leave(server, connection->viewer);
	close(connection->fd);
	free(connection->answer);
	free(connection);
}

static void
drop_connection(struct server *server, long i)
{
	free_connection(server, server->connection[i]);
	server->connection[i] = server->connection[--server->connections];
}

/* Closes the oldest connection that has not sent its whole request yet. False: there is none. */
static bool
server_make_room(struct server *server)
{
	long oldest = -1;

	for (long i = 0; i < server->connections; i++) {
		const struct connection *connection = server->connection[i];

		if (!connection->viewer && !connection->answer && (oldest < 0 ||
		    connection->due_us < server->connection[oldest]->due_us))
			oldest = i;
	}
	if (oldest >= 0)
		drop_connection(server, oldest);
	return oldest >= 0;
}

/* ---- the socket that the server listens on ---- */

#define BACKLOG 128

/* Sets url. The system may have chosen the port. */
static int
make_url(struct server *server)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
		struct sockaddr_storage room;
	} own;
	socklen_t n = sizeof(own);
	char bound[80], port[16];
	bool loopback;

	if (getsockname(server->listener, &own.any, &n) < 0 ||
	    getnameinfo(&own.any, n, bound, sizeof(bound), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return fail_errno(server->options.bind, "cannot tell its own address");
	loopback = own.any.sa_family == AF_INET ? ntohl(own.four.sin_addr.s_addr) >> 24 == 127
						: IN6_IS_ADDR_LOOPBACK(&own.six.sin6_addr);
	if (!loopback)
		warn("--bind", "no password: everybody who reaches %s sees the stream", bound);
	snprintf(server->url, sizeof(server->url),
	    own.any.sa_family == AF_INET6 ? "http://[%s]:%s/" : "http://%s:%s/", bound, port);
	return 0;
}

/* Listens; sets url. -1 after fail(). */
static int
listener_open(struct server *server)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE };
	const char *name = server->options.bind;
	const int yes = 1;
	struct addrinfo *found;
	char port[16];
	int status, fd;

	snprintf(port, sizeof(port), "%ld", server->options.port);
	status = getaddrinfo(name, port, &hints, &found);
	if (status != 0)
		return fail(name, "no address: %s", gai_strerror(status));
	server->listener = fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	if (fd < 0)
		status = fail_errno(name, "cannot open a socket");
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (status == 0 && (bind(fd, found->ai_addr, found->ai_addrlen) < 0 ||
	    listen(fd, BACKLOG) < 0))
		status = fail_errno(name, errno == EADDRNOTAVAIL ?
		    "cannot listen at port %ld: no address of this machine" :
		    "cannot listen at port %ld", server->options.port);
	freeaddrinfo(found);
	return status < 0 ? -1 : make_url(server);
}

/* The next connection that waits, which does not block; -1: none does. If descriptors run out, it
 * closes an old connection, or accepts the new one on the reserved descriptor and drops it: if it
 * went on waiting, the loop would not sleep. */
static int
listener_accept(struct server *server)
{
	const int yes = 1;

	for (int i = 0; i < BACKLOG; i++) {
		int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
			return fd;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS)
			break;
		if (server_make_room(server))
			continue;
		if (server->reserve >= 0)
			close(server->reserve);
		fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			close(fd);
		server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	return -1;
}

/* ---- the page that a browser gets ---- */

__asm__(".section .rodata\n"
	".hidden holoserve_page, holoserve_page_end\n"
	".globl holoserve_page, holoserve_page_end\n"
	"holoserve_page:\n"
	".incbin \"holoserve_page.html\"\n"	/* in the folder of what is built */
	"holoserve_page_end:\n"
	".byte 0\n"
	".previous\n");

const char holoserve_page_policy[] = PAGE_POLICY;

/* ---- the loop ---- */

#define WAITING 600	/* connections at a time in addition to those of viewers */
#define ACCEPTED 128	/* before all connections get their turn again */
#define FIRST 2		/* index in `poll` of the first connection */

/* Accepts a few at a time, so that a connection's request is read before another one takes its
 * place. */
static void
accept_some(struct server *server)
{
	for (int i = 0, fd; i < ACCEPTED && (fd = listener_accept(server)) >= 0; i++) {
		struct connection *connection;

		if (server->connections >= server->options.clients + WAITING &&
		    !server_make_room(server)) {
			close(fd);
			continue;
		}
		connection = must_alloc(1, sizeof(*connection));
		*connection = (struct connection){ .fd = fd, .events = POLLIN,
			.due_us = connection_now_us(CLOCK_MONOTONIC) +
			    HANDSHAKE_SECONDS * SECOND_US };
		server->connection[server->connections++] = connection;
	}
}

/* Goes on with every connection: those of viewers may have something to send. */
static void
step_all(struct server *server)
{
	const int64_t now = connection_now_us(CLOCK_MONOTONIC);

	for (long i = server->connections - 1; i >= 0; i--) {
		struct connection *connection = server->connection[i];
		short happened = server->poll[FIRST + i].revents;
		bool lasts = !(happened & (POLLERR | POLLHUP));	/* both ends are closed */

		if (lasts)
			lasts = (connection->viewer ? live_step : web_step)(server, connection,
			    happened, now);
		if (!lasts)
			drop_connection(server, i);
	}
}

static void
wait_for_events(struct server *server)
{
	int64_t due = server->closing_since ? server->closing_since + CLOSE_SECONDS * SECOND_US
					    : INT64_MAX;
	int64_t now = connection_now_us(CLOCK_MONOTONIC);
	uint64_t wakes;

	server->poll[0] = (struct pollfd){ .fd = server->listener, .events = POLLIN };
	server->poll[1] = (struct pollfd){ .fd = server->wake, .events = POLLIN };
	for (long i = 0; i < server->connections; i++) {
		const struct connection *connection = server->connection[i];

		server->poll[FIRST + i] = (struct pollfd){ .fd = connection->fd,
			.events = connection->events };
		due = connection->due_us < due ? connection->due_us : due;
	}
	if (poll(server->poll, (nfds_t)(FIRST + server->connections), due == INT64_MAX ? -1 :
	    due <= now ? 0 : (int)((due - now + 999) / 1000)) < 0)
		return;
	if (server->poll[1].revents)	/* takes the count back to 0 */
		(void)!read(server->wake, &wakes, sizeof(wakes));
}

/* Ends once all viewers have left after server_close(), or are given up. */
static void *
serve(void *arg)
{
	struct server *server = arg;

	for (;;) {
		int64_t now = connection_now_us(CLOCK_MONOTONIC);

		if (atomic_load(&server->interrupted))
			atomic_store(&server->code, 1001);
		if (atomic_load(&server->code) && !server->closing_since) {
			server->closing_since = now;
			server_wake(server);
		}
		if (server->closing_since && (server->viewers == 0 ||
		    now - server->closing_since >= CLOSE_SECONDS * SECOND_US))
			break;
		wait_for_events(server);
		step_all(server);
		if (server->poll[0].revents)
			accept_some(server);
	}
	if (atomic_load(&server->interrupted) && server->done)
		server->done(server->done_arg);
	return NULL;
}

/* ---- for the main thread ---- */

int
server_open(const struct server_options *options, struct server **out)
{
	const size_t most = (size_t)options->clients + WAITING;
	struct server *server = must_alloc(1, sizeof(*server));

	*out = server;
	server->options = *options;
	server->listener = -1;
	server->connection = must_alloc(most, sizeof(struct connection *));
	server->poll = must_alloc(FIRST + most, sizeof(*server->poll));
	server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->wake < 0)
		return fail_errno(NULL, "cannot open an eventfd");
	return listener_open(server);
}

int
server_start(struct server *server, struct feed *feed)
{
	sigset_t all, before;

	server->feed = feed;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&server->thread, NULL, serve, server);
	server->running = errno == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return server->running ? 0 : fail_errno(NULL, "cannot start a thread");
}

void
server_wake(void *arg)
{
	const struct server *server = arg;
	const uint64_t one = 1;
	const int error = errno;	/* a signal handler leaves it as it was */

	(void)!write(server->wake, &one, sizeof(one));
	errno = error;
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
	atomic_store(&server->interrupted, true);
	server_wake(server);
}

void
server_join(struct server *server)
{
	if (server->running)
		pthread_join(server->thread, NULL);
	server->running = false;
}

void
server_free(struct server *server)
{
	const int descriptors[] = { server->listener, server->reserve, server->wake };

	server_join(server);
	for (long i = 0; i < server->connections; i++)
		free_connection(server, server->connection[i]);
	for (int i = 0; i < 3; i++)
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	free_all(server->connection, server->poll, server);
}
