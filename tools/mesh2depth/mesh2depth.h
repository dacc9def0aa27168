/* What mesh2depth.c and its loops share: frames as triangles. */
#pragma once

#include "mesh/mesh_file.h"
#include "points/virtual_camera.h"
#include "run/stage.h"

#define LISTED_ROWS 16		/* of a frame, that a thread takes together */

/* A frame as triangles. */
struct listing {
	const struct mesh *mesh;
	struct triangles *triangles;
	size_t bands, *first;	/* of each band of LISTED_ROWS rows its first triangle */
};

/* For run_for(), of a struct listing: its points, and first[band + 1], the number of triangles;
 * triangles. */
struct mesh2depth_rows {
	void (*begin_band)(void *listing, size_t band);
	void (*list_band)(void *listing, size_t band);
};
LEVELS_OF(mesh2depth_rows)
