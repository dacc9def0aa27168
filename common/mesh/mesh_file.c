#include "mesh/mesh_file.h"

#include <math.h>

#include "base/fail.h"
#include "mesh/read_obj.h"
#include "mesh/read_ply.h"
#include "mesh/read_stl.h"

const struct codec *const mesh_file_codecs[] = { &read_ply_codec, &read_obj_codec,
	&read_stl_codec, NULL };

static bool
finite_triangle(const struct triangles *triangles, size_t i)
{
	for (int k = 0; k < 9; k++)
		if (!isfinite(triangles->point[triangles->corner[i][k / 3]][k % 3]))
			return false;
	return true;
}

/* Is there one at all? */
static int
check_finite(const struct triangles *triangles, const char *path)
{
	for (size_t i = 0; i < triangles->n; i++)
		if (finite_triangle(triangles, i))
			return 0;
	return fail(path, "has no triangle whose points are finite, of %zu", triangles->n);
}

int
mesh_file_load(const struct codec *codec, const char *path, FILE *file, struct triangles *triangles)
{
	int status;

	*triangles = (struct triangles){ 0 };
	if (codec == &read_ply_codec)
		status = read_ply(path, file, triangles);
	else if (codec == &read_obj_codec)
		status = read_obj(path, file, triangles);
	else
		status = read_stl(path, file, triangles);
	if (status == 0 && triangles->n == 0)
		return fail(path, "holds no triangles, only %zu points", triangles->points);
	if (status < 0 || triangles_check(triangles, path) < 0)
		return -1;
	return check_finite(triangles, path);
}
