/* HTTP requests and the WebSocket handshake (RFC 6455), with the SHA-1 that it asks for. */
#include "live/handshake.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"

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
