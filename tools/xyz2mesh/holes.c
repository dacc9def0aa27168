/*
 * What is done to the finished mesh of xyz2mesh: crumbs go, pinholes are filled, and holes on
 * demand. Every border is a loop, for no vertex is pinched.
 */

#include "base/linear.h"
#include "base/process.h"
#include "xyz2mesh.h"

void
mesh_triangle_normal(const struct frame *vertices, const uint32_t triangle[3], double normal[3])
{
	double side[2][3];

	for (size_t k = 0; k < 6; k++)
		side[k / 3][k % 3] = (double)frame_floats(vertices, k % 3, 0)[triangle[1 + k / 3]] -
		    (double)frame_floats(vertices, k % 3, 0)[triangle[0]];
	vector3_cross(side[0], side[1], normal);
}

/* ---- crumbs ---- */

#define CRUMB_VERTICES 32	/* a disc around a single point has more */

/* The least vertex of a piece, as far as it is known. */
static uint32_t
piece_of(uint32_t *piece, uint32_t v)
{
	while (piece[v] != v)
		v = piece[v] = piece[piece[v]];
	return v;
}

/* Moves the columns that are kept to the left, and gives their new numbers. */
static int
keep_vertices(struct frame **vertices, const uint32_t *piece, const uint32_t *size,
    uint32_t *number)
{
	const struct frame *from = *vertices;
	struct frame *kept;
	size_t n = 0;

	for (size_t v = 0; v < from->head.w; v++) {
		number[v] = (uint32_t)n;
		n += size[piece[v]] >= CRUMB_VERTICES;
	}
	if (n == from->head.w || n == 0)
		return 0;
	if (frame_new_sized(&from->head, n, 1, &kept) < 0)
		return -1;
	for (size_t c = 0; c < from->head.c; c++)
		for (size_t v = 0; v < from->head.w; v++)
			if (size[piece[v]] >= CRUMB_VERTICES)
				frame_floats(kept, c, 0)[number[v]] = frame_floats(from, c, 0)[v];
	frame_replace(vertices, kept);
	return 0;
}

int
mesh_drop_crumbs(struct frame **vertices, uint32_t (*triangle)[3], size_t *triangles)
{
	size_t n = (*vertices)->head.w, kept = 0;
	uint32_t *piece = must_large(n, sizeof(*piece)), *size = must_alloc(n, sizeof(*size));
	uint32_t *number = must_large(n, sizeof(*number));
	int status;

	for (size_t v = 0; v < n; v++)
		piece[v] = (uint32_t)v;
	for (size_t t = 0; t < *triangles; t++)
		for (size_t k = 1; k < 3; k++) {
			uint32_t a = piece_of(piece, triangle[t][0]);
			uint32_t b = piece_of(piece, triangle[t][k]);

			piece[a > b ? a : b] = a < b ? a : b;
		}
	for (size_t v = 0; v < n; v++) {
		piece[v] = piece_of(piece, (uint32_t)v);
		size[piece[v]]++;
	}
	status = keep_vertices(vertices, piece, size, number);
	for (size_t t = 0; t < *triangles; t++) {
		if (size[piece[triangle[t][0]]] < CRUMB_VERTICES)
			continue;
		for (size_t k = 0; k < 3; k++)
			triangle[kept][k] = number[triangle[t][k]];
		kept++;
	}
	*triangles = kept;
	free_all(piece, size, number);
	return status;
}

/* ---- borders ---- */

struct edge {
	uint32_t from, to;		/* as its triangle has it */
};

static int
compare_edges(const void *a, const void *b)
{
	const struct edge *p = a, *q = b;

	return p->from != q->from ? (p->from < q->from ? -1 : 1) :
	    p->to < q->to ? -1 : p->to > q->to;
}

/* The edges that have one triangle, sorted. */
static struct edge *
find_border(const uint32_t (*triangle)[3], size_t triangles, size_t vertices, size_t *edges)
{
	/* Around a vertex inside each neighbour comes once before and once behind it: the sum of
	 * their differences is 0, and at the border it is not. */
	int64_t *sum = must_alloc(vertices, sizeof(*sum));
	struct edge *edge = NULL, *border;
	size_t n = 0, kept = 0;

	for (size_t t = 0; t < triangles; t++)
		for (size_t k = 0; k < 3; k++)
			sum[triangle[t][k]] += (int64_t)triangle[t][(k + 1) % 3] -
			    (int64_t)triangle[t][(k + 2) % 3];
	for (int pass = 0; pass < 2; pass++) {
		edge = pass ? must_alloc(n + 1, sizeof(*edge)) : NULL;
		n = 0;
		for (size_t t = 0; t < triangles; t++)
			for (size_t k = 0; k < 3; k++) {
				struct edge e = { triangle[t][k], triangle[t][(k + 1) % 3] };

				if (sum[e.from] == 0 || sum[e.to] == 0)
					continue;
				if (pass)
					edge[n] = e;
				n++;
			}
	}
	free(sum);
	qsort(edge, n, sizeof(*edge), compare_edges);
	border = must_alloc(n + 1, sizeof(*border));
	for (size_t i = 0; i < n; i++) {
		struct edge back = { edge[i].to, edge[i].from };

		if (!bsearch(&back, edge, n, sizeof(*edge), compare_edges))
			border[kept++] = edge[i];
	}
	free(edge);
	*edges = kept;
	return border;
}

