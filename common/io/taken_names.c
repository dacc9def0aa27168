/* A hash table of names; numbers of one name are searched once, not once for each frame. */
#include "io/taken_names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct taken_name {
	struct taken_name *next;	/* of the same slot */
	uint64_t hash;
	size_t number;			/* the first one behind this name that may be free */
	char text[];
};

struct taken_names {
	struct taken_name **slot;
	size_t slots, n;		/* slots: a power of two */
};

struct taken_names *
taken_names_new(void)
{
	struct taken_names *names = calloc(1, sizeof(*names));

	if (names) {
		names->slots = 64;
		names->slot = calloc(names->slots, sizeof(*names->slot));
	}
	if (names && names->slot)
		return names;
	free(names);
	fail_memory();
	return NULL;
}

void
taken_names_free(struct taken_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->slots; i++)
		for (struct taken_name *name = names->slot[i], *next; name; name = next) {
			next = name->next;
			free(name);
		}
	free(names->slot);
	free(names);
}

/* FNV-1a. */
static uint64_t
hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash ^ hash >> 32;
}

static struct taken_name *
find(const struct taken_names *names, const char *text)
{
	uint64_t hash = hash_of(text);
	struct taken_name *name = names->slot[hash & (names->slots - 1)];

	while (name && (name->hash != hash || strcmp(name->text, text)))
		name = name->next;
	return name;
}

static int
double_slots(struct taken_names *names)
{
	size_t slots = 2 * names->slots;
	struct taken_name **slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return fail_memory();
	for (size_t i = 0; i < names->slots; i++)
		for (struct taken_name *name = names->slot[i], *next; name; name = next) {
			struct taken_name **at = &slot[name->hash & (slots - 1)];

			next = name->next;
			name->next = *at;
			*at = name;
		}
	free(names->slot);
	names->slot = slot;
	names->slots = slots;
	return 0;
}

static const char *
take(struct taken_names *names, const char *text)
{
	size_t size = strlen(text) + 1;
	struct taken_name *name, **at;

	if (names->n == names->slots && double_slots(names) < 0)
		return NULL;
	name = malloc(sizeof(*name) + size);
	if (!name) {
		fail_memory();
		return NULL;
	}
	memcpy(name->text, text, size);
	name->hash = hash_of(text);
	name->number = 0;
	at = &names->slot[name->hash & (names->slots - 1)];
	name->next = *at;
	*at = name;
	names->n++;
	return name->text;
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
