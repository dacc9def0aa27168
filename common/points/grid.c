/*
 * The spatial index of point clouds: a radix sort of the points by the cubes that they lie in, and
 * the search for a size of cubes that suits them. For texmap, framecmp --to and mergexyz.
 */
#include "points/grid.h"

#include <math.h>

#include "base/numbers.h"
#include "base/process.h"
#include "image/statistics.h"

/* ---- sorting ---- */

#define FARTHEST_PLACE 1e15	/* cubes from 0: beyond, doubles do not tell cubes apart */
#define SORTED_POINTS 262144		/* points that a thread takes at a time */
#define DIGIT 11		/* bits that a pass of the sort takes */
#define BUCKETS ((size_t)1 << DIGIT)

struct sorting {
	struct grid *grid;
	size_t chunks;
	struct grid_extent *extent;	/* of each chunk */
	int64_t base[3];		/* the least place, which short keys begin at */
	int bits[3];			/* of a short key's places */
	uint64_t *key, *other_key;	/* short ones */
	uint32_t *point, *other_point;
	uint32_t (*count)[BUCKETS];	/* of each chunk; then where they go */
	int shift;
};

static inline int64_t
place_along(const struct grid *grid, int axis, double at)
{
	double place = floor(at / grid->size) - (double)grid->origin[axis];
	double least = (double)grid->border, most = (double)(GRID_PLACES - 1 - grid->border);

	return (int64_t)(place < least ? least : place < most ? place : most);
}

void
grid_place(const struct grid *grid, const float p[3], int64_t place[3])
{
	for (int k = 0; k < 3; k++)
		place[k] = place_along(grid, k, p[k]);
}

static size_t
end_of(const struct sorting *sorting, size_t chunk)
{
	size_t end = (chunk + 1) * SORTED_POINTS;

	return end < sorting->grid->points ? end : sorting->grid->points;
}

static void
find_extent(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;

	for (int k = 0; k < 3; k++) {
		const float *v = sorting->grid->xyz[k];
		float low = INFINITY, high = -INFINITY;

		for (size_t i = chunk * SORTED_POINTS; i < end_of(sorting, chunk); i++) {
			low = v[i] < low ? v[i] : low;
			high = v[i] > high ? v[i] : high;
		}
		sorting->extent[chunk].low[k] = low;
		sorting->extent[chunk].high[k] = high;
	}
}

static void
make_keys(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;
	const struct grid *grid = sorting->grid;

	for (size_t i = chunk * SORTED_POINTS; i < end_of(sorting, chunk); i++) {
		uint64_t key = 0;

		for (int k = 0; k < 3; k++)
			key = key << sorting->bits[k] |
			    (uint64_t)(place_along(grid, k, grid->xyz[k][i]) - sorting->base[k]);
		sorting->key[i] = key;
		sorting->point[i] = (uint32_t)i;
	}
}

static void
count_digits(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;
	uint32_t *count = sorting->count[chunk];

	memset(count, 0, sizeof(*sorting->count));
	for (size_t i = chunk * SORTED_POINTS; i < end_of(sorting, chunk); i++)
		count[sorting->key[i] >> sorting->shift & (BUCKETS - 1)]++;
}

static void
move_points(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;
	uint32_t *to = sorting->count[chunk];

	for (size_t i = chunk * SORTED_POINTS; i < end_of(sorting, chunk); i++) {
		uint32_t at = to[sorting->key[i] >> sorting->shift & (BUCKETS - 1)]++;

		sorting->other_key[at] = sorting->key[i];
		sorting->other_point[at] = sorting->point[i];
	}
}

static void
sort(struct run *run, struct sorting *sorting)
{
	int all = sorting->bits[0] + sorting->bits[1] + sorting->bits[2];

	for (sorting->shift = 0; sorting->shift < all; sorting->shift += DIGIT) {
		uint64_t *key = sorting->other_key;
		uint32_t *point = sorting->other_point, at = 0;

		run_for(run, sorting->chunks, count_digits, sorting);
		for (size_t b = 0; b < BUCKETS; b++)
			for (size_t c = 0; c < sorting->chunks; c++) {
				uint32_t count = sorting->count[c][b];

				sorting->count[c][b] = at;
				at += count;
			}
		run_for(run, sorting->chunks, move_points, sorting);
		sorting->other_key = sorting->key;
		sorting->other_point = sorting->point;
		sorting->key = key;
		sorting->point = point;
	}
}

