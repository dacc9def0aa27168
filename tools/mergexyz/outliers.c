/*
 * mergexyz --noise: drops points that are far from all others (methods §10). The points are sorted
 * into cubes of a size that suits them, however they lie, and each is compared with those of its
 * own cube and the 26 around it; where that is not certain to find the nearest, with more.
 */
#include "mergexyz.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

/* ---- points sorted by cubes ---- */

#define PLACE_FAR 1e15		/* cubes from 0: beyond, floats do not tell cubes apart */

static void
sort(struct run *run, struct sorting *sorting)
{
	int all = sorting->bits[0] + sorting->bits[1] + sorting->bits[2];

	for (sorting->shift = 0; sorting->shift < all; sorting->shift += SORT_DIGIT) {
		uint64_t *key = sorting->other_key;
		uint32_t *point = sorting->other_point, at = 0;

		run_for(run, sorting->chunks, mergexyz_rows()->count_digits, sorting);
		for (size_t b = 0; b < SORT_BUCKETS; b++)
			for (size_t c = 0; c < sorting->chunks; c++) {
				uint32_t count = sorting->count[c][b];

				sorting->count[c][b] = at;
				at += count;
			}
		run_for(run, sorting->chunks, mergexyz_rows()->move_points, sorting);
		sorting->other_key = sorting->key;
		sorting->other_point = sorting->point;
		sorting->key = key;
		sorting->point = point;
	}
}

static int
make_cubes(struct run *run, struct sorting *sorting)
{
	struct sorted_cubes *sorted = sorting->sorted;
	size_t cells = mergexyz_rows()->count_cubes(sorting);

	sorted->cells = cells;
	sorted->key = malloc((cells + 1) * sizeof(*sorted->key));
	sorted->first = malloc((cells + 1) * sizeof(*sorted->first));
	if (!sorted->key || !sorted->first)
		return fail_memory();
	mergexyz_rows()->list_cubes(sorting);
	free(sorting->key);
	free(sorting->other_key);
	free(sorting->other_point);
	sorting->key = sorting->other_key = NULL;
	sorting->other_point = NULL;
	sorted->point = sorting->point;
	for (size_t k = 0; k < 3; k++) {
		sorted->xyz[k] = malloc(sorting->n * sizeof(float));
		if (!sorted->xyz[k])
			return fail_memory();
	}
	run_for(run, sorting->chunks, mergexyz_rows()->copy_points, sorting);
	return 0;
}

static int
make_sorted(struct run *run, struct sorting *sorting)
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
	run_for(run, sorting->chunks, mergexyz_rows()->find_places, sorting);
	for (size_t k = 0; k < 3; k++) {
		int64_t low = CUBE_PLACES, high = 0;

		for (size_t c = 0; c < sorting->chunks; c++) {
			low = sorting->low[c][k] < low ? sorting->low[c][k] : low;
			high = sorting->high[c][k] > high ? sorting->high[c][k] : high;
		}
		sorting->base[k] = low;
		while ((int64_t)1 << sorting->bits[k] <= high - low)
			sorting->bits[k]++;
	}
	run_for(run, sorting->chunks, mergexyz_rows()->make_keys, sorting);
	sort(run, sorting);
	return make_cubes(run, sorting);
}

/* n finite points, fewer than 2^32. Those more than 2^20 cubes from `about` count to a cube at the
 * border. The result does not depend on the number of threads. free_sorted() in either case. */
static int
sort_points(struct run *run, const float *const xyz[3], size_t n, double size,
    const double about[3], struct sorted_cubes *sorted)
{
	struct sorting sorting = { .sorted = sorted, .xyz = xyz, .n = n,
		.chunks = (n + SORT_POINTS - 1) / SORT_POINTS };
	int status;

	*sorted = (struct sorted_cubes){ .size = size, .points = n };
	if (n >= UINT32_MAX)
		return fail(NULL, "%zu points are too many to sort", n);
	for (size_t k = 0; k < 3; k++)
		sorted->origin[k] = (int64_t)fmin(fmax(floor(about[k] / size), -PLACE_FAR),
		    PLACE_FAR) - CUBE_PLACES / 2;
	status = make_sorted(run, &sorting);
	if (sorted->point != sorting.point)
		free(sorting.point);
	free(sorting.low);
	free(sorting.high);
	free(sorting.count);
	free(sorting.key);
	free(sorting.other_key);
	free(sorting.other_point);
	return status;
}

static void
free_sorted(struct sorted_cubes *sorted)
{
	for (size_t k = 0; k < 3; k++)
		free(sorted->xyz[k]);
	free(sorted->point);
	free(sorted->key);
	free(sorted->first);
	*sorted = (struct sorted_cubes){ 0 };
}

/* ---- the size of cubes ---- */

