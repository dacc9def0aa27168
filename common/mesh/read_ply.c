/*
 * PLY: ascii, binary little and big endian. Elements vertex, face (vertex_indices or vertex_index)
 * and tristrips are read, everything else in the file is passed over, in any order.
 */
#include "mesh/read_ply.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "mesh/ply_file.h"

/* The meaning of a property. */
enum role {
	ROLE_X, ROLE_Y, ROLE_Z, ROLE_RED, ROLE_GREEN, ROLE_BLUE, ROLE_SCALAR, ROLE_POINTS, ROLES,
	ROLE_NONE = ROLES
};

struct mesh_ply {
	struct triangles *out;
	int scalar_rank;		/* of the best scalar so far; see scalar_names */
};

/* ---- header ---- */

/* The first precedes red green blue, the others come after them. */
static const char *const scalar_names[] = { "texture", "intensity", "quality", "scalar", "gray",
	"grey", "value", NULL };

static struct mesh_ply *
mesh_of(const struct ply *ply)
{
	return ply->arg;
}

static enum role
role_in_vertex(struct mesh_ply *mesh, const char *name)
{
	static const char *const names[] = { "x", "y", "z", "red", "green", "blue", NULL };
	static const char *const others[] = { "diffuse_red", "diffuse_green", "diffuse_blue",
		NULL };

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name) || (i >= 3 && !strcmp(others[i - 3], name)))
			return (enum role)i;
	for (int i = 0; scalar_names[i]; i++)
		if (!strcmp(scalar_names[i], name) &&
		    (mesh->scalar_rank < 0 || i < mesh->scalar_rank)) {
			mesh->scalar_rank = i;
			return ROLE_SCALAR;
		}
	return ROLE_NONE;
}

/* No second property of the element has that role; a better scalar takes it from another. */
static int
set_role(struct ply *ply, const struct ply_element *element, struct ply_property *property)
{
	const char *name = property->name;
	enum role role = ROLE_NONE;

	if (element->kind == PLY_VERTEX && !property->list)
		role = role_in_vertex(mesh_of(ply), name);
	else if (element->kind != PLY_OTHER && element->kind != PLY_VERTEX && property->list &&
	    (!strcmp(name, "vertex_indices") || !strcmp(name, "vertex_index")))
		role = ROLE_POINTS;
	for (size_t i = element->first; i < element->first + element->n && role != ROLE_NONE; i++) {
		if (ply->property[i].role != (int)role)
			continue;
		if (role != ROLE_SCALAR)
			return ply_fail_line(ply, "wanted each property once", name);
		ply->property[i].role = ROLE_NONE;
	}
	if (role == ROLE_POINTS && ply_is_real(property->type))
		return ply_fail_line(ply, "wanted whole numbers as vertex indices", "float");
	property->role = role;
	return 0;
}

/* A comment may tell where the axes point, and the unit. */
static int
take_comment(struct ply *ply, char *text)
{
	enum mesh_axes axes = triangles_axes(text);

	if (axes != AXES_MODEL)
		mesh_of(ply)->out->axes = axes;
	triangles_take_unit(mesh_of(ply)->out, text);
	return 0;
}

static bool
has_role(const struct ply *ply, const struct ply_element *element, enum role role)
{
	for (size_t i = element->first; i < element->first + element->n; i++)
		if (ply->property[i].role == (int)role)
			return true;
	return false;
}

static int
check_header(const struct ply *ply)
{
	bool points = false;

	for (size_t i = 0; i < ply->elements; i++) {
		const struct ply_element *element = &ply->element[i];

		if (element->kind == PLY_VERTEX)
			for (enum role role = ROLE_X; role <= ROLE_Z; role++)
				if (!has_role(ply, element, role))
					return fail(ply->path, "element vertex has no property %c",
					    'x' + (int)role);
		points |= element->kind == PLY_VERTEX;
		if ((element->kind == PLY_FACE || element->kind == PLY_STRIP) && element->count &&
		    !has_role(ply, element, ROLE_POINTS))
			return fail(ply->path, "element %s has no list vertex_indices",
			    element->kind == PLY_FACE ? "face" : "tristrips");
	}
	return points ? 0 : fail(ply->path, "header has no element vertex");
}

/* ---- values ---- */

static const struct ply_user user = { .property = set_role, .comment = take_comment };

static int
next_point(struct ply *ply, enum element type, bool strip, double *out)
{
	if (ply_next_value(ply, type, out) < 0)
		return -1;
	if ((*out >= 0 && *out < UINT32_MAX) || (strip && *out == -1))
		return 0;
	return fail(ply->path, "triangle %zu has point %.0f", mesh_of(ply)->out->n, *out);
}

