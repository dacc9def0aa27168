/*
 * The surface of xyz2mesh: the signed distance from the points in the cells near them, and the
 * triangles between its signs.
 *
 * In a cube whose eight corners are known each face says which of its edges belong together, by
 * itself and thus alike for both of its cubes; so the edges of a cube make closed loops, and each
 * is a polygon (Nielson and Hamann 1991 tell the faces whose four corners alternate). No diagonal
 * of a polygon lies in a face, so that no edge has more than two triangles; where that cannot be,
 * the polygon gets a vertex in its middle. A cube that touches another one in an edge only, which
 * would pinch the surface there, is left out.
 */

#include "base/process.h"
#include "xyz2mesh.h"

#define CHUNK 64		/* bricks that a thread takes at a time */
#define EDGES 12
#define LEAST_PART 0.02f	/* of an edge: no vertex is nearer to a node, or triangles vanish */

struct brick {
	uint64_t key;			/* of its cube in the points' grid: first, compare_keys() */
	float f[BRICK_NODES];		/* signed distances, in cells */
	uint64_t known;			/* its nodes that have one */
	uint64_t cubes;			/* whose first corner is that node: with triangles */
	_Atomic uint64_t pinched;	/* of those: left out at the end of this round */
	_Atomic uint64_t edge[3];	/* with a vertex: from the node along x, y, z */
	uint64_t middle;		/* cubes with a vertex inside, whose polygon wants it */
	uint32_t first;			/* of its vertices: of edge[0], [1], [2], then of middle */
};

struct triangles_list {
	uint32_t (*corner)[3];
	size_t n, room;
};

struct surface {
	const struct cloud *cloud;
	const struct surface_options *options;
	struct brick *brick;
	size_t bricks;
	struct frame *vertices;
	struct triangles_list *list;	/* of each chunk */
};

static size_t
chunks(const struct surface *surface)
{
	return (surface->bricks + CHUNK - 1) / CHUNK;
}

#define FOR_BRICKS(surface, chunk, brick) \
	for (struct brick *brick = (surface)->brick + (chunk) * CHUNK; \
	    brick < (surface)->brick + (surface)->bricks && \
	    brick < (surface)->brick + ((chunk) + 1) * CHUNK; brick++)

static inline uint64_t
bit(size_t i)
{
	return (uint64_t)1 << i;
}

/* ---- bricks with a point within reach ---- */

struct touch_job {
	const struct cloud *cloud;
	uint32_t *touched;		/* of each cube of points: which of 27 bricks */
};

static void
find_touched(void *arg, size_t cube)
{
	const struct touch_job *job = arg;
	const struct grid *grid = &job->cloud->grid;
	int64_t place[3];
	uint32_t touched = 0;

	grid_place_of_key(grid->key[cube], place);
	for (size_t i = grid->first[cube]; i < grid->first[cube + 1]; i++) {
		bool to[3][3];

		for (int k = 0; k < 3; k++) {
			double at = (double)job->cloud->xyz[k][i] / (grid->size / BRICK) -
			    (double)(place[k] + grid->origin[k]) * BRICK;

			/* one more, for the cubes before a brick's own (find_pinched()) */
			to[k][0] = at <= WEIGHT_REACH;
			to[k][1] = true;
			to[k][2] = BRICK - at <= WEIGHT_REACH;
		}
		for (int b = 0; b < 27; b++)
			touched |= (uint32_t)(to[0][b / 9] & to[1][b / 3 % 3] & to[2][b % 3]) << b;
	}
	job->touched[cube] = touched;
}

