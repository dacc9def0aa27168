#include "outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "points/point_grid.h"

#define CUBES 256		/* that a thread takes at a time */
#define POINTS 256
#define SAMPLES 1000		/* points that tell whether cubes have a good size */
#define PER_NEAREST 6		/* points in 27 cubes that are aimed at, for each nearest one */
#define ROUNDS 16
#define SPREAD_LEAST 0.1	/* sigma of the distances, of their median */

struct search {
	const float *xyz[3];
	size_t n, k;
	struct point_grid grid;
	uint32_t *start, *order;
	float *distance;		/* mean to the k nearest, or less where uncertain */
	bool *uncertain;		/* it is at least that */
	double cut;
	size_t *count;			/* of each sample: points in its 27 cubes */
};

/* The k smallest squared distances, in rising order. */
struct nearest {
	double v[OUTLIERS_NEAREST_MOST];
	size_t n, k;
};

static void
insert(struct nearest *nearest, double square)
{
	size_t at;

	if (nearest->n == nearest->k && square >= nearest->v[nearest->n - 1])
		return;
	at = nearest->n < nearest->k ? nearest->n++ : nearest->n - 1;
	for (; at > 0 && nearest->v[at - 1] > square; at--)
		nearest->v[at] = nearest->v[at - 1];
	nearest->v[at] = square;
}

