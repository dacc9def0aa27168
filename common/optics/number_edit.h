/* New values for top-level entries of a number file, with the rest of its text as it was. */
#ifndef NUMBER_EDIT_H
#define NUMBER_EDIT_H

#include <stddef.h>

struct number_edit {
	const char *name;
	const double *v;		/* n numbers, which are written with 12 digits */
	size_t n;
};

/*
 * Puts entries into text[n] (text[n] must be 0), YAML, XML or JSON as number_file_load() reads it:
 * one of the same name is replaced, all others and the comments stay. *out: a new text that
 * free() frees. 0, or -1 after fail(path, ...), also where the result does not read back as what
 * was meant.
 */
int number_edit_text(const char *path, const char *text, size_t n, const struct number_edit *edit,
    size_t edits, char **out);
/* The same from a file to a file, which may be the same one: it is replaced when complete. */
int number_edit_file(const char *from, const char *to, const struct number_edit *edit,
    size_t edits);

#endif
