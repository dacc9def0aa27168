/* Texts that grow in memory, escapes in them, and UTF-8 byte order marks. */
#include "base/text.h"

#include <math.h>
#include <sys/types.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"

const char *
path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void
json_put_number(FILE *to, double v)
{
	char text[32];

	fputs(isfinite(v) ? number_format(v, text) : "null", to);
}

size_t
byte_order_mark(const void *text, size_t n)
{
	return n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

int
word_find(const char *const *words, const char *word)
{
	for (int i = 0; word && words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

bool
words_have(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = list; n && (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

#define LEAST 10000	/* equal values that are no accident */

void
same_values_add(struct same_values *same, const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n && !same->differ; i++) {
		bool valid = !px_isnan(a[i]);

		same->differ = valid != !px_isnan(b[i]) || (valid && a[i] != b[i]);
		same->there += valid;
	}
}

bool
same_values_found(const struct same_values *same)
{
	return !same->differ && same->there > LEAST;
}

bool
escape_needed(const char *at)
{
	unsigned char byte = (unsigned char)*at;

	return byte < 0x20 || byte > 0x7e || (byte == ':' && (at[1] == ' ' || at[1] == '\0'));
}

void
escape_put_word(FILE *file, const char *word)
{
	for (const char *p = word; *p; p++)
		if (*p == ' ' || *p == '%' || escape_needed(p))
			fprintf(file, "%%%02X", (unsigned char)*p);
		else
			putc(*p, file);
}

/* The bytes of the character at `at` that may be shown; 0: a byte that may not. */
static size_t
shown_length(const unsigned char *at)
{
	size_t n = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 :
	    *at < 0xf5 ? 4 : 0;

	if ((*at < 0x20 && *at != '\t') || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void
escape_controls(char *text)
{
	while (*text) {
		size_t n = shown_length((const unsigned char *)text);

		if (n == 0)
			*text = '?';
		text += n ? n : 1;
	}
}

void
escape_put_text(FILE *file, const char *text)
{
	while (*text) {
		size_t n = shown_length((const unsigned char *)text);

		if (n == 0)
			putc('?', file);
		else
			fwrite(text, 1, n, file);
		text += n ? n : 1;
	}
}

#define ROOM_FIRST 256

/* Makes room for n bytes and the zero that ends a string. */
static void
grow(struct text *text, size_t n)
{
	size_t room = text->room ? text->room : ROOM_FIRST;

	while (room - text->n <= n)
		room *= 2;
	if (room > text->room)
		text->bytes = must_resize(text->bytes, room, 1);
	text->room = room;
}

static ssize_t
append(void *cookie, const char *from, size_t n)
{
	struct text *text = cookie;

	grow(text, n);
	memcpy(text->bytes + text->n, from, n);
	text->n += n;
	return (ssize_t)n;
}

FILE *
text_open(struct text *text)
{
	static const cookie_io_functions_t functions = { .write = append };

	*text = (struct text){ 0 };
	text->file = fopencookie(text, "w", functions);
	if (!text->file)
		out_of_memory();
	return text->file;
}

char *
text_close(struct text *text, size_t *n)
{
	char *bytes;
	/* without memory for the stream's own buffer it takes nothing */
	bool failed = ferror(text->file) != 0;

	if (fclose(text->file) != 0 || failed)
		out_of_memory();
	text->file = NULL;
	grow(text, 0);
	bytes = text->bytes;
	bytes[text->n] = '\0';
	if (n)
		*n = text->n;
	text->bytes = NULL;
	return bytes;
}

void
text_drop(struct text *text)
{
	if (text->file)
		fclose(text->file);
	text->file = NULL;
	free(text->bytes);
	text->bytes = NULL;
}

char *
text_file_read(const char *path, size_t limit, const char *longer, size_t *n)
{
	FILE *file = fopen(path, "rb");
	char *text = malloc(limit + 2);		/* pages that are not filled cost nothing */
	int status;

	*n = file && text ? fread(text, 1, limit + 1, file) : 0;
	status = !file ? fail_errno(path, "cannot open") : !text ? fail_memory() :
	    ferror(file) ? fail_errno(path, "cannot read") : *n > limit ?
	    fail(path, "%s", longer) : 0;
	if (file)
		fclose(file);
	if (status < 0) {
		free(text);
		return NULL;
	}
	text[*n] = '\0';
	return must_resize(text, *n + 1, 1);
}
