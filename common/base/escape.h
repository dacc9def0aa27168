/*
 * %XX escapes of the words in cmd.N keys: for bytes that NRRD readers cannot read, and for blanks
 * and % within a word.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdbool.h>
#include <stdio.h>

/* Must this byte be escaped in any place? Control and non-ASCII bytes, and a colon at the
 * end of a word (a colon with a blank behind it breaks readers). */
bool escape_needed(const char *at);
/* Writes a word, or the end of one: blanks, % and what escape_needed() names as %XX. */
void escape_put_word(FILE *, const char *word);

#endif
