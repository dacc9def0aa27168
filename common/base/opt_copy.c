/* Values from one option table to another, by the names of their rows; declared in opt.h. */
#define _GNU_SOURCE
#include "base/opt_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static const struct opt *
row_of_name(const struct opt *table, const char *name)
{
	for (size_t i = 0; i < opt_count(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* Does the row have no default, and was no value given? */
static bool
is_none(const struct opt *row, const void *value)
{
	switch (row->type) {
	case OPT_FLAG:
		return false;
	case OPT_INTEGER:
		return *(const long *)value == OPT_NONE_INTEGER;
	case OPT_NUMBER:
	case OPT_ANGLE:
		return isnan(*(const double *)value);
	case OPT_NUMBERS:
	case OPT_ANGLES:
		return ((const struct numbers *)value)->n == 0;
	case OPT_WORD:
		return *(const int *)value < 0;
	case OPT_TEXT:
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		return !*(const char *const *)value;
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		return ((const struct opt_list *)value)->n == 0;
	case OPT_SIZE:
		return ((const struct opt_size *)value)->w == 0;
	}
	return true;
}

static int
copy_numbers(struct numbers *to, const struct numbers *from)
{
	struct numbers copy = { from->n, reallocarray(NULL, from->n, sizeof(*copy.v)) };

	if (!copy.v)
		return fail_memory();
	memcpy(copy.v, from->v, from->n * sizeof(*copy.v));
	numbers_free(to);
	*to = copy;
	return 0;
}

static int
copy_list(struct opt_list *to, const struct opt_list *from)
{
	struct opt_list copy = { reallocarray(NULL, from->n, sizeof(*copy.v)), from->n };

	if (!copy.v)
		return fail_memory();
	memcpy(copy.v, from->v, from->n * sizeof(*copy.v));
	free(to->v);
	*to = copy;
	return 0;
}

/* Each table has its own words; a word that the other one lacks leaves the value as it is. */
static void
copy_word(const struct opt *row, int *to, const struct opt *from_row, int from)
{
	for (int i = 0; row->words[i]; i++)
		if (!strcmp(row->words[i], from_row->words[from]))
			*to = i;
}

static int
copy_value(const struct opt *row, void *to, const struct opt *from_row, const void *from)
{
	switch (row->type) {
	case OPT_FLAG:
		*(bool *)to = *(const bool *)from;
		return 0;
	case OPT_INTEGER:
		*(long *)to = *(const long *)from;
		return 0;
	case OPT_NUMBER:
	case OPT_ANGLE:
		*(double *)to = *(const double *)from;
		return 0;
	case OPT_NUMBERS:
	case OPT_ANGLES:
		return copy_numbers(to, from);
	case OPT_WORD:
		copy_word(row, to, from_row, *(const int *)from);
		return 0;
	case OPT_TEXT:
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		*(const char **)to = *(const char *const *)from;
		return 0;
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		return copy_list(to, from);
	case OPT_SIZE:
		*(struct opt_size *)to = *(const struct opt_size *)from;
		return 0;
	}
	return 0;
}

int
opt_copy(const struct opt *table, void *parameters, const struct opt *from,
    const void *from_parameters)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		const struct opt *row = &table[i], *other = row_of_name(from, row->name);
		const void *value;

		if (!other || other->type != row->type)
			continue;
		value = (const char *)from_parameters + other->offset;
		if (!is_none(other, value) &&
		    copy_value(row, (char *)parameters + row->offset, other, value) < 0)
			return -1;
	}
	return 0;
}
