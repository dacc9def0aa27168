/* Triangle meshes, and jumps of surfaces. */
#pragma once

#include <string.h>

#include "io/codec.h"

/*
 * A triangle mesh in memory, as the readers build it. Coordinates are double. Memory grows with
 * what was read, never with what a header claims.
 */

#define MESH_NONE UINT32_MAX	/* no point, no vertex */
#define POLYGON_MOST 65536	/* corners: a face of more is taken for damage */

/* Where the axes of a mesh's coordinates point, as far as its file says. */
enum mesh_axes {
	AXES_MODEL,		/* unknown: y up, and the front faces +z */
	AXES_CAMERA_AWAY,	/* x right, y down, z away: what mesh_write_comments() says */
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
	char unit[16];		/* of lengths, where mesh_write_comments() named it; else empty */
};

void triangles_free(struct triangles *);
/* For whoever makes triangles. 0 or -1 after fail(). */
int triangles_add_point(struct triangles *, const char *path, const double point[3]);
/* Texture of the point added last; earlier points that have none get NaN. */
void triangles_add_texture(struct triangles *, float texture);
int triangles_add(struct triangles *, const char *path, const uint64_t corner[3]);
/* Checks that every corner is a point, and extends the texture to the last point. */
int triangles_check(struct triangles *, const char *path);
/* The grey value of a colour. */
float triangles_luma(double red, double green, double blue);
/* What a comment of mesh_write_comments() says about the axes; AXES_MODEL for any other comment. */
enum mesh_axes triangles_axes(const char *comment);
/* Takes the unit of lengths from the comment that says it. */
void triangles_take_unit(struct triangles *, const char *comment);

/* Points found again by their coordinates (0 and -0 are equal): a hash with open addressing. */
struct corner_table {
	uint32_t *slot;		/* numbers of points, or MESH_NONE; the user frees it */
	size_t slots;		/* a power of two, twice as many as points at least */
};

/* Makes room for `most` points; `points` are in the table, and stay there. */
void corner_table_grow(struct corner_table *, const double (*point)[3], size_t points, size_t most);

/* The slot of a point, which has the number of its equal, or MESH_NONE: the caller sets that. */
static inline uint32_t *
corner_table_slot(const struct corner_table *table, const double (*point)[3], const double p[3])
{
	uint64_t hash = 0;
	size_t at;

	for (int k = 0; k < 3; k++) {
		const double v = p[k] + 0.0;	/* -0 is 0 */
		uint64_t bits;

		memcpy(&bits, &v, sizeof(bits));
		hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	for (at = hash & (table->slots - 1); table->slot[at] != MESH_NONE;
	    at = (at + 1) & (table->slots - 1)) {
		const double *q = point[table->slot[at]];

		/* the bytes of NaN may be equal, too */
		if ((q[0] == p[0] && q[1] == p[1] && q[2] == p[2]) || !memcmp(q, p, sizeof(*point)))
			break;
	}
	return &table->slot[at];
}

/*
 * A frame as a triangle mesh, for the formats that hold one (codec/ply/ply.c, codec/obj.c,
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
	struct vertex *row;			/* room for w */
	const uint32_t (*triangle)[3];		/* of mesh_row_triangles(), which may fill: */
	uint32_t (*triangle_room)[3];		/* 2 w of them */
	const uint32_t (*given)[3];		/* triangles of vertices in no order; NULL: none */
	size_t given_n;
};

/* The options of the mesh formats. */
struct mesh_options {
	double jump;		/* no triangle across a larger step in z; 0: automatic */
	bool points;		/* no triangles */
	bool ascii;		/* text, where the format has it */
	/* Of no option, but mesh_save()'s: the frame is a table of vertices, all finite, and these
	 * are its triangles. */
	const uint32_t (*triangle)[3];
	size_t triangles;
};

extern const struct opt mesh_options[];

struct vertex {
	float point[3], normal[3];
	unsigned char colour[3];
};

/* Finds the channels of a frame and where z points: all of a mesh except its pixels. -1 after
 * fail(path, ...). */
int mesh_channels(struct mesh *, const char *path, const struct frame_head *);
/* The point of a pixel of the frame of floats whose channels the mesh has. False: it is not
 * finite. */
bool mesh_point(const struct mesh *, const struct frame *, size_t x, size_t y, double point[3]);
/* 0, or -1 after fail(path, ...); mesh_free() in either case. */
int mesh_init(struct mesh *, const char *path, const struct frame *, const struct mesh_options *);
void mesh_free(struct mesh *);
bool mesh_has_normals(const struct mesh *);
bool mesh_has_colours(const struct mesh *);
/* The vertices of `pixels` pixels of row y from column x on, in that order; their number. Where
 * there are no normals or colours these are not set. */
size_t mesh_vertices(const struct mesh *, size_t x, size_t y, size_t pixels, struct vertex *);
/* Points mesh->triangle to the triangles between rows y and y + 1, as vertex numbers; their number.
 * Of triangles that are given, to the next w ones. */
size_t mesh_row_triangles(struct mesh *, size_t y);
/* For how many y there are such. */
size_t mesh_triangle_rows(const struct mesh *);
/* The triangles of `cells` cells of that row from column x on: 0 to 2 of each. */
size_t mesh_cells(const struct mesh *, size_t x, size_t y, size_t cells, uint32_t (*triangle)[3]);
/* The number of triangles between rows y and y + 1, and of all, by counting them. */
size_t mesh_row_count(const struct mesh *, size_t y);
size_t mesh_triangles(const struct mesh *);
/*
 * Writes a table of finite vertices (x y z; nx ny nz; r g b or texture) and its triangles, whose
 * corners are columns of it, as OBJ, PLY or STL, by the suffix. -1 after fail(path, ...).
 */
int mesh_save(const char *path, const struct frame *vertices, const uint32_t (*triangle)[3],
    size_t triangles, bool ascii);
/* Is it the name of such a file? */
bool mesh_saves(const char *path);
/* Writes lines that begin with `prefix`: where the axes point, and the frame's key lines. */
int mesh_write_comments(const struct mesh *, const char *path, FILE *, const char *prefix);

/* The automatic jump of a mesh, found in pieces, which several threads may do at the same time. */

#define JUMP_PIECES 16
#define JUMP_PIXELS 32768	/* that are looked at: more make the jump no better */

struct jump_steps {
	const struct mesh *mesh;	/* its channels and its frame of floats */
	size_t stride;			/* every so many pixels are looked at, in order of rows */
	size_t room;			/* steps of a piece */
	size_t n[JUMP_PIECES];
	float *dz, *lateral;		/* of each piece: in z, and in the image plane */
};

/* To look at `most` pixels at most. */
void jump_begin(struct jump_steps *, const struct mesh *, size_t most);
/* Piece i of JUMP_PIECES; arg: struct jump_steps. */
void jump_piece(void *arg, size_t i);
/* After all pieces: the jump, infinite where there are no steps. Frees the steps. */
double jump_end(struct jump_steps *);

/* The largest float that is no jump. */
float jump_largest(double jump);

/*
 * Warns of a jump given that cuts nearly all steps between neighbours of a frame's surface, so that
 * no triangle is left; looks at the first frame with enough steps, and then sets *checked. 0
 * also where nothing is given (0, infinite), or where the frame is no surface, which the caller
 * finds by itself; -1 after fail().
 */
int jump_check(const struct frame *, double jump, bool *checked);