/* The vertices of the loop that an edge is part of, none of whose edges was taken before: how
 * many. */
static size_t
follow_loop(const struct edge *border, size_t edges, size_t start, bool *taken, uint32_t *loop)
{
	size_t n = 0;

	for (size_t at = start; at < edges && !taken[at];) {
		size_t low = 0, high = edges;

		taken[at] = true;
		loop[n++] = border[at].from;
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (border[middle].from < border[at].to)
				low = middle + 1;
			else
				high = middle;
		}
		at = low;
	}
	return n;
}

/* ---- membranes ---- */

#define FEWEST_OF_RING 3
#define SMOOTHING 10		/* rounds, and two for each ring */

/* A loop and what fills it: rings of vertices towards its middle, and that one. */
struct membrane {
	const uint32_t *loop;
	size_t n, rings;
	size_t first, vertices;		/* columns of its own vertices */
	uint32_t (*triangle)[3];
	size_t triangles;
};

/* Of ring 0, the loop, to `rings`, the middle. */
static size_t
ring_vertices(const struct membrane *membrane, size_t ring)
{
	size_t n = membrane->n * (membrane->rings - ring) / membrane->rings;

	return ring == 0 ? membrane->n : ring == membrane->rings ? 1 :
	    n < FEWEST_OF_RING ? FEWEST_OF_RING : n;
}

static void
plan_membrane(struct membrane *membrane, const struct frame *frame, double cell)
{
	double middle[3] = { 0 }, radius = 0;

	for (size_t i = 0; i < membrane->n; i++)
		for (size_t k = 0; k < 3; k++)
			middle[k] += (double)frame_floats(frame, k, 0)[membrane->loop[i]] /
			    (double)membrane->n;
	for (size_t i = 0; i < membrane->n; i++) {
		double square = 0;

		for (size_t k = 0; k < 3; k++)
			square += pow((double)frame_floats(frame, k, 0)[membrane->loop[i]] -
			    middle[k], 2);
		radius += sqrt(square) / (double)membrane->n;
	}
	membrane->rings = radius > cell ? (size_t)(radius / cell + 0.5) : 1;
	membrane->vertices = 0;
	for (size_t ring = 1; ring <= membrane->rings; ring++)
		membrane->vertices += ring_vertices(membrane, ring);
}

/* Straight from the loop to its middle, in every channel. */
static void
place_vertices(const struct membrane *membrane, struct frame *frame)
{
	for (size_t c = 0; c < frame->head.c; c++) {
		float *v = frame_floats(frame, c, 0), *to = v + membrane->first;
		double middle = 0;

		for (size_t i = 0; i < membrane->n; i++)
			middle += (double)v[membrane->loop[i]] / (double)membrane->n;
		for (size_t ring = 1; ring <= membrane->rings; ring++) {
			size_t n = ring_vertices(membrane, ring);
			double part = (double)ring / (double)membrane->rings;

			for (size_t i = 0; i < n; i++) {
				size_t at = i * membrane->n / n;
				double between = (double)(i * membrane->n % n) / (double)n;
				double a = (double)v[membrane->loop[at]];
				double b = (double)v[membrane->loop[(at + 1) % membrane->n]];
				double outside = a + between * (b - a);

				*to++ = (float)(outside + part * (middle - outside));
			}
		}
	}
}

static uint32_t
ring_vertex(const struct membrane *membrane, size_t ring, size_t first, size_t i)
{
	size_t n = ring_vertices(membrane, ring);

	return ring == 0 ? membrane->loop[i % n] : (uint32_t)(first + i % n);
}

