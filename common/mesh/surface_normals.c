#include "mesh/surface_normals.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/vector3.h"

struct edge {
	uint32_t low, high;	/* vertices */
	uint32_t triangle;
	uint8_t side;		/* which of the triangle's edges */
	bool rises;		/* it runs from low to high */
};

struct finding {
	const struct triangles *mesh;
	struct surface_normals *out;
	uint32_t *vertex;	/* of each point: the first point of equal coordinates */
	double (*sum)[3];	/* of each vertex */
	bool *border;
	struct edge *edge;
};

static void
store(const double v[3], float out[3])
{
	double length = sqrt(vector3_dot(v, v));

	for (int i = 0; i < 3; i++)
		out[i] = length > 0 ? (float)(v[i] / length) : 0;
}

/* ---- vertices ---- */

static uint64_t
hash_point(const double point[3])
{
	uint64_t h = 0x9e3779b97f4a7c15u;

	for (int i = 0; i < 3; i++) {
		double v = point[i] + 0.0;	/* -0 is 0 */
		uint64_t bits;

		memcpy(&bits, &v, sizeof(bits));
		h = (h ^ bits) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}

static int
join_points(struct finding *finding)
{
	const struct triangles *mesh = finding->mesh;
	size_t room = 64;
	uint32_t *slot;

	while (room < 2 * mesh->points)
		room *= 2;
	slot = malloc(room * sizeof(*slot));
	if (!slot)
		return fail_memory();
	memset(slot, 0xff, room * sizeof(*slot));
	for (size_t i = 0; i < mesh->points; i++) {
		size_t at = hash_point(mesh->point[i]) & (room - 1);

		while (slot[at] != UINT32_MAX &&
		    (mesh->point[slot[at]][0] != mesh->point[i][0] ||
		    mesh->point[slot[at]][1] != mesh->point[i][1] ||
		    mesh->point[slot[at]][2] != mesh->point[i][2]))
			at = (at + 1) & (room - 1);
		if (slot[at] == UINT32_MAX)
			slot[at] = (uint32_t)i;
		finding->vertex[i] = slot[at];
	}
	free(slot);
	return 0;
}

/* ---- faces ---- */

/* The normal of a triangle; false where it has no area. */
static bool
find_face(const struct triangles *mesh, size_t t, double normal[3], double angle[3])
{
	const double *p[3];
	double e[3][3], length[3], area, longest = 0;

	for (int k = 0; k < 3; k++)
		p[k] = mesh->point[mesh->corner[t][k]];
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 3; i++)
			e[k][i] = p[(k + 1) % 3][i] - p[k][i];
		length[k] = sqrt(vector3_dot(e[k], e[k]));
		longest = fmax(longest, length[k]);
	}
	for (int i = 0; i < 3; i++)
		normal[i] = e[0][(i + 1) % 3] * e[1][(i + 2) % 3] -
		    e[0][(i + 2) % 3] * e[1][(i + 1) % 3];
	area = sqrt(vector3_dot(normal, normal));
	if (!(area > 1e-14 * longest * longest))
		return false;
	for (int i = 0; i < 3; i++)
		normal[i] /= area;
	for (int k = 0; k < 3; k++)
		angle[k] = acos(fmax(-1, fmin(1, -vector3_dot(e[k], e[(k + 2) % 3]) /
		    (length[k] * length[(k + 2) % 3]))));
	return true;
}

static void
find_faces(struct finding *finding)
{
	const struct triangles *mesh = finding->mesh;

	for (size_t t = 0; t < mesh->n; t++) {
		double normal[3], angle[3];
		struct surface_triangle *of = &finding->out->triangle[t];

		for (int k = 0; k < 3; k++) {
			uint32_t a = finding->vertex[mesh->corner[t][k]];
			uint32_t b = finding->vertex[mesh->corner[t][(k + 1) % 3]];

			finding->edge[3 * t + (size_t)k] = (struct edge){ a < b ? a : b,
				a < b ? b : a, (uint32_t)t, (uint8_t)k, a < b };
		}
		memset(of, 0, sizeof(*of));
		if (!find_face(mesh, t, normal, angle)) {
			finding->out->empty++;
			continue;
		}
		store(normal, of->face);
		for (int k = 0; k < 3; k++)
			for (int i = 0; i < 3; i++)
				finding->sum[finding->vertex[mesh->corner[t][k]]][i] +=
				    angle[k] * normal[i];
	}
}