/* A polygon as a fan about its first corner. */
static int
take_polygon(struct ply *ply, const struct ply_property *property, unsigned long long n)
{
	uint64_t corner[3] = { 0 };
	double v;

	if (n > POLYGON_MOST)
		return fail(ply->path, "triangle %zu begins a face of %llu corners, more than %d",
		    mesh_of(ply)->out->n, n, POLYGON_MOST);
	for (unsigned long long i = 0; i < n; i++) {
		if (next_point(ply, property->type, false, &v) < 0)
			return -1;
		corner[i < 2 ? i : 2] = (uint64_t)v;
		if (i < 2)
			continue;
		if (triangles_add(mesh_of(ply)->out, ply->path, corner) < 0)
			return -1;
		corner[1] = corner[2];
	}
	return 0;
}

/* Each point makes a triangle with the two before it, every second one turned round so that all of
 * them face to one side; -1 begins a new strip. */
static int
take_strips(struct ply *ply, const struct ply_property *property, unsigned long long n)
{
	uint64_t corner[3] = { 0 };
	size_t length = 0;
	double v;

	for (unsigned long long i = 0; i < n; i++) {
		bool turned = length % 2;

		if (next_point(ply, property->type, true, &v) < 0)
			return -1;
		if (v < 0) {
			length = 0;
			continue;
		}
		corner[0] = corner[1];
		corner[1] = corner[2];
		corner[2] = (uint64_t)v;
		if (++length >= 3 && triangles_add(mesh_of(ply)->out, ply->path,
		    turned ? (uint64_t[3]){ corner[1], corner[0], corner[2] } : corner) < 0)
			return -1;
	}
	return 0;
}

static int
take_list(struct ply *ply, const struct ply_element *element, const struct ply_property *property)
{
	unsigned long long n = 0;
	double v;

	if (ply_next_count(ply, property, &n) < 0)
		return -1;
	if (property->role == ROLE_POINTS)
		return element->kind == PLY_STRIP ? take_strips(ply, property, n) :
		    take_polygon(ply, property, n);
	for (unsigned long long i = 0; i < n; i++)
		if (ply_next_value(ply, property->type, &v) < 0)
			return -1;
	return 0;
}

/* ---- elements ---- */

/* Colours as 0 .. 255. */
static double
level(enum element type, double v)
{
	if (ply_is_real(type))
		return v * 255;
	return type == ELEMENT_U16 ? v / 257 : v;
}

static int
add_point(struct ply *ply, const double value[ROLES + 1], bool coloured)
{
	if (triangles_add_point(mesh_of(ply)->out, ply->path, value) < 0)
		return -1;
	if (coloured && mesh_of(ply)->scalar_rank != 0)
		return triangles_add_texture(mesh_of(ply)->out, triangles_luma(value[ROLE_RED],
		    value[ROLE_GREEN], value[ROLE_BLUE]));
	if (mesh_of(ply)->scalar_rank < 0)
		return 0;
	return triangles_add_texture(mesh_of(ply)->out, (float)value[ROLE_SCALAR]);
}

static int
read_item(struct ply *ply, const struct ply_element *element, bool coloured)
{
	double value[ROLES + 1];	/* the last one for properties without a role */

	for (size_t i = element->first; i < element->first + element->n; i++) {
		const struct ply_property *property = &ply->property[i];
		double v;

		if (property->list) {
			if (take_list(ply, element, property) < 0)
				return -1;
			continue;
		}
		if (ply_next_value(ply, property->type, &v) < 0)
			return -1;
		value[property->role] = property->role >= ROLE_RED && property->role <= ROLE_BLUE ?
		    level(property->type, v) : v;
	}
	return element->kind == PLY_VERTEX ? add_point(ply, value, coloured) : 0;
}

static int
read_element(struct ply *ply, size_t at)
{
	const struct ply_element *element = &ply->element[at];
	bool coloured = has_role(ply, element, ROLE_RED) && has_role(ply, element, ROLE_GREEN) &&
	    has_role(ply, element, ROLE_BLUE);

	ply_begin_element(ply, at);
	while (ply_begin_item(ply))
		if (read_item(ply, element, coloured) < 0)
			return -1;
	return 0;
}

int
read_ply(const char *path, FILE *file, struct triangles *out)
{
	struct mesh_ply mesh = { .out = out, .scalar_rank = -1 };
	struct ply *ply = calloc(1, sizeof(*ply));
	int status;

	if (!ply)
		return fail_memory();
	ply->path = path;
	ply->file = file;
	ply->user = &user;
	ply->arg = &mesh;
	status = ply_read_header(ply);
	if (status == 0)
		status = check_header(ply);
	for (size_t i = 0; i < ply->elements && status == 0; i++)
		status = read_element(ply, i);
	if (status == 0) {
		ply_check_last(ply);
		status = ply_check_end(ply);
	}
	free(ply);
	return status;
}

static bool
sniff(const unsigned char *start, size_t n)
{
	return n >= 4 && !memcmp(start, "ply", 3) && (start[3] == '\n' || start[3] == '\r');
}

const struct codec read_ply_codec = {
	.name = "PLY",
	.suffixes = "ply",
	.sniff = sniff
};