static void
compare(const struct search *search, size_t i, uint32_t cell, struct nearest *nearest)
{
	const float *x = search->xyz[0], *y = search->xyz[1], *z = search->xyz[2];

	for (size_t m = search->start[cell]; m < search->start[cell + 1]; m++) {
		size_t j = search->order[m];
		double d[3] = { (double)x[j] - x[i], (double)y[j] - y[i], (double)z[j] - z[i] };

		if (j != i)
			insert(nearest, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
	}
}

/* What the nearest ones say, all points up to `reach` having been seen. */
static void
settle(struct search *search, size_t i, const struct nearest *nearest, double reach)
{
	double sum = 0;

	search->uncertain[i] = nearest->n < nearest->k ||
	    nearest->v[nearest->k - 1] > reach * reach;
	for (size_t m = 0; m < nearest->k; m++)
		sum += m < nearest->n ? fmin(sqrt(nearest->v[m]), reach) : reach;
	search->distance[i] = (float)(sum / (double)nearest->k);
}

/* How far a point is from the border of the cubes that are at most `ring` from its own. */
static double
reach_of(const struct search *search, size_t i, size_t ring)
{
	double reach = INFINITY;

	for (size_t k = 0; k < 3; k++) {
		double at = search->xyz[k][i] / search->grid.size;
		double within = at - floor(at);

		reach = fmin(reach, fmin(within, 1 - within));
	}
	return (reach + (double)ring) * search->grid.size;
}

static void
place_of(const struct search *search, size_t i, int64_t place[3])
{
	point_grid_place(&search->grid, (float[3]){ search->xyz[0][i], search->xyz[1][i],
	    search->xyz[2][i] }, place);
}

/* The 27 cubes about that of a point; their number. */
static size_t
neighbours(const struct search *search, size_t i, uint32_t cell[27])
{
	int64_t place[3];
	size_t n = 0;

	place_of(search, i, place);
	for (int64_t m = 0; m < 27; m++) {
		uint32_t found = point_grid_find(&search->grid, (int64_t[3]){ place[0] + m % 3 - 1,
		    place[1] + m / 3 % 3 - 1, place[2] + m / 9 - 1 });

		if (found != POINT_GRID_NONE)
			cell[n++] = found;
	}
	return n;
}

static void
search_cubes(void *arg, size_t part)
{
	struct search *search = arg;
	size_t begin = part * CUBES, end = begin + CUBES;

	for (size_t own = begin; own < end && own < search->grid.cells; own++) {
		uint32_t cell[27];
		size_t cells = neighbours(search, search->order[search->start[own]], cell);

		for (size_t m = search->start[own]; m < search->start[own + 1]; m++) {
			size_t i = search->order[m];
			struct nearest nearest = { .k = search->k };

			for (size_t c = 0; c < cells; c++)
				compare(search, i, cell[c], &nearest);
			settle(search, i, &nearest, reach_of(search, i, 1));
		}
	}
}

/* Looks farther about points whose distance is uncertain and not beyond the cut. */
static void
search_farther(void *arg, size_t part)
{
	struct search *search = arg;
	size_t begin = part * POINTS, end = begin + POINTS;

	for (size_t i = begin; i < end && i < search->n; i++)
		for (int64_t ring = 2; search->uncertain[i] && search->distance[i] <= search->cut;
		    ring *= 2) {
			struct nearest nearest = { .k = search->k };
			int64_t place[3], at[3];

			place_of(search, i, place);
			for (at[0] = place[0] - ring; at[0] <= place[0] + ring; at[0]++)
				for (at[1] = place[1] - ring; at[1] <= place[1] + ring; at[1]++)
					for (at[2] = place[2] - ring; at[2] <= place[2] + ring;
					    at[2]++) {
						uint32_t cell = point_grid_find(&search->grid, at);

						if (cell != POINT_GRID_NONE)
							compare(search, i, cell, &nearest);
					}
			settle(search, i, &nearest, reach_of(search, i, (size_t)ring));
		}
}

/* ---- the size of the cubes ---- */

static void
count_sample(void *arg, size_t sample)
{
	struct search *search = arg;
	uint32_t cell[27];
	size_t cells = neighbours(search, sample * search->n / SAMPLES, cell);

	search->count[sample] = 0;
	for (size_t c = 0; c < cells; c++)
		search->count[sample] += search->start[cell[c] + 1] - search->start[cell[c]];
}

static int
compare_counts(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

static void
drop_grid(struct search *search)
{
	point_grid_free(&search->grid);
	free(search->start);
	free(search->order);
	search->start = search->order = NULL;
}

/* The middle of the points, and how far half of them are from it along the axis with most. */
static int
find_extent(struct search *search, double middle[3], double *extent)
{
	const size_t rank[3] = { search->n / 4, search->n / 2, search->n - 1 - search->n / 4 };

	*extent = 0;
	for (size_t k = 0; k < 3; k++) {
		float found[3];

		numbers_ranks(search->xyz[k], search->n, rank, 3, found);
		middle[k] = found[1];
		*extent = fmax(*extent, (double)found[2] - found[0]);
	}
	return 0;
}

/* Cubes such that the median point has some PER_NEAREST k points in its 27. -1 after fail(). */
static int
find_grid(struct run *run, struct search *search)
{
	double middle[3], extent, size, wanted = PER_NEAREST * (double)search->k;

	if (find_extent(search, middle, &extent) < 0)
		return -1;
	size = extent > 0 ? extent * sqrt(wanted / (double)search->n) : 1;
	for (int round = 0; ; round++) {
		double count;

		if (point_grid_make(run, search->xyz, search->n, size, middle, &search->grid) < 0 ||
		    point_grid_lists(&search->grid, &search->start, &search->order) < 0)
			return -1;
		run_for(run, SAMPLES, count_sample, search);
		qsort(search->count, SAMPLES, sizeof(*search->count), compare_counts);
		count = (double)search->count[SAMPLES / 2];
		if ((count >= wanted / 2 && count <= 2 * wanted) || round == ROUNDS ||
		    extent == 0 || search->n <= wanted)
			return 0;
		drop_grid(search);
		size *= fmin(fmax(sqrt(wanted / count), 1.0 / 16), 4);
	}
}

/* ---- the cut ---- */

static int
find_cut(struct search *search, double sigmas)
{
	float *v = malloc(search->n * sizeof(*v)), median, spread;
	const size_t rank = search->n / 2;

	if (!v)
		return fail_memory();
	numbers_ranks(search->distance, search->n, &rank, 1, &median);
	for (size_t i = 0; i < search->n; i++)
		v[i] = fabsf(search->distance[i] - median);
	numbers_ranks(v, search->n, &rank, 1, &spread);
	free(v);
	search->cut = median + sigmas * fmax(1.4826 * spread, SPREAD_LEAST * median);
	return 0;
}

/* Points that may be on either side of the cut, or of median and MAD. */
static size_t
count_uncertain(const struct search *search)
{
	size_t n = 0;

	for (size_t i = 0; i < search->n; i++)
		n += search->uncertain[i] && search->distance[i] <= search->cut;
	return n;
}

static int
keep(const struct search *search, struct frame **cloud)
{
	size_t kept = 0, *from = calloc(search->n + 1, sizeof(*from));
	struct frame *out = NULL;
	struct frame_head head;
	int status = -1;

	if (!from)
		return fail_memory();
	for (size_t i = 0; i < search->n; i++)
		if (search->distance[i] <= search->cut)
			from[kept++] = i;
	if (head_copy(&head, &(*cloud)->head) == 0) {
		if (head_set_points(&head, kept) == 0)
			status = frame_new(&head, &out);
		head_free(&head);
	}
	for (size_t c = 0; status == 0 && c < out->head.c; c++) {
		const float *v = frame_floats(*cloud, c, 0);
		float *to = frame_floats(out, c, 0);

		*to = PX_NAN;
		for (size_t i = 0; i < kept; i++)
			to[i] = v[from[i]];
	}
	free(from);
	if (status < 0)
		return -1;
	frame_free(*cloud);
	*cloud = out;
	return 0;
}

static int
drop(struct run *run, struct search *search, double sigmas, struct frame **cloud)
{
	size_t far = 0, left;

	search->distance = calloc(search->n, sizeof(*search->distance));
	search->uncertain = calloc(search->n, sizeof(*search->uncertain));
	search->count = calloc(SAMPLES, sizeof(*search->count));
	if (!search->distance || !search->uncertain || !search->count)
		return fail_memory();
	if (find_grid(run, search) < 0)
		return -1;
	run_for(run, (search->grid.cells + CUBES - 1) / CUBES, search_cubes, search);
	/* distances that were too small have made the cut too small: it grows until all that matter
	 * are certain */
	do {
		if (find_cut(search, sigmas) < 0)
			return -1;
		left = count_uncertain(search);
		if (left)
			run_for(run, (search->n + POINTS - 1) / POINTS, search_farther, search);
	} while (left);
	for (size_t i = 0; i < search->n; i++)
		far += !(search->distance[i] <= search->cut);
	if (run->verbose)
		note(NULL, "--noise: %zu of %zu points are more than %.4g from their %zu nearest",
		    far, search->n, search->cut, search->k);
	if (far * 3 > search->n)
		warn(NULL, "--noise drops %zu of %zu points, more than a third", far, search->n);
	return far ? keep(search, cloud) : 0;
}

int
outliers_drop(struct run *run, size_t k, double sigmas, struct frame **cloud)
{
	const struct frame_head *head = &(*cloud)->head;
	struct search search = { .k = k };
	int status;

	if (head_points(head, &search.n) < 0)
		return -1;
	if (search.n <= k) {
		warn(NULL, "--noise: %zu points have no %zu nearest; none is dropped", search.n, k);
		return 0;
	}
	for (size_t i = 0; i < 3; i++)
		search.xyz[i] = frame_floats(*cloud, head_channel(head, (char[2]){ "xyz"[i] }), 0);
	status = drop(run, &search, sigmas, cloud);
	drop_grid(&search);
	free(search.distance);
	free(search.uncertain);
	free(search.count);
	return status;
}