/* ---- edges ---- */

static int
compare_edges(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static bool
is_empty(const struct finding *finding, size_t t)
{
	const float *face = finding->out->triangle[t].face;

	return face[0] == 0 && face[1] == 0 && face[2] == 0;
}

/* Edges of the same two vertices. */
static void
take_edges(struct finding *finding, const struct edge *edge, size_t n)
{
	struct surface_normals *out = finding->out;
	double sum[3] = { 0 };
	float normal[3];
	size_t faces = 0, rises = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_empty(finding, edge[i].triangle))
			continue;
		faces++;
		rises += edge[i].rises;
		for (int k = 0; k < 3; k++)
			sum[k] += (double)out->triangle[edge[i].triangle].face[k];
	}
	if (faces == 0)
		return;
	out->edges++;
	/* what an empty triangle joins is no border */
	out->border += n == 1;
	out->shared += faces > 2;
	out->against += faces == 2 && rises != 1;
	store(sum, normal);
	for (size_t i = 0; i < n; i++) {
		struct surface_triangle *of = &out->triangle[edge[i].triangle];

		memcpy(of->edge[edge[i].side], normal, sizeof(normal));
		of->edge_border[edge[i].side] = n == 1;
	}
	if (n == 1)
		finding->border[edge->low] = finding->border[edge->high] = true;
}

static void
find_edges(struct finding *finding)
{
	size_t n = 3 * finding->mesh->n, begin = 0;

	qsort(finding->edge, n, sizeof(*finding->edge), compare_edges);
	for (size_t i = 1; i <= n; i++) {
		if (i < n && finding->edge[i].low == finding->edge[begin].low &&
		    finding->edge[i].high == finding->edge[begin].high)
			continue;
		take_edges(finding, &finding->edge[begin], i - begin);
		begin = i;
	}
}

static void
store_vertices(struct finding *finding)
{
	const struct triangles *mesh = finding->mesh;

	for (size_t t = 0; t < mesh->n; t++)
		for (int k = 0; k < 3; k++) {
			uint32_t vertex = finding->vertex[mesh->corner[t][k]];

			store(finding->sum[vertex], finding->out->triangle[t].vertex[k]);
			finding->out->triangle[t].vertex_border[k] = finding->border[vertex];
		}
}

int
surface_normals_find(const struct triangles *mesh, struct surface_normals *out)
{
	struct finding finding = { .mesh = mesh, .out = out };
	int status = 0;

	*out = (struct surface_normals){ 0 };
	finding.vertex = calloc(mesh->points + 1, sizeof(*finding.vertex));
	finding.sum = calloc(mesh->points + 1, sizeof(*finding.sum));
	finding.border = calloc(mesh->points + 1, sizeof(*finding.border));
	finding.edge = calloc(mesh->n + 1, 3 * sizeof(*finding.edge));
	out->triangle = calloc(mesh->n + 1, sizeof(*out->triangle));
	if (!finding.vertex || !finding.sum || !finding.border || !finding.edge || !out->triangle)
		status = fail_memory();
	if (status == 0)
		status = join_points(&finding);
	if (status == 0) {
		find_faces(&finding);
		find_edges(&finding);
		store_vertices(&finding);
	}
	free(finding.vertex);
	free(finding.sum);
	free(finding.border);
	free(finding.edge);
	return status;
}

void
surface_normals_free(struct surface_normals *normals)
{
	free(normals->triangle);
	*normals = (struct surface_normals){ 0 };
}
