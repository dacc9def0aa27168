/* What the syntaxes of a number file share: the cursor in the text and the entries so far. */
#ifndef NUMBER_PARSER_H
#define NUMBER_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "optics/number_file.h"

#define NUMBER_DEPTH_LIMIT 32	/* of nested keys, lists or elements */

struct number_parser {
	const char *path;
	const char *start, *at, *end;	/* of the text; *end is 0 */
	struct number_file *file;
	int muted;			/* inside lists of objects: entries are not kept */
	char (*key)[NUMBER_FILE_NAME_SIZE]; /* those that came, of entries and of what holds them */
	size_t keys;
	char open[NUMBER_FILE_NAME_SIZE]; /* YAML: the key whose list lines that begin with - are */
};

/* Fails with the line of the cursor, what was expected there and what was found. */
int number_parser_fail(const struct number_parser *, const char *why);
/* Notes a key, which the cursor is behind. A second one of that name is an error. */
int number_parser_key(struct number_parser *, const char *name);
/* Begins an entry, without numbers yet; one whose name is too long is not kept. */
int number_parser_open(struct number_parser *, const char *name);
/* Appends a number to the last entry, if that is `name`. */
int number_parser_add(struct number_parser *, const char *name, double v);
/* An entry that is a text of n bytes. */
int number_parser_text(struct number_parser *, const char *name, const char *text, size_t n);
/* Makes OUTER.KEY; question marks when it is too long. */
void number_parser_join(char out[NUMBER_FILE_NAME_SIZE + 1], const char *outer, const char *key,
    size_t n);
/* Moves the cursor past blanks, comments from # on and, if lines, line ends. */
void number_parser_skip_blank(struct number_parser *, bool lines);
/* Takes a number at the cursor that a blank or a delimiter ends; false: there is none. */
bool number_parser_number(struct number_parser *, double *v);
/* Takes a quoted string: *text, *n without the quotes. Escapes stay as they are. */
int number_parser_quoted(struct number_parser *, const char **text, size_t *n);

/* JSON, which YAML uses within brackets: any value, a list, and a word up to one of the bytes in
 * stop: true, null, a text without quotes. */
int number_json_value(struct number_parser *, const char *name, int depth);
int number_json_list(struct number_parser *, const char *name, int depth);
int number_json_bare(struct number_parser *, const char *name, const char *stop);
/* A file of at most `limit` bytes, of any of these. 0, or -1 after fail(). */
int number_file_load_syntax(const char *path, size_t limit, struct number_file *);
/* YAML and XML, each to the end of the text. */
int number_yaml(struct number_parser *);
int number_xml(struct number_parser *);

#endif
