/*
 * The loops of framecmp: differences of samples; distances of points from a mesh; places on a mesh
 * that a camera sees, and those that have a measured point nearby.
 */
#include "framecmp.h"

#include "base/linear.h"
#include "mesh/mesh.h"
#include "mesh/nearest.h"

/* ---- samples ---- */

#define TURN (2.0 * M_PI)

/* Numbers floats in their order: neighbours differ by 1, -0 and 0 by none. */
static int64_t
order_of(float v)
{
	int32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

static double
ulp_between(double a, double b, enum sample type)
{
	if (type != SAMPLE_FLOAT)
		return fabs(a - b);
	return fabs((double)(order_of((float)a) - order_of((float)b)));
}

/* a - b; 0 for equal infinities. */
static double
difference(double a, double b, bool turns)
{
	double d = a == b ? 0.0 : a - b;

	return turns && isfinite(d) ? d - TURN * round(d / TURN) : d;
}

static void
raise_to(double *most, double v)
{
	if (v > *most)
		*most = v;
}

static void
add_sample(struct comparison *of, double a, double b, enum sample type, bool turns)
{
	double d, size, larger;

	if (isnan(a) || isnan(b)) {
		of->only_a += !isnan(b);
		of->only_b += !isnan(a);
		of->bits += isnan(a) != isnan(b);
		return;
	}
	d = difference(a, b, turns);
	size = fabs(d);
	larger = fmax(fabs(a), fabs(b));
	of->size[of->n++] = size;
	of->bits += a != b || signbit(a) != signbit(b);
	of->mean += d;
	of->rms += d * d;
	raise_to(&of->max, size);
	if (size > 0.0)
		raise_to(&of->relative, isinf(larger) ? INFINITY : size / larger);
	raise_to(&of->ulp, ulp_between(a, b, type));
}

static void
framecmp_add_row(struct comparison *of, enum sample type, const void *row_a, const void *row_b,
    size_t x0, size_t x1, bool turns)
{
	for (size_t x = x0; x < x1; x++)
		add_sample(of, frame_sample_in(type, row_a, x), frame_sample_in(type, row_b, x),
		    type, turns);
}

/* ---- points and their distances from the mesh ---- */

static void
framecmp_measure(void *arg, size_t block)
{
	const struct measuring *m = arg;
	size_t end = (block + 1) * BLOCK < m->n ? (block + 1) * BLOCK : m->n;
	size_t from = NEAREST_NONE;	/* where the search starts: at the point before */

	for (size_t k = block * BLOCK; k < end; k++) {
		struct nearest_point found;
		double x[3];

		pose_apply(m->pose, m->points->x[k * m->step], x);
		nearest_find(m->mesh, x, m->within, from, &found);
		from = found.place;
		if (m->out) {
			m->out[k].far = found.triangle == NEAREST_NONE;
			m->out[k].border = found.border;
			m->out[k].d = found.border ? (float)NAN : (float)found.distance;
			continue;
		}
		m->pair[k].residual = (float)NAN;
		if (found.triangle == NEAREST_NONE || found.border)
			continue;
		m->pair[k].residual = 0;
		for (int i = 0; i < 3; i++) {
			m->pair[k].point[i] = (float)x[i];
			m->pair[k].normal[i] = (float)found.normal[i];
			m->pair[k].residual += (float)(found.normal[i] * (found.point[i] - x[i]));
		}
	}
}

/* ---- the mesh, and places on it that the camera sees ---- */

#define HIDING_DISTANCE 1e-6	/* in sizes of the mesh: nearer triangles do not hide a place */

/* Normal to a triangle; its length is twice the area. */
static void
triangle_normal(const double corner[3][3], double out[3])
{
	double ab[3], ac[3];

	for (int i = 0; i < 3; i++) {
		ab[i] = corner[1][i] - corner[0][i];
		ac[i] = corner[2][i] - corner[0][i];
	}
	vector3_cross(ab, ac, out);
}

static void
framecmp_add_areas(const struct nearest *mesh, size_t triangles, double *area)
{
	for (size_t t = 0; t < triangles; t++) {
		double normal[3];

		triangle_normal(nearest_corners(mesh, t), normal);
		area[t + 1] = area[t] + sqrt(vector3_dot(normal, normal));
	}
}

/* The triangle, t or a later one, where the running sum of areas reaches `area`. */
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
side_seen(const struct looking *looking, size_t t, size_t k)
{
	const struct coverage_surface *surface = looking->surface;
	const double *camera = surface->camera, *place = looking->place[k];
	double normal[3], to[3], sight[3], facing;

	triangle_normal(nearest_corners(surface->mesh, t), normal);
	for (int i = 0; i < 3; i++) {
		to[i] = camera[3] != 0 ? camera[i] : place[i] + 2 * surface->size * camera[i];
		sight[i] = to[i] - place[i];
	}
	facing = vector3_dot(normal, sight);
	if (facing == 0 || (surface->side == SIDE_FRONT && facing < 0) ||
	    (surface->side == SIDE_BACK && facing > 0) ||
	    nearest_hides(surface->mesh, t, place, to, HIDING_DISTANCE * surface->size))
		return UNSEEN;
	return facing > 0 ? FRONT : BACK;
}

/* Puts a place in each of equal steps of area. Its position within the triangle follows a sequence
 * of low discrepancy (Roberts' R2, from the plastic number 1.3247). */
static void
framecmp_see_places(void *arg, size_t block)
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
		looking->seen[k] = (unsigned char)side_seen(looking, t, k);
	}
}

