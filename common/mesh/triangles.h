/*
 * A triangle mesh in memory, as the readers build it. Coordinates are double. Memory grows with
 * what was read, never with what a header claims.
 */
#ifndef TRIANGLES_H
#define TRIANGLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLYGON_MOST 65536	/* corners: a face of more is taken for damage */

/* Where the axes of a mesh's coordinates point, as far as its file says. */
enum mesh_axes {
	AXES_MODEL,		/* unknown: y up, and the front faces +z */
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
	char unit[16];		/* of lengths, where a comment of mesh.h names it; else empty */
};

void triangles_free(struct triangles *);
/* For whoever makes triangles. 0 or -1 after fail(). */
int triangles_add_point(struct triangles *, const char *path, const double point[3]);
/* Texture of the point added last; earlier points that have none get NaN. */
int triangles_add_texture(struct triangles *, float texture);
int triangles_add(struct triangles *, const char *path, const uint64_t corner[3]);
/* Checks that every corner is a point, and extends the texture to the last point. */
int triangles_check(struct triangles *, const char *path);
/* The grey value of a colour. */
float triangles_luma(double red, double green, double blue);
/* What the comments of mesh.h say about the axes; AXES_MODEL for any other comment. */
enum mesh_axes triangles_axes(const char *comment);
/* Takes the unit of lengths from the comment that says it. */
void triangles_take_unit(struct triangles *, const char *comment);

#endif
