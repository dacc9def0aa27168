#include "websocket.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "sha1.h"

#define HEAD_MOST 4096

void
websocket_free(struct websocket *socket)
{
	free(socket->message);
	*socket = (struct websocket){ .read = socket->read, .arg = socket->arg };
}

/* ---- bytes ---- */

static int
fill(struct websocket *socket)
{
	ssize_t got;

	if (socket->at < socket->end)
		return 1;
	got = socket->read(socket->arg, socket->buffer, sizeof(socket->buffer));
	socket->at = 0;
	socket->end = got > 0 ? (size_t)got : 0;
	return got > 0 ? 1 : (int)got;
}

/* All n bytes: 1, 0 where they end before, -1 after fail(). */
static int
read_exactly(struct websocket *socket, void *to, size_t n)
{
	unsigned char *next = to;

	while (n > 0) {
		int status = fill(socket);
		size_t part = socket->end - socket->at;

		if (status <= 0)
			return status;
		part = part < n ? part : n;
		memcpy(next, socket->buffer + socket->at, part);
		socket->at += part;
		next += part;
		n -= part;
	}
	return 1;
}

/* ---- handshake ---- */

static void
base64(const unsigned char *from, size_t n, char *to)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)from[i] << 16;

		v |= i + 1 < n ? (uint32_t)from[i + 1] << 8 : 0;
		v |= i + 2 < n ? from[i + 2] : 0;
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
		*to++ = i + 2 < n ? digits[v & 63] : '=';
	}
	*to = '\0';
}

void
websocket_key(const unsigned char random[16], char key[WEBSOCKET_KEY])
{
	base64(random, 16, key);
}

void
websocket_accept(const char *key, char accept[WEBSOCKET_ACCEPT])
{
	static const char id[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, 1.3 */
	char both[WEBSOCKET_KEY + sizeof(id)];
	unsigned char digest[20];
	size_t n = strnlen(key, WEBSOCKET_KEY - 1);

	memcpy(both, key, n);
	memcpy(both + n, id, sizeof(id) - 1);
	sha1(both, n + sizeof(id) - 1, digest);
	base64(digest, sizeof(digest), accept);
}

/* Up to the empty line, as a string. 1, 0, -1 as read_exactly(). */
static int
take_head(struct websocket *socket, char head[HEAD_MOST])
{
	size_t n = 0;

	while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0) {
		int status = n < HEAD_MOST - 1 ? read_exactly(socket, head + n, 1)
					       : fail(NULL, "answers with too long a head");

		if (status <= 0)
			return status;
		if (head[n++] == '\0')
			return fail(NULL, "its answer is not HTTP");
	}
	head[n] = '\0';
	return 1;
}

/* The value of a field, without blanks around it, in line; false where there is no such one. */
static bool
find_field(const char *head, const char *name, char *value, size_t size)
{
	size_t length = strlen(name);

	while ((head = strstr(head, "\r\n"))) {
		size_t n;

		head += 2;
		if (strncasecmp(head, name, length) != 0 || head[length] != ':')
			continue;
		head += length + 1;
		head += strspn(head, " \t");
		n = strcspn(head, "\r");
		while (n > 0 && (head[n - 1] == ' ' || head[n - 1] == '\t'))
			n--;
		if (n >= size)
			return false;
		memcpy(value, head, n);
		value[n] = '\0';
		return true;
	}
	return false;
}

int
websocket_answer(struct websocket *socket, const char *key, const char *protocol, int *status)
{
	char head[HEAD_MOST], value[256], accept[WEBSOCKET_ACCEPT];
	int got = take_head(socket, head);

	*status = 0;
	if (got <= 0)
		return got;
	if (strncmp(head, "HTTP/1.", 7) != 0 || head[7] < '0' || head[7] > '9' || head[8] != ' ' ||
	    strspn(head + 9, "0123456789") != 3)
		return fail(NULL, "its answer is not HTTP");
	*status = (head[9] - '0') * 100 + (head[10] - '0') * 10 + head[11] - '0';
	if (*status != 101)
		return 1;
	websocket_accept(key, accept);
	if (!find_field(head, "upgrade", value, sizeof(value)) ||
	    strcasecmp(value, "websocket") != 0 ||
	    !find_field(head, "sec-websocket-accept", value, sizeof(value)) ||
	    strcmp(value, accept) != 0)
		return fail(NULL, "is no WebSocket server");
	if (!find_field(head, "sec-websocket-protocol", value, sizeof(value)) ||
	    strcmp(value, protocol) != 0)
		return fail(NULL, "does not speak %s", protocol);
	if (find_field(head, "sec-websocket-extensions", value, sizeof(value)))
		return fail(NULL, "uses an extension of WebSocket that was not asked for");
	return 1;
}

