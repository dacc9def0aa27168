/* The words of the command, and how sure each one is. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "probe.h"

const char *const certainty_words[] = { "certain", "found", "guessed", "unknown", NULL };

int
command_word(struct probe *probe, enum certainty sure, const char *why, const char *format, ...)
{
	struct word *more = reallocarray(probe->word, probe->words + 1, sizeof(*more)), *word;
	va_list args;
	int n;

	if (!more)
		return fail_memory();
	probe->word = more;
	word = &more[probe->words++];
	*word = (struct word){ .why = strdup(why), .sure = sure };
	va_start(args, format);
	n = vasprintf(&word->text, format, args);
	va_end(args);
	if (n < 0)
		word->text = NULL;
	return word->text && word->why ? 0 : fail_memory();
}

const char *
command_reason(char text[300], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, 300, format, args);
	va_end(args);
	return text;
}
