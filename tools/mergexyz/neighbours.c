#include "neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"

#define CUBES 256		/* that a thread takes at a time */
#define POINTS 256
#define BLOCK 64		/* distances that are found together */

/* The k smallest squared distances, in rising order. */
struct nearest {
	float v[NEIGHBOURS_MOST];
	size_t n, k;
	float most;			/* what is not below it is too far */
};

static void
begin(struct nearest *nearest, size_t k)
{
	nearest->n = 0;		/* v needs no zeros */
	nearest->k = k;
	nearest->most = INFINITY;
}

static void
insert(struct nearest *nearest, float square)
{
	size_t at = nearest->n < nearest->k ? nearest->n++ : nearest->n - 1;

	for (; at > 0 && nearest->v[at - 1] > square; at--)
		nearest->v[at] = nearest->v[at - 1];
	nearest->v[at] = square;
	if (nearest->n == nearest->k)
		nearest->most = nearest->v[nearest->k - 1];
}

/* Compares sorted point i with those from `begin` to `end`. */
static void
compare(const struct neighbours *search, size_t i, size_t begin, size_t end,
    struct nearest *nearest)
{
	const float *restrict x = search->rows.xyz[0], *restrict y = search->rows.xyz[1];
	const float *restrict z = search->rows.xyz[2];
	const float px = x[i], py = y[i], pz = z[i];
	float square[BLOCK];

	for (; begin < end; begin += BLOCK) {
		size_t n = end - begin < BLOCK ? end - begin : BLOCK;

		CPU_SIMD
		for (size_t m = 0; m < n; m++) {
			float dx = x[begin + m] - px, dy = y[begin + m] - py;
			float dz = z[begin + m] - pz;

			square[m] = dx * dx + dy * dy + dz * dz;
		}
		if (i >= begin && i < begin + n)
			square[i - begin] = INFINITY;		/* itself */
		for (size_t m = 0; m < n; m++)
			if (square[m] < nearest->most)
				insert(nearest, square[m]);
	}
}

/* What the nearest ones say, all points up to `reach` having been seen. */
static void
settle(struct neighbours *search, size_t i, const struct nearest *nearest, double reach)
{
	size_t point = search->rows.point[i];
	double sum = 0;

	search->uncertain[point] = nearest->n < nearest->k ||
	    (double)nearest->v[nearest->k - 1] > reach * reach;
	for (size_t m = 0; m < nearest->k; m++)
		sum += m < nearest->n ? fmin(sqrt((double)nearest->v[m]), reach) : reach;
	search->distance[point] = (float)(sum / (double)nearest->k);
}

/* How far a sorted point is from the border of the cubes that are at most `ring` from its own. */
static double
reach_of(const struct neighbours *search, size_t i, size_t ring)
{
	double reach = INFINITY;

	for (size_t k = 0; k < 3; k++) {
		double at = search->rows.xyz[k][i] / search->rows.size;
		double within = at - floor(at);

		within = within < 0.5 ? within : 1 - within;
		reach = within < reach ? within : reach;
	}
	return (reach + (double)ring) * search->rows.size;
}

/* ---- 27 cubes ---- */

/* The nine rows of three cubes about a cube, which go along with it: the first cube of each that is
 * not before the row. */
struct rows {
	size_t cell[9];
	uint32_t begin[9], end[9];	/* sorted points; the cube's own row first */
};

static const int64_t beside[9][2] = { { 0, 0 }, { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 },
	{ -1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 } };

static void
find_rows(const struct cell_rows *cells, uint64_t own, bool anew, struct rows *rows)
{
	for (size_t r = 0; r < 9; r++) {
		uint64_t middle = own + (uint64_t)(beside[r][0] *
		    ((int64_t)1 << 2 * CELL_ROWS_BITS) + beside[r][1] *
		    ((int64_t)1 << CELL_ROWS_BITS));
		size_t cell = rows->cell[r], last;

		if (anew)
			cell = cell_rows_find(cells, middle - 1, 0);
		while (cells->key[cell] < middle - 1)
			cell++;
		for (last = cell; cells->key[last] <= middle + 1; last++)
			;
		rows->cell[r] = cell;
		rows->begin[r] = cells->first[cell];
		rows->end[r] = cells->first[last];
	}
}

