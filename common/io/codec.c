/* Finds the codec of a file by its first bytes or its suffix. */
#include "io/codec.h"

#include <errno.h>
#include <math.h>
#include <strings.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "frame/key_lines.h"

/* The table of image formats: the build makes CODECS from the names in codec/. */
#define X(name) extern const struct codec codec_##name;
CODECS
#undef X
#define X(name) &codec_##name,
const struct codec *const codecs[] = { CODECS NULL };
#undef X

/* images: only formats that images are read from. */
static const struct codec *
sniffed(const struct codec *const *list, const unsigned char *start, size_t n, bool images)
{
	for (; n && *list; list++)
		if ((*list)->sniff && (*list)->sniff(start, n) &&
		    (((*list)->load && !(*list)->tables) || !images))
			return *list;
	return NULL;
}

const struct codec *
sniff_codec(const struct codec *const *also, const unsigned char *start, size_t n)
{
	const struct codec *codec = sniffed(codecs, start, n, also != NULL);

	if (codec || !also)
		return codec;
	codec = sniffed(also, start, n, false);
	return codec ? codec : sniffed(codecs, start, n, false);
}

ssize_t
sniff_read(int fd, void *start, size_t most, off_t here)
{
	size_t got = 0;

	while (got < most) {
		ssize_t more = pread(fd, (char *)start + got, most - got, here + (off_t)got);

		if (more < 0 && errno != EINTR)
			return -1;
		if (more == 0)
			break;
		if (more > 0)
			got += (size_t)more;
	}
	return (ssize_t)got;
}

int
sniff_fail(const char *path, const unsigned char *start, size_t n)
{
	char text[4 * 5 + 1] = "";

	if (n == 0)
		return fail(path, "is empty");
	for (size_t i = 0; i < n && i < 4; i++)
		sprintf(text + 5 * i, " 0x%02x", start[i]);
	return fail(path, "not a known image format, starts with%s", text);
}

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
	const char *name = path_name(path), *dot = strrchr(name, '.');

	if (!dot || dot == name)
		return NULL;
	for (; *list; list++)
		if (has_word((*list)->suffixes, dot + 1))
			return *list;
	return NULL;
}

const struct codec *
codec_of_raw(void)
{
	const struct codec *const *codec = codecs;

	while (*codec && !(*codec)->raw_check)
		codec++;
	return *codec;
}

const struct codec *
codec_by_suffix(const char *path)
{
	return codec_of_list(codecs, path);
}

void *
codec_options_new(const struct codec *codec, const struct save_options *from)
{
	void *options = codec->options ? must_alloc(1, codec->option_size) : NULL;

	if (options)
		opt_defaults(codec->options, options);
	if (options && from)
		opt_copy(codec->options, options, from->table, from->values);
	return options;
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

	put_spacing(file, head);
	keyline_put_head(file, head);
	return text_close(&text, NULL);
}

bool
head_line_is_of_table(const char *line)
{
	return !strncmp(line, "channels:=", 10) || !strncmp(line, "points:=", 8);
}

void
head_put_comments(FILE *file, const char *prefix, const struct frame_head *head, size_t most,
    bool table)
{
	char *text = head_to_text(head), *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strlen(line) < most && !(table && head_line_is_of_table(line)))
			fprintf(file, "%s %s\n", prefix, line);
	free(text);
}

static void
take_spacing(struct frame_head *head, const char *value)
{
	struct numbers v;

	if (numbers_parse(value, " ", &v) < 0)
		return;
	if (v.n == 2) {
		head->spacing[0] = v.v[0];
		head->spacing[1] = v.v[1];
	}
	numbers_free(&v);
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
		take_spacing(head, value);
	else if (!strcmp(key, "unit"))
		snprintf(head->unit, sizeof(head->unit), "%s", value);
	else if (head->meta.n == META_KEYS_MOST)
		return fail(key, "metadata have more than %d keys", META_KEYS_MOST);
	else
		return meta_set(&head->meta, key, value);
	return 0;
}

int
head_from_text(struct frame_head *head, const char *text, size_t length)
{
	char *copy = must_format("%.*s", (int)length, text), *rest = copy, *line;
	int status = 0;

	while (status == 0 && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, "\r")] = '\0';
		status = take_line(head, line);
	}
	free(copy);
	return status;
}
