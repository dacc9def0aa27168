/* The loop that serves all connections. */
#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WAITING 600	/* connections at a time besides those of viewers */
#define ACCEPTED 128	/* before all connections get their turn again */
#define FIRST 2		/* in `poll`, of the connections */

/* ---- connections ---- */

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

bool
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

/* A few at a time: requests that have come meanwhile are read before their turn to give way. */
static void
accept_some(struct server *server)
{
	for (int i = 0, fd; i < ACCEPTED && (fd = listener_accept(server)) >= 0; i++) {
		struct connection *connection = NULL;

		if (server->connections < server->options.clients + WAITING ||
		    server_make_room(server))
			connection = malloc(sizeof(*connection));
		if (!connection) {
			close(fd);
			continue;
		}
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

/* ---- the loop ---- */

/* Goes on until all viewers have left after server_close(), or are given up. */
static bool
goes_on(struct server *server)
{
	int64_t now = connection_now_us(CLOCK_MONOTONIC);

	if (atomic_load(&server->interrupted))
		atomic_store(&server->code, 1001);
	if (!atomic_load(&server->code))
		return true;
	if (!server->closing_since) {
		server->closing_since = now;
		server_wake(server);
	}
	return server->viewers > 0 && now - server->closing_since < CLOSE_SECONDS * SECOND_US;
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

static void *
serve(void *arg)
{
	struct server *server = arg;

	while (goes_on(server)) {
		wait_for_events(server);
		step_all(server);
		if (server->poll[0].revents)
			accept_some(server);
	}
	if (atomic_load(&server->interrupted) && server->done)
		server->done(server->done_arg);
	return NULL;
}

/* ---- from outside ---- */

int
server_open(const struct server_options *options, struct server **out)
{
	struct server *server = calloc(1, sizeof(*server));
	const size_t most = (size_t)options->clients + WAITING;

	if (!server)
		return fail_memory();
	*out = server;
	server->options = *options;
	server->rules = (struct access_rules){ options->bind, &server->options.host,
		&server->options.origin };
	server->listener = -1;
	server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->wake < 0)
		return fail_errno(NULL, "cannot open an eventfd");
	server->connection = calloc(most, sizeof(struct connection *));
	server->poll = calloc(FIRST + most, sizeof(*server->poll));
	if (!server->connection || !server->poll)
		return fail_memory();
	return listener_open(server);
}

const char *
server_url(const struct server *server)
{
	return server->url;
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
server_wake(struct server *server)
{
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
	const int descriptors[] = { server->listener, server->reserve, server->wake };

	server_join(server);
	for (long i = 0; i < server->connections; i++)
		free_connection(server, server->connection[i]);
	for (int i = 0; i < 3; i++)
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	free(server->connection);
	free(server->poll);
	free(server);
}
