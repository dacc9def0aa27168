#include "outliers.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "neighbours.h"

#define SPREAD_LEAST 0.1	/* sigma of the distances, of their median */

struct search {
	struct neighbours near;
	double cut;
};

static int
find_cut(struct search *search, double sigmas)
{
	float *v = malloc(search->near.n * sizeof(*v)), median, spread;
	const size_t rank = search->near.n / 2;

	if (!v)
		return fail_memory();
	numbers_ranks(search->near.distance, search->near.n, &rank, 1, &median);
	for (size_t i = 0; i < search->near.n; i++)
		v[i] = fabsf(search->near.distance[i] - median);
	numbers_ranks(v, search->near.n, &rank, 1, &spread);
	free(v);
	search->cut = median + sigmas * fmax(1.4826 * spread, SPREAD_LEAST * median);
	return 0;
}

/* Points that may be on either side of the cut, or of median and MAD. */
static size_t
count_uncertain(const struct search *search)
{
	size_t n = 0;

	for (size_t i = 0; i < search->near.n; i++)
		n += search->near.uncertain[i] && search->near.distance[i] <= search->cut;
	return n;
}

struct keeping {
	struct frame *from, *to;
	const uint32_t *point;
	size_t n;
};

static void
keep_channel(void *arg, size_t c)
{
	const struct keeping *keeping = arg;
	const float *v = frame_floats(keeping->from, c, 0);
	float *to = frame_floats(keeping->to, c, 0);

	*to = PX_NAN;
	for (size_t i = 0; i < keeping->n; i++)
		to[i] = v[keeping->point[i]];
}

static int
keep(struct run *run, const struct search *search, struct frame **cloud)
{
	uint32_t *from = calloc(search->near.n + 1, sizeof(*from));
	size_t kept = 0;
	struct frame *out = NULL;
	struct frame_head head;
	int status = -1;

	if (!from)
		return fail_memory();
	for (size_t i = 0; i < search->near.n; i++)
		if (search->near.distance[i] <= search->cut)
			from[kept++] = (uint32_t)i;
	if (head_copy(&head, &(*cloud)->head) == 0) {
		if (head_set_points(&head, kept) == 0)
			status = frame_new(&head, &out);
		head_free(&head);
	}
	if (status == 0)
		run_for(run, out->head.c, keep_channel, &(struct keeping){ *cloud, out, from,
		    kept });
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
	struct neighbours *near = &search->near;
	size_t far = 0, left;

	near->distance = calloc(near->n, sizeof(*near->distance));
	near->uncertain = calloc(near->n, sizeof(*near->uncertain));
	if (!near->distance || !near->uncertain)
		return fail_memory();
	if (neighbours_sort(run, near) < 0)
		return -1;
	neighbours_search(run, near);
	/* distances that were too small have made the cut too small: it grows until all that matter
	 * are certain */
	do {
		if (find_cut(search, sigmas) < 0)
			return -1;
		left = count_uncertain(search);
		if (left)
			neighbours_search_farther(run, near, search->cut);
	} while (left);
	for (size_t i = 0; i < near->n; i++)
		far += !(near->distance[i] <= search->cut);
	if (run->verbose)
		note(NULL, "--noise: %zu of %zu points are more than %.4g from their %zu nearest",
		    far, near->n, search->cut, near->k);
	if (far * 3 > near->n)
		warn(NULL, "--noise drops %zu of %zu points, more than a third", far, near->n);
	return far ? keep(run, search, cloud) : 0;
}

int
outliers_drop(struct run *run, size_t k, double sigmas, struct frame **cloud)
{
	const struct frame_head *head = &(*cloud)->head;
	struct search search = { .near.k = k };
	struct neighbours *near = &search.near;
	int status;

	if (head_points(head, &near->n) < 0)
		return -1;
	if (near->n <= k) {
		warn(NULL, "--noise: %zu points have no %zu nearest; none is dropped", near->n, k);
		return 0;
	}
	for (size_t i = 0; i < 3; i++)
		near->xyz[i] = frame_floats(*cloud, head_channel(head, (char[2]){ "xyz"[i] }), 0);
	status = drop(run, &search, sigmas, cloud);
	cell_rows_free(&near->rows);
	free(near->distance);
	free(near->uncertain);
	return status;
}