/* Triangles between each ring and the next one, from the corner that is less far round. */
static void
make_rings(struct membrane *membrane)
{
	size_t outer_first = 0, inner_first = membrane->first;

	membrane->triangles = 0;
	for (size_t ring = 0; ring < membrane->rings; ring++) {
		size_t outer = ring_vertices(membrane, ring);
		size_t inner = ring_vertices(membrane, ring + 1), i = 0, j = 0;

		inner = inner == 1 ? 0 : inner;	/* the middle has no side */
		while (i < outer || j < inner) {
			uint32_t *t = membrane->triangle[membrane->triangles++];

			t[0] = ring_vertex(membrane, ring + 1, inner_first, j);
			if (j == inner ||
			    (i < outer && (2 * i + 1) * inner < (2 * j + 1) * outer)) {
				t[1] = ring_vertex(membrane, ring, outer_first, ++i);
				t[2] = ring_vertex(membrane, ring, outer_first, i - 1);
			} else {
				t[1] = ring_vertex(membrane, ring + 1, inner_first, ++j);
				t[2] = ring_vertex(membrane, ring, outer_first, i);
			}
		}
		outer_first = inner_first;
		inner_first += ring_vertices(membrane, ring + 1);
	}
}

/* Each vertex goes to the mean of its neighbours, round by round: a membrane. */
static void
smooth(const struct membrane *membrane, struct frame *frame)
{
	double *sum = must_alloc(membrane->vertices, 3 * sizeof(*sum));
	double *parts = sum + membrane->vertices;

	for (size_t round = 0; round < SMOOTHING + 2 * membrane->rings; round++)
		for (size_t c = 0; c < frame->head.c; c++) {
			float *v = frame_floats(frame, c, 0), *own = v + membrane->first;

			memset(sum, 0, 2 * membrane->vertices * sizeof(*sum));
			for (size_t t = 0; t < membrane->triangles; t++)
				for (size_t k = 0; k < 3; k++) {
					const uint32_t *corner = membrane->triangle[t];
					size_t to = corner[k] - membrane->first;

					if (corner[k] < membrane->first)
						continue;
					sum[to] += (double)v[corner[(k + 1) % 3]] +
					    (double)v[corner[(k + 2) % 3]];
					parts[to] += 2;
				}
			for (size_t i = 0; i < membrane->vertices; i++)
				own[i] = (float)(sum[i] / parts[i]);
		}
	/* its normals are those of its triangles: the border's may look along it */
	memset(sum, 0, 3 * membrane->vertices * sizeof(*sum));
	for (size_t t = 0; t < membrane->triangles; t++) {
		const uint32_t *corner = membrane->triangle[t];
		double normal[3];

		mesh_triangle_normal(frame, corner, normal);
		for (size_t k = 0; k < 9; k++)
			if (corner[k / 3] >= membrane->first)
				sum[3 * (corner[k / 3] - membrane->first) + k % 3] += normal[k % 3];
	}
	for (size_t i = 0; i < 3 * membrane->vertices; i++) {
		const double *normal = sum + i - i % 3;
		double length = sqrt(vector3_dot(normal, normal));

		frame_floats(frame, 3 + i % 3, 0)[membrane->first + i / 3] =
		    length > 0 ? (float)(sum[i] / length) : 0;
	}
	free(sum);
}

int
mesh_fill_holes(struct frame **vertices, uint32_t (**triangle)[3], size_t *triangles,
    size_t most_edges, double cell, bool *closed)
{
	const size_t first = (*vertices)->head.w;
	size_t edges, loops = 0, used = 0, more = 0, corners = 0;
	struct edge *border = find_border((const uint32_t (*)[3])*triangle, *triangles, first,
	    &edges);
	bool *taken = must_alloc(edges + 1, sizeof(*taken));
	uint32_t *loop = must_alloc(edges + 1, sizeof(*loop));
	struct membrane *membrane = must_alloc(edges + 1, sizeof(*membrane));
	struct frame *wide = NULL;
	int status = 0;

	*closed = true;
	for (size_t i = 0; i < edges; i++) {
		size_t n = follow_loop(border, edges, i, taken, loop + used);
		struct membrane *next = &membrane[loops];

		*closed &= n == 0 || n <= most_edges;
		if (n < 3 || n > most_edges)
			continue;
		*next = (struct membrane){ .loop = loop + used, .n = n, .first = first + more };
		plan_membrane(next, *vertices, cell);
		more += next->vertices;
		/* a triangle for each side of a ring, which two bands share */
		corners += n + 2 * next->vertices;
		used += n;
		loops++;
	}
	if (loops > 0)
		status = frame_new_sized(&(*vertices)->head, first + more, 1, &wide);
	for (size_t c = 0; wide && c < wide->head.c; c++)
		memcpy(frame_floats(wide, c, 0), frame_floats(*vertices, c, 0),
		    first * sizeof(float));
	if (wide) {
		frame_replace(vertices, wide);
		*triangle = must_resize(*triangle, *triangles + corners, sizeof(**triangle));
	}
	for (size_t i = 0; status == 0 && i < loops; i++) {
		membrane[i].triangle = *triangle + *triangles;
		place_vertices(&membrane[i], *vertices);
		make_rings(&membrane[i]);
		smooth(&membrane[i], *vertices);
		*triangles += membrane[i].triangles;
	}
	free_all(border, taken, loop, membrane);
	return status;
}
