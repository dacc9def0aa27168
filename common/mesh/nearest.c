/*
 * The nearest point of a triangle mesh: a tree of boxes, searched nearest box first; and normals of
 * faces, edges and vertices that tell on which side of the mesh a point lies (Baerentzen and Aanaes
 * 2005).
 */
#include "mesh/nearest.h"

#include <math.h>

#include "base/linear.h"
#include "base/process.h"

/* What a triangle's corners, edges (k: from corner k to the next) and face have; unit vectors. */
struct surface_triangle {
	float face[3], edge[3][3], vertex[3][3];
	bool edge_border[3], vertex_border[3];	/* an edge of one triangle only; a vertex of such */
};

struct surface_normals {
	struct surface_triangle *triangle;	/* of each; a face of 0 0 0: it has no area */
	size_t empty;		/* triangles without area, which take no part */
	size_t edges, border;	/* all; those of one triangle only */
	size_t against;		/* those whose two triangles face to opposite sides */
};

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

static void
join_points(struct finding *finding)
{
	const struct triangles *mesh = finding->mesh;
	const double (*point)[3] = (const double (*)[3])mesh->point;
	struct corner_table table = { 0 };

	corner_table_grow(&table, NULL, 0, mesh->points);
	for (size_t i = 0; i < mesh->points; i++) {
		uint32_t *slot = corner_table_slot(&table, point, point[i]);

		if (*slot == MESH_NONE)
			*slot = (uint32_t)i;
		finding->vertex[i] = *slot;
	}
	free(table.slot);
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
	vector3_cross(e[0], e[1], normal);
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

static void
surface_normals_find(const struct triangles *mesh, struct surface_normals *out)
{
	struct finding finding = { .mesh = mesh, .out = out };

	*out = (struct surface_normals){ 0 };
	finding.vertex = must_alloc(mesh->points + 1, sizeof(*finding.vertex));
	finding.sum = must_alloc(mesh->points + 1, sizeof(*finding.sum));
	finding.border = must_alloc(mesh->points + 1, sizeof(*finding.border));
	finding.edge = must_alloc(mesh->n + 1, 3 * sizeof(*finding.edge));
	out->triangle = must_alloc(mesh->n + 1, sizeof(*out->triangle));
	join_points(&finding);
	find_faces(&finding);
	find_edges(&finding);
	store_vertices(&finding);
	free_all(finding.vertex, finding.sum, finding.border, finding.edge);
}

#define LEAF 4			/* triangles of a leaf at most */
#define DEPTH 64

struct node {
	double low[3], high[3];
	uint32_t first, n;	/* triangles of a leaf; n = 0: two nodes, this + 1 and `first` */
};

struct nearest {
	struct surface_normals normals;
	size_t triangles;
	double (*corner)[3][3];	/* in the order of the leaves */
	uint32_t *number;	/* of each: which triangle of the mesh it is */
	struct node *node;
	size_t nodes;
};

/* ---- building ---- */

/* Not fmin() and fmax(), which are calls: all coordinates are finite. */
static inline double
lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double
greater(double a, double b)
{
	return a > b ? a : b;
}

struct building {
	struct nearest *tree;
	double (*middle)[3];	/* of each triangle of the mesh, times 3 */
	const struct triangles *mesh;
};

static void
bound(const struct building *building, struct node *node, uint32_t first, uint32_t n)
{
	for (int i = 0; i < 3; i++) {
		node->low[i] = INFINITY;
		node->high[i] = -INFINITY;
	}
	for (uint32_t k = first; k < first + n; k++)
		for (int c = 0; c < 3; c++) {
			uint32_t t = building->tree->number[k];
			const double *p = building->mesh->point[building->mesh->corner[t][c]];

			for (int i = 0; i < 3; i++) {
				node->low[i] = lesser(node->low[i], p[i]);
				node->high[i] = greater(node->high[i], p[i]);
			}
		}
}

static bool
before(const struct building *building, int axis, uint32_t a, uint32_t b)
{
	double p = building->middle[a][axis], q = building->middle[b][axis];

	return p != q ? p < q : a < b;
}

/* Puts the triangles in an order where the first half lies no farther along the axis than the rest
 * (Hoare's selection). */
static void
halve(const struct building *building, int axis, uint32_t first, uint32_t n)
{
	uint32_t *number = building->tree->number;
	int64_t low = first, high = (int64_t)first + n - 1, middle = first + n / 2;

	while (low < high) {
		uint32_t pivot = number[low + (high - low) / 2];
		int64_t i = low, j = high;

		while (i <= j) {
			while (before(building, axis, number[i], pivot))
				i++;
			while (before(building, axis, pivot, number[j]))
				j--;
			if (i <= j) {
				uint32_t other = number[i];

				number[i++] = number[j];
				number[j--] = other;
			}
		}
		if (middle <= j)
			high = j;
		else if (middle >= i)
			low = i;
		else
			break;
	}
}

static void
build(struct building *building, uint32_t first, uint32_t n)
{
	struct nearest *tree = building->tree;
	size_t at = tree->nodes++;
	struct node *node = &tree->node[at];
	int axis = 0;

	bound(building, node, first, n);
	node->first = first;
	node->n = n;
	if (n <= LEAF)
		return;
	for (int i = 1; i < 3; i++)
		if (node->high[i] - node->low[i] > node->high[axis] - node->low[axis])
			axis = i;
	halve(building, axis, first, n);
	node->n = 0;
	build(building, first, n / 2);
	node->first = (uint32_t)tree->nodes;
	build(building, first + n / 2, n - n / 2);
}

static int
build_tree(const char *path, const struct triangles *mesh, struct nearest *tree)
{
	struct building building = { tree, NULL, mesh };

	surface_normals_find(mesh, &tree->normals);
	building.middle = must_alloc(mesh->n, sizeof(*building.middle));
	tree->number = must_alloc(mesh->n, sizeof(*tree->number));
	tree->node = must_alloc(mesh->n, 2 * sizeof(*tree->node));
	tree->corner = must_alloc(mesh->n, sizeof(*tree->corner));
	for (size_t t = 0; t < mesh->n; t++) {
		const float *face = tree->normals.triangle[t].face;

		for (int c = 0; c < 3; c++)
			for (int i = 0; i < 3; i++)
				building.middle[t][i] += mesh->point[mesh->corner[t][c]][i];
		if (face[0] != 0 || face[1] != 0 || face[2] != 0)
			tree->number[tree->triangles++] = (uint32_t)t;
	}
	if (tree->triangles)
		build(&building, 0, (uint32_t)tree->triangles);
	free(building.middle);
	for (size_t k = 0; k < tree->triangles; k++)
		for (int c = 0; c < 3; c++)
			memcpy(tree->corner[k][c],
			    mesh->point[mesh->corner[tree->number[k]][c]], 3 * sizeof(double));
	return tree->triangles ? 0 : fail(path, "has no triangle with an area");
}

int
nearest_new(const char *path, const struct triangles *mesh, struct nearest **out)
{
	struct nearest *tree;

	*out = NULL;
	if (mesh->n == 0)
		return fail(path, "has no triangles: a cloud of points has no surface");
	if (mesh->n > UINT32_MAX / 4)
		return fail(path, "has %zu triangles: too many", mesh->n);
	for (size_t i = 0; i < mesh->points; i++)
		if (!isfinite(mesh->point[i][0] + mesh->point[i][1] + mesh->point[i][2]))
			return fail(path, "point %zu is not finite", i);
	tree = must_alloc(1, sizeof(*tree));
	if (build_tree(path, mesh, tree) < 0) {
		nearest_free(tree);
		return -1;
	}
	*out = tree;
	return 0;
}

void
nearest_free(struct nearest *tree)
{
	if (!tree)
		return;
	free_all(tree->normals.triangle, tree->corner, tree->number, tree->node, tree);
}

void
nearest_count(const struct nearest *tree, struct nearest_counts *counts)
{
	*counts = (struct nearest_counts){ tree->triangles, tree->normals.empty,
		tree->normals.edges, tree->normals.border, tree->normals.against };
}

/* ---- searching ---- */

/* What of a triangle a point is nearest to. */
enum part { FACE, EDGE_0, EDGE_1, EDGE_2, VERTEX_0, VERTEX_1, VERTEX_2 };

static void
along(const double a[3], const double e[3], double t, double out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = a[i] + t * e[i];
}

/* The nearest point of a triangle, by the regions of its plane (Ericson 2005, 5.1.5). */
static enum part
nearest_of(const double corner[3][3], const double x[3], double out[3])
{
	const double *a = corner[0], *b = corner[1], *c = corner[2];
	double ab[3], ac[3], bc[3], p[3], d1, d2, d3, d4, d5, d6, va, vb, vc;

	for (int i = 0; i < 3; i++) {
		ab[i] = b[i] - a[i];
		ac[i] = c[i] - a[i];
		bc[i] = c[i] - b[i];
		p[i] = x[i] - a[i];
	}
	d1 = vector3_dot(ab, p);
	d2 = vector3_dot(ac, p);
	if (d1 <= 0 && d2 <= 0) {
		memcpy(out, a, 3 * sizeof(*out));
		return VERTEX_0;
	}
	for (int i = 0; i < 3; i++)
		p[i] = x[i] - b[i];
	d3 = vector3_dot(ab, p);
	d4 = vector3_dot(ac, p);
	if (d3 >= 0 && d4 <= d3) {
		memcpy(out, b, 3 * sizeof(*out));
		return VERTEX_1;
	}
	vc = d1 * d4 - d3 * d2;
	if (vc <= 0 && d1 >= 0 && d3 <= 0) {
		along(a, ab, d1 / (d1 - d3), out);
		return EDGE_0;
	}
	for (int i = 0; i < 3; i++)
		p[i] = x[i] - c[i];
	d5 = vector3_dot(ab, p);
	d6 = vector3_dot(ac, p);
	if (d6 >= 0 && d5 <= d6) {
		memcpy(out, c, 3 * sizeof(*out));
		return VERTEX_2;
	}
	vb = d5 * d2 - d1 * d6;
	if (vb <= 0 && d2 >= 0 && d6 <= 0) {
		along(a, ac, d2 / (d2 - d6), out);
		return EDGE_2;
	}
	va = d3 * d6 - d5 * d4;
	if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
		along(b, bc, (d4 - d3) / (d4 - d3 + d5 - d6), out);
		return EDGE_1;
	}
	for (int i = 0; i < 3; i++)
		out[i] = a[i] + (vb * ab[i] + vc * ac[i]) / (va + vb + vc);
	return FACE;
}

