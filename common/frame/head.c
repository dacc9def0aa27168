#include "frame/head.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

const char *
sample_name(enum sample type)
{
	return type == SAMPLE_UCHAR ? "uchar" : type == SAMPLE_USHORT ? "ushort" : "float";
}

int
head_set_count(struct frame_head *head, size_t c)
{
	char (*names)[CHANNEL_NAME_SIZE];

	if (c == 0 || c > 65536)
		return fail(NULL, "a frame has 1 to 65536 channels, not %zu", c);
	names = reallocarray(head->channel, c, sizeof(*names));
	if (!names)
		return fail_memory();
	head->channel = names;
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
	memset(head->channel, 0, c * sizeof(*head->channel)); /* head_equal compares whole names */
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

int
head_copy(struct frame_head *to, const struct frame_head *from)
{
	*to = *from;
	to->channel = NULL;
	to->meta = (struct meta){ 0 };
	if (head_set_count(to, from->c) < 0)
		return -1;
	memcpy(to->channel, from->channel, from->c * sizeof(*from->channel));
	meta_copy(&to->meta, &from->meta);
	return 0;
}

void
head_free(struct frame_head *head)
{
	free(head->channel);
	head->channel = NULL;
	meta_free(&head->meta);
}

static bool
same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

bool
head_equal(const struct frame_head *a, const struct frame_head *b)
{
	return a->w == b->w && a->h == b->h && a->c == b->c && a->type == b->type &&
	    same_number(a->spacing[0], b->spacing[0]) &&
	    same_number(a->spacing[1], b->spacing[1]) && !strcmp(a->unit, b->unit) &&
	    !memcmp(a->channel, b->channel, a->c * sizeof(*a->channel)) &&
	    meta_equal(&a->meta, &b->meta);
}

int
head_set_channels(struct frame_head *head, const char *names)
{
	size_t n = meta_words(names);

	if (head_set_count(head, n) < 0)
		return -1;
	memset(head->channel, 0, n * sizeof(*head->channel));
	for (size_t i = 0; i < n; i++)
		if (!meta_word(names, i, head->channel[i], CHANNEL_NAME_SIZE))
			return fail("channels", "name is longer than %d bytes: %.60s",
			    CHANNEL_NAME_SIZE - 1, head->channel[i]);
	return 0;
}

char *
head_channels(const struct frame_head *head)
{
	char *text = calloc(head->c, CHANNEL_NAME_SIZE + 1), *end = text;

	if (!text) {
		fail_memory();
		return NULL;
	}
	for (size_t i = 0; i < head->c; i++)
		end = stpcpy(stpcpy(end, i ? " " : ""), head->channel[i]);
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

size_t
head_numbered_channel(const struct frame_head *head, const char *base, size_t number)
{
	char name[CHANNEL_NAME_SIZE + 24];
	size_t c;

	snprintf(name, sizeof(name), "%s%zu", base, number);
	c = head_channel(head, name);
	return c == NO_CHANNEL && number == 1 ? head_channel(head, base) : c;
}

size_t
head_count_channels(const struct frame_head *head, const char *base)
{
	size_t n = 0;

	while (head_numbered_channel(head, base, n + 1) != NO_CHANNEL)
		n++;
	return n;
}
