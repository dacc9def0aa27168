#include "base/opt_suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 40		/* letters of a name that are compared */
#define OPTIONS_MOST 128		/* names of a list of options that are compared */
#define SUGGESTED_MOST 3

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t
opt_suggest_distance(const char *a, size_t n, const char *b)
{
	size_t m = strlen(b), row[3][NAME_MOST + 1];

	if (n > NAME_MOST || m > NAME_MOST)
		return NAME_MOST;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(least(last[j], now[j - 1]) + 1,
			    last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return row[n % 3][m];
}

const char *
opt_suggest_word(const char *word, size_t n, const char *mark, const char *const *words, char *text,
    size_t size)
{
	size_t nearest = n / 3 < 3 ? n / 3 : 3, used = 0, found = 0;

	*text = '\0';
	for (size_t i = 0; words[i]; i++)
		if (n > 0 && !strncmp(words[i], word, n))
			nearest = 0;
		else if (nearest > 0)
			nearest = least(nearest, opt_suggest_distance(word, n, words[i]));
	for (size_t i = 0; words[i] && found < SUGGESTED_MOST; i++) {
		bool meant = (n > 0 && !strncmp(words[i], word, n)) ||
		    (nearest > 0 && opt_suggest_distance(word, n, words[i]) == nearest);

		if (!meant)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s%s",
		    found++ ? " or " : " (is it ", mark, words[i]);
		if (used >= size)
			break;
	}
	if (found && used + 3 <= size)
		strcpy(text + used, "?)");
	else
		*text = '\0';
	return text;
}

const char *
opt_suggest(const char *word, const struct option *option, char *text, size_t size)
{
	const char *names[OPTIONS_MOST + 1];
	size_t n = 0;

	for (; n < OPTIONS_MOST && option[n].name; n++)
		names[n] = option[n].name;
	names[n] = NULL;
	word += strspn(word, "-");
	return opt_suggest_word(word, strcspn(word, "="), "--", names, text, size);
}
