#define _GNU_SOURCE
#include "io/text_order.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

/* Are two names alike but for their numbers? */
static bool
differ_in_numbers(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			a += strspn(a, "0123456789");
			b += strspn(b, "0123456789");
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

/* Has it a number with a decimal point, 0.25, whose digits are no number by themselves? */
static bool
has_fraction(const char *name)
{
	for (const char *p = name; (p = strchr(p, '.')); p++)
		if (p > name && isdigit((unsigned char)p[-1]) && isdigit((unsigned char)p[1]))
			return true;
	return false;
}

size_t
text_order_find(char *const *name, size_t n)
{
	size_t at = n;

	for (size_t i = 1; i < n; i++) {
		if (strcmp(name[i - 1], name[i]) >= 0)
			return n;
		if (at == n && strverscmp(name[i - 1], name[i]) > 0)
			at = i - 1;
	}
	return at;
}

size_t
text_order_find_alike(char *const *name, size_t n, size_t least)
{
	for (size_t i = 0, alike; i < n; i += alike) {
		size_t at;

		for (alike = 1; i + alike < n &&
		    differ_in_numbers(name[i + alike - 1], name[i + alike]); alike++)
			;
		at = text_order_find(name + i, alike);
		if (alike >= least && at < alike && !has_fraction(name[i + at + 1]))
			return i + at;
	}
	return n;
}

void
text_order_warn(char *const *name, size_t at)
{
	warn(NULL, "%.200s comes before %.200s, as a shell sorts numbers without zeros: give the "
	    "folder, or the files in the order of their numbers", name[at], name[at + 1]);
}
