#define _GNU_SOURCE
#include "tags.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "frame/keyline.h"
#include "io/codec.h"
#include "levels.h"
#include "video.h"

/* ---- comparing ---- */

static bool
is_of_a_picture(const char *key)
{
	return !strcmp(key, "name") || !strcmp(key, "time_s") || !strcmp(key, "holo_check");
}

static bool
is_command(const char *key)
{
	return !strncmp(key, "cmd.", 4);
}

/* Keys that say what samples mean. depth_range says what a scene's depths are, not by which range
 * they were coded. */
static bool
is_meaning(const char *key)
{
	static const char *const start[] = { "holo_", "depth", "sample_", "z_axis", "max_value",
		"length_unit", "invalid", NULL };

	for (const char *const *word = start; *word && strcmp(key, "depth_range"); word++)
		if (!strncmp(key, *word, strlen(*word)))
			return true;
	return false;
}

static bool
differs(const struct meta *other, const struct meta_entry *entry)
{
	const char *value = meta_get(other, entry->key);

	return !value || strcmp(value, entry->value) != 0;
}

/* Looks for keys of a in b. */
static enum tags_relation
compare_to(const struct meta *a, const struct meta *b, const char **key)
{
	enum tags_relation relation = TAGS_EQUAL;

	for (size_t i = 0; i < a->n; i++) {
		const struct meta_entry *entry = &a->entry[i];

		if (is_of_a_picture(entry->key) || is_command(entry->key) || !differs(b, entry))
			continue;
		if (relation == TAGS_EQUAL)
			*key = entry->key;
		relation = TAGS_DIFFER;
		if (is_meaning(entry->key)) {
			*key = entry->key;
			return TAGS_MEANING_DIFFERS;
		}
	}
	return relation;
}

enum tags_relation
tags_compare(const struct meta *first, const struct meta *later, const char **key)
{
	enum tags_relation relation = compare_to(later, first, key);
	const char *other = NULL;

	if (relation == TAGS_MEANING_DIFFERS)
		return relation;
	if (compare_to(first, later, &other) > relation) {
		*key = other;
		return compare_to(first, later, &other);
	}
	return relation;
}

/* ---- writing ---- */

/* What ffmpeg's metadata text would read otherwise stands behind a backslash. */
static void
put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (strchr("=;#\\\n", *text))
			putc('\\', to);
		putc(*text, to);
	}
}

static void
put_tag(FILE *to, const char *key, const char *value)
{
	put_escaped(to, key);
	putc('=', to);
	put_escaped(to, value);
	putc('\n', to);
}

/* The lines that other formats hold as text: channels, spacing, unit and keys. */
static int
put_lines(const struct frame_head *head, FILE *to)
{
	char *text = head_to_text(head), *rest = text, *line;

	if (!text)
		return -1;
	while ((line = strsep(&rest, "\n"))) {
		char *key, *value;

		if (keyline_split(line, &key, &value))
			put_tag(to, key, value);
	}
	free(text);
	return 0;
}

static int
put_first_keys(const struct meta *first, const struct meta *second, FILE *to)
{
	struct text names;
	FILE *file = text_open(&names);
	char *list;

	if (!file)
		return -1;
	for (size_t i = 0; i < first->n; i++)
		if (strcmp(first->entry[i].key, "time_s") != 0 &&
		    (is_of_a_picture(first->entry[i].key) ||
		    (!is_command(first->entry[i].key) && differs(second, &first->entry[i]))))
			fprintf(file, "%s ", first->entry[i].key);
	list = text_close(&names, NULL);
	if (!list)
		return -1;
	if (*list) {
		list[strlen(list) - 1] = '\0';
		put_tag(to, TAGS_FIRST_KEY, list);
	}
	free(list);
	return 0;
}

int
tags_write(const char *path, const struct frame_head *head, const struct meta *second, size_t w,
    size_t h, const char *levels, FILE *to)
{
	fputs(";FFMETADATA1\n", to);
	if (put_lines(head, to) < 0 || (second && put_first_keys(&head->meta, second, to) < 0))
		return -1;
	if (w != head->w || h != head->h)
		fprintf(to, VIDEO_SIZE_KEY "=%zu %zu\n", head->w, head->h);
	if (*levels)
		put_tag(to, LEVELS_KEY, levels);
	return fflush(to) == 0 ? 0 : fail_errno(path, "temporary file cannot be written");
}

/* ---- reading ---- */

int
tags_forget_first(struct meta *meta, const char *list)
{
	char word[256];

	for (size_t i = 0; list && meta_word(list, i, word, sizeof(word)); i++)
		meta_remove(meta, word);
	return meta->failed ? -1 : 0;
}
