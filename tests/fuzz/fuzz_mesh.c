/*
 * Meshes from arbitrary bytes, read as each format in turn: no crash, no undefined behaviour,
 * nothing leaked, no memory beyond what the bytes can hold; what was read is a mesh that can be
 * drawn.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "base/fail.h"
#include "mesh/mesh_file.h"
#include "mesh/raster.h"

#define SIDE 16

static void
draw(const struct triangles *triangles)
{
	struct raster raster;

	check(raster_new(&raster, SIDE, SIDE, 1) == 0, "raster");
	raster_clear(&raster, 0, SIDE);
	for (size_t i = 0; i < triangles->n; i++) {
		struct raster_vertex v[3];

		for (int k = 0; k < 3; k++) {
			size_t at = triangles->corner[i][k];

			check(at < triangles->points, "corner is no point");
			v[k].x = triangles->point[at][0];
			v[k].y = triangles->point[at][1];
			v[k].z = triangles->point[at][2];
			v[k].attribute[0] = triangles->texture ? triangles->texture[at] : 0;
		}
		raster_triangle(&raster, 0, SIDE, &v[0], &v[1], &v[2]);
	}
	for (size_t i = 0; i < SIDE * SIDE; i++)
		check(!isnan(raster.z[i]), "depth is NaN");
	raster_free(&raster);
}

static void
load(const struct codec *codec, const unsigned char *data, size_t n)
{
	FILE *file = fmemopen((void *)data, n, "rb");
	struct triangles triangles;
	int status;

	check(file != NULL, "fmemopen");
	status = mesh_file_load(codec, "input", file, &triangles);
	check((status < 0) == (fail_message() != NULL), "message and status disagree");
	check(triangles.points <= n && triangles.n <= n, "more than the bytes can hold");
	if (status == 0)
		draw(&triangles);
	triangles_free(&triangles);
	fail_clear();
	fclose(file);
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	if (n == 0)
		return 0;
	for (const struct codec *const *codec = mesh_file_codecs; *codec; codec++) {
		(*codec)->sniff(data, n < 512 ? n : 512);
		load(*codec, data, n);
	}
	return 0;
}