#define SAMPLES 1000		/* points that tell whether cubes have a good size */
#define THINNED 262144		/* points that a first size is found for */
#define PER_NEAREST 6		/* wanted points in 27 cubes, for each nearest one */
#define SIZE_ROUNDS 16
#define SHORT_MOST 0.1		/* of the points: a second search costs more than larger cubes */
#define SIZE_GROWTH 1.3
#define COORDINATE_MOST 1e17	/* squares are floats */

struct sizing {
	struct neighbours *search;
	size_t count[SAMPLES];		/* points in its 27 cubes */
	bool short_of[SAMPLES];		/* which are enough, but not the nearest for certain */
};

static void
count_sample(void *arg, size_t sample)
{
	struct sizing *sizing = arg;
	struct neighbour_count found;

	mergexyz_rows()->count_neighbours(sizing->search,
	    sample * sizing->search->sorted.points / SAMPLES, &found);
	sizing->count[sample] = found.points;
	sizing->short_of[sample] = found.short_of;
}

static int
compare_counts(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/* *count: the median number of points in 27 cubes of a size, of samples of n points, which stay
 * sorted. */
static int
count_at(struct run *run, struct sizing *sizing, const float *const xyz[3], size_t n, double size,
    const double middle[3], double *count)
{
	free_sorted(&sizing->search->sorted);
	if (sort_points(run, xyz, n, size, middle, &sizing->search->sorted) < 0)
		return -1;
	run_for(run, SAMPLES, count_sample, sizing);
	qsort(sizing->count, SAMPLES, sizeof(*sizing->count), compare_counts);
	*count = (double)sizing->count[SAMPLES / 2];
	return 0;
}

/* The middle of the points, and the extent of half of them along the axis where it is largest. */
static void
find_spread(const float *const xyz[3], size_t n, double middle[3], double *extent)
{
	const size_t rank[3] = { n / 4, n / 2, n - 1 - n / 4 };

	*extent = 0;
	for (size_t k = 0; k < 3; k++) {
		float found[3];

		numbers_ranks(xyz[k], n, rank, 3, found);
		middle[k] = found[1];
		*extent = fmax(*extent, (double)found[2] - found[0]);
	}
}

/* The share of samples that need a larger cube. */
static double
short_share(const struct sizing *sizing)
{
	size_t n = 0;

	for (size_t i = 0; i < SAMPLES; i++)
		n += sizing->short_of[i];
	return (double)n / SAMPLES;
}

/* Changes the size until 27 cubes have about PER_NEAREST k of n points, or as many as all but a
 * tenth of the points need. *last: how many they have. */
static int
find_size(struct run *run, struct sizing *sizing, const float *const xyz[3], size_t n,
    const double middle[3], double *size, double *last)
{
	double wanted = PER_NEAREST * (double)sizing->search->k;
	bool grown = false;

	for (int round = 0;; round++) {
		if (count_at(run, sizing, xyz, n, *size, middle, last) < 0)
			return -1;
		if (round == SIZE_ROUNDS || n <= wanted)
			return 0;
		if (*last >= wanted / 2 && short_share(sizing) > SHORT_MOST &&
		    *last <= 3 * wanted) {
			/* points fill space there, or nearly do */
			*size *= SIZE_GROWTH;
			grown = true;
			continue;
		}
		if (grown || (*last >= wanted / 2 && *last <= 2 * wanted))
			return 0;
		*size *= fmin(fmax(sqrt(wanted / *last), 1.0 / 16), 4);
	}
}

/* Finds the size for every step-th point, and from it that for all, by the dimension of the points:
 * 2 for a surface. Half the size tells it. */
static int
find_first_size(struct run *run, struct sizing *sizing, size_t step, const double middle[3],
    double *size)
{
	size_t n = sizing->search->n / step;
	float *thin = malloc(3 * n * sizeof(*thin));
	const float *xyz[3] = { thin, thin + n, thin + 2 * n };
	double count, half = 0, power;
	int status = thin ? 0 : fail_memory();

	for (size_t k = 0; k < 3 && thin; k++)
		for (size_t i = 0; i < n; i++)
			thin[k * n + i] = sizing->search->xyz[k][i * step + i * 7919 % step];
	if (status == 0)
		status = find_size(run, sizing, xyz, n, middle, size, &count);
	if (status == 0)
		status = count_at(run, sizing, xyz, n, *size / 2, middle, &half);
	free(thin);
	if (status < 0)
		return -1;
	power = fmin(fmax(log2(count / fmax(half, 1)), 1), 3);
	*size *= pow((double)step, -1 / power);
	return 0;
}

static int
find_grid(struct run *run, struct sizing *sizing)
{
	const struct neighbours *search = sizing->search;
	double middle[3], extent, largest, size, count;
	double wanted = PER_NEAREST * (double)search->k;
	size_t step = search->n / THINNED;

	find_spread(search->xyz, search->n, middle, &extent);
	largest = extent + fmax(fabs(middle[0]), fmax(fabs(middle[1]), fabs(middle[2])));
	if (!(largest < COORDINATE_MOST) || (extent > 0 && extent < 1 / COORDINATE_MOST))
		return fail("--noise", "points about %g, %g apart, are beyond what floats can "
		    "square: give them in another unit", largest, extent);
	size = extent > 0 ? extent * sqrt(wanted / (double)search->n) : 1;
	if (!(extent > 0))
		return count_at(run, sizing, search->xyz, search->n, size, middle, &count);
	if (step > 1) {
		size *= sqrt((double)step);
		if (find_first_size(run, sizing, step, middle, &size) < 0)
			return -1;
	}
	return find_size(run, sizing, search->xyz, search->n, middle, &size, &count);
}

/* Sorts the points into cubes of a size that suits them. */
static int
neighbours_sort(struct run *run, struct neighbours *search)
{
	struct sizing *sizing = calloc(1, sizeof(*sizing));
	int status;

	if (!sizing)
		return fail_memory();
	sizing->search = search;
	status = find_grid(run, sizing);
	free(sizing);
	return status;
}

/* ---- outliers ---- */

#define SPREAD_LEAST 0.1	/* sigma of the distances, of their median */

static int
find_cut(struct neighbours *search, double sigmas)
{
	float *v = malloc(search->n * sizeof(*v)), median, spread;
	const size_t rank = search->n / 2;

	if (!v)
		return fail_memory();
	numbers_ranks(search->distance, search->n, &rank, 1, &median);
	mergexyz_rows()->deviations(search->distance, search->n, median, v);
	numbers_ranks(v, search->n, &rank, 1, &spread);
	free(v);
	search->cut = median + sigmas * fmax(1.4826 * spread, SPREAD_LEAST * median);
	return 0;
}

static int
keep(struct run *run, const struct neighbours *search, struct frame **cloud)
{
	uint32_t *from = calloc(search->n + 1, sizeof(*from));
	size_t kept = 0;
	struct frame *out = NULL;
	struct frame_head head;
	int status = -1;

	if (!from)
		return fail_memory();
	for (size_t i = 0; i < search->n; i++)
		if (search->distance[i] <= search->cut)
			from[kept++] = (uint32_t)i;
	if (head_copy(&head, &(*cloud)->head) == 0) {
		if (head_set_points(&head, kept) == 0)
			status = frame_new(&head, &out);
		head_free(&head);
	}
	if (status == 0)
		run_for(run, out->head.c, mergexyz_rows()->keep_channel,
		    &(struct keeping){ *cloud, out, from, kept });
	free(from);
	if (status < 0)
		return -1;
	frame_free(*cloud);
	*cloud = out;
	return 0;
}

static int
drop(struct run *run, struct neighbours *search, double sigmas, struct frame **cloud)
{
	size_t far = 0, uncertain;

	search->distance = calloc(search->n, sizeof(*search->distance));
	search->uncertain = calloc(search->n, sizeof(*search->uncertain));
	if (!search->distance || !search->uncertain)
		return fail_memory();
	if (neighbours_sort(run, search) < 0)
		return -1;
	run_for(run, (search->sorted.cells + NEIGHBOUR_CUBES - 1) / NEIGHBOUR_CUBES,
	    mergexyz_rows()->search_cubes, search);
	/* distances that are too small make the cut too small: it grows until all distances up to
	 * it are certain */
	do {
		if (find_cut(search, sigmas) < 0)
			return -1;
		uncertain = mergexyz_rows()->count_uncertain(search);
		if (uncertain)
			run_for(run, (search->n + NEIGHBOUR_POINTS - 1) / NEIGHBOUR_POINTS,
			    mergexyz_rows()->search_farther, search);
	} while (uncertain);
	for (size_t i = 0; i < search->n; i++)
		far += !(search->distance[i] <= search->cut);
	if (run->verbose)
		note(NULL, "--noise: %zu of %zu points are more than %.4g from their %zu nearest",
		    far, search->n, search->cut, search->k);
	if (far * 3 > search->n)
		warn(NULL, "--noise drops %zu of %zu points, more than a third", far, search->n);
	return far ? keep(run, search, cloud) : 0;
}

/*
 * Drops from a table the points whose mean distance to their k nearest is above median + sigmas
 * 1.4826 MAD of those of all points; the MAD counts as SPREAD_LEAST of the median over 1.4826 at
 * least. Frees the old table. -1 after fail().
 */
int
outliers_drop(struct run *run, size_t k, double sigmas, struct frame **cloud)
{
	const struct frame_head *head = &(*cloud)->head;
	struct neighbours search = { .k = k };
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
	free_sorted(&search.sorted);
	free(search.distance);
	free(search.uncertain);
	return status;
}
