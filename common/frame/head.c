/* Heads of frames: sizes, sample types and channel names. */
#include "frame/head.h"

#include <stdio.h>

#include "base/numbers.h"
#include "base/process.h"

const char *
sample_name(enum sample type)
{
	return type == SAMPLE_UCHAR ? "uchar" : type == SAMPLE_USHORT ? "ushort" : "float";
}

int
head_set_count(struct frame_head *head, size_t c)
{
	if (c == 0 || c > 65536)
		return fail(NULL, "a frame has 1 to 65536 channels, not %zu", c);
	head->channel = must_resize(head->channel, c, sizeof(*head->channel));
	head->c = c;
	return 0;
}

int
head_init(struct frame_head *head, size_t w, size_t h, size_t c, enum sample type)
{
	static const char rgba[4][2] = { "r", "g", "b", "a" };

	memset(head, 0, sizeof(*head));
	head->w = w;
	head->h = h;
	head->type = type;
	head->spacing[0] = head->spacing[1] = NAN;
	if (head_set_count(head, c) < 0)
		return -1;
	memset(head->channel, 0, c * sizeof(*head->channel));
	for (size_t i = 0; i < c; i++) {
		if (c == 1)
			strcpy(head->channel[i], "image");
		else if ((c == 3 || c == 4) && type != SAMPLE_FLOAT)
			strcpy(head->channel[i], rgba[i]);
		else
			snprintf(head->channel[i], CHANNEL_NAME_SIZE, "image%zu", i + 1);
	}
	return 0;
}

void
head_copy(struct frame_head *to, const struct frame_head *from)
{
	*to = *from;
	to->channel = NULL;
	to->meta = (struct meta){ 0 };
	to->channel = must_alloc(from->c, sizeof(*to->channel));
	memcpy(to->channel, from->channel, from->c * sizeof(*from->channel));
	meta_copy(&to->meta, &from->meta);
}

void
head_free(struct frame_head *head)
{
	free(head->channel);
	head->channel = NULL;
	meta_free(&head->meta);
}

bool
head_equal(const struct frame_head *a, const struct frame_head *b)
{
	if (a->w != b->w || a->h != b->h || a->c != b->c || a->type != b->type ||
	    strcmp(a->unit, b->unit))
		return false;
	for (int i = 0; i < 2; i++)
		if (!numbers_same(a->spacing[i], b->spacing[i]))
			return false;
	for (size_t i = 0; i < a->c; i++)
		if (strcmp(a->channel[i], b->channel[i]))
			return false;
	return meta_equal(&a->meta, &b->meta);
}

int
head_add_channels(struct frame_head *head, const char *names)
{
	size_t c = head->c, n = meta_words(names);

	if (head_set_count(head, c + n) < 0)
		return -1;
	memset(head->channel + c, 0, n * sizeof(*head->channel));
	for (size_t i = 0; i < n; i++)
		if (!meta_word(names, i, head->channel[c + i], CHANNEL_NAME_SIZE))
			return fail("channels", "name is longer than %d bytes: %.60s",
			    CHANNEL_NAME_SIZE - 1, head->channel[c + i]);
	return 0;
}

int
head_set_channels(struct frame_head *head, const char *names)
{
	head->c = 0;
	return head_add_channels(head, names);
}

char *
head_channels(const struct frame_head *head)
{
	char *text = must_alloc(head->c, CHANNEL_NAME_SIZE + 1), *end = text;

	for (size_t i = 0; i < head->c; i++)
		end = stpcpy(stpcpy(end, i ? " " : ""), head->channel[i]);
	return text;
}

const char *
channel_number(const char *name, const char *base)
{
	size_t n = strlen(base);

	return strncmp(name, base, n) || name[n + strspn(name + n, "0123456789")] ? NULL : name + n;
}

const char *
head_channels_hint(const struct frame_head *head, char text[300])
{
	char *names = head_channels(head);
	bool named = head->type != SAMPLE_FLOAT;	/* captures, which want no other name */

	for (size_t i = 0; i < head->c; i++)
		named = named || !channel_number(head->channel[i], "image");
	snprintf(text, 300, "%.200s%s", names, named ? "" :
	    " (framecat --set 'channels=NAME ...' names them)");
	free(names);
	return text;
}

