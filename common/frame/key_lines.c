/*
 * Metadata as text lines, key:=value, as files other than NRRD carry them, and keys that an option
 * overrides.
 */
#include "frame/key_lines.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/opt.h"

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

int
key_option_word(int option, const struct meta *meta, const char *key, const char *const *words,
    int otherwise, int *out)
{
	const char *value = meta_get(meta, key);
	char list[200] = "";

	*out = option >= 0 ? option : otherwise;
	if (option >= 0 || !value)
		return 0;
	for (*out = 0; words[*out]; ++*out)
		if (!strcmp(words[*out], value))
			return 0;
	for (size_t i = 0; words[i]; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
		    i ? " or " : "", words[i]);
	return fail(key, "must be %s, not '%.60s'", list, value);
}

int
key_option_whole(long option, const struct meta *meta, const char *key, long low, long high,
    long otherwise, long *out)
{
	double v;

	*out = option != OPT_NONE_INTEGER ? option : otherwise;
	if (option != OPT_NONE_INTEGER || !meta_get(meta, key))
		return 0;
	if (meta_number(meta, key, NAN, &v) < 0)
		return -1;
	if (!(v >= (double)low && v <= (double)high && v == floor(v)))
		return fail(key, "must be a whole number from %ld to %ld, not %g", low, high, v);
	*out = (long)v;
	return 0;
}

void
key_pair_replace(struct meta *meta, const char *key, const double v[2])
{
	if (meta_get(meta, key))
		meta_set_numbers(meta, key, v, 2);
}

int
key_pair(const struct meta *meta, const char *key, double out[2])
{
	struct numbers list;
	bool valid;

	if (!meta_get(meta, key))
		return 0;
	if (meta_numbers(meta, key, &list) < 0)
		return -1;
	valid = list.n == 2 && isfinite(list.v[0]) && isfinite(list.v[1]);
	if (valid)
		memcpy(out, list.v, sizeof(double[2]));
	numbers_free(&list);
	return valid ? 0 : fail(key, "must be two numbers, not '%.60s'", meta_get(meta, key));
}

int
key_option_range(const struct numbers *option, const char *name, const struct meta *meta,
    const char *key, double out[2])
{
	out[0] = out[1] = NAN;
	if (option->n)
		memcpy(out, option->v, sizeof(double[2]));
	else if (key_pair(meta, key, out) < 0)
		return -1;
	if (!isnan(out[0]) && !isfinite(out[1] - out[0]))
		return fail(option->n ? name : key, "must be two finite depths, not %g and %g",
		    out[0], out[1]);
	if (!isnan(out[0]) && !(out[0] < out[1]))
		return fail(option->n ? name : key, "the first depth must be less than the second, "
		    "not %g and %g", out[0], out[1]);
	return 0;
}

void
key_option_warn_word(int option, const struct meta *meta, const char *key,
    const char *const *words)
{
	const char *own = meta_get(meta, key);

	if (option >= 0 && own && strcmp(own, words[option]) != 0)
		warn(key, "the picture says %.60s, the option's %s is used", own, words[option]);
}

void
key_option_warn_whole(long option, const struct meta *meta, const char *key)
{
	const char *own = meta_get(meta, key);
	double v;

	if (option != OPT_NONE_INTEGER && own &&
	    (number_parse(own, &v) < 0 || v != (double)option))
		warn(key, "the picture says %.60s, the option's %ld is used", own, option);
}

void
key_option_warn_range(const struct numbers *option, const struct meta *meta, const char *key)
{
	double own[2] = { NAN, NAN }, slack;

	if (option->n != 2 || key_pair(meta, key, own) < 0 || isnan(own[0]))
		return;
	slack = 1e-6 * (own[1] - own[0]);
	if (fabs(own[0] - option->v[0]) > slack || fabs(own[1] - option->v[1]) > slack)
		warn(key, "the picture says %g to %g, the option's %g to %g is used", own[0],
		    own[1], option->v[0], option->v[1]);
}