/* The squared distance from a node's box. */
static double
box_distance(const struct node *node, const double x[3])
{
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double d = greater(greater(node->low[i] - x[i], x[i] - node->high[i]), 0);

		sum += d * d;
	}
	return sum;
}

struct best {
	double squares, point[3];
	size_t triangle;	/* in the order of the leaves */
	uint32_t number;
	enum part part;
};

/* Triangle k, in the order of the leaves. */
static void
try_triangle(const struct nearest *tree, size_t k, const double x[3], struct best *best)
{
	double point[3], d[3], squares;
	enum part part = nearest_of((const double (*)[3])tree->corner[k], x, point);

	for (int i = 0; i < 3; i++)
		d[i] = x[i] - point[i];
	squares = vector3_dot(d, d);
	if (squares > best->squares || (squares == best->squares &&
	    best->triangle != NEAREST_NONE && tree->number[k] > best->number))
		return;
	best->squares = squares;
	best->triangle = k;
	best->number = tree->number[k];
	best->part = part;
	memcpy(best->point, point, sizeof(point));
}

static void
search(const struct nearest *tree, const double x[3], struct best *best)
{
	struct { uint32_t node; double squares; } stack[DEPTH];
	size_t n = 0;

	stack[n].node = 0;
	stack[n++].squares = box_distance(tree->node, x);
	while (n) {
		const struct node *node = &tree->node[stack[--n].node];
		uint32_t a, b;
		double da, db;

		if (stack[n].squares > best->squares)
			continue;
		if (node->n) {
			for (size_t k = node->first; k < (size_t)node->first + node->n; k++)
				try_triangle(tree, k, x, best);
			continue;
		}
		a = (uint32_t)(node - tree->node) + 1;
		b = node->first;
		da = box_distance(&tree->node[a], x);
		db = box_distance(&tree->node[b], x);
		/* the nearer one is searched first: it lies on top */
		stack[n].node = da <= db ? b : a;
		stack[n++].squares = greater(da, db);
		stack[n].node = da <= db ? a : b;
		stack[n++].squares = lesser(da, db);
	}
}

