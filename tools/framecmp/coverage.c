/*
 * The share of a mesh's surface that has been measured, for framecmp --to: places are spread evenly
 * over the area of its triangles, those that the camera sees are kept, and counted is which of them
 * have a measured point nearby.
 */
#include "coverage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/vector3.h"
#include "points/point_grid.h"

#define PLACES 262144		/* on all of the surface: 0.1 % of half of them, 1 sigma at most */
#define BLOCK 1024		/* places of one call */
#define CLEAR 1e-6		/* of the mesh's size: nearer triangles do not hide a place */
#define SPACED 1000		/* points that the spacing is measured at */
#define NEIGHBOUR 4
#define SPACINGS 2.0		/* how far a place may lie from a point */
#define FINE 8.0		/* of their cubes side by side are as long as that */
#define CUBES_MOST 0x1p18	/* along the mesh: fewer than a grid has */

/* ---- what the camera sees ---- */

enum seen { UNSEEN, FRONT, BACK };

struct looking {
	struct coverage_surface *surface;
	size_t triangles;
	double *area;		/* of all triangles before each, and of all */
	double (*place)[3];
	unsigned char *seen;	/* enum seen, of each place */
};

static void
cross_of(const double corner[3][3], double out[3])
{
	double ab[3], ac[3];

	for (int i = 0; i < 3; i++) {
		ab[i] = corner[1][i] - corner[0][i];
		ac[i] = corner[2][i] - corner[0][i];
	}
	vector3_cross(ab, ac, out);
}

/* The triangle that contains so much area, at or after triangle t. */
static size_t
triangle_at(const struct looking *looking, size_t t, double area)
{
	size_t end = looking->triangles;

	while (t + 1 < end) {
		size_t middle = t + (end - t) / 2;

		if (looking->area[middle] <= area)
			t = middle;
		else
			end = middle;
	}
	return t;
}

/* Which side of its triangle t does place k show to the camera? */
static enum seen
look(const struct looking *looking, size_t t, size_t k)
{
	const struct coverage_surface *surface = looking->surface;
	const double *camera = surface->camera, *place = looking->place[k];
	double normal[3], to[3], sight[3], facing;

	cross_of(nearest_corners(surface->mesh, t), normal);
	for (int i = 0; i < 3; i++) {
		to[i] = camera[3] != 0 ? camera[i] : place[i] + 2 * surface->size * camera[i];
		sight[i] = to[i] - place[i];
	}
	facing = vector3_dot(normal, sight);
	if (facing == 0 || (surface->side == SIDE_FRONT && facing < 0) ||
	    (surface->side == SIDE_BACK && facing > 0) ||
	    nearest_hides(surface->mesh, t, place, to, CLEAR * surface->size))
		return UNSEEN;
	return facing > 0 ? FRONT : BACK;
}

/* A place in each of equal steps of area; within its triangle where a sequence of low discrepancy
 * says (Roberts' R2, from the plastic number 1.3247). */
static void
look_block(void *arg, size_t block)
{
	const struct looking *looking = arg;
	double step = looking->area[looking->triangles] / PLACES;
	size_t t = 0;

	for (size_t k = block * BLOCK; k < (block + 1) * BLOCK; k++) {
		double u = fmod(0.5 + 0.7548776662466927 * (double)k, 1);
		double v = fmod(0.5 + 0.5698402909980532 * (double)k, 1);
		const double (*corner)[3];

		t = triangle_at(looking, t, ((double)k + 0.5) * step);
		corner = nearest_corners(looking->surface->mesh, t);
		if (u + v > 1) {
			u = 1 - u;
			v = 1 - v;
		}
		for (int i = 0; i < 3; i++)
			looking->place[k][i] = corner[0][i] + u * (corner[1][i] - corner[0][i]) +
			    v * (corner[2][i] - corner[0][i]);
		looking->seen[k] = (unsigned char)look(looking, t, k);
	}
}

/* Leaves the places that the camera sees on the mesh's outer side. */
static void
keep_seen(struct looking *looking)
{
	struct coverage_surface *surface = looking->surface;
	size_t count[3] = { 0 };
	enum seen other = UNSEEN;

	for (size_t k = 0; k < PLACES; k++)
		count[looking->seen[k]]++;
	if (surface->side == SIDE_SEEN)
		other = count[BACK] > count[FRONT] ? FRONT : BACK;
	surface->n = 0;
	for (size_t k = 0; k < PLACES; k++)
		if (looking->seen[k] != UNSEEN && looking->seen[k] != other)
			memcpy(looking->place[surface->n++], looking->place[k],
			    sizeof(*looking->place));
	surface->place = looking->place;
}

