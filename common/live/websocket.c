/* WebSocket frames by wslay, and the messages of the live view in them. */
#include "live/websocket.h"

#include <errno.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/process.h"

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
static void
append(struct websocket *socket, const uint8_t *from, size_t n)
{
	if (socket->room - socket->in_n < n) {
		socket->room = 2 * socket->room + n;
		socket->in = must_resize(socket->in, socket->room, 1);
	}
	if (n > 0)
		memcpy(socket->in + socket->in_n, from, n);
	socket->in_n += n;
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
	append(socket, part->data, n);
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

/* ---- HTTP, and the handshake of WebSocket (RFC 6455), with the SHA-1 that it asks for ---- */

static uint32_t
rotate(uint32_t v, int n)
{
	return v << n | v >> (32 - n);
}

static void
add_block(uint32_t state[5], const unsigned char *block)
{
	static const uint32_t constant[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], s[5];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		    (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 80; i++) {
		uint32_t mixed = i < 20 ? (s[1] & s[2]) | (~s[1] & s[3])
		    : i >= 40 && i < 60 ? (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])
					: s[1] ^ s[2] ^ s[3];
		uint32_t next = rotate(s[0], 5) + mixed + s[4] + constant[i / 20] + w[i];

		s[4] = s[3];
		s[3] = s[2];
		s[2] = rotate(s[1], 30);
		s[1] = s[0];
		s[0] = next;
	}
	for (int i = 0; i < 5; i++)
		state[i] += s[i];
}

static void
sha1(const void *data, size_t n, unsigned char digest[20])
{
	uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	const unsigned char *from = data;
	unsigned char last[128] = { 0 };
	size_t left = n % 64, padded = left < 56 ? 64 : 128;
	uint64_t bits = (uint64_t)n * 8;

	for (size_t i = 0; i + 64 <= n; i += 64)
		add_block(state, from + i);
	memcpy(last, from + n - left, left);
	last[left] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[padded - 1 - i] = (unsigned char)(bits >> (8 * i));
	for (size_t i = 0; i < padded; i += 64)
		add_block(state, last + i);
	for (size_t i = 0; i < 20; i++)
		digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

#define BLANKS " \t"

size_t
http_head_length(const char *bytes, size_t n)
{
	const char *end = memmem(bytes, n, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

/* Writes name and value of a field to `to`, which lies before the line or where it begins; returns
 * what lies behind them, or NULL where the line is no field. */
static char *
put_field(char *to, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n), *value, *end = line + n;
	size_t name = colon ? (size_t)(colon - line) : 0;

	if (name == 0)
		return NULL;
	for (size_t i = 0; i < name; i++)	/* RFC 9110, 5.6.2 */
		if (line[i] <= ' ' || strchr("\"(),/:;<=>?@[\\]{}", line[i]))
			return NULL;
	value = colon + 1;
	while (value < end && strchr(BLANKS, *value))
		value++;
	while (value < end && strchr(BLANKS, end[-1]))
		end--;
	memmove(to, line, name);
	to[name] = '\0';
	to += name + 1;
	memmove(to, value, (size_t)(end - value));
	to[end - value] = '\0';
	return to + (end - value) + 1;
}

bool
http_head_read(char *bytes, size_t n, struct http_head *head)
{
	char *to, *line, *last, *end;

	if (n == 0 || http_head_length(bytes, n) != n)
		return false;
	last = bytes + n - 2;			/* the empty line */
	for (const char *at = bytes; at < last; at++)
		if (((unsigned char)*at < ' ' && *at != '\t' &&
			!(at[0] == '\r' && at[1] == '\n') &&
			!(at[0] == '\n' && at > bytes && at[-1] == '\r')) || *at == 0x7f)
			return false;
	line = memmem(bytes, n, "\r\n", 2);
	*line = '\0';
	head->line = bytes;
	head->fields = to = line + 1;
	for (line += 2; line < last; line = end + 2) {
		end = memmem(line, (size_t)(last - line), "\r\n", 2);
		to = put_field(to, line, (size_t)(end - line));
		if (!to)
			return false;
	}
	*to = '\0';
	return true;
}

int
http_head_field(const struct http_head *head, const char *name, const char **value)
{
	int times = 0;

	*value = "";
	for (const char *at = head->fields; *at; at += strlen(at) + 1) {
		const char *of = at + strlen(at) + 1;

		if (!strcasecmp(at, name) && times++ == 0)
			*value = of;
		at = of;
	}
	return times;
}

bool
http_head_lists(const char *value, const char *word)
{
	while (*value) {
		size_t n, end;

		value += strspn(value, BLANKS ",");
		n = end = strcspn(value, ",");
		while (n > 0 && strchr(BLANKS, value[n - 1]))
			n--;
		if (n == strlen(word) && !strncasecmp(value, word, n))
			return true;
		value += end;
	}
	return false;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void
base64(const unsigned char *from, size_t n, char *to)
{
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
handshake_key(const unsigned char random[16], char key[HANDSHAKE_KEY])
{
	base64(random, 16, key);
}

bool
handshake_is_key(const char *key)
{
	return strspn(key, digits) == HANDSHAKE_KEY - 3 && !strcmp(key + HANDSHAKE_KEY - 3, "==");
}

void
handshake_accept(const char *key, char accept[HANDSHAKE_ACCEPT])
{
	static const char id[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	char both[HANDSHAKE_KEY + sizeof(id)];
	unsigned char digest[20];
	size_t n = strnlen(key, HANDSHAKE_KEY - 1);

	memcpy(both, key, n);
	memcpy(both + n, id, sizeof(id) - 1);
	sha1(both, n + sizeof(id) - 1, digest);
	base64(digest, sizeof(digest), accept);
}

int
handshake_check(const struct http_head *head, const char *key, const char *protocol, int *status)
{
	const char *line = head->line, *upgrade, *accepted, *agreed, *extensions;
	char accept[HANDSHAKE_ACCEPT];

	*status = 0;
	if (strncmp(line, "HTTP/1.", 7) != 0 || line[7] < '0' || line[7] > '9' || line[8] != ' ' ||
	    strspn(line + 9, "0123456789") != 3)
		return fail(NULL, "its answer is not HTTP");
	*status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
	if (*status != 101)
		return 0;
	handshake_accept(key, accept);
	if (http_head_field(head, "upgrade", &upgrade) != 1 || strcasecmp(upgrade, "websocket") ||
	    http_head_field(head, "sec-websocket-accept", &accepted) != 1 ||
	    strcmp(accepted, accept))
		return fail(NULL, "is no WebSocket server");
	if (http_head_field(head, "sec-websocket-protocol", &agreed) != 1 ||
	    strcmp(agreed, protocol))
		return fail(NULL, "does not speak %s", protocol);
	if (http_head_field(head, "sec-websocket-extensions", &extensions) > 0)
		return fail(NULL, "uses an extension of WebSocket that was not asked for");
	return 0;
}
