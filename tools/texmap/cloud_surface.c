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
#define WIDER 2.0		/* the plane is that of the points so many times `apart` around */
#define ALONE 3.0		/* times the median distance: a point off the surface */
#define FLAT 0.01		/* of the largest eigenvalue: points on a line show no plane */
#define NORMAL_MEDIAN 0.6745	/* of |x|, x of the normal distribution with standard deviation 1 */

struct search {
	struct cloud_surface *surface;
	const float *const *xyz;
	struct point_cubes cubes;
	float *off;			/* from the plane; NaN where there is none */
};

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
	const struct point_cubes *cubes = &search->cubes;
	uint32_t around[POINT_CUBES_MOST];
	float square[POINT_CUBES_MOST];

	for (size_t cell = part * CELLS; cell < end && cell < cubes->grid.cells; cell++) {
		const uint32_t *own = cubes->order + cubes->start[cell];
		size_t n, points = cubes->start[cell + 1] - cubes->start[cell];

		n = point_cubes_around(cubes, own[0], around);
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
		status = point_cubes_make(run, xyz, n, &search.cubes);
	if (status == 0) {
		run_for(run, (search.cubes.grid.cells + CELLS - 1) / CELLS, measure_cells, &search);
		status = find_spacing(&search);
	}
	point_cubes_free(&search.cubes);
	free(search.off);
	return status;
}

void
cloud_surface_free(struct cloud_surface *surface)
{
	free(surface->apart);
	*surface = (struct cloud_surface){ 0 };
}
