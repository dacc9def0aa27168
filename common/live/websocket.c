/* WebSocket frames by wslay, and the messages of the live view in them. */
#include "live/websocket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/fail.h"

/* ---- for wslay ---- */

static ssize_t
read_bytes(uint8_t *to, size_t n, int, void *arg)
{
	struct websocket *socket = arg;
	ssize_t got = socket->read(socket->arg, to, n);

	socket->status = (int)got;
	return got > 0 ? got : -1;
}

static ssize_t
write_bytes(const uint8_t *from, size_t n, int flags, void *arg)
{
	struct websocket *socket = arg;
	ssize_t put = socket->write(socket->arg, from, n, flags & WSLAY_MSG_MORE);

	socket->status = (int)put;
	return put > 0 ? put : -1;
}

static int
make_mask(uint8_t *to, size_t n, void *)
{
	return getrandom(to, n, 0) == (ssize_t)n ? 0 : -1;
}

int
websocket_open(struct websocket *socket)
{
	static const struct wslay_frame_callbacks callbacks = { write_bytes, read_bytes,
		make_mask };

	return wslay_frame_context_init(&socket->frames, &callbacks, socket) == 0 ? 0 :
	    fail_memory();
}

void
websocket_free(struct websocket *socket)
{
	if (socket->frames)
		wslay_frame_context_free(socket->frames);
	socket->frames = NULL;
	free(socket->in);
	socket->in = NULL;
}

/* ---- what comes ---- */

/* Is a frame allowed, of which this is the first part? 0, or the code. */
static int
check_frame(const struct websocket *socket, const struct wslay_frame_iocb *part,
    const char **reason)
{
	const bool control = wslay_is_ctrl_frame(part->opcode);
	const size_t before = socket->begun ? socket->in_n : 0;

	*reason = part->mask != socket->server ?
	      (part->mask ? "a masked frame of a server" : "a frame of a client without a mask")
	    : part->rsv ? "reserved bits are set"
	    : part->opcode > WSLAY_PONG || (part->opcode > WSLAY_BINARY_FRAME && !control) ?
	      "a frame of unknown kind"
	    : !control && !part->opcode != (socket->begun != 0) ?
	      "parts of a message out of order"
	    : NULL;
	if (*reason)
		return WSLAY_CODE_PROTOCOL_ERROR;
	*reason = "too long a message";
	if (!control && (before > socket->most || part->payload_length > socket->most - before))
		return WSLAY_CODE_MESSAGE_TOO_BIG;
	*reason = "a message in several parts";
	return socket->whole && !part->fin ? WSLAY_CODE_POLICY_VIOLATION : 0;
}

/* Memory grows with what has come, not with what was announced. */
static int
append(struct websocket *socket, const uint8_t *from, size_t n)
{
	if (socket->room - socket->in_n < n) {
		size_t room = 2 * socket->room + n;
		unsigned char *larger = realloc(socket->in, room);

		if (!larger)
			return fail_memory();
		socket->in = larger;
		socket->room = room;
	}
	if (n > 0)
		memcpy(socket->in + socket->in_n, from, n);
	socket->in_n += n;
	return 0;
}

/* Takes n bytes of a frame. 1: they end a message; 0; -1 after fail(). */
static int
take_part(struct websocket *socket, const struct wslay_frame_iocb *part, size_t n,
    struct websocket_message *message)
{
	if (wslay_is_ctrl_frame(part->opcode)) {
		memcpy(socket->control + socket->control_n, part->data, n);
		socket->control_n += n;
		if (socket->control_n < part->payload_length)
			return 0;
		*message = (struct websocket_message){ (enum wslay_opcode)part->opcode,
			socket->control, socket->control_n };
		socket->control_n = 0;
		return 1;
	}
	if (!socket->begun) {
		socket->begun = part->opcode;
		socket->in_n = 0;
	}
	if (append(socket, part->data, n) < 0)
		return -1;
	socket->part_n += n;
	if (socket->part_n < part->payload_length)
		return 0;
	socket->part_n = 0;
	if (!part->fin)
		return 0;
	*message = (struct websocket_message){ (enum wslay_opcode)socket->begun, socket->in,
		socket->in_n };
	socket->begun = 0;
	return 1;
}

