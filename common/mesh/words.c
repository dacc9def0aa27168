#include "mesh/words.h"

#include "base/fail.h"
#include "base/numbers.h"

static int
get_byte(struct words *words)
{
	int c = words->next;

	if (c != EOF) {
		words->next = EOF;
		return c;
	}
	if (words->left) {
		words->left--;
		return *words->start++;
	}
	return getc_unlocked(words->file);
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The first byte of a word, or a newline, or EOF. */
static int
skip_blanks(struct words *words)
{
	int c = get_byte(words), after;

	for (;;) {
		while (is_blank(c))
			c = get_byte(words);
		if (c != '\\')
			return c;
		after = get_byte(words);
		if (after == '\r')
			after = get_byte(words);
		if (after != '\n') {
			words->next = after;
			return c;
		}
		words->line++;
		c = get_byte(words);
	}
}

bool
words_next(struct words *words)
{
	size_t n = 0;
	int c = skip_blanks(words);

	words->word[0] = '\0';
	if (c == '\n' || c == EOF) {
		words->next = c;
		return false;
	}
	for (; c != EOF && c != '\n' && !is_blank(c); c = get_byte(words))
		if (n < WORD_SIZE - 1)
			words->word[n++] = (char)c;
	words->word[n] = '\0';
	words->next = c;
	return true;
}

bool
words_next_line(struct words *words)
{
	int c = get_byte(words);

	while (c != '\n' && c != EOF)
		c = get_byte(words);
	words->cut = c == EOF;
	if (c == '\n') {
		words->line++;
		c = get_byte(words);
	}
	words->next = c;
	return c != EOF;
}

bool
words_anywhere(struct words *words)
{
	while (!words_next(words))
		if (!words_next_line(words))
			return false;
	return true;
}

bool
words_at_end(const struct words *words)
{
	return words->next == EOF;
}

int
words_fail_end(const struct words *words)
{
	return fail(words->path, "line %zu, the last one, has no newline: it may be cut off (if it "
	    "is whole, echo >>FILE ends it)", words->line);
}

int
words_number(const struct words *words, double *out)
{
	if (number_parse(words->word, out) < 0)
		return fail(
		    words->path, "line %zu: wanted a number, not '%s'", words->line, words->word);
	return 0;
}

bool
words_are_text(const unsigned char *start, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] == 0x7f || (start[i] < ' ' && !(start[i] >= '\t' && start[i] <= '\r')))
			return false;
	return true;
}
