/* Named lists of numbers out of YAML, XML and JSON, as much of them as calibrations use; and an
 * editor of such files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NUMBER_FILE_NAME_SIZE 64
#define NUMBER_FILE_TEXT_SIZE 32

struct number_file_entry {
	char name[NUMBER_FILE_NAME_SIZE]; /* keys from the outside in, joined by dots: M1.data */
	char text[NUMBER_FILE_TEXT_SIZE];	/* a value that is no number; empty: numbers */
	size_t first, n; /* its numbers, nested lists one after another: v[first] .. */
	bool is_text;	/* a value that is no number was there, which may be too long for text */
};

struct number_file {
	struct number_file_entry *entry;
	size_t entries;
	double *v;
	size_t n;
};

/*
 * Reads a file of up to 1 MB. A text that begins with `<` is XML (the outermost element is not part
 * of the names), with `{` JSON, with a number or a # comment and then nothing but numbers one
 * unnamed list, else YAML (OpenCV's first line %YAML:1.0 is accepted). Lists of objects are passed
 * over; what else is no number in a list is NaN, so that those behind it keep their places. mrcal's
 * camera models, by their suffix, become such a file, see camera_model.h. The number_file is
 * overwritten; number_file_free() frees it. 0, or -1 after fail(path, ..).
 */
int number_file_load(const char *path, struct number_file *);
/* The same from memory; text[n] must be 0. */
int number_file_parse(const char *path, const char *text, size_t n, struct number_file *);
void number_file_free(struct number_file *);
/* The entry called name or name.data; NULL if there is none. */
const struct number_file_entry *number_file_find(const struct number_file *, const char *name);
/* OpenCV's matrices say beside NAME.data how many rows and columns they have, and in dt how many
 * channels: 2d is pairs of doubles. -1 after fail() where the entry has not so many numbers. */
int number_file_check_size(const char *path, const struct number_file *,
    const struct number_file_entry *);

/* What the syntaxes of a number file share: the cursor in the text and the entries so far. */

struct number_parser {
	const char *path;
	const char *start, *at, *end;	/* of the text; *end is 0 */
	struct number_file *file;
	int muted;			/* inside lists of objects: entries are not kept */
	char (*key)[NUMBER_FILE_NAME_SIZE]; /* those that came, of entries and of what holds them */
	size_t keys;
	char open[NUMBER_FILE_NAME_SIZE]; /* YAML: the key whose list lines that begin with - are */
};

/* Begins an entry, without numbers yet; one whose name is too long is not kept. */
int number_parser_open(struct number_parser *, const char *name);
/* Appends a number to the last entry, if that is `name`. */
void number_parser_add(struct number_parser *, const char *name, double v);
/* An entry that is a text of n bytes. */
int number_parser_text(struct number_parser *, const char *name, const char *text, size_t n);

/* A file of at most `limit` bytes, of any of these. 0, or -1 after fail(). */
int number_file_load_syntax(const char *path, size_t limit, struct number_file *);

/* New values for top-level entries of a number file, with the rest of its text as it was. */

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
