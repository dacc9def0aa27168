/* The socket that the server listens at. */
#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

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
	char bound[80], port[16];

	if (getsockname(server->listener, &own.any, &n) < 0 ||
	    getnameinfo(&own.any, n, bound, sizeof(bound), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return fail_errno(server->options.bind, "cannot tell its own address");
	if (!is_loopback(&own.any))
		warn("--bind", "no password: everybody who reaches %s sees the stream", bound);
	snprintf(server->url, sizeof(server->url),
	    own.any.sa_family == AF_INET6 ? "http://[%s]:%s/" : "http://%s:%s/", bound, port);
	return 0;
}

int
listener_open(struct server *server)
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

/* Without a descriptor to make room, the one in reserve takes the connection and drops it: else it
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

int
listener_accept(struct server *server)
{
	const int yes = 1;

	for (int i = 0; i < BACKLOG; i++) {
		int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
			return fd;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			if (!server_make_room(server))
				drop_one(server);
		}
		else if (errno != EINTR && errno != ECONNABORTED)
			break;
	}
	return -1;
}
