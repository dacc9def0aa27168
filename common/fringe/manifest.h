/*
 * Manifests describe the images of a measurement, for files without metadata of their own.
 *
 * A manifest is a vnlog table, one row per image, in the order of the measurement:
 *
 *	# file role axis period_px step shift_rad bit
 *	phase_00.png phase x 60 0 -2.0943951023931953 -
 *
 * `-` is null. Blank lines and comments (## and #! before the legend, any # behind it) are skipped.
 * Columns may come in any order; file and role must be there; unknown ones are ignored. A column
 * `gray_cell` follows `bit` where there is Gray code; columns `marker_px` and `marker_width_px`
 * where there is a marker, `frame` and `plane` where several patterns share an image, `check` (ok,
 * rejected) in those of fringeshoot. A line `##
 * projector_px:=1920 1080` before them says how large the patterns are. A file of several images
 * has a row for each, in page order. Relative names start at the manifest's folder, so that a
 * folder can be moved as a whole.
 */
#pragma once

#include <stdio.h>

#include "frame/frame.h"

struct run;

enum manifest_role {
	ROLE_PHASE, ROLE_SIN, ROLE_COS, ROLE_FLAT, ROLE_GRAY, ROLE_GRAY_INVERSE, ROLE_WHITE,
	ROLE_BLACK, ROLE_MARKER
};

/* What a Gray code counts: projector columns (or rows), fringe periods, half periods. */
enum manifest_cell { CELL_NONE = -1, CELL_COLUMN, CELL_PERIOD, CELL_HALF };

#define MANIFEST_NO_STEP (-1L)
#define MANIFEST_NO_BIT (-1L)

struct manifest_row {
	char *file;			/* a path that can be opened from the current folder */
	enum manifest_role role;
	char axis;			/* 'x' or 'y'; 0: null */
	double period_px;		/* NaN: null */
	long step;			/* MANIFEST_NO_STEP: null */
	double shift_rad;		/* NaN: null */
	long bit;			/* MANIFEST_NO_BIT: null */
	enum manifest_cell gray_cell;	/* CELL_NONE: null */
	double marker_px, marker_width_px;	/* of a stripe: its centre, its width; NaN: null */
	/* of a pattern that shares an image with others: the image's number, and the pattern's
	 * place in it, r g b or G0 ... B7; plane "": it has an image of its own */
	long frame;
	char plane[4];
	bool checked;			/* by fringeshoot */
	bool rejected;			/* fringeshoot could not take it without light of another */
};

struct manifest {
	size_t n;
	struct manifest_row *row;
	size_t projector_px[2];		/* width and height of the patterns; 0 0: not known */
};

extern const struct manifest_row manifest_empty_row;	/* all null */

/* The words of the keys `role` and `gray_cell`, in the order of the enums, ended by NULL. */
extern const char *const manifest_roles[];
extern const char *const manifest_cells[];

/* Reads a manifest; path "-" is standard input. At least one row. -1 after fail(path, ...). */
int manifest_load(const char *path, struct manifest *out);
/* -1 after fail() where an image was rejected, which is named; keep_going: a warning. */
int manifest_check_rejected(const struct manifest *, const char *path, bool keep_going);
/* Without operands the first stage reads the files of the manifest at `path`: sets run->operand to
 * `*file`, an array that the caller frees. Leaves both where operands are given, and where the
 * files are patterns as fringegen wrote them and standard input is a pipe or a file: the captures
 * come from there. -1 after fail(). */
int manifest_operands(const struct manifest *, const char *path, struct run *, char ***file);
/* How many rows are one measurement: fewer than all where they say which step each is, and repeat,
 * as those of several measurements with the same patterns do. */
size_t manifest_measurement(const struct manifest *);
/* Likewise from an open file; path is for messages and for the folder of relative names. */
int manifest_read(FILE *, const char *path, struct manifest *out);
void manifest_free(struct manifest *);

/* The row that an image's metadata describes (keys role axis period_px step shift_rad bit
 * gray_cell; an absent key or `-` is null, role must be there). -1 after fail(). */
int manifest_row_from_meta(const struct meta *, const char *file, struct manifest_row *out);
/* Sets these keys but gray_cell. */
void manifest_row_to_meta(const struct manifest_row *, struct meta *);
/* NaN: `-`. */
void manifest_set_number(struct meta *, const char *key, double);
/* Appends image `number` (from 0) of a target: its file is where `-o output` puts it, see
 * target_file_name(). */
int manifest_add(struct manifest *, const struct frame_head *, const char *output, size_t number);
/* Writes all rows, files relative to the folder of path; path "-" is standard output. The folders
 * of all files must exist. File names with blanks are refused. -1 after fail(). */
int manifest_write(const char *path, const struct manifest *);
