/*
 * Tables (frame(5)) as text, in two syntaxes:
 *
 * CSV: lines `# key:=value`, a line with the names of the columns, a line per row; commas between
 * fields, NaN is `nan`. Read are also empty fields (NaN), quoted fields, blanks around a field,
 * other comments and blank lines, which are passed over, and lines that end with \r.
 *
 * vnlog (github.com/dkogan/vnlog): lines `## key:=value`, a line `# name name ...`, a line per row;
 * blanks between fields, NaN is `-`. Read are also `nan`, comments behind a row and blank lines.
 *
 * Values are printed so that they read back as the same float.
 */
#ifndef TEXT_TABLE_H
#define TEXT_TABLE_H

#include "io/codec.h"

enum text_syntax { TEXT_CSV, TEXT_VNL };

/* The save, load and sniff of a codec. A field or a row that is not right is an error that names
 * the line. */
int text_table_save(struct saver *, enum text_syntax, const struct frame *);
int text_table_load(struct loader *, enum text_syntax, struct frame **out);
bool text_table_sniff(enum text_syntax, const unsigned char *start, size_t n);

/* -1 after fail() where two channels have the same name. */
int text_table_check_names(const char *path, const struct frame_head *);
/* Is v, of 16777216 or more, another number as a float? What `text` (NULL: there is none) says in
 * fewer digits than its float has is not. */
bool text_table_rounds(const char *text, double v);
/* The warning about the first such value, on line or point `number`. */
void text_table_warn_rounded(const char *path, const char *what, size_t number, const char *value,
    float kept);

#endif