static int
compare_keys(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
list_bricks(struct run *run, struct surface *surface)
{
	const struct grid *grid = &surface->cloud->grid;
	struct touch_job job = { surface->cloud,
		must_alloc(grid->cells + 1, sizeof(*job.touched)) };
	uint64_t *key;
	size_t n = 0, different = 0;

	run_for(run, grid->cells, find_touched, &job);
	for (size_t c = 0; c < grid->cells; c++)
		n += (size_t)__builtin_popcount(job.touched[c]);
	key = must_large(n + 1, sizeof(*key));
	n = 0;
	for (size_t c = 0; c < grid->cells; c++)
		for (int b = 0; b < 27; b++)
			if (job.touched[c] >> b & 1)
				key[n++] = grid->key[c] + grid_key(b / 9, b / 3 % 3, b % 3) -
				    grid_key(1, 1, 1);
	free(job.touched);
	qsort(key, n, sizeof(*key), compare_keys);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || key[i] != key[i - 1])
			key[different++] = key[i];
	surface->brick = must_alloc(different + 1, sizeof(*surface->brick));
	for (size_t i = 0; i < different; i++)
		surface->brick[i].key = key[i];
	surface->bricks = different;
	free(key);
}

static void
find_distances(void *arg, size_t chunk)
{
	const struct surface *surface = arg;
	const float reach = (float)surface->options->reach;
	struct near near = { 0 };

	FOR_BRICKS(surface, chunk, brick) {
		int64_t place[3];

		grid_place_of_key(brick->key, place);
		near_find(&near, surface->cloud, place, WEIGHT_REACH);
		brick->known = xyz2mesh_rows()->distances(&near, reach * reach, brick->f);
	}
	near_free(&near);
}

/* ---- a brick and its neighbours ---- */

/* A brick and those behind it along x, y and z: by the bits 4, 2, 1 of the number. NULL: no point
 * is near. */
struct block {
	struct brick *brick[8];
};

static struct block
block_of(const struct surface *surface, struct brick *brick)
{
	struct block block = { { brick } };

	for (int b = 1; b < 8; b++) {
		uint64_t key = brick->key + grid_key(b >> 2, b >> 1 & 1, b & 1);

		block.brick[b] = bsearch(&key, brick,
		    (size_t)(surface->brick + surface->bricks - brick), sizeof(*brick),
		    compare_keys);
	}
	return block;
}

/* The brick that has the node behind this one of the block's first brick, and its number there; the
 * bits 4, 2, 1 of `by` go on along x, y, z. */
static inline struct brick *
block_node(const struct block *block, size_t from, size_t by, size_t *node)
{
	size_t x = (from >> 4) + (by >> 2), y = (from >> 2 & 3) + (by >> 1 & 1);
	size_t z = (from & 3) + (by & 1);

	*node = node_at(x % BRICK, y % BRICK, z % BRICK);
	return block->brick[x / BRICK << 2 | y / BRICK << 1 | z / BRICK];
}

/* A cube's corners: number c lies at the bits 4, 2, 1 of c along x, y, z. */
struct cube {
	float f[8];
	struct brick *brick[8];
	size_t node[8];
	unsigned inside;		/* corners with f < 0 */
};

/* False where a corner is unknown. */
static inline bool
cube_load(const struct block *block, size_t node, struct cube *cube)
{
	cube->inside = 0;
	for (size_t c = 0; c < 8; c++) {
		struct brick *brick = block_node(block, node, c, &cube->node[c]);

		if (!brick || !(brick->known >> cube->node[c] & 1))
			return false;
		cube->brick[c] = brick;
		cube->f[c] = brick->f[cube->node[c]];
		cube->inside |= (unsigned)(cube->f[c] < 0) << c;
	}
	return true;
}

/* The edges of a cube by their two corners; number / 4 is the axis. */
static const unsigned char edge_corner[EDGES][2] = {
	{ 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 },
	{ 0, 2 }, { 1, 3 }, { 4, 6 }, { 5, 7 },
	{ 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } };

/* The corners of its faces, counter-clockwise as seen from outside, and the edges from each corner
 * to the next one. */
static const unsigned char face_corner[6][4] = { { 0, 1, 3, 2 }, { 4, 6, 7, 5 }, { 0, 4, 5, 1 },
	{ 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 1, 5, 7, 3 } };
static const unsigned char face_edge[6][4] = { { 8, 5, 9, 4 }, { 6, 11, 7, 10 }, { 0, 10, 1, 8 },
	{ 9, 3, 11, 2 }, { 4, 2, 6, 0 }, { 1, 7, 3, 5 } };

