/* Crops, bins, joins, splits and turns frames, and keeps their metadata true. */
#include "image/arrange.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

#include "base/process.h"

/* ---- numbers of frames ---- */

/* A whole number at *text, which moves behind it. */
static bool
take_number(const char **text, size_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*number = (size_t)strtoull(*text, &end, 10);
	*text = end;
	return true;
}

/* 5, 5-9 or 5- at *text. */
static bool
take_range(const char **text, struct range *range)
{
	if (!take_number(text, &range->first))
		return false;
	range->last = range->first;
	if (**text == '-') {
		(*text)++;
		if (!take_number(text, &range->last))
			range->last = SIZE_MAX;
	}
	return range->last >= range->first;
}

int
ranges_parse(const char *option, const char *text, struct ranges *ranges)
{
	const char *p = text;

	*ranges = (struct ranges){ .range = must_alloc(strlen(text) + 1, sizeof(struct range)) };
	while (take_range(&p, &ranges->range[ranges->n])) {
		ranges->n++;
		if (*p == '\0')
			return 0;
		if (*p++ != ',')
			break;
	}
	ranges_free(ranges);
	return fail_usage(option, "wants numbers from 0 such as 3,5-9,12-, not '%.60s'", text);
}

bool
ranges_hold(const struct ranges *ranges, size_t number)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (number >= ranges->range[i].first && number <= ranges->range[i].last)
			return true;
	return false;
}

const struct range *
ranges_beyond(const struct ranges *ranges, size_t n)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (ranges->range[i].first >= n)
			return &ranges->range[i];
	return NULL;
}

void
ranges_free(struct ranges *ranges)
{
	free(ranges->range);
	*ranges = (struct ranges){ 0 };
}

/* ---- channels ---- */

int
arrange_find(const struct frame_head *head, const char *word, size_t *c)
{
	char names[300], *end;

	*c = head_channel(head, word);
	if (*c != NO_CHANNEL)
		return 0;
	if (isdigit((unsigned char)*word)) {
		*c = (size_t)strtoull(word, &end, 10);
		if (*end == '\0' && *c < head->c)
			return 0;
		if (*end == '\0')
			return fail("--channels", "there is no channel %s, the last is %zu", word,
			    head->c - 1);
	}
	return fail("--channels", "input has no channel %.60s, only: %s", word,
	    head_channels_hint(head, names));
}

/* The numbers of the listed channels; *index is new. */
static int
find_channels(const struct frame_head *head, const char *list, size_t **index, size_t *n)
{
	char *copy = must_strdup(list), *rest = copy, *word;

	*n = 0;
	*index = must_alloc(strlen(list) + 1, sizeof(**index));
	while ((word = strsep(&rest, ",")))
		if (arrange_find(head, word, &(*index)[(*n)++]) < 0) {
			free(copy);
			free(*index);
			return -1;
		}
	free(copy);
	return 0;
}

/* The chosen channels in *out, with the words of metadata lists that belong to them. */
static int
pick(const struct frame *frame, const size_t *index, size_t n, struct frame **out)
{
	if (frame_select(frame, index, n, out) < 0)
		return -1;
	if (meta_pick(&(*out)->head.meta, frame->head.c, index, n) == 0)
		return 0;
	frame_free(*out);
	return -1;
}

int
arrange_channels(struct frame **frame, const char *list)
{
	struct frame *picked;
	size_t *index, n;
	int status;

	if (find_channels(&(*frame)->head, list, &index, &n) < 0)
		return -1;
	status = pick(*frame, index, n, &picked);
	free(index);
	if (status == 0)
		frame_replace(frame, picked);
	return status;
}

int
arrange_take(const struct frame *frame, size_t c, struct frame **out)
{
	const char *channel = frame->head.channel[c], *name;
	struct meta *meta;
	char whole[512];

	if (pick(frame, &c, 1, out) < 0)
		return -1;
	meta = &(*out)->head.meta;
	name = meta_get(meta, "name");
	if (frame->head.c == 1 || (name && meta_words(meta_get(&frame->head.meta, "name")) ==
	    frame->head.c))
		return 0;	/* it has a name of its own already */
	snprintf(whole, sizeof(whole), "%s%s%s", name ? name : "", name ? "_" : "", channel);
	if (meta_set(meta, "name", whole) == 0)
		return 0;
	frame_free(*out);
	return -1;
}

/* Channels from `first` on that share its name get numbers, after a low line where the name ends in
 * a digit. */
static int
number_channels(struct frame_head *head, size_t first)
{
	char base[CHANNEL_NAME_SIZE], name[CHANNEL_NAME_SIZE + 24];
	size_t number = 1, length = strlen(head->channel[first]);
	bool digit;

	memcpy(base, head->channel[first], sizeof(base));
	digit = length && isdigit((unsigned char)base[length - 1]);
	for (size_t c = first; c < head->c; c++) {
		if (strcmp(head->channel[c], base))
			continue;
		snprintf(name, sizeof(name), "%s%s%zu", base, digit ? "_" : "", number++);
		if (strlen(name) >= CHANNEL_NAME_SIZE)
			return fail(base, "channel name is too long to be numbered");
		strcpy(head->channel[c], name);
	}
	return 0;
}