int
websocket_receive(struct websocket *socket, struct websocket_message *message, const char **reason)
{
	int status = 0;

	while (status == 0) {
		struct wslay_frame_iocb part = { 0 };
		ssize_t n = wslay_frame_recv(socket->frames, &part);

		if (n == WSLAY_ERR_WANT_READ) {
			if (socket->status <= 0)
				return socket->status;
			continue;	/* a part of a frame's head has come */
		}
		*reason = "a control frame that is too long or in parts, or too long a length";
		if (n < 0)
			return WSLAY_CODE_PROTOCOL_ERROR;
		status = socket->part_n == 0 && socket->control_n == 0 ?
		    check_frame(socket, &part, reason) : 0;
		if (status == 0)
			status = take_part(socket, &part, (size_t)n, message);
	}
	return status;
}

/* ---- what goes out ---- */

void
websocket_put(struct websocket *socket, enum wslay_opcode kind, const void *from, size_t n)
{
	socket->kind = kind;
	socket->out = from;
	socket->out_n = n;
	socket->sent = 0;
	socket->sends = true;
}

int
websocket_send(struct websocket *socket)
{
	while (socket->sends) {
		struct wslay_frame_iocb part = { .fin = 1, .opcode = (uint8_t)socket->kind,
			.mask = !socket->server, .payload_length = socket->out_n,
			.data = socket->out + socket->sent,
			.data_length = socket->out_n - socket->sent };
		ssize_t put = wslay_frame_send(socket->frames, &part);

		if (put < 0 && put != WSLAY_ERR_WANT_WRITE)
			return fail(NULL, "a frame cannot be made: no random bytes");
		if (put < 0 && socket->status <= 0)
			return socket->status;
		socket->sent += put > 0 ? (size_t)put : 0;
		socket->sends = put < 0 || socket->sent < socket->out_n;
	}
	return 1;
}

/* ---- bytes of a socket that does not block ---- */

ssize_t
live_read(int fd, void *to, size_t n)
{
	ssize_t got = recv(fd, to, n, 0);

	return got > 0 ? got : got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

ssize_t
live_write(int fd, const void *from, size_t n, bool more)
{
	ssize_t put = send(fd, from, n, MSG_NOSIGNAL | (more ? MSG_MORE : 0));

	return put > 0 ? put : put < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* ---- messages of the live view ---- */

const char *const live_kind_names[LIVE_KINDS] = { "", "jpeg", "png", "h264", "luma" };

static void
put_little(unsigned char *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

void
live_put_head(const struct live_head *head, unsigned char to[LIVE_HEAD_BYTES])
{
	memset(to, 0, LIVE_HEAD_BYTES);
	memcpy(to, "FP3L", 4);
	to[4] = (unsigned char)head->kind;
	to[5] = (unsigned char)head->flags;
	put_little(to + 8, head->number);
	put_little(to + 16, (uint64_t)head->captured_us);
	put_little(to + 24, (uint64_t)head->sent_us);
}

static uint64_t
get_little(const unsigned char *from)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | from[i];
	return value;
}

int
live_read_head(const unsigned char *message, size_t n, struct live_head *head)
{
	if (n < LIVE_HEAD_BYTES || memcmp(message, "FP3L", 4))
		return -1;
	*head = (struct live_head){ (enum live_kind)message[4], message[5],
		get_little(message + 8), (int64_t)get_little(message + 16),
		(int64_t)get_little(message + 24) };
	return 0;
}

static enum live_kind
find_kind(const char *word, size_t n)
{
	for (int i = 1; i < LIVE_KINDS; i++)
		if (strlen(live_kind_names[i]) == n && !memcmp(live_kind_names[i], word, n))
			return (enum live_kind)i;
	return 0;
}

int
live_read_can(const char *text, size_t n, enum live_kind kind[LIVE_KINDS])
{
	bool seen[LIVE_KINDS] = { false };
	size_t at = 3, end;
	int kinds = 0;

	if (n < 5 || n > LIVE_CLIENT_BYTES || memcmp(text, "can ", 4))
		return -1;
	for (; at < n; at = end) {
		enum live_kind found;

		while (at < n && text[at] == ' ')
			at++;
		for (end = at; end < n && text[end] != ' '; end++)
			if (text[end] < '!' || text[end] > '~')
				return -1;
		found = find_kind(text + at, end - at);
		if (found && !seen[found])
			kind[kinds++] = found;
		seen[found] = true;
	}
	return kinds;
}

int
live_read_number(const char *text, size_t n, uint64_t *number)
{
	uint64_t value = 0;

	if (n == 0 || n > 20)
		return -1;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned)(text[i] - '0');

		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return -1;
		value = 10 * value + digit;
	}
	*number = value;
	return 0;
}