/* ---- cubes with triangles ---- */

static void
find_cubes(void *arg, size_t chunk)
{
	struct surface *surface = arg;

	FOR_BRICKS(surface, chunk, brick) {
		struct block block = block_of(surface, brick);
		struct cube cube;

		for (size_t node = 0; node < BRICK_NODES; node++)
			if (cube_load(&block, node, &cube) && cube.inside != 0 &&
			    cube.inside != 0xff)
				brick->cubes |= bit(node);
	}
}

/* Of the four cubes around an edge, where only two are there, which touch in it alone, marks the
 * first one. node: the least of their first corners. */
static void
mark_pinched(const struct block *block, size_t node, size_t axis)
{
	static const size_t step[3] = { 4, 2, 1 };
	size_t a = step[(axis + 1) % 3], b = step[(axis + 2) % 3], number[4], from, until;
	const size_t by[4] = { 0, a, b, a | b };
	struct brick *brick[4], *from_brick, *until_brick;
	unsigned there = 0;

	for (size_t c = 0; c < 4; c++) {
		brick[c] = block_node(block, node, by[c], &number[c]);
		there |= (unsigned)(brick[c] && brick[c]->cubes >> number[c] & 1) << c;
	}
	if (there != 9 && there != 6)
		return;
	from_brick = block_node(block, node, a | b, &from);
	until_brick = block_node(block, node, 7, &until);
	if ((from_brick->f[from] < 0) != (until_brick->f[until] < 0)) {
		size_t first = there == 9 ? 0 : 1;

		brick[first]->pinched |= bit(number[first]);
	}
}

/* Edges begin in a brick or in one of the seven behind it: the cubes around them begin in it. */
static void
find_pinched(void *arg, size_t chunk)
{
	struct surface *surface = arg;

	FOR_BRICKS(surface, chunk, brick) {
		struct block block = block_of(surface, brick);
		uint64_t any = 0;

		for (size_t b = 0; b < 8; b++)
			any |= block.brick[b] ? block.brick[b]->cubes : 0;
		for (size_t node = 0; any && node < BRICK_NODES; node++)
			for (size_t axis = 0; axis < 3; axis++)
				mark_pinched(&block, node, axis);
	}
}

/* Until no vertex is pinched. */
static void
leave_pinched(struct run *run, struct surface *surface)
{
	for (bool any = true; any;) {
		any = false;
		run_for(run, chunks(surface), find_pinched, surface);
		for (size_t i = 0; i < surface->bricks; i++) {
			struct brick *brick = &surface->brick[i];

			any |= brick->pinched != 0;
			brick->cubes &= ~brick->pinched;
			brick->pinched = 0;
		}
	}
}

/* ---- polygons ---- */

/* The edge that follows each one in its loop, clockwise as seen from the outside; EDGES: none. */
static void
link_edges(const struct cube *cube, unsigned char next[EDGES])
{
	memset(next, EDGES, EDGES);
	for (size_t face = 0; face < 6; face++) {
		const unsigned char *corner = face_corner[face], *edge = face_edge[face];
		unsigned in[4], sides;
		bool joined;
		float product[2] = { 1, 1 };

		for (size_t k = 0; k < 4; k++)
			in[k] = cube->inside >> corner[k] & 1;
		sides = in[0] | in[1] << 1 | in[2] << 2 | in[3] << 3;
		if (sides == 0 || sides == 15)
			continue;
		if (sides != 5 && sides != 10) {
			size_t enters = 0, leaves = 0;

			for (size_t k = 0; k < 4; k++) {
				enters = in[k] && !in[(k + 1) % 4] ? k : enters;
				leaves = !in[k] && in[(k + 1) % 4] ? k : leaves;
			}
			next[edge[enters]] = edge[leaves];
			continue;
		}
		/* which two corners belong together: those of the larger product (the sign of the
		 * bilinear function at its saddle) */
		for (size_t k = 0; k < 4; k++)
			product[in[k]] *= fabsf(cube->f[corner[k]]);
		joined = product[0] > product[1];	/* those outside */
		for (size_t k = 0; k < 4; k++) {
			size_t before = edge[(k + 3) % 4], behind = edge[k];

			/* around each corner outside, or inside, that is cut off */
			if (!in[k] && !joined)
				next[before] = (unsigned char)behind;
			else if (in[k] && joined)
				next[behind] = (unsigned char)before;
		}
	}
}

