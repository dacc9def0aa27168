/*
 * Triangle meshes from files: PLY (ascii, binary of either byte order; faces, polygons, triangle
 * strips), OBJ and STL (ascii, binary), recognised by their first bytes.
 *
 * Coordinates are kept in double. A polygon becomes a fan about its first corner, which is right
 * for convex ones. Nothing is allocated because a header claims it: memory grows with what was
 * read.
 */
#ifndef MESH_FILE_H
#define MESH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "io/codec.h"

/* Where the axes of a mesh's coordinates point, as far as its file tells. */
enum mesh_axes {
	AXES_MODEL,		/* not told: y up, and the front faces +z */
	AXES_CAMERA_AWAY,	/* x right, y down, z away: written by mesh.h */
	AXES_CAMERA_TOWARDS	/* x right, y down, z towards the camera */
};

struct triangles {
	double (*point)[3];
	size_t points, point_room;
	float *texture; /* per point, NaN where there is none; NULL: the mesh has none */
	size_t texture_room;
	uint32_t (*corner)[3]; /* per triangle its points, all < points once it is loaded */
	size_t n, room;
	enum mesh_axes axes;
};

/* The formats, for source_open_also(): PLY, OBJ, STL. */
extern const struct codec *const meshfile_codecs[];
extern const struct codec meshfile_ply, meshfile_obj, meshfile_stl;

/*
 * Reads the mesh of that format that file, at its start, holds; a pipe will do. Overwrites
 * triangles; to be freed in either case. 0, or -1 after fail(path, ...).
 *
 * Texture: PLY's property texture, else the luma of red green blue (0 .. 255), else intensity,
 * quality, scalar, gray or value; OBJ's colours behind the coordinates (luma, 0 .. 255).
 */
int meshfile_load(const struct codec *, const char *path, FILE *file, struct triangles *);
void triangles_free(struct triangles *);

/* For the readers, and for who makes triangles otherwise. 0 or -1 after fail(). */
int triangles_add_point(struct triangles *, const char *path, const double point[3]);
/* Texture of the point added last; points before it that have none get NaN. */
int triangles_add_texture(struct triangles *, float texture);
int triangles_add(struct triangles *, const char *path, const uint64_t corner[3]);
/* Every corner is a point, and texture reaches to the last point. */
int triangles_check(struct triangles *, const char *path);
float luma(double red, double green, double blue);

/* The readers of the formats, each in its own file. */
int meshply_load(const char *path, FILE *file, struct triangles *);
int meshobj_load(const char *path, FILE *file, struct triangles *);
int meshstl_load(const char *path, FILE *file, struct triangles *);
/* Is it text, as far as one can see? */
bool meshfile_is_text(const unsigned char *start, size_t n);
/* What the comments of mesh.h say of the axes; AXES_MODEL if this is none of them. */
enum mesh_axes meshfile_axes(const char *comment);

/*
 * Words of a text that may be long: a word is longer than WORD_SIZE - 1 bytes only in foreign text,
 * and is cut there.
 */
#define MESH_WORD_SIZE 64
struct mesh_words {
	FILE *file;
	const char *path;
	size_t line;			/* from 1 */
	const unsigned char *start;	/* bytes that were read before, */
	size_t left;			/* and how many of them are left */
	int next;			/* a byte that was read too far; EOF: none */
	char word[MESH_WORD_SIZE];
};
/* The next word of this line; false at its end. Backslash and newline continue a line. */
bool words_next(struct mesh_words *);
/* Passes over the rest of the line; false at the end of the text. */
bool words_next_line(struct mesh_words *);
/* The next word on whatever line; false at the end. */
bool words_anywhere(struct mesh_words *);
/* The current word as a number; -1 after fail() naming the line. */
int words_number(const struct mesh_words *, double *out);

#endif
