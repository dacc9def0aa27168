#define _GNU_SOURCE
#include "numbers.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

int
number_parse(const char *text, double *out)
{
	char *end;

	if (!*text || strchr(" \t\r\n", *text))
		return -1;
	*out = strtod(text, &end);
	return *end ? -1 : 0;
}

int
integer_parse(const char *text, long *out)
{
	char *end;

	if (!*text || strchr(" \t\r\n", *text))
		return -1;
	errno = 0;
	*out = strtol(text, &end, 10);
	return *end || errno ? -1 : 0;
}

int
numbers_parse(const char *text, const char *separators, struct numbers *out)
{
	size_t room = 0;

	out->n = 0;
	out->v = NULL;
	for (;;) {
		char *end;
		double v = strtod(text, &end);

		if (end == text)
			break;
		if (out->n == room) {
			double *more = reallocarray(out->v, room ? 2 * room : 8, sizeof(*more));

			if (!more)
				break;
			out->v = more;
			room = room ? 2 * room : 8;
		}
		out->v[out->n++] = v;
		if (!*end)
			return 0;
		if (!strchr(separators, *end))
			break;
		while (*end && strchr(separators, *end) && *separators == ' ')
			end++;
		text = end + (*separators != ' ');
		if (!*text && *separators == ' ')
			return 0;
	}
	numbers_free(out);
	return -1;
}

void
numbers_free(struct numbers *list)
{
	free(list->v);
	list->v = NULL;
	list->n = 0;
}

const char *
number_format(double v, char text[32])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, 32, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	return text;
}

int
numbers_compare(const void *a, const void *b)
{
	float p = *(const float *)a, q = *(const float *)b;

	return (p > q) - (p < q);
}

int
size_multiply(size_t a, size_t b, size_t *out)
{
	if (__builtin_mul_overflow(a, b, out))
		return fail(NULL, "size overflows: %zu times %zu", a, b);
	return 0;
}

int
size_add(size_t a, size_t b, size_t *out)
{
	if (__builtin_add_overflow(a, b, out))
		return fail(NULL, "size overflows: %zu plus %zu", a, b);
	return 0;
}