/* Do two edges lie in one face? */
static bool
share_face(size_t a, size_t b)
{
	for (size_t face = 0; face < 6; face++) {
		unsigned found = 0;

		for (size_t k = 0; k < 4; k++)
			found += (face_edge[face][k] == a) + (face_edge[face][k] == b);
		if (found == 2)
			return true;
	}
	return false;
}

struct polygon {
	size_t n;
	unsigned char edge[EDGES];
	uint32_t vertex[EDGES + 1];	/* filled in at the end; the last one: its middle */
};

/* Takes the next loop out of the list; false: none is left. */
static bool
take_polygon(unsigned char next[EDGES], struct polygon *polygon)
{
	polygon->n = 0;
	for (size_t start = 0; start < EDGES && polygon->n == 0; start++)
		for (size_t e = start, then; next[e] < EDGES; e = then) {
			then = next[e];
			next[e] = EDGES;
			polygon->edge[polygon->n++] = (unsigned char)e;
		}
	return polygon->n > 0;
}

static void
add_triangle(struct triangles_list *list, const struct polygon *polygon, size_t a, size_t b,
    size_t c)
{
	if (list->n == list->room) {
		list->room = 2 * list->room + 1024;
		list->corner = must_resize(list->corner, list->room, sizeof(*list->corner));
	}
	list->corner[list->n][0] = polygon->vertex[a];
	list->corner[list->n][1] = polygon->vertex[b];
	list->corner[list->n++][2] = polygon->vertex[c];
}

/* Triangles over the corners a to b of a polygon, none of whose inner sides lies in a face; false
 * where there are none. list NULL: only asks. */
static bool
fill_polygon(const struct polygon *polygon, size_t a, size_t b, struct triangles_list *list)
{
	if (b < a + 2)
		return true;
	for (size_t c = a + 1; c < b; c++) {
		if ((c > a + 1 && share_face(polygon->edge[a], polygon->edge[c])) ||
		    (b > c + 1 && share_face(polygon->edge[c], polygon->edge[b])) ||
		    !fill_polygon(polygon, a, c, NULL) || !fill_polygon(polygon, c, b, NULL))
			continue;
		if (list) {
			add_triangle(list, polygon, a, b, c);
			fill_polygon(polygon, a, c, list);
			fill_polygon(polygon, c, b, list);
		}
		return true;
	}
	return false;
}

/* The polygon of a cube that wants a vertex in its middle: some of eight corners and more, and thus
 * one of a cube's. */
static bool
find_middle(const struct cube *cube, struct polygon *polygon)
{
	unsigned char next[EDGES];

	link_edges(cube, next);
	while (take_polygon(next, polygon))
		if (!fill_polygon(polygon, 0, polygon->n - 1, NULL))
			return true;
	return false;
}

/* ---- vertices ---- */

static void
find_edges(void *arg, size_t chunk)
{
	struct surface *surface = arg;

	FOR_BRICKS(surface, chunk, brick) {
		struct block block = block_of(surface, brick);
		struct polygon polygon;
		struct cube cube;

		for (uint64_t left = brick->cubes; left; left &= left - 1) {
			cube_load(&block, (size_t)__builtin_ctzll(left), &cube);
			if (find_middle(&cube, &polygon))
				brick->middle |= bit(cube.node[0]);
			for (size_t e = 0; e < EDGES; e++) {
				const unsigned char *ends = edge_corner[e];

				if ((cube.inside >> ends[0] ^ cube.inside >> ends[1]) & 1)
					cube.brick[ends[0]]->edge[e / 4] |= bit(cube.node[ends[0]]);
			}
		}
	}
}

