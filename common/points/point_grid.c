/* The spatial index of point clouds: cubes of one size in a hash table. */
#include "points/point_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define BITS 21			/* of a cube's place along an axis: three make a key */
#define REACH ((int64_t)1 << BITS)
#define CHUNK 65536		/* points that a thread takes at a time */
#define SLOTS_FIRST 1024
#define SAMPLES 1000		/* points that tell whether cubes have a good size */
#define COUNT_LEAST 27		/* points in 27 cubes, by the median */
#define COUNT_MOST 100
#define COUNT_WANTED 50
#define ROUNDS 16

/* A hash table of one part of the cubes, with open addressing. */
struct point_grid_slots {
	struct __attribute__((packed)) slot {
		uint64_t key;
		uint32_t first;		/* the first point in the cube; NONE: empty */
	} *slot;
	size_t mask, used;
};

struct making {
	struct point_grid *grid;
	const float *const *xyz;
	size_t n, chunks;
	double (*low)[3], (*high)[3];			/* of each chunk */
	uint8_t *part;
	uint32_t (*count)[POINT_GRID_PARTS];		/* of each chunk; then where they go */
	uint32_t *order, begin[POINT_GRID_PARTS + 1];	/* points by parts */
	bool failed[POINT_GRID_PARTS];
};

static void
for_all(struct run *run, size_t n, void (*fn)(void *, size_t), void *arg)
{
	if (run)
		run_for(run, n, fn, arg);
	for (size_t i = 0; i < n && !run; i++)
		fn(arg, i);
}

static uint64_t
mix(uint64_t v)
{
	v ^= v >> 33;
	v *= 0xff51afd7ed558ccdULL;
	v ^= v >> 33;
	v *= 0xc4ceb9fe1a85ec53ULL;
	return v ^ v >> 33;
}

void
point_grid_place(const struct point_grid *grid, const float p[3], int64_t place[3])
{
	for (size_t k = 0; k < 3; k++) {
		double at = floor(p[k] / grid->size) - (double)grid->origin[k];

		place[k] = (int64_t)fmin(fmax(at, 0), REACH - 1);
	}
}

static uint64_t
key_of(const int64_t place[3])
{
	return (uint64_t)place[0] << 2 * BITS | (uint64_t)place[1] << BITS | (uint64_t)place[2];
}

static uint64_t
point_key(const struct making *making, size_t i)
{
	int64_t place[3];

	point_grid_place(making->grid, (float[3]){ making->xyz[0][i], making->xyz[1][i],
	    making->xyz[2][i] }, place);
	return key_of(place);
}

static size_t
part_of(uint64_t hash)
{
	return hash >> 61;
}

/* ---- one table ---- */

static int
resize(struct point_grid_slots *slots, size_t n)
{
	struct point_grid_slots wider = { malloc(n * sizeof(*wider.slot)), n - 1, slots->used };

	if (!wider.slot)
		return -1;
	for (size_t i = 0; i < n; i++)
		wider.slot[i].first = POINT_GRID_NONE;
	for (size_t i = 0; slots->slot && i <= slots->mask; i++) {
		size_t at = mix(slots->slot[i].key) & wider.mask;

		if (slots->slot[i].first == POINT_GRID_NONE)
			continue;
		while (wider.slot[at].first != POINT_GRID_NONE)
			at = (at + 1) & wider.mask;
		wider.slot[at] = slots->slot[i];
	}
	free(slots->slot);
	*slots = wider;
	return 0;
}

/* The first point in the point's cube: itself where there was none; NONE without memory. */
static uint32_t
insert(struct point_grid_slots *slots, uint64_t key, uint32_t point)
{
	size_t at;

	if (slots->used * 8 > slots->mask * 5 && resize(slots, 2 * (slots->mask + 1)) < 0)
		return POINT_GRID_NONE;
	at = mix(key) & slots->mask;
	while (slots->slot[at].first != POINT_GRID_NONE && slots->slot[at].key != key)
		at = (at + 1) & slots->mask;
	if (slots->slot[at].first == POINT_GRID_NONE) {
		slots->slot[at] = (struct slot){ key, point };
		slots->used++;
	}
	return slots->slot[at].first;
}

/* ---- all points ---- */