/* ---- messages ---- */

struct part {
	bool final;
	int kind;			/* 0: goes on */
	uint64_t n;
};

static int
take_part_head(struct websocket *socket, struct part *part)
{
	unsigned char byte[8];
	int status = read_exactly(socket, byte, 2);
	size_t more;

	if (status <= 0)
		return status;
	*part = (struct part){ byte[0] & 0x80, byte[0] & 15, byte[1] & 127 };
	if (byte[0] & 0x70)
		return fail(NULL, "sends bits that WebSocket has reserved");
	if (byte[1] & 0x80)
		return fail(NULL, "sends a masked frame, as only clients may");
	more = part->n == 126 ? 2 : part->n == 127 ? 8 : 0;
	status = read_exactly(socket, byte, more);
	if (more > 0)
		part->n = 0;
	for (size_t i = 0; status > 0 && i < more; i++)
		part->n = part->n << 8 | byte[i];
	return status;
}

/* Memory grows with what has come, not with what was announced. */
static int
append(struct websocket *socket, size_t n)
{
	while (n > 0) {
		size_t piece = n < sizeof(socket->buffer) ? n : sizeof(socket->buffer);
		int status;

		if (socket->room - socket->n < piece) {
			size_t room = 2 * socket->room + piece;
			unsigned char *larger = realloc(socket->message, room);

			if (!larger)
				return fail_memory();
			socket->message = larger;
			socket->room = room;
		}
		status = read_exactly(socket, socket->message + socket->n, piece);
		if (status <= 0)
			return status;
		socket->n += piece;
		n -= piece;
	}
	return 1;
}

static int
take_control(struct websocket *socket, const struct part *part, struct websocket_message *message)
{
	int status;

	if (part->kind > WEBSOCKET_PONG)
		return fail(NULL, "sends a frame of the unknown kind %d", part->kind);
	if (!part->final || part->n > sizeof(socket->control))
		return fail(NULL, "sends a control frame that is too long, or in parts");
	status = read_exactly(socket, socket->control, (size_t)part->n);
	*message = (struct websocket_message){ (enum websocket_kind)part->kind, socket->control,
		(size_t)part->n };
	return status;
}

int
websocket_next(struct websocket *socket, size_t most, struct websocket_message *message)
{
	struct part part = { 0 };
	int status;

	for (;;) {
		status = take_part_head(socket, &part);
		if (status <= 0)
			return status;
		if (part.kind >= WEBSOCKET_CLOSE)
			return take_control(socket, &part, message);
		if (part.kind > WEBSOCKET_BINARY)
			return fail(NULL, "sends a frame of the unknown kind %d", part.kind);
		if ((part.kind == 0) != (socket->begun != 0))
			return fail(NULL, "sends the parts of a message out of order");
		if (!socket->begun) {
			socket->begun = part.kind;
			socket->n = 0;
		}
		if (socket->n > most || part.n > most - socket->n)
			return fail(NULL, "sends a message of more than %zu bytes", most);
		status = append(socket, (size_t)part.n);
		if (status <= 0)
			return status;
		if (!part.final)
			continue;
		*message = (struct websocket_message){ (enum websocket_kind)socket->begun,
			socket->message, socket->n };
		socket->begun = 0;
		return 1;
	}
}

size_t
websocket_frame(enum websocket_kind kind, const void *from, size_t n, const unsigned char mask[4],
    unsigned char *to)
{
	const unsigned char *byte = from;

	to[0] = (unsigned char)(0x80 | (int)kind);
	to[1] = (unsigned char)(0x80 | n);
	memcpy(to + 2, mask, 4);
	for (size_t i = 0; i < n; i++)
		to[6 + i] = byte[i] ^ mask[i % 4];
	return n + 6;
}

int
websocket_close_code(const struct websocket_message *message)
{
	return message->n < 2 ? 1005 : message->bytes[0] << 8 | message->bytes[1];
}
