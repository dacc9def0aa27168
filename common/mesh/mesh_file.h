/* Reading and writing meshes as OBJ, PLY and STL. */
#pragma once

#include <stdio.h>

#include "io/codec.h"
#include "mesh/mesh.h"

/*
 * Words of a text that may be long: only foreign text has a word longer than WORD_SIZE - 1 bytes,
 * and it is cut there.
 */

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

/* The next word on whatever line; false at the end. */
bool words_anywhere(struct words *);
/* warn() of a text whose last line may have been cut off so. */
void words_warn_end(const struct words *);
/* The current word as a number; -1 after fail() naming the line. */
int words_number(const struct words *, double *out);

/*
 * Triangle meshes from files: PLY (ascii, binary of either byte order; faces, polygons, triangle
 * strips), OBJ and STL (ascii, binary), recognised by their first bytes. A polygon becomes a fan
 * about its first corner, which is right for convex ones.
 */

/* The formats, for source_open_as(): PLY, OBJ, STL. */
extern const struct codec *const mesh_file_codecs[];

/*
 * Reads the mesh of that format from a file at its start; a pipe will do. Overwrites triangles,
 * which the caller frees in any case. Returns 0; -1 after fail(path, ...); 1 after fail()
 * where a PLY file is a cloud: points without faces.
 *
 * Texture: PLY's property texture, else the luma of red green blue (0 .. 255), else intensity,
 * quality, scalar, gray or value; OBJ's colours behind the coordinates (luma, 0 .. 255).
 */
int mesh_file_load(const struct codec *, const char *path, FILE *file, struct triangles *);