void
nearest_find(const struct nearest *tree, const double x[3], double within, size_t from,
    struct nearest_point *out)
{
	struct best best = { .squares = within * within, .triangle = NEAREST_NONE };
	const struct surface_triangle *of;
	const float *normal;
	double d[3];

	if (from != NEAREST_NONE)
		try_triangle(tree, from, x, &best);
	search(tree, x, &best);
	*out = (struct nearest_point){ .triangle = NEAREST_NONE, .place = from,
		.distance = (double)NAN };
	if (best.triangle == NEAREST_NONE)
		return;
	out->triangle = best.number;
	out->place = best.triangle;
	of = &tree->normals.triangle[best.number];
	normal = best.part == FACE ? of->face : best.part < VERTEX_0 ?
	    of->edge[best.part - EDGE_0] : of->vertex[best.part - VERTEX_0];
	out->border = best.part == FACE ? false : best.part < VERTEX_0 ?
	    of->edge_border[best.part - EDGE_0] : of->vertex_border[best.part - VERTEX_0];
	for (int i = 0; i < 3; i++) {
		out->point[i] = best.point[i];
		out->normal[i] = (double)normal[i];
		out->face[i] = (double)of->face[i];
		d[i] = x[i] - best.point[i];
	}
	out->distance = copysign(sqrt(best.squares), vector3_dot(d, out->normal));
}

