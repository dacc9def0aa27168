#include "cell_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define CHUNK 262144		/* points that a thread takes at a time */
#define FAR 1e15		/* cubes from 0: beyond, floats do not tell cubes apart */
#define DIGIT 11		/* bits that a pass of the sort takes */
#define BUCKETS ((size_t)1 << DIGIT)

struct sorting {
	struct cell_rows *rows;
	const float *const *xyz;
	size_t n, chunks;
	int64_t (*low)[3], (*high)[3];		/* places, of each chunk */
	int64_t base[3];			/* the least place, which short keys begin at */
	int bits[3];				/* of a short key's places */
	uint64_t *key, *other_key;		/* short ones */
	uint32_t *point, *other_point;
	uint32_t (*count)[BUCKETS];		/* of each chunk; then where they go */
	int shift;
};

void
cell_rows_place(const struct cell_rows *rows, const float p[3], int64_t place[3])
{
	for (size_t k = 0; k < 3; k++) {
		double at = floor(p[k] / rows->size) - (double)rows->origin[k];

		/* so that all 27 cubes about it have places */
		place[k] = (int64_t)fmin(fmax(at, 1), CELL_ROWS_MOST - 2);
	}
}

static size_t
end_of(const struct sorting *sorting, size_t chunk)
{
	size_t end = (chunk + 1) * CHUNK;

	return end < sorting->n ? end : sorting->n;
}

static void
place_of(const struct sorting *sorting, size_t i, int64_t place[3])
{
	cell_rows_place(sorting->rows, (float[3]){ sorting->xyz[0][i], sorting->xyz[1][i],
	    sorting->xyz[2][i] }, place);
}

static void
find_extent(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;
	int64_t *low = sorting->low[chunk], *high = sorting->high[chunk], place[3];

	for (size_t k = 0; k < 3; k++) {
		low[k] = CELL_ROWS_MOST;
		high[k] = 0;
	}
	for (size_t i = chunk * CHUNK; i < end_of(sorting, chunk); i++) {
		place_of(sorting, i, place);
		for (size_t k = 0; k < 3; k++) {
			low[k] = place[k] < low[k] ? place[k] : low[k];
			high[k] = place[k] > high[k] ? place[k] : high[k];
		}
	}
}

static void
make_keys(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;
	const int *bits = sorting->bits;
	int64_t place[3];

	for (size_t i = chunk * CHUNK; i < end_of(sorting, chunk); i++) {
		place_of(sorting, i, place);
		for (size_t k = 0; k < 3; k++)
			place[k] -= sorting->base[k];
		sorting->key[i] = (uint64_t)place[0] << (bits[1] + bits[2]) |
		    (uint64_t)place[1] << bits[2] | (uint64_t)place[2];
		sorting->point[i] = (uint32_t)i;
	}
}

/* ---- radix sort ---- */

static void
count_digits(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;
	uint32_t *count = sorting->count[chunk];

	memset(count, 0, sizeof(*sorting->count));
	for (size_t i = chunk * CHUNK; i < end_of(sorting, chunk); i++)
		count[sorting->key[i] >> sorting->shift & (BUCKETS - 1)]++;
}