int
arrange_stack(struct frame *const *frames, size_t n, struct frame **out)
{
	struct frame_stacking stacking = { 0 };
	struct frame_head *head;
	int status = frame_stack(frames, n, &stacking, out);

	frame_stacking_free(&stacking);
	if (status < 0)
		return -1;
	head = &(*out)->head;
	for (size_t c = 0; c < head->c; c++)
		for (size_t k = c + 1; k < head->c; k++)
			if (!strcmp(head->channel[c], head->channel[k])) {
				if (number_channels(head, c) < 0) {
					frame_free(*out);
					return -1;
				}
				k = c;		/* the new name may be taken as well */
			}
	return 0;
}

/* ---- where a frame lies on its sensor ---- */

/* The key's one or two numbers; 1 1 without it. */
static int
read_bin(const struct meta *meta, double bin[2])
{
	struct numbers list;
	bool wrong;

	if (meta_numbers(meta, "bin", &list) < 0)
		return -1;
	bin[0] = list.n > 0 ? list.v[0] : 1.0;
	bin[1] = list.n > 1 ? list.v[1] : bin[0];
	wrong = list.n > 2 || (list.n == 0 && meta_get(meta, "bin"));
	numbers_free(&list);
	if (wrong)
		return fail("bin", "wants one or two numbers, not '%.60s'", meta_get(meta, "bin"));
	return 0;
}

int
arrange_keep_place(struct meta *meta, size_t x, size_t y, size_t binned)
{
	struct numbers origin;
	double place[2] = { 0.0, 0.0 }, bin[2];
	bool known, given = meta_get(meta, "origin_px") != NULL;

	if (read_bin(meta, bin) < 0 || meta_numbers(meta, "origin_px", &origin) < 0)
		return -1;
	known = origin.n == 2;
	if (known)
		memcpy(place, origin.v, sizeof(place));
	numbers_free(&origin);
	if (given && !known)
		return fail("origin_px", "wants two numbers, not '%.60s'",
		    meta_get(meta, "origin_px"));
	place[0] += (double)x * bin[0];
	place[1] += (double)y * bin[1];
	for (size_t i = 0; i < 2; i++)
		bin[i] *= (double)binned;
	if (binned > 1)
		meta_set_numbers(meta, "bin", bin, bin[0] == bin[1] ? 1 : 2);
	if (given || binned == 1)
		meta_set_numbers(meta, "origin_px", place, 2);
	return 0;
}

int
arrange_crop(struct frame **frame, size_t x, size_t y, size_t w, size_t h)
{
	const struct frame *in = *frame;
	struct frame_head head;
	struct frame *out;
	size_t bytes = sample_size(in->head.type);

	if (w > in->head.w || x > in->head.w - w || h > in->head.h || y > in->head.h - h)
		return fail("--crop", "%zu x %zu from %zu,%zu on does not lie within %zu x %zu", w,
		    h, x, y, in->head.w, in->head.h);
	head_copy(&head, &in->head);
	head.w = w;
	head.h = h;
	if (frame_new_if(arrange_keep_place(&head.meta, x, y, 1), &head, &out) < 0)
		return -1;
	for (size_t c = 0; c < in->head.c; c++)
		for (size_t k = 0; k < h; k++)
			memcpy(frame_row(out, c, k), (char *)frame_row(in, c, y + k) + x * bytes,
			    w * bytes);
	frame_replace(frame, out);
	return 0;
}

/* ---- metadata ---- */

/* The length of a key that = follows, 0 where there is none. */
static size_t
key_length(const char *text)
{
	size_t n = strspn(text,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	return text[n] == '=' ? n : 0;
}

static const char *
setting_end(const char *value)
{
	const char *end = strchr(value, ',');

	while (end && !key_length(end + 1))
		end = strchr(end + 1, ',');
	return end ? end : value + strlen(value);
}

static int
set_one(struct frame_head *head, const char *key, const char *value)
{
	if (strcmp(key, "channels"))
		return meta_set(&head->meta, key, value);
	if (meta_words(value) != head->c)
		return fail("--set", "channels wants %zu names, not '%.60s'", head->c, value);
	return head_set_channels(head, value);
}

size_t
arrange_next_key(const char **settings, const char **key)
{
	size_t n = key_length(*settings);
	const char *end = setting_end(*settings + n);

	*key = *settings;
	*settings = *end ? end + 1 : end;
	return n;
}

int
arrange_check_settings(const char *settings)
{
	/* text behind a comma without a key belongs to the value */
	return key_length(settings) ? 0 :
	    fail_usage("--set", "wants key=value, not '%.60s'", settings);
}

int
arrange_set(struct frame *frame, const char *settings)
{
	for (const char *p = settings; *p;) {
		size_t n = key_length(p);
		const char *end;
		char *key, *value;
		int status;

		end = setting_end(p + n + 1);
		key = must_format("%.*s", (int)n, p);
		value = must_format("%.*s", (int)(end - p - 1) - (int)n, p + n + 1);
		status = set_one(&frame->head, key, value);
		free(key);
		free(value);
		if (status < 0)
			return -1;
		p = *end ? end + 1 : end;
	}
	return 0;
}

void
arrange_delete(struct frame *frame, const char *keys)
{
	struct meta *meta = &frame->head.meta;
	char *copy = must_strdup(keys), *rest = copy, *pattern;

	while ((pattern = strsep(&rest, ",")))
		for (size_t i = meta->n; i-- > 0;)
			if (!fnmatch(pattern, meta->entry[i].key, 0))
				meta_remove(meta, meta->entry[i].key);
	free(copy);
}
