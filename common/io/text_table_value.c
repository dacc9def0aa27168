/* What a table keeps of its file: values as float, names that differ. */
#define _GNU_SOURCE
#include "io/text_table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define WHOLE_MOST 16777216.0	/* up to here a float holds every whole number */
#define DIGITS_MOST 17

/* Significant digits of a decimal number, zeros at its end left out. */
static int
count_digits(const char *text)
{
	int n = 0, most = 1;

	for (; *text && *text != 'e' && *text != 'E'; text++) {
		n += isdigit((unsigned char)*text) && (n || *text != '0');
		if (*text >= '1' && *text <= '9')
			most = n;
	}
	return most < DIGITS_MOST ? most : DIGITS_MOST;
}

bool
text_table_rounds(const char *text, double v)
{
	float kept = (float)v;
	char again[64];

	if (!(fabs(v) >= WHOLE_MOST) || isinf(v) || (double)kept == v)
		return false;
	if (!text || strpbrk(text, "xX"))
		return true;
	snprintf(again, sizeof(again), "%.*e", count_digits(text) - 1, (double)kept);
	return strtod(again, NULL) != v;	/* else other digits for the same float */
}

void
text_table_warn_rounded(const char *path, const char *what, size_t number, const char *value,
    float kept)
{
	warn(path, "%s %zu: %.60s becomes %.12g: from 16777216 on not every whole number is a "
	    "float (said once a file)", what, number, value, (double)kept);
}

void
text_table_change_name(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f || *name == '\\')
			*name = '_';
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int
text_table_check_names(const char *path, const struct frame_head *head)
{
	const char **name = calloc(head->c, sizeof(*name));
	int status = 0;

	if (!name)
		return fail_memory();
	for (size_t c = 0; c < head->c; c++)
		name[c] = head->channel[c];
	qsort(name, head->c, sizeof(*name), by_name);
	for (size_t c = 1; c < head->c && status == 0; c++)
		if (!strcmp(name[c - 1], name[c]))
			status = fail(path, "two columns have the name %s (31 bytes of it count)",
			    name[c]);
	free(name);
	return status;
}
