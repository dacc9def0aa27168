#include "cloud_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "base/symmetric.h"
#include "points/point_grid.h"

#define CELLS 64		/* that a thread takes at a time */
#define SAMPLES 1000		/* points that tell whether cubes have a good size */
#define COUNT_LEAST 27		/* points in 27 cubes, by the median */
#define COUNT_MOST 100
#define COUNT_WANTED 50
#define ROUNDS 16
#define MOST 4096		/* points of 27 cubes that are looked at */
#define WIDER 2.0		/* the plane is that of the points so many times `apart` around */
#define ALONE 3.0		/* times the median distance: a point off the surface */
#define FLAT 0.01		/* of the largest eigenvalue: points on a line show no plane */
#define NORMAL_MEDIAN 0.6745	/* of |x|, x of the normal distribution with standard deviation 1 */

struct search {
	struct cloud_surface *surface;
	const float *const *xyz;
	struct point_grid grid;
	uint32_t *start, *order;	/* points of the cubes */
	float *off;			/* from the plane; NaN where there is none */
};

/* ---- cubes ---- */

static void
place_of(const struct search *search, size_t i, int64_t place[3])
{
	point_grid_place(&search->grid, (float[3]){ search->xyz[0][i], search->xyz[1][i],
	    search->xyz[2][i] }, place);
}

/* The points of a cube and the 26 about it, at most so many. */
static size_t
gather(const struct search *search, const int64_t place[3], uint32_t *points, size_t most)
{
	size_t n = 0;

	for (int k = 0; k < 27; k++) {
		int64_t at[3] = { place[0] + k % 3 - 1, place[1] + k / 3 % 3 - 1,
			place[2] + k / 9 - 1 };
		uint32_t cell = point_grid_find(&search->grid, at);

		if (cell == POINT_GRID_NONE)
			continue;
		for (size_t i = search->start[cell]; i < search->start[cell + 1] && n < most; i++)
			points[n++] = search->order[i];
	}
	return n;
}

static int
compare(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
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

/* The different points of a cube and the 26 about it, of at most MOST: their number. */
static size_t
gather_different(const struct search *search, const int64_t place[3], uint32_t points[MOST])
{
	struct place all[MOST];
	size_t n = gather(search, place, points, MOST), different = 0;

	for (size_t i = 0; i < n; i++) {
		all[i].point = points[i];
		for (size_t k = 0; k < 3; k++)
			all[i].xyz[k] = search->xyz[k][points[i]];
	}
	qsort(all, n, sizeof(*all), compare_places);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || memcmp(all[i].xyz, all[i - 1].xyz, sizeof(all[i].xyz)) != 0)
			points[different++] = all[i].point;
	return different;
}

/* Of points spread over the cloud; one that only has copies about it does not tell. */
static size_t
median_count(const struct search *search)
{
	size_t n = search->surface->n, count[SAMPLES], counts = 0;
	uint32_t around[MOST];

	for (size_t i = 0; i < SAMPLES; i++) {
		int64_t place[3];

		place_of(search, i * n / SAMPLES, place);
		count[counts] = gather_different(search, place, around);
		counts += count[counts] > 1;
	}
	qsort(count, counts, sizeof(*count), compare);
	return counts > 0 ? count[counts / 2] : 1;
}

static void
free_cubes(struct search *search)
{
	point_grid_free(&search->grid);
	free(search->start);
	free(search->order);
	search->start = search->order = NULL;
}

/* Cubes of a size with which 27 of them hold some 50 points. */
static int
make_cubes(struct run *run, struct search *search)
{
	size_t n = search->surface->n;
	const size_t rank[5] = { 0, n / 4, n / 2, n - 1 - n / 4, n - 1 };
	double middle[3], extent = 0, whole = 0, size;

	for (size_t k = 0; k < 3; k++) {
		float found[5];

		numbers_ranks(search->xyz[k], n, rank, 5, found);
		middle[k] = found[2];
		extent = fmax(extent, (double)found[3] - found[1]);
		whole = fmax(whole, (double)found[4] - found[0]);
	}
	/* where most points are one and the same, as zeros for holes are, the others tell */
	extent = extent > 0 ? extent : whole;
	size = extent > 0 ? extent * sqrt(COUNT_WANTED / (double)n) : 1;
	for (int round = 0;; round++) {
		size_t count;

		if (point_grid_make(run, search->xyz, n, size, middle, &search->grid) < 0 ||
		    point_grid_lists(&search->grid, &search->start, &search->order) < 0)
			return -1;
		count = median_count(search);
		if (round == ROUNDS || !(extent > 0) || count == n ||
		    (count >= COUNT_LEAST && count <= COUNT_MOST))
			return 0;
		free_cubes(search);
		size *= fmin(fmax(sqrt(COUNT_WANTED / (double)count), 1.0 / 8), 8);
	}
}

/* ---- planes ---- */

/* The mean distance of the nearest, of squared distances to all around it. */
static float
mean_nearest(const float *square, size_t n)
{
	float nearest[CLOUD_NEAREST];
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = i < CLOUD_NEAREST ? i : CLOUD_NEAREST - 1;

		if (i >= CLOUD_NEAREST && !(square[i] < nearest[at]))
			continue;
		for (; at > 0 && nearest[at - 1] > square[i]; at--)
			nearest[at] = nearest[at - 1];
		nearest[at] = square[i];
	}
	for (size_t i = 0; i < CLOUD_NEAREST; i++)
		sum += sqrt((double)nearest[i]);
	return (float)(sum / CLOUD_NEAREST);
}