static int
find_surface(struct run *run, struct coverage_surface *surface)
{
	struct looking looking = { .surface = surface };
	struct nearest_counts counts;
	int status;

	free(surface->place);
	surface->place = NULL;
	nearest_count(surface->mesh, &counts);
	looking.triangles = counts.triangles;
	looking.area = calloc(counts.triangles + 1, sizeof(*looking.area));
	looking.place = calloc(PLACES, sizeof(*looking.place));
	looking.seen = calloc(PLACES, sizeof(*looking.seen));
	status = looking.area && looking.place && looking.seen ? 0 : fail_memory();
	for (size_t t = 0; t < counts.triangles && status == 0; t++) {
		double normal[3];

		cross_of(nearest_corners(surface->mesh, t), normal);
		looking.area[t + 1] = looking.area[t] + sqrt(vector3_dot(normal, normal));
	}
	if (status == 0) {
		run_for(run, PLACES / BLOCK, look_block, &looking);
		keep_seen(&looking);
	} else
		free(looking.place);
	free(looking.area);
	free(looking.seen);
	return status;
}

/* ---- where points are ---- */

/* The points in cubes of the radius: of each `fine` cube only the first one, so that a search looks
 * at a bounded number, and at the others of it where that one is only just too far. */
struct measured {
	float *xyz[3], *first[3];	/* those over the mesh, then those at its border */
	size_t n, over;
	double within;
	struct point_cubes fine, coarse;	/* of all points; of the first ones */
	const struct coverage_surface *surface;
	struct pose to_points;		/* from the mesh */
	uint32_t *covered;		/* of each block of places */
};

static int
new_points(size_t n, float *xyz[3])
{
	xyz[0] = calloc(3 * n + 1, sizeof(float));
	if (!xyz[0])
		return fail_memory();
	xyz[1] = xyz[0] + n;
	xyz[2] = xyz[1] + n;
	return 0;
}

static int
take_points(const struct mesh_points *points, const struct mesh_distance *distance,
    struct measured *measured)
{
	if (new_points(points->n, measured->xyz) < 0)
		return -1;
	for (int border = 0; border < 2; border++) {
		for (size_t i = 0; i < points->n; i++) {
			if (distance[i].far || distance[i].border != border)
				continue;
			for (int k = 0; k < 3; k++)
				measured->xyz[k][measured->n] = (float)points->x[i][k];
			measured->n++;
		}
		measured->over = border ? measured->over : measured->n;
	}
	return 0;
}

/* The distance of a point to its fourth nearest. */
static float
fourth_nearest(const struct point_cubes *cubes, size_t i)
{
	double nearest[NEIGHBOUR] = { INFINITY, INFINITY, INFINITY, INFINITY };
	uint32_t around[POINT_CUBES_MOST];
	size_t n = point_cubes_around(cubes, i, around);

	for (size_t j = 0; j < n; j++) {
		double d[3], square, nearer;

		for (int k = 0; k < 3; k++)
			d[k] = (double)cubes->xyz[k][around[j]] - cubes->xyz[k][i];
		square = vector3_dot(d, d);
		for (int k = 0; k < NEIGHBOUR && square > 0; k++) {
			nearer = fmin(nearest[k], square);
			square = fmax(nearest[k], square);
			nearest[k] = nearer;
		}
	}
	return (float)sqrt(nearest[NEIGHBOUR - 1]);
}

/* The median of these distances, over the mesh: the pitch of a square grid, 1.08 times that of
 * points strewn at random. 0: there are too few points. -1 after fail(). */
static int
find_spacing(struct run *run, const struct measured *measured, double *spacing)
{
	const float *const xyz[3] = { measured->xyz[0], measured->xyz[1], measured->xyz[2] };
	struct point_cubes cubes;
	float apart[SPACED], median = 0;
	size_t n = 0, middle;
	int status = point_cubes_make(run, xyz, measured->over, &cubes);

	for (size_t k = 0; k < SPACED && status == 0; k++) {
		apart[n] = fourth_nearest(&cubes, k * measured->over / SPACED);
		n += isfinite(apart[n]);
	}
	point_cubes_free(&cubes);
	middle = n / 2;
	if (n)
		numbers_ranks(apart, n, &middle, 1, &median);
	*spacing = (double)median;
	return status;
}