/* ---- lines of sight ---- */

const double (*nearest_corners(const struct nearest *tree, size_t place))[3]
{
	return (const double (*)[3])tree->corner[place];
}

/* A line from + t along, for t from `begin` to 1. */
struct sight {
	double from[3], along[3], begin;
};

/* Slabs (Ericson 2005, 5.3.3). */
static bool
crosses_box(const struct node *node, const struct sight *sight)
{
	double begin = sight->begin, end = 1;

	for (int i = 0; i < 3; i++) {
		double a = node->low[i] - sight->from[i], b = node->high[i] - sight->from[i];

		if (sight->along[i] == 0) {
			if (a > 0 || b < 0)
				return false;
			continue;
		}
		a /= sight->along[i];
		b /= sight->along[i];
		begin = greater(begin, lesser(a, b));
		end = lesser(end, greater(a, b));
	}
	return begin <= end;
}

/* Moeller and Trumbore 1997; a line within the triangle's plane crosses nothing. */
static bool
crosses_triangle(const double corner[3][3], const struct sight *sight)
{
	double ab[3], ac[3], p[3], q[3], s[3], det, u, v, t;

	for (int i = 0; i < 3; i++) {
		ab[i] = corner[1][i] - corner[0][i];
		ac[i] = corner[2][i] - corner[0][i];
		s[i] = sight->from[i] - corner[0][i];
	}
	vector3_cross(sight->along, ac, p);
	det = vector3_dot(ab, p);
	if (det == 0)
		return false;
	u = vector3_dot(s, p) / det;
	vector3_cross(s, ab, q);
	v = vector3_dot(sight->along, q) / det;
	t = vector3_dot(ac, q) / det;
	return u >= 0 && v >= 0 && u + v <= 1 && t > sight->begin && t < 1;
}

bool
nearest_hides(const struct nearest *tree, size_t place, const double from[3], const double to[3],
    double clear)
{
	struct sight sight;
	uint32_t stack[DEPTH];
	size_t n = 0;

	for (int i = 0; i < 3; i++) {
		sight.from[i] = from[i];
		sight.along[i] = to[i] - from[i];
	}
	sight.begin = clear / sqrt(vector3_dot(sight.along, sight.along));
	stack[n++] = 0;
	while (n) {
		uint32_t at = stack[--n];
		const struct node *node = &tree->node[at];

		if (!crosses_box(node, &sight))
			continue;
		for (size_t k = node->first; k < (size_t)node->first + node->n; k++)
			if (k != place && crosses_triangle((const double (*)[3])tree->corner[k],
			    &sight))
				return true;
		if (node->n == 0) {
			stack[n++] = node->first;
			stack[n++] = at + 1;
		}
	}
	return false;
}