#define MIDDLE 3		/* in the place of an edge's axis */

static inline uint32_t
vertex_number(const struct brick *brick, size_t node, size_t axis)
{
	uint32_t number = brick->first;

	for (size_t k = 0; k < axis; k++)
		number += (uint32_t)__builtin_popcountll(brick->edge[k]);
	return number + (uint32_t)__builtin_popcountll((bit(node) - 1) &
	    (axis == MIDDLE ? brick->middle : brick->edge[axis]));
}

/* Moves on from a node with the value a to the zero before the next one, with b. */
static inline void
go_to_zero(float at[3], size_t axis, float a, float b)
{
	at[axis] += fminf(fmaxf(a / (a - b), LEAST_PART), 1 - LEAST_PART);
}

/* Writes a vertex at this place of its brick, in cells, into its column. */
static void
put_vertex(const struct surface *surface, const struct near *near, const int64_t place[3],
    const float at[3], size_t column)
{
	const struct grid *grid = &surface->cloud->grid;
	struct frame *out = surface->vertices;
	const size_t values = surface->options->values;
	double sums[NEAR_VALUES], all, length;

	all = xyz2mesh_rows()->means(near, at, 3 + values, sums);
	length = sqrt(sums[0] * sums[0] + sums[1] * sums[1] + sums[2] * sums[2]);
	for (size_t k = 0; k < 3; k++) {
		double from = (double)(place[k] + grid->origin[k]) * BRICK;

		frame_floats(out, k, 0)[column] =
		    (float)((from + (double)at[k]) * (grid->size / BRICK));
		frame_floats(out, 3 + k, 0)[column] = (float)(sums[k] / length);
	}
	for (size_t k = 0; k < values; k++)
		frame_floats(out, 6 + k, 0)[column] = (float)(sums[3 + k] / all);
}

/* The middle of a polygon's vertices, in cells from the brick's first node. */
static void
find_mean(const struct cube *cube, const struct polygon *polygon, float mean[3])
{
	const size_t node = cube->node[0];

	mean[0] = mean[1] = mean[2] = 0;
	for (size_t i = 0; i < polygon->n; i++) {
		size_t e = polygon->edge[i], from = edge_corner[e][0];
		float at[3] = { (float)((node >> 4) + (from >> 2)),
			(float)((node >> 2 & 3) + (from >> 1 & 1)),
			(float)((node & 3) + (from & 1)) };

		go_to_zero(at, e / 4, cube->f[from], cube->f[edge_corner[e][1]]);
		for (size_t k = 0; k < 3; k++)
			mean[k] += at[k] / (float)polygon->n;
	}
}

static void
make_vertices(void *arg, size_t chunk)
{
	const struct surface *surface = arg;
	struct near near = { 0 };

	FOR_BRICKS(surface, chunk, brick) {
		struct block block = block_of(surface, brick);
		uint32_t column = brick->first;
		struct polygon polygon;
		struct cube cube;
		int64_t place[3];
		float at[3];

		if (!(brick->edge[0] | brick->edge[1] | brick->edge[2] | brick->middle))
			continue;
		grid_place_of_key(brick->key, place);
		near_find(&near, surface->cloud, place, MEAN_REACH);
		for (size_t axis = 0; axis < 3; axis++)
			for (uint64_t left = brick->edge[axis]; left; left &= left - 1) {
				size_t node = (size_t)__builtin_ctzll(left), end;
				const struct brick *other = block_node(&block, node,
				    (size_t)4 >> axis, &end);

				at[0] = (float)(node >> 4);
				at[1] = (float)(node >> 2 & 3);
				at[2] = (float)(node & 3);
				go_to_zero(at, axis, brick->f[node], other->f[end]);
				put_vertex(surface, &near, place, at, column++);
			}
		for (uint64_t left = brick->middle; left; left &= left - 1) {
			cube_load(&block, (size_t)__builtin_ctzll(left), &cube);
			find_middle(&cube, &polygon);
			find_mean(&cube, &polygon, at);
			put_vertex(surface, &near, place, at, column++);
		}
	}
	near_free(&near);
}