static void
list_cubes(const struct sorting *sorting)
{
	struct grid *grid = sorting->grid;
	const uint64_t *key = sorting->key;
	const int *bits = sorting->bits;
	size_t cells = 1;

	for (size_t i = 1; i < grid->points; i++)
		cells += key[i] != key[i - 1];
	grid->key = must_alloc(cells + 1, sizeof(*grid->key));
	grid->first = must_alloc(cells + 1, sizeof(*grid->first));
	for (size_t i = 0; i < grid->points; i++) {
		if (i > 0 && key[i] == key[i - 1])
			continue;
		grid->key[grid->cells] = grid_key(
		    (int64_t)(key[i] >> (bits[1] + bits[2])) + sorting->base[0],
		    (int64_t)(key[i] >> bits[2] & (((uint64_t)1 << bits[1]) - 1)) +
		    sorting->base[1],
		    (int64_t)(key[i] & (((uint64_t)1 << bits[2]) - 1)) + sorting->base[2]);
		grid->first[grid->cells++] = (uint32_t)i;
	}
	grid->key[grid->cells] = UINT64_MAX;
	grid->first[grid->cells] = (uint32_t)grid->points;
}

static int
check_extent(double size, const struct grid_extent *extent)
{
	const double *low = extent->low, *high = extent->high;

	for (size_t k = 0; k < 3; k++)
		if (!(fabs(low[k] / size) < FARTHEST_PLACE &&
		    fabs(high[k] / size) < FARTHEST_PLACE &&
		    floor(high[k] / size) - floor(low[k] / size) < GRID_PLACES))
			return fail(NULL, "cubes of %g are too small for points that lie %g apart "
			    "along %c: at most %lld in a row", size, high[k] - low[k], "xyz"[k],
			    (long long)GRID_PLACES);
	return 0;
}

/* Sets the origin, and the places that short keys begin at and their bits. */
static int
place_points(struct run *run, struct sorting *sorting, const double *about,
    struct grid_extent *all)
{
	struct grid *grid = sorting->grid;
	struct grid_extent own = GRID_NOWHERE;

	run_for(run, sorting->chunks, find_extent, sorting);
	for (size_t i = 0; i < sorting->chunks; i++)
		grid_widen(&own, sorting->extent[i].low, sorting->extent[i].high);
	if (all)
		grid_widen(all, own.low, own.high);
	if (!about && check_extent(grid->size, all) < 0)
		return -1;
	grid->border = about != NULL;
	for (int k = 0; k < 3; k++) {
		double at = floor((about ? about[k] : own.low[k]) / grid->size);
		int64_t high;

		grid->origin[k] = (int64_t)fmin(fmax(at, -FARTHEST_PLACE), FARTHEST_PLACE) -
		    (about ? GRID_PLACES / 2 : 0);
		sorting->base[k] = place_along(grid, k, own.low[k]);
		high = place_along(grid, k, own.high[k]);
		while ((int64_t)1 << sorting->bits[k] <= high - sorting->base[k])
			sorting->bits[k]++;
	}
	return 0;
}

int
grid_make(struct run *run, const float *const xyz[3], size_t n, double size, const double *about,
    struct grid_extent *extent, struct grid *grid)
{
	struct sorting sorting = { .grid = grid,
		.chunks = (n + SORTED_POINTS - 1) / SORTED_POINTS };
	int status;

	*grid = (struct grid){ .xyz = { xyz[0], xyz[1], xyz[2] }, .size = size, .points = n };
	if (n >= UINT32_MAX)
		return fail(NULL, "%zu points are too many for a grid", n);
	sorting.extent = must_alloc(sorting.chunks, sizeof(*sorting.extent));
	sorting.count = must_alloc(sorting.chunks, sizeof(*sorting.count));
	sorting.key = must_alloc(n, sizeof(*sorting.key));
	sorting.other_key = must_alloc(n, sizeof(*sorting.other_key));
	sorting.point = must_alloc(n, sizeof(*sorting.point));
	sorting.other_point = must_alloc(n, sizeof(*sorting.other_point));
	status = place_points(run, &sorting, about, extent);
	if (status == 0) {
		run_for(run, sorting.chunks, make_keys, &sorting);
		sort(run, &sorting);
		list_cubes(&sorting);
	}
	grid->point = sorting.point;
	free_all(sorting.extent, sorting.count, sorting.key, sorting.other_key,
	    sorting.other_point);
	return status;
}

void
grid_free(struct grid *grid)
{
	free_all(grid->point, grid->key, grid->first);
	*grid = (struct grid){ 0 };
}

uint32_t *
grid_in_order(const struct grid *grid)
{
	/* at the first point of a cube: its number + 1 */
	uint32_t *begins = must_alloc(grid->points, sizeof(*begins));
	uint32_t *order = must_alloc(grid->cells, sizeof(*order));
	size_t n = 0;

	for (size_t c = 0; c < grid->cells; c++)
		begins[grid->point[grid->first[c]]] = (uint32_t)c + 1;
	for (size_t i = 0; i < grid->points; i++)
		if (begins[i])
			order[n++] = begins[i] - 1;
	free(begins);
	return order;
}

/* ---- points around a point ---- */

