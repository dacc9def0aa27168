#define _GNU_SOURCE
#include "frame/keyline.h"

#include <string.h>

static void
put_escaped(FILE *file, const char *text)
{
	for (;;) {
		const size_t plain = strcspn(text, "\\\n");

		fwrite(text, 1, plain, file);
		text += plain;
		if (!*text)
			break;
		fputs(*text++ == '\n' ? "\\n" : "\\\\", file);
	}
}

void
keyline_put(FILE *file, const char *key, const char *value)
{
	if (*key == '#') {	/* the line would be a comment */
		putc('_', file);
		key++;
	}
	put_escaped(file, key);
	fputs(":=", file);
	put_escaped(file, value);
	putc('\n', file);
}

/* A word of a list: no blanks, and no colon that a blank would follow. */
static void
put_channel_name(FILE *file, const char *name)
{
	if (!*name)
		putc('_', file);
	for (; *name; name++) {
		bool breaks = (unsigned char)*name <= ' ' || *name == '\\' ||
		    (*name == ':' && !name[1]);

		putc(breaks ? '_' : *name, file);
	}
}

void
keyline_put_head(FILE *file, const struct frame_head *head)
{
	fputs("channels:=", file);
	for (size_t c = 0; c < head->c; c++) {
		if (c)
			putc(' ', file);
		put_channel_name(file, head->channel[c]);
	}
	putc('\n', file);
	for (size_t i = 0; i < head->meta.n; i++)
		if (strcmp(head->meta.entry[i].key, "channels"))
			keyline_put(file, head->meta.entry[i].key, head->meta.entry[i].value);
}

static void
unescape(char *text)
{
	char *to;

	text = to = strchrnul(text, '\\');	/* few have any */
	for (; *text; text++) {
		if (*text == '\\' && (text[1] == '\\' || text[1] == 'n')) {
			text++;
			*to++ = *text == 'n' ? '\n' : '\\';
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void
make_key_acceptable(char *key)
{
	if (*key == '#')
		*key = '_';
	while (*(key += strcspn(key, ":=\n\r")))
		*key = '_';
}

static void
make_value_acceptable(char *value)
{
	char *to = value;

	if (!strpbrk(value, "\n\r") && !strstr(value, ": "))
		return;
	for (const char *p = value; *p; p++) {
		char byte = *p == '\n' || *p == '\r' ? ' ' : *p;

		if (byte == ' ' && to > value && to[-1] == ':')
			continue;
		*to++ = byte;
	}
	*to = '\0';
}

/* Bytes at which a key or a value ends or needs a closer look. */
enum { IN_KEY = 1, IN_VALUE = 2 };

static const unsigned char special[256] = {
	['\0'] = IN_KEY | IN_VALUE, ['\\'] = IN_KEY | IN_VALUE, [':'] = IN_KEY | IN_VALUE,
	['\n'] = IN_KEY | IN_VALUE, ['\r'] = IN_KEY | IN_VALUE, ['='] = IN_KEY,
};

static char *
skip_plain(char *text, int where)
{
	while (!(special[(unsigned char)*text] & where))
		text++;
	return text;
}

bool
keyline_split(char *line, char **key, char **value)
{
	char *middle = skip_plain(line, IN_KEY);

	if (middle > line && *line != '#' && middle[0] == ':' && middle[1] == '=' &&
	    !*skip_plain(middle + 2, IN_VALUE)) {	/* as most lines are */
		*middle = '\0';
		*key = line;
		*value = middle + 2;
		return true;
	}
	middle = strstr(line, ":=");
	if (!middle || middle == line)
		return false;
	*middle = '\0';
	*key = line;
	*value = middle + 2;
	unescape(*key);
	unescape(*value);
	make_key_acceptable(*key);
	make_value_acceptable(*value);
	return true;
}

/* The next blank-separated word from *text on; its length, 0 at the end. */
static size_t
next_word(const char **text)
{
	*text += strspn(*text, " ");
	return strcspn(*text, " ");
}

static bool
names_fit(const struct frame_head *head, const char *names)
{
	size_t n = 0;

	for (size_t length; (length = next_word(&names)) > 0; names += length, n++)
		if (length >= CHANNEL_NAME_SIZE)
			return false;
	return n == head->c;
}

void
keyline_name_channels(struct frame_head *head, const char *names)
{
	if (!names_fit(head, names))
		return;
	memset(head->channel, 0, head->c * sizeof(*head->channel));
	for (size_t c = 0; c < head->c; c++) {
		size_t length = next_word(&names);

		memcpy(head->channel[c], names, length);
		names += length;
	}
}