/* ---- triangles ---- */

static void
fill_cube(const struct brick *brick, const struct cube *cube, struct triangles_list *list)
{
	unsigned char next[EDGES];
	struct polygon polygon;

	link_edges(cube, next);
	while (take_polygon(next, &polygon)) {
		for (size_t i = 0; i < polygon.n; i++) {
			size_t e = polygon.edge[i], corner = edge_corner[e][0];

			polygon.vertex[i] = vertex_number(cube->brick[corner], cube->node[corner],
			    e / 4);
		}
		if (fill_polygon(&polygon, 0, polygon.n - 1, list))
			continue;
		polygon.vertex[EDGES] = vertex_number(brick, cube->node[0], MIDDLE);
		for (size_t i = 0; i < polygon.n; i++)
			add_triangle(list, &polygon, (i + 1) % polygon.n, i, EDGES);
	}
}

static void
make_triangles(void *arg, size_t chunk)
{
	struct surface *surface = arg;

	FOR_BRICKS(surface, chunk, brick) {
		struct block block = block_of(surface, brick);
		struct cube cube;

		for (uint64_t left = brick->cubes; left; left &= left - 1) {
			cube_load(&block, (size_t)__builtin_ctzll(left), &cube);
			fill_cube(brick, &cube, &surface->list[chunk]);
		}
	}
}

/* ---- all of it ---- */

static int
number_vertices(struct surface *surface, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < surface->bricks; i++) {
		struct brick *brick = &surface->brick[i];

		brick->first = (uint32_t)*n;
		*n += vertex_number(brick, 0, MIDDLE) - brick->first +
		    (size_t)__builtin_popcountll(brick->middle);
		if (*n > INT32_MAX)
			return fail("--cell", "a mesh has at most %d vertices: give larger cells",
			    INT32_MAX);
	}
	return 0;
}

static void
join_triangles(struct surface *surface, uint32_t (**triangle)[3], size_t *triangles)
{
	size_t n = 0;

	for (size_t i = 0; i < chunks(surface); i++)
		n += surface->list[i].n;
	*triangle = must_large(n + 1, sizeof(**triangle));
	*triangles = n;
	n = 0;
	for (size_t i = 0; i < chunks(surface); i++) {
		struct triangles_list *list = &surface->list[i];

		if (list->n > 0)
			memcpy(*triangle + n, list->corner, list->n * sizeof(**triangle));
		n += list->n;
		free(list->corner);
	}
}

int
surface_make(struct run *run, const struct cloud *cloud, const struct surface_options *options,
    struct frame_head *head, struct frame **vertices, uint32_t (**triangle)[3],
    size_t *triangles, size_t *between, bool *closed)
{
	struct surface surface = { .cloud = cloud, .options = options };
	size_t n;
	int status;

	*vertices = NULL;
	list_bricks(run, &surface);
	run_for(run, chunks(&surface), find_distances, &surface);
	run_for(run, chunks(&surface), find_cubes, &surface);
	leave_pinched(run, &surface);
	run_for(run, chunks(&surface), find_edges, &surface);
	status = number_vertices(&surface, &n);
	head->w = n;
	head->h = 1;
	if (status == 0 && n > 0)
		status = frame_new(head, vertices);
	if (*vertices) {
		surface.vertices = *vertices;
		run_for(run, chunks(&surface), make_vertices, &surface);
		surface.list = must_alloc(chunks(&surface), sizeof(*surface.list));
		run_for(run, chunks(&surface), make_triangles, &surface);
		join_triangles(&surface, triangle, triangles);
		free(surface.list);
		status = mesh_drop_crumbs(vertices, *triangle, triangles);
		*between = *triangles;
		if (status == 0 && *triangles > 0)
			status = mesh_fill_holes(vertices, triangle, triangles, options->close ?
			    SIZE_MAX : PINHOLE_EDGES, cloud->grid.size / BRICK, closed);
	}
	free(surface.brick);
	return status;
}
