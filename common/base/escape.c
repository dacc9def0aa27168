#include "base/escape.h"

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
