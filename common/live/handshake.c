#include "live/handshake.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "live/sha1.h"

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

static bool
is_field(const struct http_head *head, const char *name, const char *value, bool any_case)
{
	const char *is;

	return http_head_field(head, name, &is) == 1 &&
	    (any_case ? strcasecmp(is, value) : strcmp(is, value)) == 0;
}

int
handshake_check(const struct http_head *head, const char *key, const char *protocol, int *status)
{
	char accept[HANDSHAKE_ACCEPT];
	const char *line = head->line, *extensions;

	*status = 0;
	if (strncmp(line, "HTTP/1.", 7) != 0 || line[7] < '0' || line[7] > '9' || line[8] != ' ' ||
	    strspn(line + 9, "0123456789") != 3)
		return fail(NULL, "its answer is not HTTP");
	*status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + line[11] - '0';
	if (*status != 101)
		return 0;
	handshake_accept(key, accept);
	if (!is_field(head, "upgrade", "websocket", true) ||
	    !is_field(head, "sec-websocket-accept", accept, false))
		return fail(NULL, "is no WebSocket server");
	if (!is_field(head, "sec-websocket-protocol", protocol, false))
		return fail(NULL, "does not speak %s", protocol);
	if (http_head_field(head, "sec-websocket-extensions", &extensions) > 0)
		return fail(NULL, "uses an extension of WebSocket that was not asked for");
	return 0;
}
