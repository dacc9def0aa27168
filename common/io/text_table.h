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
 * Points as columns (XYZ, ASC, PTS): a line per row, blanks between fields, NaN is `nan`; before
 * them a line `//x y z name ...`, unless the columns have their usual names, and in PTS the number
 * of points. Read are also commas and semicolons between fields, and names without //, of any case.
 *
 * Values are printed so that they read back as the same float.
 */
#pragma once

#include "frame/frame.h"

/* -1 after fail() where two channels have the same name. */
int text_table_check_names(const char *path, const struct frame_head *);

/* What formats of points share. */

struct table_place {		/* of a value in its file */
	const char *path, *what;	/* what: line, point */
	size_t number;
};

/* v as a float; word: as the file has it, NULL where it has bytes. A warning about the first value
 * of a file that a float rounds. -1 after fail() where it is too large. */
int table_value(const struct table_place *, const char *word, double v, float *to, bool *warned);
/* What a channel is called that other programs call `foreign`, which `to` may be. */
void table_channel_name(const char *foreign, bool any_case, char to[CHANNEL_NAME_SIZE]);
/* What they call a channel: red green blue alpha, or normal_x normal_y normal_z. */
enum { TABLE_COLOURS = 0, TABLE_NORMALS = 4 };
const char *table_foreign_name(const char *channel, size_t first);
/* -1 after fail() where there are no channels x y z. */
int table_has_points(const char *path, const struct frame_head *);
/* The channels r g b, if all of their samples are bytes, or levels of which the key max_value says
 * that 255 is white. */
bool table_byte_colours(const struct frame *floats, size_t colour[3]);