static int
sort_points(struct run *run, struct measured *measured)
{
	double least = measured->surface->size / CUBES_MOST, about[3];
	const float *const all[3] = { measured->xyz[0], measured->xyz[1], measured->xyz[2] };
	struct point_cubes *fine = &measured->fine;

	pose_apply(&measured->to_points, measured->surface->place[0], about);
	if (point_cubes_sized(run, all, measured->n, fmax(measured->within / FINE, least), about,
	    fine) < 0 || new_points(fine->grid.cells, measured->first) < 0)
		return -1;
	for (size_t cell = 0; cell < fine->grid.cells; cell++)
		for (int k = 0; k < 3; k++)
			measured->first[k][cell] =
			    measured->xyz[k][fine->order[fine->start[cell]]];
	return point_cubes_sized(run, (const float *[3]){ measured->first[0], measured->first[1],
	    measured->first[2] }, fine->grid.cells, fmax(measured->within, least), about,
	    &measured->coarse);
}

/* ---- which places have a point ---- */

static double
distance_from(float *const xyz[3], size_t i, const float p[3])
{
	double d[3] = { (double)xyz[0][i] - p[0], (double)xyz[1][i] - p[1],
		(double)xyz[2][i] - p[2] };

	return sqrt(vector3_dot(d, d));
}

/* Has a fine cube, whose first point is so far from p, a point within reach? */
static bool
reaches(const struct measured *measured, size_t cell, const float p[3])
{
	const struct point_cubes *fine = &measured->fine;
	double first = distance_from(measured->first, cell, p);

	if (first <= measured->within)
		return true;
	if (first > measured->within + sqrt(3) * fine->grid.size)
		return false;
	for (size_t k = fine->start[cell]; k < fine->start[cell + 1]; k++)
		if (distance_from(measured->xyz, fine->order[k], p) <= measured->within)
			return true;
	return false;
}

static bool
is_covered(const struct measured *measured, const double place[3])
{
	const struct point_cubes *coarse = &measured->coarse;
	uint32_t cell[27];
	double moved[3];
	size_t cells;
	float p[3];

	pose_apply(&measured->to_points, place, moved);
	for (int k = 0; k < 3; k++)
		p[k] = (float)moved[k];
	cells = point_grid_around(&coarse->grid, p, cell);
	for (size_t c = 0; c < cells; c++)
		for (size_t k = coarse->start[cell[c]]; k < coarse->start[cell[c] + 1]; k++)
			if (reaches(measured, coarse->order[k], p))
				return true;
	return false;
}

static void
cover_block(void *arg, size_t block)
{
	const struct measured *measured = arg;
	const struct coverage_surface *surface = measured->surface;
	size_t end = (block + 1) * BLOCK < surface->n ? (block + 1) * BLOCK : surface->n;

	for (size_t k = block * BLOCK; k < end; k++)
		measured->covered[block] += is_covered(measured, surface->place[k]);
}

static int
count_covered(struct run *run, struct measured *measured, size_t *covered)
{
	size_t blocks = (measured->surface->n + BLOCK - 1) / BLOCK;

	*covered = 0;
	measured->covered = calloc(blocks + 1, sizeof(*measured->covered));
	if (!measured->covered)
		return fail_memory();
	run_for(run, blocks, cover_block, measured);
	for (size_t block = 0; block < blocks; block++)
		*covered += measured->covered[block];
	return 0;
}

int
coverage_find(struct run *run, const struct mesh_points *points,
    const struct mesh_distance *distance, const struct pose *pose, double within,
    struct coverage_surface *surface, struct coverage *coverage)
{
	struct measured measured = { .surface = surface, .within = within };
	double camera[4] = { 0, 0, 0, points->camera[3] }, spacing;
	size_t covered = 0;
	int status = 0;

	pose_invert(pose, &measured.to_points);
	for (int i = 0; i < 3; i++) {
		camera[i] = camera[3] != 0 ? pose->T[i] : 0;
		for (int k = 0; k < 3; k++)
			camera[i] += pose->R[3 * i + k] * points->camera[k];
	}
	*coverage = (struct coverage){ .share = (double)NAN };
	memcpy(coverage->camera, camera, sizeof(camera));
	if (!surface->place || memcmp(camera, surface->camera, sizeof(camera)) != 0) {
		memcpy(surface->camera, camera, sizeof(camera));
		if (find_surface(run, surface) < 0)
			return -1;
	}
	if (surface->n == 0)
		return 0;
	if (take_points(points, distance, &measured) < 0)
		return -1;
	if (measured.over && isnan(within)) {
		status = find_spacing(run, &measured, &spacing);
		measured.within = SPACINGS * spacing;
	}
	if (status == 0 && measured.over && measured.within > 0)
		status = sort_points(run, &measured) < 0 ? -1 :
		    count_covered(run, &measured, &covered);
	coverage->share = (double)covered / (double)surface->n;
	coverage->within = measured.within;
	point_cubes_free(&measured.fine);
	point_cubes_free(&measured.coarse);
	free(measured.first[0]);
	free(measured.xyz[0]);
	free(measured.covered);
	return status;
}
