#define _GNU_SOURCE
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
suffix_start(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

size_t
names_stem(const char *name)
{
	size_t n = suffix_start(name), whole = n;

	while (n > 0 && !is_digit(name[n - 1]))
		n--;
	if (n == 0)
		return whole;
	while (n > 0 && is_digit(name[n - 1]))
		n--;
	return n;
}

bool
names_same_group(const char *a, const char *b)
{
	size_t n = names_stem(a);

	return n == names_stem(b) && !strncmp(a, b, n);
}

bool
names_number(const char *name, size_t n, double *out)
{
	while (n > 0 && !is_digit(name[n - 1]))
		n--;
	if (n == 0)
		return false;
	while (n > 0 && (is_digit(name[n - 1]) ||
	    (name[n - 1] == '.' && n > 1 && is_digit(name[n - 2]))))
		n--;
	*out = strtod(name + n, NULL);
	return true;
}

bool
names_say(const char *name, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");
		char word[32] = "";

		memcpy(word, words, n < sizeof(word) - 1 ? n : sizeof(word) - 1);
		if (strcasestr(name, word))
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}
