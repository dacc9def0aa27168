/* Frames as triangles. */
#ifndef MESH2DEPTH_FRAME_TRIANGLES_H
#define MESH2DEPTH_FRAME_TRIANGLES_H

#include "mesh/mesh_file.h"
#include "run/stage.h"

/* A frame of points, or of depth, as triangles (mesh.h); overwrites triangles, to be freed
 * anyhow. */
int frame_triangles(struct run *, const char *name, const struct frame *, double jump,
    struct triangles *);

#endif
