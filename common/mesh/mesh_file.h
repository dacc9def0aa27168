/*
 * Triangle meshes from files: PLY (ascii, binary of either byte order; faces, polygons, triangle
 * strips), OBJ and STL (ascii, binary), recognised by their first bytes. A polygon becomes a fan
 * about its first corner, which is right for convex ones.
 */
#ifndef MESH_FILE_H
#define MESH_FILE_H

#include <stdio.h>

#include "io/codec.h"
#include "mesh/triangles.h"

/* The formats, for source_open_also(): PLY, OBJ, STL. */
extern const struct codec *const mesh_file_codecs[];

/*
 * Reads the mesh of that format from a file at its start; a pipe will do. Overwrites triangles,
 * which the caller frees in either case. 0, or -1 after fail(path, ...).
 *
 * Texture: PLY's property texture, else the luma of red green blue (0 .. 255), else intensity,
 * quality, scalar, gray or value; OBJ's colours behind the coordinates (luma, 0 .. 255).
 */
int mesh_file_load(const struct codec *, const char *path, FILE *file, struct triangles *);

#endif