static void
find_extent(void *arg, size_t chunk)
{
	struct making *making = arg;
	size_t end = (chunk + 1) * CHUNK < making->n ? (chunk + 1) * CHUNK : making->n;

	for (size_t k = 0; k < 3; k++) {
		const float *v = making->xyz[k];
		float low = INFINITY, high = -INFINITY;

		for (size_t i = chunk * CHUNK; i < end; i++) {
			low = v[i] < low ? v[i] : low;
			high = v[i] > high ? v[i] : high;
		}
		making->low[chunk][k] = low;
		making->high[chunk][k] = high;
	}
}

int
point_grid_check_extent(double size, const double low[3], const double high[3])
{
	for (size_t k = 0; k < 3; k++)
		if (!(fabs(low[k] / size) < 1e15 && fabs(high[k] / size) < 1e15 &&
		    floor(high[k] / size) - floor(low[k] / size) < REACH))
			return fail(NULL, "cubes of %g are too small for points that lie %g apart "
			    "along %c: at most %lld in a row", size, high[k] - low[k], "xyz"[k],
			    (long long)REACH);
	return 0;
}

static int
set_origin(struct run *run, struct making *making, const double *about)
{
	struct point_grid *grid = making->grid;
	double low[3], high[3];

	for (size_t k = 0; k < 3 && about; k++)
		grid->origin[k] = (int64_t)floor(about[k] / grid->size) - REACH / 2;
	if (about)
		return 0;
	for_all(run, making->chunks, find_extent, making);
	for (size_t k = 0; k < 3; k++) {
		low[k] = INFINITY;
		high[k] = -INFINITY;
		for (size_t i = 0; i < making->chunks; i++) {
			low[k] = fmin(low[k], making->low[i][k]);
			high[k] = fmax(high[k], making->high[i][k]);
		}
	}
	if (point_grid_check_extent(grid->size, low, high) < 0)
		return -1;
	for (size_t k = 0; k < 3; k++)
		grid->origin[k] = (int64_t)floor(low[k] / grid->size);
	return 0;
}

static void
find_parts(void *arg, size_t chunk)
{
	struct making *making = arg;
	size_t end = (chunk + 1) * CHUNK < making->n ? (chunk + 1) * CHUNK : making->n;

	for (size_t i = chunk * CHUNK; i < end; i++) {
		making->part[i] = (uint8_t)part_of(mix(point_key(making, i)));
		making->count[chunk][making->part[i]]++;
	}
}

static void
place_points(void *arg, size_t chunk)
{
	struct making *making = arg;
	size_t end = (chunk + 1) * CHUNK < making->n ? (chunk + 1) * CHUNK : making->n;

	for (size_t i = chunk * CHUNK; i < end; i++)
		making->order[making->count[chunk][making->part[i]]++] = (uint32_t)i;
}

static void
fill_part(void *arg, size_t part)
{
	struct making *making = arg;
	struct point_grid_slots *slots = making->grid->slots[part];

	for (size_t k = making->begin[part]; k < making->begin[part + 1]; k++) {
		uint32_t i = making->order[k], first = insert(slots, point_key(making, i), i);

		if (first == POINT_GRID_NONE) {
			making->failed[part] = true;
			return;
		}
		making->grid->cell[i] = first;
	}
}

static int
allocate(struct making *making)
{
	making->low = calloc(making->chunks + 1, sizeof(*making->low));
	making->high = calloc(making->chunks + 1, sizeof(*making->high));
	making->part = malloc(making->n + 1);
	making->count = calloc(making->chunks + 1, sizeof(*making->count));
	making->order = calloc(making->n + 1, sizeof(*making->order));
	making->grid->cell = calloc(making->n + 1, sizeof(*making->grid->cell));
	for (size_t p = 0; p < POINT_GRID_PARTS; p++) {
		making->grid->slots[p] = calloc(1, sizeof(struct point_grid_slots));
		if (!making->grid->slots[p] || resize(making->grid->slots[p], SLOTS_FIRST) < 0)
			return fail_memory();
	}
	return making->low && making->high && making->part && making->count && making->order &&
	    making->grid->cell ? 0 : fail_memory();
}