static void
move_points(void *arg, size_t chunk)
{
	struct sorting *sorting = arg;
	uint32_t *to = sorting->count[chunk];

	for (size_t i = chunk * CHUNK; i < end_of(sorting, chunk); i++) {
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

/* ---- cubes ---- */

static void
copy_points(void *arg, size_t chunk)
{
	const struct sorting *sorting = arg;

	for (size_t k = 0; k < 3; k++)
		for (size_t i = chunk * CHUNK; i < end_of(sorting, chunk); i++)
			sorting->rows->xyz[k][i] = sorting->xyz[k][sorting->point[i]];
}

static int
make_cells(struct run *run, struct sorting *sorting)
{
	struct cell_rows *rows = sorting->rows;
	const uint64_t *key = sorting->key;
	const int *bits = sorting->bits;
	size_t cells = 0;

	for (size_t i = 0; i < sorting->n; i++)
		cells += i == 0 || key[i] != key[i - 1];
	rows->cells = cells;
	rows->key = malloc((cells + 1) * sizeof(*rows->key));
	rows->first = malloc((cells + 1) * sizeof(*rows->first));
	if (!rows->key || !rows->first)
		return fail_memory();
	cells = 0;
	for (size_t i = 0; i < sorting->n; i++) {
		if (i > 0 && key[i] == key[i - 1])
			continue;
		rows->key[cells] = cell_rows_key(
		    (int64_t)(key[i] >> (bits[1] + bits[2])) + sorting->base[0],
		    (int64_t)(key[i] >> bits[2] & (((uint64_t)1 << bits[1]) - 1)) +
		    sorting->base[1],
		    (int64_t)(key[i] & (((uint64_t)1 << bits[2]) - 1)) + sorting->base[2]);
		rows->first[cells++] = (uint32_t)i;
	}
	rows->key[cells] = UINT64_MAX;
	rows->first[cells] = (uint32_t)sorting->n;
	free(sorting->key);
	free(sorting->other_key);
	free(sorting->other_point);
	sorting->key = sorting->other_key = NULL;
	sorting->other_point = NULL;
	rows->point = sorting->point;
	for (size_t k = 0; k < 3; k++) {
		rows->xyz[k] = malloc(sorting->n * sizeof(float));
		if (!rows->xyz[k])
			return fail_memory();
	}
	run_for(run, sorting->chunks, copy_points, sorting);
	return 0;
}

static int
make(struct run *run, struct sorting *sorting)
{
	sorting->low = calloc(sorting->chunks, sizeof(*sorting->low));
	sorting->high = calloc(sorting->chunks, sizeof(*sorting->high));
	sorting->count = calloc(sorting->chunks, sizeof(*sorting->count));
	sorting->key = malloc(sorting->n * sizeof(*sorting->key));
	sorting->other_key = malloc(sorting->n * sizeof(*sorting->other_key));
	sorting->point = malloc(sorting->n * sizeof(*sorting->point));
	sorting->other_point = malloc(sorting->n * sizeof(*sorting->other_point));
	if (!sorting->low || !sorting->high || !sorting->count || !sorting->key ||
	    !sorting->other_key || !sorting->point || !sorting->other_point)
		return fail_memory();
	run_for(run, sorting->chunks, find_extent, sorting);
	for (size_t k = 0; k < 3; k++) {
		int64_t low = CELL_ROWS_MOST, high = 0;

		for (size_t c = 0; c < sorting->chunks; c++) {
			low = sorting->low[c][k] < low ? sorting->low[c][k] : low;
			high = sorting->high[c][k] > high ? sorting->high[c][k] : high;
		}
		sorting->base[k] = low;
		while ((int64_t)1 << sorting->bits[k] <= high - low)
			sorting->bits[k]++;
	}
	run_for(run, sorting->chunks, make_keys, sorting);
	sort(run, sorting);
	return make_cells(run, sorting);
}

int
cell_rows_make(struct run *run, const float *const xyz[3], size_t n, double size,
    const double about[3], struct cell_rows *rows)
{
	struct sorting sorting = { .rows = rows, .xyz = xyz, .n = n,
		.chunks = (n + CHUNK - 1) / CHUNK };
	int status;

	*rows = (struct cell_rows){ .size = size, .points = n };
	if (n >= UINT32_MAX)
		return fail(NULL, "%zu points are too many to sort", n);
	for (size_t k = 0; k < 3; k++)
		rows->origin[k] = (int64_t)fmin(fmax(floor(about[k] / size), -FAR), FAR) -
		    CELL_ROWS_MOST / 2;
	status = make(run, &sorting);
	if (rows->point != sorting.point)
		free(sorting.point);
	free(sorting.low);
	free(sorting.high);
	free(sorting.count);
	free(sorting.key);
	free(sorting.other_key);
	free(sorting.other_point);
	return status;
}

void
cell_rows_free(struct cell_rows *rows)
{
	for (size_t k = 0; k < 3; k++)
		free(rows->xyz[k]);
	free(rows->point);
	free(rows->key);
	free(rows->first);
	*rows = (struct cell_rows){ 0 };
}

size_t
cell_rows_find(const struct cell_rows *rows, uint64_t key, size_t from)
{
	size_t n = rows->cells - from;

	while (n > 0) {
		size_t half = n / 2;

		if (rows->key[from + half] < key) {
			from += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return from;
}
