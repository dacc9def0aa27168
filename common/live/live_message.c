#include "live/live_message.h"

#include <stdbool.h>
#include <string.h>

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
