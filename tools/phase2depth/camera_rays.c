#include "camera_rays.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu_level.h"
#include "optics/lens.h"
#include "phase2depth.px.h"

#define TILE 128		/* pixels that are worked on together */
#define STEPS 12
#define GRID 9		/* points of the frame, a side, that the unit is chosen by */
#define MORE 1.2		/* and by how much the shifts between them may be larger */
#define LEAST_SHIFT 1e-6	/* keeps units from being of no size */
/* Of a shift: a ray that a lens moves by some 2^9 focal lengths and more counts as none. A unit
 * that held it would be too coarse for all others: 2^-21 of a focal length at this exponent. */
#define MOST_EXPONENT 10

struct job {
	const struct triangulation *t;
	const struct pinhole *camera;
	double per_unit;		/* of the table's unit in 1 */
	_Atomic bool beyond;		/* a shift that the table's unit does not hold */
};

/* Pixels of a row: where the lens shows them, and where they were without it. The squares of what
 * is left: 0 of those that have settled, NaN of those that Newton's method does not bring
 * nearer. */
struct tile {
	double aim_x[TILE], aim_y, x[TILE], y[TILE], left[TILE];
	size_t n;
};

/* A pixel after a step. */
struct stepped {
	double x, y, left;
};

/* A step of Newton's method, unless the pixel has settled. It squares what is left, but for a
 * factor that is the lens's curvature: from 1e-8 it needs no look at the result. */
static inline struct stepped
step_pixel(const double lens[14], double aim_x, double aim_y, double x, double y, double left)
{
	double at[2], j[4], ex, ey, squares, det;
	bool nearer, settles;

	lens_derivatives(lens, x, y, at, j);
	ex = at[0] - aim_x;
	ey = at[1] - aim_y;
	squares = ex * ex + ey * ey;
	det = j[0] * j[3] - j[1] * j[2];
	nearer = (det > 0) & (squares < left);
	settles = squares <= 1e-16 * (aim_x * aim_x + aim_y * aim_y);
	if (!(left > 0))
		return (struct stepped){ x, y, left };
	if (!nearer)
		return (struct stepped){ x, y, NAN };
	return (struct stepped){ x - (j[3] * ex - j[1] * ey) / det,
		y - (j[0] * ey - j[2] * ex) / det, settles ? 0 : squares };
}

/* Of all pixels; true if any has to go on. */
static bool
step(const double terms[14], struct tile *tile)
{
	const double *restrict aim_x = tile->aim_x, aim_y = tile->aim_y;
	double *restrict x = tile->x, *restrict y = tile->y, *restrict left = tile->left;
	double lens[14];
	uint64_t more = 0;
	int n = (int)tile->n;

	memcpy(lens, terms, sizeof(lens));
#pragma omp simd reduction(| : more)
	for (int i = 0; i < n; i++) {
		struct stepped to = step_pixel(lens, aim_x[i], aim_y, x[i], y[i], left[i]);

		x[i] = to.x;
		y[i] = to.y;
		left[i] = to.left;
		more |= to.left > 0;
	}
	return more;
}

/* The shift in the table's unit. */
static int32_t
to_unit(struct job *job, double shift)
{
	long v = lrint(shift * job->per_unit);

	if (v >= -INT32_MAX && v <= INT32_MAX)
		return (int32_t)v;
	atomic_store_explicit(&job->beyond, true, memory_order_relaxed);
	return PHASE2DEPTH_NO_RAY;
}

/* Those that have not settled, or beyond the lens's fold, are left to pinhole_undistort(). */
static void
store(struct job *job, const struct tile *tile, size_t x, size_t y)
{
	const struct triangulation *t = job->t;
	int32_t *dx = t->lens + y * t->lens_stride + x, *dy = dx + t->h * t->lens_stride;

	for (size_t i = 0; i < tile->n; i++) {
		double uv[2] = { t->origin_px[0] + ((double)(x + i) + 0.5) * t->bin[0] - 0.5,
			t->origin_px[1] + ((double)y + 0.5) * t->bin[1] - 0.5 };
		double xy[2] = { tile->x[i], tile->y[i] };
		bool known = (tile->left[i] == 0 && pinhole_within_fold(job->camera, xy)) ||
		    pinhole_undistort(job->camera, uv, xy);

		dx[i] = known ? to_unit(job, xy[0] - tile->aim_x[i]) : PHASE2DEPTH_NO_RAY;
		dy[i] = known ? to_unit(job, xy[1] - tile->aim_y) : PHASE2DEPTH_NO_RAY;
	}
}

static void
fill_row(void *arg, size_t y)
{
	struct job *job = arg;
	const struct triangulation *t = job->t;
	double x0 = t->x0 + t->x_per_row * (double)y;
	struct tile tile = { .aim_y = t->y0 + t->y_per_row * (double)y };

	for (size_t x = 0; x < t->w; x += TILE) {
		bool more = true;

		tile.n = t->w - x < TILE ? t->w - x : TILE;
		for (size_t i = 0; i < tile.n; i++) {
			tile.x[i] = tile.aim_x[i] = x0 + t->x_per_column * (double)(x + i);
			tile.y[i] = tile.aim_y;
			tile.left[i] = INFINITY;
		}
		for (int i = 0; i < STEPS && more; i++)
			more = step(job->camera->distortion, &tile);
		store(job, &tile, x, y);
	}
}

/* The largest shift of a grid over the frame, its corners included. */
static double
largest_shift(const struct triangulation *t, const struct pinhole *camera)
{
	double most = 0;

	for (size_t i = 0; i < GRID * GRID; i++) {
		double column = (double)(t->w - 1) * (double)(i % GRID) / (GRID - 1), xy[2];
		double row = (double)(t->h - 1) * (double)(i / GRID) / (GRID - 1);
		double y = t->y0 + t->y_per_row * row;
		double x = t->x0 + t->x_per_row * row + t->x_per_column * column;
		double uv[2] = { t->origin_px[0] + (column + 0.5) * t->bin[0] - 0.5,
			t->origin_px[1] + (row + 0.5) * t->bin[1] - 0.5 };

		if (pinhole_undistort(camera, uv, xy))
			most = fmax(most, fmax(fabs(xy[0] - x), fabs(xy[1] - y)));
	}
	return most;
}

/* The unit is the least that holds a little more than the grid's largest shift. Shifts between the
 * grid's points, next to a fold, may be larger: then the table is filled again. */
void
camera_rays_fill(struct run *run, struct triangulation *t, const struct pinhole *camera)
{
	struct job job = { t, camera, 0, false };
	int exponent;

	frexp(fmax(MORE * largest_shift(t, camera), LEAST_SHIFT), &exponent);
	if (exponent > MOST_EXPONENT)
		exponent = MOST_EXPONENT;
	do {
		t->lens_unit = ldexp(1, exponent - 31);
		job.per_unit = 1 / t->lens_unit;
		job.beyond = false;
		run_for(run, t->h, fill_row, &job);
		exponent += 2;
	} while (job.beyond && exponent <= MOST_EXPONENT);
}
