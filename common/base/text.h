/* Texts in memory: growing them, escaping bytes that a terminal or NRRD must not see. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A path's last part, after the last slash. */
const char *path_name(const char *path);

/* Writes a number as JSON has it: null where it is not finite. */
void json_put_number(FILE *, double v);

/* ---- UTF-8's byte order mark, which some programs begin a text with ---- */

/* The mark's bytes at the start of a text of n bytes: 3, or 0 where there is none. */
size_t byte_order_mark(const void *text, size_t n);

/* ---- words in lists ---- */

/* The index of a word in a list that NULL ends; -1 where it is not there, or NULL. */
int word_find(const char *const *words, const char *word);
/* Is it one of the words of a list with blanks between them? */
bool words_have(const char *list, const char *word);

/* ---- are two measurements one and the same? Two captures never agree to the last bit ---- */

struct same_values {
	size_t there;			/* values that are not NaN, so far */
	bool differ;
};

/* Compares n more values; NaN equals NaN. What has differed once stays so. */
void same_values_add(struct same_values *, const float *a, const float *b, size_t n);
/* Did so many values agree, and none differ, that it is no accident? */
bool same_values_found(const struct same_values *);

/*
 * %XX escapes of the words in cmd.N keys: for bytes that NRRD readers cannot read, and for blanks
 * and % within a word. And foreign text on its way to a terminal.
 */

/* Must this byte be escaped in any place? Control and non-ASCII bytes, and a colon at the
 * end of a word (a colon with a blank behind it breaks readers). */
bool escape_needed(const char *at);
/* Writes a word, or the end of one: blanks, % and what escape_needed() names as %XX. */
void escape_put_word(FILE *, const char *word);
/* Makes each byte that could command a terminal a ?: control characters but tabs, C1 of UTF-8 among
 * them, and bytes that are no UTF-8. */
void escape_controls(char *text);
/* Writes a text likewise. */
void escape_put_text(FILE *, const char *text);

/*
 * A stream that gathers a text in memory that is never NULL (process.h). Those of open_memstream()
 * drop what does not fit, and fclose() may say that all went well.
 */

struct text {
	FILE *file;		/* to write to; NULL: not open */
	char *bytes;		/* what has been flushed to it */
	size_t n, room;
};

/* Opens an empty text. It stays where it is in memory until it is closed. Returns text->file. */
FILE *text_open(struct text *);
/* Closes it. What was written as a string that the caller frees, with its length in *n unless n is
 * NULL. */
char *text_close(struct text *, size_t *n);
/* Closes it, if it is open, and forgets what was written. */
void text_drop(struct text *);

/* The text of a file of at most `limit` bytes, and a 0; the caller's. NULL after fail(), with the
 * message `longer` where it is longer. */
char *text_file_read(const char *path, size_t limit, const char *longer, size_t *n);
