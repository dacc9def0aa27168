#define _GNU_SOURCE
#include "io/codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/text.h"
#include "frame/keyline.h"

static bool
has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (; *words; words += strspn(words, " ")) {
		size_t n = strcspn(words, " ");

		if (n == length && !strncasecmp(words, word, n))
			return true;
		words += n;
	}
	return false;
}

const struct codec *
codec_of_list(const struct codec *const *list, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name)
		return NULL;
	for (; *list; list++)
		if (has_word((*list)->suffixes, dot + 1))
			return *list;
	return NULL;
}

const struct codec *
codec_by_suffix(const char *path)
{
	return codec_of_list(codecs, path);
}

int
codec_options_new(const struct codec *codec, const struct save_options *from, void **out)
{
	*out = NULL;
	if (!codec->options)
		return 0;
	*out = calloc(1, codec->option_size);
	if (!*out)
		return fail_memory();
	if (opt_defaults(codec->options, *out) == 0 &&
	    (!from || opt_copy(codec->options, *out, from->table, from->values) == 0))
		return 0;
	codec_options_free(codec, *out);
	*out = NULL;
	return -1;
}

void
codec_options_free(const struct codec *codec, void *options)
{
	if (options)
		opt_free(codec->options, options);
	free(options);
}

static void
put_spacing(FILE *file, const struct frame_head *head)
{
	char x[32], y[32];

	if (isnan(head->spacing[0]) && isnan(head->spacing[1]))
		return;
	fprintf(file, "spacing:=%s %s\n",
	    isnan(head->spacing[0]) ? "nan" : number_format(head->spacing[0], x),
	    isnan(head->spacing[1]) ? "nan" : number_format(head->spacing[1], y));
	if (*head->unit)
		keyline_put(file, "unit", head->unit);
}

char *
head_to_text(const struct frame_head *head)
{
	struct text text;
	FILE *file = text_open(&text);

	if (!file)
		return NULL;
	put_spacing(file, head);
	keyline_put_head(file, head);
	return text_close(&text, NULL);
}

static int
take_spacing(struct frame_head *head, const char *value)
{
	struct numbers v;

	if (numbers_parse(value, " ", &v) < 0)
		return fail_message() ? -1 : 0;
	if (v.n == 2) {
		head->spacing[0] = v.v[0];
		head->spacing[1] = v.v[1];
	}
	numbers_free(&v);
	return 0;
}

static int
take_line(struct frame_head *head, char *line)
{
	char *key, *value;

	if (!keyline_split(line, &key, &value))
		return 0;
	if (!strcmp(key, "channels"))
		keyline_name_channels(head, value);
	else if (!strcmp(key, "spacing"))
		return take_spacing(head, value);
	else if (!strcmp(key, "unit"))
		snprintf(head->unit, sizeof(head->unit), "%s", value);
	else
		return meta_set(&head->meta, key, value);
	return 0;
}

int
head_from_text(struct frame_head *head, const char *text, size_t length)
{
	char *copy = strndup(text, length), *rest = copy, *line;
	int status = 0;

	if (!copy)
		return fail_memory();
	while (status == 0 && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, "\r")] = '\0';
		status = take_line(head, line);
	}
	free(copy);
	return status;
}
