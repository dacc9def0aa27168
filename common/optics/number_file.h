/* Named lists of numbers out of a text file: as much of YAML, XML and JSON as calibrations use. */
#ifndef NUMBER_FILE_H
#define NUMBER_FILE_H

#include <stddef.h>

#define NAMED_NAME_SIZE 64
#define NAMED_TEXT_SIZE 32

struct named_entry {
	char name[NAMED_NAME_SIZE];	/* keys from the outside in, joined by dots: M1.data */
	char text[NAMED_TEXT_SIZE];	/* a value that is no number; empty: numbers */
	size_t first, n; /* its numbers, nested lists one after another: v[first] .. */
};

struct named {
	struct named_entry *entry;
	size_t entries;
	double *v;
	size_t n, room;
};

/*
 * Reads a file of up to 1 MB. A text that begins with `<` is XML (the outermost element is not part
 * of the names), with `{` JSON, with a number or a # comment and then nothing but numbers one
 * unnamed list, else YAML (OpenCV's first line %YAML:1.0 is taken). Lists of objects are passed
 * over. named is overwritten; free it with named_free. 0, or -1 after fail(path, ...).
 */
int named_load(const char *path, struct named *);
/* The same from memory; text[n] must be 0. */
int named_parse(const char *path, const char *text, size_t n, struct named *);
void named_free(struct named *);
/* The entry called name or name.data; NULL if there is none. */
const struct named_entry *named_find(const struct named *, const char *name);

#endif
