#include "mesh/triangles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define FIRST_ROOM 1024

void
triangles_free(struct triangles *triangles)
{
	free(triangles->point);
	free(triangles->texture);
	free(triangles->corner);
	*triangles = (struct triangles){ 0 };
}

/* Room for one more element of `size` bytes; twice what there was. */
static int
make_room(void *array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : FIRST_ROOM;
	void **at = array, *moved;

	if (n < *room)
		return 0;
	moved = reallocarray(*at, more, size);
	if (!moved)
		return fail_memory();
	*at = moved;
	*room = more;
	return 0;
}

int
triangles_add_point(struct triangles *triangles, const char *path, const double point[3])
{
	if (triangles->points == UINT32_MAX)
		return fail(path, "a mesh has at most %u points", UINT32_MAX);
	if (make_room(&triangles->point, triangles->points, &triangles->point_room,
	    sizeof(*triangles->point)) < 0)
		return -1;
	memcpy(triangles->point[triangles->points++], point, sizeof(*triangles->point));
	return 0;
}

/* Room for the texture of all points; new ones are NaN. */
static int
extend_texture(struct triangles *triangles)
{
	float *more;

	if (triangles->texture_room >= triangles->points)
		return 0;
	more = reallocarray(triangles->texture, triangles->point_room, sizeof(*more));
	if (!more)
		return fail_memory();
	for (size_t i = triangles->texture_room; i < triangles->point_room; i++)
		more[i] = NAN;
	triangles->texture = more;
	triangles->texture_room = triangles->point_room;
	return 0;
}

int
triangles_add_texture(struct triangles *triangles, float texture)
{
	if (extend_texture(triangles) < 0)
		return -1;
	triangles->texture[triangles->points - 1] = texture;
	return 0;
}

int
triangles_add(struct triangles *triangles, const char *path, const uint64_t corner[3])
{
	uint32_t *out;

	if (make_room(&triangles->corner, triangles->n, &triangles->room,
	    sizeof(*triangles->corner)) < 0)
		return -1;
	out = triangles->corner[triangles->n];
	for (int k = 0; k < 3; k++) {
		if (corner[k] >= UINT32_MAX)
			return fail(path,
			    "triangle %zu has point %llu, which is more than a mesh can have",
			    triangles->n, (unsigned long long)corner[k]);
		out[k] = (uint32_t)corner[k];
	}
	triangles->n++;
	return 0;
}

int
triangles_check(struct triangles *triangles, const char *path)
{
	for (size_t i = 0; i < triangles->n; i++)
		for (int k = 0; k < 3; k++)
			if (triangles->corner[i][k] >= triangles->points)
				return fail(path,
				    "triangle %zu has point %u, but there are %zu points", i,
				    triangles->corner[i][k], triangles->points);
	return triangles->texture ? extend_texture(triangles) : 0;
}

/* Rec. 601, as video and JPEG have it. */
float
triangles_luma(double red, double green, double blue)
{
	return (float)(0.299 * red + 0.587 * green + 0.114 * blue);
}

enum mesh_axes
triangles_axes(const char *comment)
{
	static const char start[] = "x to the right, y down, z ";

	if (strncmp(comment, start, strlen(start)))
		return AXES_MODEL;
	comment += strlen(start);
	if (!strncmp(comment, "towards", strlen("towards")))
		return AXES_CAMERA_TOWARDS;
	return strncmp(comment, "away", strlen("away")) ? AXES_MODEL : AXES_CAMERA_AWAY;
}

void
triangles_take_unit(struct triangles *triangles, const char *comment)
{
	static const char start[] = "length_unit:=";
	size_t n = strncmp(comment, start, strlen(start)) ? 0 : strlen(comment) - strlen(start);

	if (n > 0 && n < sizeof(triangles->unit) && !strpbrk(comment, " \t\r\"\\"))
		memcpy(triangles->unit, comment + strlen(start), n + 1);
}
