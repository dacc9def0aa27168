/*
 * PLY files, whatever they hold: the header, then the values of its elements in their order. Lists
 * may stand anywhere. Nothing is allocated for what a header claims.
 */
#pragma once

#include <stdio.h>

#include "frame/samples.h"
#include "mesh/mesh_file.h"

#define PLY_ELEMENTS 64
#define PLY_PROPERTIES 256	/* of all elements together */
#define PLY_NAME_SIZE 64	/* longer names are cut */
#define PLY_LINE_BYTES 4096

enum ply_form { PLY_FORM_NONE, PLY_FORM_ASCII, PLY_FORM_LITTLE, PLY_FORM_BIG };

/* How polygons and strips lie in a list. */
enum ply_kind { PLY_OTHER, PLY_VERTEX, PLY_FACE, PLY_STRIP };

struct ply_property {
	char name[PLY_NAME_SIZE];
	enum element type, count_type;
	bool list;
	int role;			/* the user's own; of clouds, one of these: */
};

enum ply_cloud_role { PLY_PLAIN, PLY_PACKED /* 0xRRGGBB */, PLY_SKIPPED };

struct ply_element {
	char name[PLY_NAME_SIZE];
	enum ply_kind kind;
	unsigned long long count;
	size_t first, n;		/* its properties */
};

struct ply;

/* What the user of a file does on the way. Each may be NULL; -1 after fail(). */
struct ply_user {
	/* A property of the element, behind those that it has already. */
	int (*property)(struct ply *, const struct ply_element *, struct ply_property *);
	int (*comment)(struct ply *, char *text);
};

struct ply {
	const char *path;
	FILE *file;
	const struct ply_user *user;
	void *arg;			/* the user's own */
	enum ply_form form;
	struct words words;
	size_t line;
	struct ply_element element[PLY_ELEMENTS];
	size_t elements;
	struct ply_property property[PLY_PROPERTIES];
	size_t properties;
	size_t at;			/* the element whose values are read, */
	unsigned long long done;	/* and how many items of it have been */
	bool started;			/* the next one has been begun */
};

/* Reads the header; path, file, user and arg are set, all else is 0. -1 after fail(). */
int ply_read_header(struct ply *);
/* A line of a header without its end: \n, or \r \n. -1 after fail(). */
int ply_read_line(struct ply *, char line[PLY_LINE_BYTES]);
/* After the header: values of text follow. */
void ply_begin_values(struct ply *);
/*
 * After the header: the vertices' properties, but for lists, as the channels of a table; of an
 * image where head->h is more than 1, whose size is then head's. What stands behind the vertices is
 * left alone. -1 after fail().
 */
int ply_read_cloud(struct ply *, struct frame_head *, struct frame **out);
/* fail() for the current line of the header. */
int ply_fail_line(const struct ply *, const char *what, const char *seen);
bool ply_is_real(enum element type);
/* Goes to the next item of an element: ply_begin_element(), then for each item of it
 * ply_begin_item(); false behind the last one. An element without properties has no values,
 * whatever its count. */
void ply_begin_element(struct ply *, size_t element);
bool ply_begin_item(struct ply *);
/* Behind the last value that is wanted: text that ends right behind it may have been cut off
 * within it: a warning. */
void ply_check_last(const struct ply *);
/* Behind the last item of the last element: text that follows makes its number wrong, -1 after
 * fail(); bytes do so too, or are of no use: a warning. */
int ply_check_end(struct ply *);
/* The next value. -1 after fail(). */
int ply_next_value(struct ply *, enum element type, double *out);
/* The number of entries of a list. -1 after fail(). */
int ply_next_count(struct ply *, const struct ply_property *, unsigned long long *out);
