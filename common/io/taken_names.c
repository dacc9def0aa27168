/* A search tree of names; numbers of one name are searched once, not once for each frame. */
#define _GNU_SOURCE
#include "io/taken_names.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct taken_name {
	const char *text;
	size_t number;			/* the first one behind this name that may be free */
};

struct taken_names {
	void *tree;			/* of struct taken_name, as tsearch(3) has it */
};

static int
compare(const void *a, const void *b)
{
	return strcmp(((const struct taken_name *)a)->text, ((const struct taken_name *)b)->text);
}

static struct taken_name *
find(const struct taken_names *names, const char *text)
{
	const struct taken_name wanted = { text, 0 };
	struct taken_name *const *found = tfind(&wanted, &names->tree, compare);

	return found ? *found : NULL;
}

static const char *
take(struct taken_names *names, const char *text)
{
	size_t size = strlen(text) + 1;
	struct taken_name *name = malloc(sizeof(*name) + size);

	if (name) {
		*name = (struct taken_name){ memcpy(name + 1, text, size), 0 };
		if (tsearch(name, &names->tree, compare))
			return name->text;
	}
	free(name);
	fail_memory();
	return NULL;
}

struct taken_names *
taken_names_new(void)
{
	struct taken_names *names = calloc(1, sizeof(*names));

	if (!names)
		fail_memory();
	return names;
}

void
taken_names_free(struct taken_names *names)
{
	if (names)
		tdestroy(names->tree, free);
	free(names);
}

const char *
taken_names_add(struct taken_names *names, const char *text, size_t number)
{
	struct taken_name *name = find(names, text);
	size_t room = strlen(text) + 24;
	const char *taken;
	char *numbered;

	if (!name)
		return take(names, text);
	numbered = malloc(room);
	if (!numbered) {
		fail_memory();
		return NULL;
	}
	if (name->number < number)
		name->number = number;
	do
		snprintf(numbered, room, "%s-%04zu", text, name->number++);
	while (find(names, numbered));
	taken = take(names, numbered);
	free(numbered);
	return taken;
}
