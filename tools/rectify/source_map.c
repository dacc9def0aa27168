#include "source_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optics/lens.h"

#define FIXED 65536.0
#define RADIUS_MOST 20.0	/* tan of 87 degrees */
#define GRID 24

/* What a row needs: the ray of column 0 and what a column adds, and from the lens to fixed-point
 * places. */
struct row_view {
	double ray[3], step[3];
	double d[14];
	double most_r2;			/* the lens model holds so far */
	double u0, u_x, u_y, v0, v_y;	/* place = u0 + u_x x + u_y y, v0 + v_y y */
	/* the last sample; the first and last ones between which a place may lie */
	double last_u, last_v, least, most_u, most_v;
};

/* The radius up to which the lens model does not fold back upon itself, squared. */
static double
lens_reach(const double d[14])
{
	double r = 0;

	while (r < RADIUS_MOST && lens_growth(d, r) > 0)
		r += 1e-3;
	return r * r;
}

static void
set_row(const struct source_geometry *geometry, double most_r2, size_t y, struct row_view *row)
{
	const struct stereo *stereo = geometry->stereo;
	const struct pinhole *camera = &stereo->camera[geometry->side];
	const double *K = camera->K, bin = geometry->bin;
	double v = ((double)y + 0.5) * bin - 0.5, next[3];
	double before = geometry->cubic ? 1 : 0, behind = geometry->cubic ? 2 : 1;

	stereo_ray(stereo, geometry->side, (bin - 1) / 2, v, row->ray);
	stereo_ray(stereo, geometry->side, (bin - 1) / 2 + bin, v, next);
	for (size_t i = 0; i < 3; i++)
		row->step[i] = next[i] - row->ray[i];
	memcpy(row->d, camera->distortion, sizeof(row->d));
	row->most_r2 = most_r2;
	row->u0 = ((K[2] - geometry->origin_px[0] + 0.5) / bin - 0.5) * FIXED + 0.5;
	row->u_x = K[0] / bin * FIXED;
	row->u_y = K[1] / bin * FIXED;
	row->v0 = ((K[5] - geometry->origin_px[1] + 0.5) / bin - 0.5) * FIXED + 0.5;
	row->v_y = K[4] / bin * FIXED;
	row->last_u = ((double)geometry->in_w - 1) * FIXED;
	row->last_v = ((double)geometry->in_h - 1) * FIXED;
	row->least = before * FIXED;
	row->most_u = ((double)geometry->in_w - behind) * FIXED;
	row->most_v = ((double)geometry->in_h - behind) * FIXED;
}

/* Do all samples of a weight lie inside? At a sample there is but that one. */
static inline __attribute__((always_inline)) bool
is_inside(double place, double last, double least, double most)
{
	bool between = px_both(place >= least, place <= most);
	bool whole = place == floor(place / FIXED) * FIXED;

	return px_both(px_both(place >= 0, place <= last), between | whole);
}

static void
map_row(const struct row_view *restrict view, uint *restrict column, uint *restrict row, int w)
{
	CPU_SIMD
	for (int x = 0; x < w; x++) {
		double z = view->ray[2] + view->step[2] * x, over = 1 / z, u, v, p, q;
		double a = (view->ray[0] + view->step[0] * x) * over;
		double b = (view->ray[1] + view->step[1] * x) * over;
		bool seen = px_both(z > 0, a * a + b * b < view->most_r2);

		lens_distort(view->d, a, b, &p, &q);
		u = floor(view->u0 + view->u_x * p + view->u_y * q);
		v = floor(view->v0 + view->v_y * q);
		seen = px_both(seen, is_inside(u, view->last_u, view->least, view->most_u));
		seen = px_both(seen, is_inside(v, view->last_v, view->least, view->most_v));
		column[x] = px_select(seen, (uint)(int32_t)(seen ? u : 0), RECTIFY_NOWHERE);
		row[x] = (uint)(int32_t)(seen ? v : 0);
	}
}

struct map_job {
	struct source_map *map;
	double most_r2;
};

static void
map_item(void *arg, size_t y)
{
	const struct map_job *job = arg;
	struct source_map *map = job->map;
	struct row_view view;

	set_row(&map->geometry, job->most_r2, y, &view);
	map_row(&view, map->column + y * map->stride, map->row + y * map->stride,
	    (int)map->geometry.w);
}

static bool
same_geometry(const struct source_geometry *a, const struct source_geometry *b)
{
	return a->stereo == b->stereo && a->side == b->side && a->w == b->w && a->h == b->h &&
	    a->in_w == b->in_w && a->in_h == b->in_h && a->bin == b->bin &&
	    a->cubic == b->cubic && !memcmp(a->origin_px, b->origin_px, sizeof(a->origin_px));
}

int
source_map_plan(struct run *run, struct source_map *map, const struct source_geometry *geometry)
{
	struct map_job job = { map, 0 };
	size_t stride = (geometry->w + 15) / 16 * 16, n;

	if (map->column && same_geometry(&map->geometry, geometry))
		return 0;
	source_map_free(map);
	if (size_multiply(stride, geometry->h, &n) < 0 ||
	    size_multiply(n, 2 * sizeof(uint), &n) < 0)
		return -1;
	map->column = aligned_alloc(64, n);
	if (!map->column)
		return fail_memory();
	map->row = map->column + stride * geometry->h;
	map->stride = stride;
	map->geometry = *geometry;
	job.most_r2 = lens_reach(geometry->stereo->camera[geometry->side].distortion);
	run_for(run, geometry->h, map_item, &job);
	return 0;
}

void
source_map_free(struct source_map *map)
{
	free(map->column);
	*map = (struct source_map){ 0 };
}

double
source_map_lost(const struct source_geometry *geometry, size_t size[2])
{
	const struct pinhole *camera = &geometry->stereo->camera[geometry->side];
	double most[2] = { 0, 0 }, w = (double)geometry->w, h = (double)geometry->h;
	size_t outside = 0;

	for (size_t i = 0; i < (GRID + 1) * (GRID + 1); i++) {
		const double at[2] = { (double)(i % (GRID + 1)) / GRID * (double)geometry->in_w,
			(double)(i / (GRID + 1)) / GRID * (double)geometry->in_h };
		double uv[2] = { geometry->origin_px[0] + at[0] * geometry->bin - 0.5,
			geometry->origin_px[1] + at[1] * geometry->bin - 0.5 };
		double xy[2], place[2];

		if (!pinhole_undistort(camera, uv, xy) || !stereo_project(geometry->stereo,
		    geometry->side, (double[3]){ xy[0], xy[1], 1 }, place)) {
			outside++;
			continue;
		}
		for (size_t k = 0; k < 2; k++) {
			place[k] = (place[k] + 0.5) / geometry->bin - 0.5;
			most[k] = fmax(most[k], place[k]);
		}
		outside += !(place[0] >= -1 && place[1] >= -1 && place[0] <= w && place[1] <= h);
	}
	for (size_t k = 0; k < 2; k++)
		size[k] = (size_t)ceil(fmin(most[k] + 0.5, 65535));
	return (double)outside / ((GRID + 1) * (GRID + 1));
}