size_t
grid_around(const struct grid *grid, const float p[3], uint32_t cell[27])
{
	uint32_t found[27];
	int64_t place[3];
	size_t n = 0;

	memset(found, 0xff, sizeof(found));
	grid_place(grid, p, place);
	for (int row = 0; row < 9; row++) {
		uint64_t key = grid_key(place[0] + row % 3 - 1, place[1] + row / 3 - 1,
		    place[2] - 1);

		for (size_t at = grid_find(grid, key, 0); grid->key[at] <= key + 2; at++)
			found[(uint64_t)row + 9 * (grid->key[at] - key)] = (uint32_t)at;
	}
	for (size_t i = 0; i < 27; i++) {
		size_t c = (i + 13) % 27;		/* the middle one first */

		if (found[c] != UINT32_MAX)
			cell[n++] = found[c];
	}
	return n;
}

struct place {
	float xyz[3];
	uint32_t point;
};

/* For qsort: copies stand together, in the order of their numbers. */
static int
compare_places(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	for (size_t k = 0; k < 3; k++)
		if (p->xyz[k] < q->xyz[k] || p->xyz[k] > q->xyz[k])
			return p->xyz[k] < q->xyz[k] ? -1 : 1;
	return p->point < q->point ? -1 : p->point > q->point;
}

size_t
grid_different(const struct grid *grid, size_t point, uint32_t points[GRID_MOST_AROUND])
{
	const float p[3] = { grid->xyz[0][point], grid->xyz[1][point], grid->xyz[2][point] };
	struct place all[GRID_MOST_AROUND];
	uint32_t cell[27];
	size_t cells = grid_around(grid, p, cell), n = 0, different = 0;

	for (size_t c = 0; c < cells; c++)
		for (size_t k = grid->first[cell[c]]; k < grid->first[cell[c] + 1] &&
		    n < GRID_MOST_AROUND; k++) {
			uint32_t i = grid->point[k];

			all[n++] = (struct place){ { grid->xyz[0][i], grid->xyz[1][i],
				grid->xyz[2][i] }, i };
		}
	qsort(all, n, sizeof(*all), compare_places);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || memcmp(all[i].xyz, all[i - 1].xyz, sizeof(all[i].xyz)) != 0)
			points[different++] = all[i].point;
	return different;
}

/* ---- cubes of a size that suits the points ---- */

#define SAMPLED_POINTS 1000	/* that tell whether cubes have a good size */
#define MOST_SIZES 17		/* that are tried */

static size_t
count_around(const struct grid *grid, size_t point, bool different)
{
	uint32_t around[GRID_MOST_AROUND];
	size_t cells, n = 0;

	if (different)
		return grid_different(grid, point, around);
	cells = grid_around(grid, (float[3]){ grid->xyz[0][point], grid->xyz[1][point],
	    grid->xyz[2][point] }, around);
	for (size_t c = 0; c < cells; c++)
		n += grid->first[around[c] + 1] - grid->first[around[c]];
	return n;
}

/* Of points spread over the cloud; one that only has copies about it does not tell. */
static size_t
median_count(const struct grid *grid, bool different)
{
	double count[SAMPLED_POINTS];
	size_t counts = 0;

	for (size_t i = 0; i < SAMPLED_POINTS; i++) {
		count[counts] = (double)count_around(grid, i * grid->points / SAMPLED_POINTS,
		    different);
		counts += count[counts] > 1;
	}
	return counts > 0 ? (size_t)statistics_ranked(count, counts, counts / 2) : 1;
}

int
grid_make_fitting(struct run *run, const float *const xyz[3], size_t n, double size,
    size_t wanted, bool different, struct grid *grid)
{
	double middle[3], extent = 0;

	*grid = (struct grid){ 0 };
	/* half of the points tell, or all of them where most are one and the same, as zeros for
	 * holes are */
	for (int all = 0; all < 2 && !(extent > 0); all++) {
		const size_t left_out = all ? 0 : n / 4;
		const size_t rank[3] = { left_out, n / 2, n - 1 - left_out };

		for (size_t k = 0; k < 3; k++) {
			float found[3];

			numbers_ranks(xyz[k], n, rank, 3, found);
			middle[k] = found[1];
			extent = fmax(extent, (double)found[2] - found[0]);
		}
	}
	if (!(size > 0))
		size = extent > 0 ? extent * sqrt((double)wanted / (double)n) : 1;
	for (int tried = 1;; tried++) {
		size_t count;

		if (grid_make(run, xyz, n, size, middle, NULL, grid) < 0)
			return -1;
		memcpy(grid->middle, middle, sizeof(middle));
		grid->extent = extent;
		count = median_count(grid, different);
		if (tried == MOST_SIZES || !(extent > 0) || count == n ||
		    (count > wanted / 2 + 1 && count <= 2 * wanted))
			return 0;
		grid_free(grid);
		size *= fmin(fmax(sqrt((double)wanted / (double)count), 1.0 / 8), 8);
	}
}