size_t
head_channel(const struct frame_head *head, const char *name)
{
	for (size_t i = 0; i < head->c; i++)
		if (!strcmp(head->channel[i], name))
			return i;
	return NO_CHANNEL;
}

bool
head_three(const struct frame_head *head, const char *prefix, const char *letters,
    size_t channel[3])
{
	char name[CHANNEL_NAME_SIZE];
	bool all = true;

	for (size_t k = 0; k < 3; k++) {
		snprintf(name, sizeof(name), "%s%c", prefix, letters[k]);
		channel[k] = head_channel(head, name);
		all &= channel[k] != NO_CHANNEL;
	}
	return all;
}

int
head_number(const struct frame_head *head, const char *key, size_t channel, double otherwise,
    double *out)
{
	const char *list = meta_get(&head->meta, key);
	char word[64];

	if (!list || meta_words(list) != head->c || !meta_word(list, channel, word, sizeof(word)))
		return meta_number(&head->meta, key, otherwise, out);
	*out = otherwise;
	return !strcmp(word, "-") || number_parse(word, out) == 0 ? 0 :
	    fail(key, "is not a number: %.60s", word);
}

size_t
head_numbered_channel(const struct frame_head *head, const char *base, size_t number)
{
	char name[CHANNEL_NAME_SIZE + 24];
	size_t c;

	snprintf(name, sizeof(name), "%s%zu", base, number);
	c = head_channel(head, name);
	return c == NO_CHANNEL && number == 1 ? head_channel(head, base) : c;
}

/* The number behind `base` in a channel's name, 1 for `base` itself; 0 if it is another channel. */
static size_t
number_in_name(const char *name, const char *base, size_t length)
{
	size_t n = 0;

	if (strncmp(name, base, length))
		return 0;
	name += length;
	if (!*name)
		return 1;
	if (*name == '0')
		return 0;
	for (; *name >= '0' && *name <= '9'; name++)
		n = 10 * n + (size_t)(*name - '0');
	return *name ? 0 : n;
}

size_t
head_count_channels(const struct frame_head *head, const char *base)
{
	size_t length = strlen(base), n = 0;
	bool found[head->c + 1];	/* some 64 KiB at most */

	memset(found, 0, sizeof(found));
	for (size_t c = 0; c < head->c; c++) {
		size_t number = number_in_name(head->channel[c], base, length);

		if (number > 0 && number <= head->c)
			found[number - 1] = true;
	}
	while (found[n])
		n++;
	return n;
}

bool
head_is_table(const struct frame_head *head)
{
	return head->h == 1 && meta_get(&head->meta, "points");
}

bool
head_is_colour(const struct frame_head *head)
{
	size_t own = 0;

	while (own < head->c && !strchr(head->channel[own], '.'))
		own++;
	return (own == 3 || own == 4) && head_channel(head, "r") == 0 &&
	    head_channel(head, "g") == 1 && head_channel(head, "b") == 2;
}

int
head_points(const struct frame_head *head, size_t *points)
{
	double n;

	if (meta_number(&head->meta, "points", NAN, &n) < 0)
		return -1;
	if (!(n >= 0 && n == floor(n)) || (n != (double)head->w && !(n == 0 && head->w == 1)))
		return fail("points", "is %s, the table has %zu columns",
		    meta_get(&head->meta, "points"), head->w);
	*points = (size_t)n;
	return 0;
}

void
head_set_points(struct frame_head *head, size_t points)
{
	head->w = points ? points : 1;
	head->h = 1;
	meta_setf(&head->meta, "points", "%zu", points);
}

bool
head_same_table(const struct frame_head *a, const struct frame_head *b)
{
	struct frame_head one = *a, other = *b;
	bool same;

	if (!head_is_table(a) || !head_is_table(b))
		return false;
	meta_copy(&one.meta, &a->meta);
	meta_copy(&other.meta, &b->meta);
	head_set_points(&one, 1);
	head_set_points(&other, 1);
	same = head_equal(&one, &other);
	meta_free(&one.meta);
	meta_free(&other.meta);
	return same;
}