/* The plane of the points around p, and how far p is from it. */
static bool
find_plane(const struct search *search, const float p[3], const uint32_t *around,
    const float *square, size_t n, double radius, double normal[3], double *off)
{
	double mean[3] = { 0 }, spread[9] = { 0 }, value[3], vector[9];
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		double d[3];

		if (!((double)square[i] <= radius * radius))
			continue;
		used++;
		for (size_t k = 0; k < 3; k++) {
			d[k] = (double)search->xyz[k][around[i]] - p[k];
			mean[k] += d[k];
		}
		for (size_t k = 0; k < 9; k++)
			spread[k] += d[k / 3] * d[k % 3];
	}
	for (size_t k = 0; k < 3; k++)
		mean[k] /= (double)used;
	for (size_t k = 0; k < 9; k++)
		spread[k] = spread[k] / (double)used - mean[k / 3] * mean[k % 3];
	symmetric_eigen(3, spread, value, vector);
	if (!(value[1] > FLAT * value[0]))
		return false;
	*off = 0;
	for (size_t k = 0; k < 3; k++) {
		normal[k] = vector[6 + k];
		*off += normal[k] * mean[k];
	}
	return true;
}

static void
measure_point(const struct search *search, size_t point, const uint32_t *around, size_t n,
    float *square)
{
	struct cloud_surface *surface = search->surface;
	const float p[3] = { search->xyz[0][point], search->xyz[1][point],
		search->xyz[2][point] };
	double normal[3], off;

	surface->apart[point] = search->off[point] = PX_NAN;
	if (n <= CLOUD_NEAREST)
		return;
	for (size_t i = 0; i < n; i++) {
		float d[3];

		for (size_t k = 0; k < 3; k++)
			d[k] = search->xyz[k][around[i]] - p[k];
		square[i] = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
		if (!(square[i] > 0))		/* itself, or the same point again */
			square[i] = INFINITY;
	}
	surface->apart[point] = mean_nearest(square, n);
	if (!isfinite(surface->apart[point]) || !find_plane(search, p, around, square, n,
	    WIDER * (double)surface->apart[point], normal, &off)) {
		surface->apart[point] = PX_NAN;
		return;
	}
	for (size_t k = 0; k < 3; k++)
		surface->normal[k][point] = (float)normal[k];
	search->off[point] = (float)fabs(off);
}

static void
measure_cells(void *arg, size_t part)
{
	const struct search *search = arg;
	size_t end = (part + 1) * CELLS;
	uint32_t around[MOST];
	float square[MOST];

	for (size_t cell = part * CELLS; cell < end && cell < search->grid.cells; cell++) {
		const uint32_t *own = search->order + search->start[cell];
		size_t n, points = search->start[cell + 1] - search->start[cell];
		int64_t place[3];

		place_of(search, own[0], place);
		n = gather_different(search, place, around);
		for (size_t i = 0; i < points; i++)
			measure_point(search, own[i], around, n, square);
	}
}

/* ---- all points ---- */

/* The median of those that are not NaN; 0: there are none. */
static double
median(const float *v, size_t n, float *room)
{
	size_t valid = 0, middle;
	float found = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			room[valid++] = v[i];
	middle = valid / 2;
	if (valid)
		numbers_ranks(room, valid, &middle, 1, &found);
	return (double)found;
}

static int
find_spacing(struct search *search)
{
	struct cloud_surface *surface = search->surface;
	float *room = calloc(surface->n, sizeof(*room));

	if (!room)
		return fail_memory();
	surface->spacing = median(surface->apart, surface->n, room);
	surface->noise = median(search->off, surface->n, room) / NORMAL_MEDIAN;
	free(room);
	for (size_t i = 0; i < surface->n; i++) {
		if ((double)surface->apart[i] <= ALONE * surface->spacing)
			continue;
		surface->apart[i] = PX_NAN;
		for (size_t k = 0; k < 3; k++)
			surface->normal[k][i] = PX_NAN;
	}
	return 0;
}

int
cloud_surface_make(struct run *run, const float *const xyz[3], size_t n,
    struct cloud_surface *surface)
{
	struct search search = { .surface = surface, .xyz = xyz };
	int status;

	*surface = (struct cloud_surface){ .n = n };
	if (n == 0)
		return 0;
	surface->apart = calloc(n, 4 * sizeof(*surface->apart));
	search.off = calloc(n, sizeof(*search.off));
	status = surface->apart && search.off ? 0 : fail_memory();
	for (size_t k = 0; status == 0 && k < 3; k++)
		surface->normal[k] = surface->apart + (k + 1) * n;
	if (status == 0)
		status = make_cubes(run, &search);
	if (status == 0) {
		run_for(run, (search.grid.cells + CELLS - 1) / CELLS, measure_cells, &search);
		status = find_spacing(&search);
	}
	free_cubes(&search);
	free(search.off);
	return status;
}

void
cloud_surface_free(struct cloud_surface *surface)
{
	free(surface->apart);
	*surface = (struct cloud_surface){ 0 };
}
