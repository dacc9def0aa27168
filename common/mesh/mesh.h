/*
 * A frame as a triangle mesh, for the formats that hold one (codec/ply.c, codec/obj.c,
 * codec/stl.c).
 *
 * Points are the channels x y z; or z, depth, height or the only channel alone, x and y being then
 * column and row times the spacing (1 if that is not known). x points to the right and y down, as
 * in the image. Normals are nx ny nz; colours r g b, or as grey texture, image or gray. Pixels that
 * are not finite are left out.
 *
 * Each 2x2 cell gives two triangles, split along the diagonal with the smaller step in z, or one if
 * a single pixel is missing. None has an edge across more than `jump` in z. The automatic jump is 8
 * times the distance of neighbours in x and y, or 10 times the median of the steps in z other than
 * zero (zero steps are those of quantised depth), whichever is larger; where the distance is not
 * known, 5 times the 95th percentile of the steps. Triangles run counter-clockwise as the camera
 * sees them: for points and depth (z away from the camera) as for heights (z towards it). Where z
 * points is the key z_axis (towards, away); without it away, except for a channel `height`.
 */
#ifndef MESH_H
#define MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/codec.h"

#define MESH_NONE UINT32_MAX

struct mesh {
	struct frame *floats;
	size_t w, h;
	size_t point[3], normal[3], colour[3];	/* channels; NO_CHANNEL where there is none */
	bool towards;				/* z points towards the camera */
	double spacing[2];
	bool scaled;				/* x and y are lengths like z, not pixels */
	float white;				/* the sample that is colour 255 */
	double jump;
	uint32_t *number;			/* the vertex of each pixel, or MESH_NONE */
	size_t vertices;
	struct vertex *row;			/* of mesh_row(), room for w */
	uint32_t (*triangle)[3];		/* of mesh_row_triangles(), room for 2 w */
};

/* The options of the mesh formats. */
struct mesh_options {
	double jump;		/* no triangle across a larger step in z; 0: automatic */
	bool points;		/* no triangles */
	bool ascii;		/* text, where the format has it */
};

extern const struct opt mesh_options[];

struct vertex {
	float point[3], normal[3];
	unsigned char colour[3];
};

/* Finds the channels of a frame and where z points: all of a mesh except its pixels. -1 after
 * fail(path, ...). */
int mesh_channels(struct mesh *, const char *path, const struct frame_head *);
/* 0, or -1 after fail(path, ...); mesh_free() in either case. */
int mesh_init(struct mesh *, const char *path, const struct frame *, const struct mesh_options *);
void mesh_free(struct mesh *);
bool mesh_has_normals(const struct mesh *);
bool mesh_has_colours(const struct mesh *);
/* Fills mesh->row with the vertices of row y, in order of x; their number. Where there are no
 * normals or colours these are 0. */
size_t mesh_row(const struct mesh *, size_t y);
/* Those of `pixels` pixels of that row from column x on. */
size_t mesh_vertices(const struct mesh *, size_t x, size_t y, size_t pixels, struct vertex *);
/* Fills mesh->triangle with the triangles between rows y and y + 1, as vertex numbers; their
 * number. */
size_t mesh_row_triangles(const struct mesh *, size_t y);
/* The triangles of `cells` cells of that row from column x on: 0 to 2 of each. */
size_t mesh_cells(const struct mesh *, size_t x, size_t y, size_t cells, uint32_t (*triangle)[3]);
/* The number of triangles between rows y and y + 1, and of all, by counting them. */
size_t mesh_row_count(const struct mesh *, size_t y);
size_t mesh_triangles(const struct mesh *);
/* Writes lines that begin with `prefix`: where the axes point, and the frame's key lines. */
int mesh_write_comments(const struct mesh *, const char *path, FILE *, const char *prefix);

#endif