static int
make(struct run *run, struct making *making, const double *about)
{
	struct point_grid *grid = making->grid;
	uint32_t at = 0;

	if (allocate(making) < 0 || set_origin(run, making, about) < 0)
		return -1;
	for_all(run, making->chunks, find_parts, making);
	for (size_t p = 0; p < POINT_GRID_PARTS; p++) {
		making->begin[p] = at;
		for (size_t i = 0; i < making->chunks; i++) {
			uint32_t count = making->count[i][p];

			making->count[i][p] = at;
			at += count;
		}
	}
	making->begin[POINT_GRID_PARTS] = at;
	for_all(run, making->chunks, place_points, making);
	for_all(run, POINT_GRID_PARTS, fill_part, making);
	for (size_t p = 0; p < POINT_GRID_PARTS; p++)
		if (making->failed[p])
			return fail_memory();
	/* from the first point to the cube's number: the first one comes first */
	for (size_t i = 0; i < making->n; i++)
		grid->cell[i] = grid->cell[i] == i ? (uint32_t)grid->cells++ :
		    grid->cell[grid->cell[i]];
	return 0;
}

int
point_grid_make(struct run *run, const float *const xyz[3], size_t n, double size,
    const double *clip_about, struct point_grid *grid)
{
	struct making making = { .grid = grid, .xyz = xyz, .n = n };
	int status;

	*grid = (struct point_grid){ .size = size, .points = n };
	making.chunks = (n + CHUNK - 1) / CHUNK;
	if (n >= POINT_GRID_NONE)
		return fail(NULL, "%zu points are too many for a grid", n);
	if (n == 0)
		return 0;
	status = make(run, &making, clip_about);
	free(making.low);
	free(making.high);
	free(making.part);
	free(making.count);
	free(making.order);
	if (status < 0)
		point_grid_free(grid);
	return status;
}

uint32_t
point_grid_find(const struct point_grid *grid, const int64_t place[3])
{
	const struct point_grid_slots *slots;
	uint64_t key, hash;
	size_t at;

	for (size_t k = 0; k < 3; k++)
		if (place[k] < 0 || place[k] >= REACH)
			return POINT_GRID_NONE;
	key = key_of(place);
	hash = mix(key);
	slots = grid->slots[part_of(hash)];
	if (!slots)
		return POINT_GRID_NONE;
	at = hash & slots->mask;
	while (slots->slot[at].first != POINT_GRID_NONE && slots->slot[at].key != key)
		at = (at + 1) & slots->mask;
	return slots->slot[at].first == POINT_GRID_NONE ? POINT_GRID_NONE :
	    grid->cell[slots->slot[at].first];
}

void
point_grid_forget(struct point_grid *grid)
{
	for (size_t p = 0; p < POINT_GRID_PARTS; p++) {
		if (grid->slots[p])
			free(grid->slots[p]->slot);
		free(grid->slots[p]);
		grid->slots[p] = NULL;
	}
}

int
point_grid_lists(const struct point_grid *grid, uint32_t **start, uint32_t **order)
{
	*start = calloc(grid->cells + 2, sizeof(**start));
	*order = calloc(grid->points + 1, sizeof(**order));
	if (!*start || !*order) {
		free(*start);
		free(*order);
		*start = *order = NULL;	/* the caller frees them, too */
		return fail_memory();
	}
	/* start[k + 1] is where cube k is filled up to: in the end, where k + 1 begins */
	for (size_t i = 0; i < grid->points; i++)
		(*start)[grid->cell[i] + 2]++;
	for (size_t k = 0; k < grid->cells; k++)
		(*start)[k + 2] += (*start)[k + 1];
	for (size_t i = 0; i < grid->points; i++)
		(*order)[(*start)[grid->cell[i] + 1]++] = (uint32_t)i;
	return 0;
}

void
point_grid_free(struct point_grid *grid)
{
	point_grid_forget(grid);
	free(grid->cell);
	*grid = (struct point_grid){ 0 };
}

/* ---- cubes of a size that suits the points ---- */

size_t
point_grid_around(const struct point_grid *grid, const float p[3], uint32_t cell[27])
{
	int64_t place[3];
	size_t n = 0;

	point_grid_place(grid, p, place);
	for (int i = 0; i < 27; i++) {
		int c = (i + 13) % 27;		/* the middle one first */
		int64_t at[3] = { place[0] + c % 3 - 1, place[1] + c / 3 % 3 - 1,
			place[2] + c / 9 - 1 };

		cell[n] = point_grid_find(grid, at);
		n += cell[n] != POINT_GRID_NONE;
	}
	return n;
}

