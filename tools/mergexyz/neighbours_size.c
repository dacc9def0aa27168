/* The size of cubes that suits points, however they lie. */
#include "neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

#define SAMPLES 1000		/* points that tell whether cubes have a good size */
#define THINNED 262144		/* points that a first size is found for */
#define PER_NEAREST 6		/* points in 27 cubes that are aimed at, for each nearest one */
#define ROUNDS 16
#define SHORT 0.1		/* of the points: a second search costs more than a larger cube */
#define GROWTH 1.3
#define LARGEST 1e17		/* coordinates: squares are floats */

struct sizing {
	struct neighbours *search;
	size_t count[SAMPLES];		/* points in its 27 cubes */
	bool short_of[SAMPLES];		/* which are enough, but not the nearest for certain */
};

static void
count_sample(void *arg, size_t sample)
{
	struct sizing *sizing = arg;
	struct neighbours_sample found;

	neighbours_sample(sizing->search, sample * sizing->search->rows.points / SAMPLES, &found);
	sizing->count[sample] = found.points;
	sizing->short_of[sample] = found.short_of;
}

static int
compare_counts(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/* The median number of points in 27 cubes of a size, of samples of n points; they stay sorted. */
static int
count_at(struct run *run, struct sizing *sizing, const float *const xyz[3], size_t n, double size,
    const double middle[3], double *count)
{
	cell_rows_free(&sizing->search->rows);
	if (cell_rows_make(run, xyz, n, size, middle, &sizing->search->rows) < 0)
		return -1;
	run_for(run, SAMPLES, count_sample, sizing);
	qsort(sizing->count, SAMPLES, sizeof(*sizing->count), compare_counts);
	*count = (double)sizing->count[SAMPLES / 2];
	return 0;
}

/* The middle of the points, and how far half of them are from it along the axis with most. */
static void
find_extent(const float *const xyz[3], size_t n, double middle[3], double *extent)
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

/* The share of samples that want a larger cube. */
static double
short_share(const struct sizing *sizing)
{
	size_t n = 0;

	for (size_t i = 0; i < SAMPLES; i++)
		n += sizing->short_of[i];
	return (double)n / SAMPLES;
}

/* Changes the size until 27 cubes have some PER_NEAREST k of n points, or as many
 * as all but a tenth of the points need. `last`: how many they have. */
static int
find_size(struct run *run, struct sizing *sizing, const float *const xyz[3], size_t n,
    const double middle[3], double *size, double *last)
{
	double wanted = PER_NEAREST * (double)sizing->search->k;
	bool grown = false;

	for (int round = 0;; round++) {
		if (count_at(run, sizing, xyz, n, *size, middle, last) < 0)
			return -1;
		if (round == ROUNDS || n <= wanted)
			return 0;
		if (*last >= wanted / 2 && short_share(sizing) > SHORT && *last <= 3 * wanted) {
			/* points fill space there, or nearly do */
			*size *= GROWTH;
			grown = true;
			continue;
		}
		if (grown || (*last >= wanted / 2 && *last <= 2 * wanted))
			return 0;
		*size *= fmin(fmax(sqrt(wanted / *last), 1.0 / 16), 4);
	}
}

/* The size for every `step`-th point, and from it that for all: by the dimension that half the size
 * shows, 2 of a surface. */
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

	find_extent(search->xyz, search->n, middle, &extent);
	largest = extent + fmax(fabs(middle[0]), fmax(fabs(middle[1]), fabs(middle[2])));
	if (!(largest < LARGEST) || (extent > 0 && extent < 1 / LARGEST))
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

int
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
