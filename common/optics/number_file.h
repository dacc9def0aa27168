/* Named lists of numbers out of a text file: as much of YAML, XML and JSON as calibrations use. */
#ifndef NUMBER_FILE_H
#define NUMBER_FILE_H

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
	size_t n, room;
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

#endif
