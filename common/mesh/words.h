/*
 * Words of a text that may be long: only foreign text has a word longer than WORD_SIZE - 1 bytes,
 * and it is cut there.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define WORD_SIZE 64

struct words {
	FILE *file;
	const char *path;
	size_t line;			/* from 1 */
	const unsigned char *start;	/* bytes that were read before, */
	size_t left;			/* and how many of them are left */
	int next;			/* a byte that was read too far; EOF: none */
	char word[WORD_SIZE];
	bool cut;			/* words_next_line() found the text's end, no newline */
};

/* The next word of this line; false at its end. Backslash and newline continue a line. */
bool words_next(struct words *);
/* Passes over the rest of the line; false at the end of the text. */
bool words_next_line(struct words *);
/* The next word on whatever line; false at the end. */
bool words_anywhere(struct words *);
/* Does the text end right behind the current word, without a newline? */
bool words_at_end(const struct words *);
/* fail() for a text whose last line may have been cut off so. */
int words_fail_end(const struct words *);
/* The current word as a number; -1 after fail() naming the line. */
int words_number(const struct words *, double *out);
/* Does a file that starts with these bytes look like text? */
bool words_are_text(const unsigned char *start, size_t n);

#endif
