/* Points that come in pairs: the edges of one line that is wide for its sigma. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "feature/line_finder.h"
#include "feature/line_pixels.h"

#define POINTS_LEAST 10
#define NEAR_SHARE 0.1f		/* of the distance: pairs as wide as this are at one distance */
#define FAR_SIGMAS 12
#define PARALLEL 0.9f		/* cosine of two normals: the lines are of one strip */

/* The image at the pixel nearest to (u, v). */
static float
value_near(const struct line_image *image, float u, float v)
{
	float to;
	ptrdiff_t x = (ptrdiff_t)lrintf(u), w = (ptrdiff_t)image->w;

	line_span_beyond(image, lrintf(v), x < 0 ? 0 : x < w ? x : w - 1, 1, &to);
	return to;
}

static const struct line_point *
point_at(const struct line_map *map, const struct line_points *points, float u, float v)
{
	long x = lrintf(u), y = lrintf(v);
	uint32_t i;

	if (x < 0 || y < 0 || (size_t)x >= map->w || (size_t)y >= map->h)
		return NULL;
	i = map->at[(size_t)y * map->w + (size_t)x];
	return i ? &points->v[i - 1] : NULL;
}

/* How far along its normal a point has a partner on another line; 0: none. */
static float
partner(const struct line_map *map, const struct line_points *points, const struct line_point *p,
    float sigma)
{
	for (float s = sigma; s < FAR_SIGMAS * sigma; s += 0.5f) {
		const struct line_point *q = point_at(map, points, p->u + s * p->nu,
		    p->v + s * p->nv);

		if (q && q->line != p->line && fabsf(p->nu * q->nu + p->nv * q->nv) > PARALLEL)
			return (q->u - p->u) * p->nu + (q->v - p->v) * p->nv;
	}
	return 0;
}

/* Is it as bright between a point and its partner as at both, or brighter? */
static bool
no_gap(const struct line_image *image, const struct line_point *p, float s)
{
	float here = value_near(image, p->u, p->v);
	float there = value_near(image, p->u + s * p->nu, p->v + s * p->nv);
	float between = value_near(image, p->u + s / 2 * p->nu, p->v + s / 2 * p->nv);
	float outside = value_near(image, p->u - s * p->nu, p->v - s * p->nv);

	return between > (here + there) / 2 - 0.3f * fabsf((here + there) / 2 - outside);
}

static void
set_map(struct line_map *map, const struct line_points *points, bool set)
{
	for (size_t i = 0; i < points->n; i++) {
		long x = lrintf(points->v[i].u), y = lrintf(points->v[i].v);

		if (x >= 0 && y >= 0 && (size_t)x < map->w && (size_t)y < map->h)
			map->at[(size_t)y * map->w + (size_t)x] = set ? (uint32_t)i + 1 : 0;
	}
}

bool
line_points_paired(struct line_finder *finder, const struct line_image *image,
    const struct line_points *points, double *distance)
{
	struct line_map *map = &finder->map;
	float *v, median = 0;
	size_t n = 0, near = 0, middle;

	if (points->n < POINTS_LEAST || points->lines < 2)
		return false;
	v = malloc(points->n * sizeof(*v));
	if (!v)
		return false;
	set_map(map, points, true);
	for (size_t i = 0; i < points->n; i++) {
		float s = partner(map, points, &points->v[i], (float)finder->filter.kernels.sigma);

		if (s > 0 && no_gap(image, &points->v[i], s))
			v[n++] = s;
	}
	set_map(map, points, false);
	middle = n / 2;
	if (n)
		numbers_ranks(v, n, &middle, 1, &median);
	for (size_t i = 0; i < n; i++)
		near += fabsf(v[i] - median) <= NEAR_SHARE * median;
	free(v);
	*distance = (double)median;
	/* each pair counts once: the normals of both point the same way */
	return 10 * near >= 3 * points->n;
}
