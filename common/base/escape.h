/*
 * %XX escapes of the words in cmd.N keys: for bytes that NRRD readers cannot read, and for blanks
 * and % within a word. And foreign text on its way to a terminal.
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
/* Makes each byte that could command a terminal a ?: control characters but tabs, C1 of UTF-8 among
 * them, and bytes that are no UTF-8. */
void escape_controls(char *text);
/* Writes a text likewise. */
void escape_put_text(FILE *, const char *text);

#endif