/* ---- places that have a measured point nearby ---- */

#define NEIGHBOUR 4		/* whose distance measures the spacing of points */

static float
framecmp_fourth_nearest(const struct grid *grid, size_t i)
{
	double nearest[NEIGHBOUR] = { INFINITY, INFINITY, INFINITY, INFINITY };
	uint32_t around[GRID_MOST_AROUND];
	size_t n = grid_different(grid, i, around);

	for (size_t j = 0; j < n; j++) {
		double d[3], square, nearer;

		for (int k = 0; k < 3; k++)
			d[k] = (double)grid->xyz[k][around[j]] - grid->xyz[k][i];
		square = vector3_dot(d, d);
		for (int k = 0; k < NEIGHBOUR && square > 0; k++) {
			nearer = fmin(nearest[k], square);
			square = fmax(nearest[k], square);
			nearest[k] = nearer;
		}
	}
	return (float)sqrt(nearest[NEIGHBOUR - 1]);
}

static double
distance_from(float *const xyz[3], size_t i, const float p[3])
{
	double d[3] = { (double)xyz[0][i] - p[0], (double)xyz[1][i] - p[1],
		(double)xyz[2][i] - p[2] };

	return sqrt(vector3_dot(d, d));
}

/* Has a fine cube a point near enough to p? */
static bool
reaches(const struct measured *measured, size_t cell, const float p[3])
{
	const struct grid *fine = &measured->fine;
	double first = distance_from(measured->first, cell, p);

	if (first <= measured->within)
		return true;
	if (first > measured->within + sqrt(3) * fine->size)
		return false;
	for (size_t k = fine->first[cell]; k < fine->first[cell + 1]; k++)
		if (distance_from(measured->xyz, fine->point[k], p) <= measured->within)
			return true;
	return false;
}

static bool
is_covered(const struct measured *measured, const double place[3])
{
	const struct grid *coarse = &measured->coarse;
	uint32_t cell[27];
	double moved[3];
	size_t cells;
	float p[3];

	pose_apply(&measured->to_points, place, moved);
	for (int k = 0; k < 3; k++)
		p[k] = (float)moved[k];
	cells = grid_around(coarse, p, cell);
	for (size_t c = 0; c < cells; c++)
		for (size_t k = coarse->first[cell[c]]; k < coarse->first[cell[c] + 1]; k++)
			if (reaches(measured, coarse->point[k], p))
				return true;
	return false;
}

static void
framecmp_cover_places(void *arg, size_t block)
{
	const struct measured *measured = arg;
	const struct coverage_surface *surface = measured->surface;
	size_t end = (block + 1) * BLOCK < surface->n ? (block + 1) * BLOCK : surface->n;

	for (size_t k = block * BLOCK; k < end; k++)
		measured->covered[block] += is_covered(measured, surface->place[k]);
}

const struct framecmp_rows AT_LEVEL(framecmp_rows) = {
	.add_row = framecmp_add_row,
	.measure = framecmp_measure,
	.add_areas = framecmp_add_areas,
	.see_places = framecmp_see_places,
	.fourth_nearest = framecmp_fourth_nearest,
	.cover_places = framecmp_cover_places,
};
