/* Reading PLY into triangles; see mesh_file.h. */
#ifndef READ_PLY_H
#define READ_PLY_H

#include <stdio.h>

#include "io/codec.h"
#include "mesh/triangles.h"

extern const struct codec read_ply_codec;
/* Reads from the file's start; the corners are not checked. 0 or -1 after fail(path, ...). */
int read_ply(const char *path, FILE *, struct triangles *);

#endif
