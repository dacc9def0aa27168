#include "live/http_head.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t"

size_t
http_head_length(const char *bytes, size_t n)
{
	const char *end = memmem(bytes, n, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

static bool
is_text(const char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
			return false;
	return true;
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
	char *to = bytes, *line = bytes, *last;

	if (n == 0 || http_head_length(bytes, n) != n)
		return false;
	last = bytes + n - 2;			/* the empty line */
	for (char *end; line < last; line = end + 2) {
		size_t length;

		end = memmem(line, (size_t)(last - line), "\r\n", 2);
		length = (size_t)(end - line);
		if (!is_text(line, length))
			return false;
		if (line == bytes) {
			*end = '\0';
			to = end + 1;
		} else if (!(to = put_field(to, line, length))) {
			return false;
		}
		if (line == bytes)
			head->fields = to;
	}
	*to = '\0';
	head->line = bytes;
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
