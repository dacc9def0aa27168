/*
 * mergexyz --noise: drops points that are far from all others (methods §10). The points are sorted
 * into cubes of a size that suits them, however they lie, and each is compared with those of its
 * own cube and the 26 around it; where that is not certain to find the nearest, with more.
 */
#include "mergexyz.h"

#include "base/numbers.h"

/* ---- points in cubes of a size that suits them ---- */

#define THINNED_POINTS 262144	/* that a first size is found for */
#define PER_NEAREST 6		/* wanted points in 27 cubes, for each nearest one */
#define COORDINATE_MOST 1e17	/* squares are floats */
#define SORTED_POINTS 262144	/* that a thread copies at a time */
/* Where points fill space cubes are larger: a second search costs more. */
#define SAMPLED_PARTS 2		/* of the search, that tell whether cubes are too small */
#define UNCERTAIN_MOST 0.1	/* of their points */
#define SIZE_GROWTH 1.3
#define GROWTHS 2

/* The size for every step-th point, for a first size for all: they lie on a surface. 0 or -1 after
 * fail(). */
static int
find_first_size(struct run *run, const struct neighbours *search, size_t step, double *size)
{
	size_t n = search->n / step;
	float *thin = must_alloc(3 * n, sizeof(*thin));
	struct grid grid = { 0 };
	int status;

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < n; i++)
			thin[k * n + i] = search->xyz[k][i * step + i * 7919 % step];
	status = grid_make_fitting(run, (const float *[3]){ thin, thin + n, thin + 2 * n }, n, 0,
	    PER_NEAREST * search->k, false, &grid);
	*size = grid.size / sqrt((double)step);
	grid_free(&grid);
	free(thin);
	return status;
}

static void
copy_sorted(void *arg, size_t chunk)
{
	const struct neighbours *search = arg;
	size_t end = (chunk + 1) * SORTED_POINTS < search->n ? (chunk + 1) * SORTED_POINTS :
	    search->n;

	for (size_t k = 0; k < 3; k++)
		for (size_t i = chunk * SORTED_POINTS; i < end; i++)
			search->sorted[k][i] = search->xyz[k][search->grid.point[i]];
}

static void
copy_points(struct run *run, struct neighbours *search)
{
	search->sorted[0] = must_resize(search->sorted[0], search->n, 3 * sizeof(float));
	search->sorted[1] = search->sorted[0] + search->n;
	search->sorted[2] = search->sorted[1] + search->n;
	run_for(run, (search->n + SORTED_POINTS - 1) / SORTED_POINTS, copy_sorted, search);
}

static size_t
parts_of(const struct neighbours *search)
{
	return (search->grid.cells + NEIGHBOUR_CUBES - 1) / NEIGHBOUR_CUBES;
}

/* Do many points find as many as they want in 27 cubes, but not the nearest for certain? Some parts
 * of the search tell. */
static bool
is_small(struct neighbours *search)
{
	const struct grid *grid = &search->grid;
	size_t points = 0, uncertain = 0;

	for (size_t k = 1; k <= SAMPLED_PARTS; k++) {
		size_t part = k * parts_of(search) / (SAMPLED_PARTS + 1);
		size_t first = part * NEIGHBOUR_CUBES, end = first + NEIGHBOUR_CUBES;

		end = end < grid->cells ? end : grid->cells;
		mergexyz_rows()->search_cubes(search, part);
		for (size_t i = grid->first[first]; i < grid->first[end]; i++)
			uncertain += search->uncertain[grid->point[i]];
		points += grid->first[end] - grid->first[first];
	}
	return (double)uncertain > UNCERTAIN_MOST * (double)points;
}

static int
sort_points(struct run *run, struct neighbours *search)
{
	struct grid *grid = &search->grid;
	const size_t step = search->n / THINNED_POINTS, wanted = PER_NEAREST * search->k;
	double size = 0, largest, middle[3];

	if (step > 1 && find_first_size(run, search, step, &size) < 0)
		return -1;
	if (grid_make_fitting(run, search->xyz, search->n, size, wanted, false, grid) < 0)
		return -1;
	largest = grid->extent + fmax(fabs(grid->middle[0]), fmax(fabs(grid->middle[1]),
	    fabs(grid->middle[2])));
	if (!(largest < COORDINATE_MOST) ||
	    (grid->extent > 0 && grid->extent < 1 / COORDINATE_MOST))
		return fail("--noise", "points about %g, %g apart, are beyond what floats can "
		    "square: give them in another unit", largest, grid->extent);
	copy_points(run, search);
	memcpy(middle, grid->middle, sizeof(middle));
	for (int grown = 0; grown < GROWTHS && is_small(search); grown++) {
		size = SIZE_GROWTH * grid->size;
		grid_free(grid);
		if (grid_make(run, search->xyz, search->n, size, middle, NULL, grid) < 0)
			return -1;
		copy_points(run, search);
	}
	return 0;
}

/* ---- outliers ---- */

#define SPREAD_LEAST 0.1	/* sigma of the distances, of their median */

static void
find_cut(struct neighbours *search, double sigmas)
{
	float *v = must_large(search->n, sizeof(*v)), spread;
	float median = numbers_median(search->distance, search->n);

	mergexyz_rows()->deviations(search->distance, search->n, median, v);
	spread = numbers_median(v, search->n);
	free(v);
	search->cut = median + sigmas * fmax(1.4826 * spread, SPREAD_LEAST * median);
}

static int
keep(struct run *run, const struct neighbours *search, struct frame **cloud)
{
	uint32_t *from = must_alloc(search->n, sizeof(*from));
	size_t kept = 0;
	struct frame *out = NULL;
	int status;

	for (size_t i = 0; i < search->n; i++)
		if (search->distance[i] <= search->cut)
			from[kept++] = (uint32_t)i;
	status = frame_new_table(&(*cloud)->head, kept, &out);
	if (status == 0)
		run_for(run, out->head.c, mergexyz_rows()->keep_channel,
		    &(struct keeping){ *cloud, out, from, kept });
	free(from);
	if (status < 0)
		return -1;
	frame_replace(cloud, out);
	return 0;
}

static int
drop(struct run *run, struct neighbours *search, double sigmas, struct frame **cloud)
{
	size_t far = 0, uncertain;

	search->distance = must_alloc(search->n, sizeof(*search->distance));
	search->uncertain = must_alloc(search->n, sizeof(*search->uncertain));
	if (sort_points(run, search) < 0)
		return -1;
	run_for(run, parts_of(search), mergexyz_rows()->search_cubes, search);
	/* distances that are too small make the cut too small: it grows until all distances up to
	 * it are certain */
	do {
		find_cut(search, sigmas);
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
 * least. Frees the old table, and moves the ends of the pieces in `errors`. -1 after fail().
 */
int
outliers_drop(struct run *run, size_t k, double sigmas, struct shared_errors *errors,
    struct frame **cloud)
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
	for (size_t p = 0, i = 0, kept = 0; p < errors->n && status == 0; p++) {
		for (; i < errors->piece[p].end; i++)
			kept += search.distance[i] <= search.cut;
		errors->piece[p].end = kept;
	}
	grid_free(&search.grid);
	free_all(search.sorted[0], search.distance, search.uncertain);
	return status;
}