/* The points of the cube that point i lies in and the 26 around it, at most so many. */
static size_t
gather(const struct point_cubes *cubes, size_t i, uint32_t *points, size_t most)
{
	const float p[3] = { cubes->xyz[0][i], cubes->xyz[1][i], cubes->xyz[2][i] };
	uint32_t cell[27];
	size_t cells = point_grid_around(&cubes->grid, p, cell), n = 0;

	for (size_t c = 0; c < cells; c++)
		for (size_t k = cubes->start[cell[c]]; k < cubes->start[cell[c] + 1] && n < most;
		    k++)
			points[n++] = cubes->order[k];
	return n;
}

static int
compare_counts(const void *a, const void *b)
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

size_t
point_cubes_around(const struct point_cubes *cubes, size_t point, uint32_t points[POINT_CUBES_MOST])
{
	struct place all[POINT_CUBES_MOST];
	size_t n = gather(cubes, point, points, POINT_CUBES_MOST), different = 0;

	for (size_t i = 0; i < n; i++) {
		all[i].point = points[i];
		for (size_t k = 0; k < 3; k++)
			all[i].xyz[k] = cubes->xyz[k][points[i]];
	}
	qsort(all, n, sizeof(*all), compare_places);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || memcmp(all[i].xyz, all[i - 1].xyz, sizeof(all[i].xyz)) != 0)
			points[different++] = all[i].point;
	return different;
}

/* Of points spread over the cloud; one that only has copies about it does not tell. */
static size_t
median_count(const struct point_cubes *cubes)
{
	size_t n = cubes->grid.points, count[SAMPLES], counts = 0;
	uint32_t around[POINT_CUBES_MOST];

	for (size_t i = 0; i < SAMPLES; i++) {
		count[counts] = point_cubes_around(cubes, i * n / SAMPLES, around);
		counts += count[counts] > 1;
	}
	qsort(count, counts, sizeof(*count), compare_counts);
	return counts > 0 ? count[counts / 2] : 1;
}

void
point_cubes_free(struct point_cubes *cubes)
{
	point_grid_free(&cubes->grid);
	free(cubes->start);
	free(cubes->order);
	cubes->start = cubes->order = NULL;
}

int
point_cubes_sized(struct run *run, const float *const xyz[3], size_t n, double size,
    const double *clip_about, struct point_cubes *cubes)
{
	*cubes = (struct point_cubes){ .xyz = { xyz[0], xyz[1], xyz[2] } };
	return point_grid_make(run, xyz, n, size, clip_about, &cubes->grid) < 0 ? -1 :
	    point_grid_lists(&cubes->grid, &cubes->start, &cubes->order);
}

int
point_cubes_make(struct run *run, const float *const xyz[3], size_t n, struct point_cubes *cubes)
{
	const size_t rank[5] = { 0, n / 4, n / 2, n - 1 - n / 4, n - 1 };
	double middle[3], extent = 0, whole = 0, size;

	*cubes = (struct point_cubes){ .xyz = { xyz[0], xyz[1], xyz[2] } };
	for (size_t k = 0; k < 3; k++) {
		float found[5];

		numbers_ranks(xyz[k], n, rank, 5, found);
		middle[k] = found[2];
		extent = fmax(extent, (double)found[3] - found[1]);
		whole = fmax(whole, (double)found[4] - found[0]);
	}
	/* where most points are one and the same, as zeros for holes are, the others tell */
	extent = extent > 0 ? extent : whole;
	size = extent > 0 ? extent * sqrt(COUNT_WANTED / (double)n) : 1;
	for (int round = 0;; round++) {
		size_t count;

		if (point_cubes_sized(run, xyz, n, size, middle, cubes) < 0)
			return -1;
		count = median_count(cubes);
		if (round == ROUNDS || !(extent > 0) || count == n ||
		    (count >= COUNT_LEAST && count <= COUNT_MOST))
			return 0;
		point_cubes_free(cubes);
		size *= fmin(fmax(sqrt(COUNT_WANTED / (double)count), 1.0 / 8), 8);
	}
}