static void
search_cubes(void *arg, size_t part)
{
	struct neighbours *search = arg;
	const struct cell_rows *cells = &search->rows;
	size_t first = part * CUBES, end = first + CUBES;
	struct rows rows = { 0 };

	for (size_t own = first; own < end && own < cells->cells; own++) {
		find_rows(cells, cells->key[own], own == first, &rows);
		for (size_t i = cells->first[own]; i < cells->first[own + 1]; i++) {
			struct nearest nearest;

			begin(&nearest, search->k);
			for (size_t r = 0; r < 9; r++)
				compare(search, i, rows.begin[r], rows.end[r], &nearest);
			settle(search, i, &nearest, reach_of(search, i, 1));
		}
	}
}

/* ---- more cubes ---- */

static int64_t
within_places(int64_t place)
{
	return place < 0 ? 0 : place < CELL_ROWS_MOST ? place : CELL_ROWS_MOST - 1;
}

/* The points of all cubes up to `ring` from a point's own. */
static void
compare_ring(const struct neighbours *search, size_t i, int64_t ring, struct nearest *nearest)
{
	const struct cell_rows *cells = &search->rows;
	int64_t place[3], low[3], high[3];

	cell_rows_place(cells, (float[3]){ cells->xyz[0][i], cells->xyz[1][i], cells->xyz[2][i] },
	    place);
	for (size_t k = 0; k < 3; k++) {
		low[k] = within_places(place[k] - ring);
		high[k] = within_places(place[k] + ring);
	}
	for (int64_t x = low[0]; x <= high[0]; x++) {
		size_t from = cell_rows_find(cells, cell_rows_key(x, low[1], low[2]), 0);

		if (from == cells->cells)
			return;
		/* on to the next plane that has cubes */
		if ((int64_t)(cells->key[from] >> 2 * CELL_ROWS_BITS) > x) {
			x = (int64_t)(cells->key[from] >> 2 * CELL_ROWS_BITS) - 1;
			continue;
		}
		while (cells->key[from] <= cell_rows_key(x, high[1], high[2])) {
			/* of the row that the next cube lies in */
			int64_t y = (int64_t)(cells->key[from] >> CELL_ROWS_BITS) &
			    (CELL_ROWS_MOST - 1);
			size_t last = cell_rows_find(cells, cell_rows_key(x, y, low[2]), from);

			from = last;
			while (cells->key[last] <= cell_rows_key(x, y, high[2]))
				last++;
			compare(search, i, cells->first[from], cells->first[last], nearest);
			from = cell_rows_find(cells, cell_rows_key(x, y + 1, low[2]), last);
		}
	}
}

struct farther {
	struct neighbours *search;
	double cut;
};

/* Looks farther about points whose distance is uncertain and not beyond the cut. */
static void
search_farther(void *arg, size_t part)
{
	const struct farther *job = arg;
	struct neighbours *search = job->search;
	size_t end = (part + 1) * POINTS;

	for (size_t i = part * POINTS; i < end && i < search->n; i++) {
		size_t point = search->rows.point[i];

		for (int64_t ring = 2; search->uncertain[point] &&
		    search->distance[point] <= job->cut; ring *= 2) {
			struct nearest nearest;

			begin(&nearest, search->k);
			compare_ring(search, i, ring, &nearest);
			settle(search, i, &nearest, reach_of(search, i, (size_t)ring));
		}
	}
}

/* ---- all points ---- */

void
neighbours_search(struct run *run, struct neighbours *search)
{
	run_for(run, (search->rows.cells + CUBES - 1) / CUBES, search_cubes, search);
}

void
neighbours_search_farther(struct run *run, struct neighbours *search, double cut)
{
	run_for(run, (search->n + POINTS - 1) / POINTS, search_farther, &(struct farther){ search,
	    cut });
}

void
neighbours_sample(const struct neighbours *search, size_t i, struct neighbours_sample *sample)
{
	const struct cell_rows *cells = &search->rows;
	struct nearest nearest;
	struct rows rows;
	int64_t place[3];

	begin(&nearest, search->k);
	cell_rows_place(cells, (float[3]){ cells->xyz[0][i], cells->xyz[1][i], cells->xyz[2][i] },
	    place);
	find_rows(cells, cell_rows_key(place[0], place[1], place[2]), true, &rows);
	sample->points = 0;
	for (size_t r = 0; r < 9; r++) {
		sample->points += rows.end[r] - rows.begin[r];
		compare(search, i, rows.begin[r], rows.end[r], &nearest);
	}
	sample->short_of = nearest.n == search->k &&
	    sqrt((double)nearest.most) > reach_of(search, i, 1);
}
