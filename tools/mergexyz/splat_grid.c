#include "splat_grid.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "optics/lens.h"

#define TRIM 0.005		/* of the points, on each side of the field */
#define BESIDE 0.05		/* of their extent, free on each side */
#define FOLD 1.5		/* times the widest radius: beyond it a lens may fold back */

void
splat_grid_ortho(struct splat_grid *grid, const struct pinhole *projector, size_t w, size_t h)
{
	*grid = (struct splat_grid){ .w = w, .h = h, .ortho = true, .projector = *projector,
		.bin = { 1, 1 } };
	memcpy(grid->pose.R, projector->R, sizeof(grid->pose.R));
	memcpy(grid->pose.T, projector->T, sizeof(grid->pose.T));
}

int
splat_grid_picture(struct splat_grid *grid, const struct pinhole *projector,
    const double size_px[2], size_t w, size_t h)
{
	size_t n, bytes;

	splat_grid_ortho(grid, projector, w, h);
	grid->ortho = false;
	grid->bin[0] = size_px[0] / (double)w;
	grid->bin[1] = size_px[1] / (double)h;
	if (size_multiply(w, h, &n) < 0 || size_multiply(n, sizeof(float), &bytes) < 0)
		return -1;
	for (size_t k = 0; k < 2; k++)
		if (!(grid->ray[k] = malloc(bytes)))
			return fail_memory();
	for (size_t i = 0; i < n; i++) {
		double uv[2] = { ((double)(i % w) + 0.5) * grid->bin[0] - 0.5,
			((double)(i / w) + 0.5) * grid->bin[1] - 0.5 };
		double xy[2];

		if (!pinhole_undistort(projector, uv, xy))
			xy[0] = xy[1] = NAN;
		grid->widest = fmax(grid->widest, xy[0] * xy[0] + xy[1] * xy[1]);
		for (size_t k = 0; k < 2; k++)
			grid->ray[k][i] = (float)xy[k];
	}
	return 0;
}

void
splat_grid_free(struct splat_grid *grid)
{
	for (size_t k = 0; k < 2; k++) {
		free(grid->ray[k]);
		grid->ray[k] = NULL;
	}
}

/* ---- points to places ---- */

static void
project_ortho(const struct splat_grid *grid, const struct pose *pose, const float *restrict x,
    const float *restrict y, const float *restrict z, size_t n, float *restrict u,
    float *restrict v, float *restrict d)
{
	const double a = 1 / grid->pixel_mm, *T = pose->T;
	double R[9], t0 = a * (T[0] - grid->corner_mm[0]), t1 = a * (T[1] - grid->corner_mm[1]);
	const double t2 = T[2];

	for (size_t i = 0; i < 9; i++)
		R[i] = (i < 6 ? a : 1) * pose->R[i];
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_D X = (double)x[i], Y = (double)y[i], Z = (double)z[i];

		u[i] = (float)(R[0] * X + R[1] * Y + R[2] * Z + t0);
		v[i] = (float)(R[3] * X + R[4] * Y + R[5] * Z + t1);
		d[i] = (float)(R[6] * X + R[7] * Y + R[8] * Z + t2);
	}
}

static inline __attribute__((always_inline)) void
project_picture(const struct splat_grid *grid, const struct pose *pose, const float *restrict x,
    const float *restrict y, const float *restrict z, size_t n, float *restrict u,
    float *restrict v, float *restrict d, bool distorted)
{
	const double *R = pose->R, *T = pose->T, *K = grid->projector.K;
	const double *lens = grid->projector.distortion;
	double fx = K[0] / grid->bin[0], skew = K[1] / grid->bin[0], fy = K[4] / grid->bin[1];
	double cx = (K[2] + 0.5) / grid->bin[0] - 0.5, cy = (K[5] + 0.5) / grid->bin[1] - 0.5;
	double most = FOLD * FOLD * grid->widest;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_D X = (double)x[i], Y = (double)y[i], Z = (double)z[i];
		PX_D depth = R[6] * X + R[7] * Y + R[8] * Z + T[2];
		PX_D xn = (R[0] * X + R[1] * Y + R[2] * Z + T[0]) / depth;
		PX_D yn = (R[3] * X + R[4] * Y + R[5] * Z + T[1]) / depth;
		PX_D xd = xn, yd = yn;
		bool there = (depth > 0) & (!distorted | (xn * xn + yn * yn <= most));

		if (distorted)
			lens_distort(lens, xn, yn, &xd, &yd);
		u[i] = there ? (float)(fx * xd + skew * yd + cx) : PX_NAN;
		v[i] = there ? (float)(fy * yd + cy) : PX_NAN;
		d[i] = there ? (float)depth : PX_NAN;
	}
}

void
splat_grid_project(const struct splat_grid *grid, const struct pose *pose, const float *x,
    const float *y, const float *z, size_t n, float *column, float *row, float *depth)
{
	if (grid->ortho)
		project_ortho(grid, pose, x, y, z, n, column, row, depth);
	else if (grid->projector.distorted)
		project_picture(grid, pose, x, y, z, n, column, row, depth, true);
	else
		project_picture(grid, pose, x, y, z, n, column, row, depth, false);
}

void
splat_grid_point(const struct splat_grid *grid, size_t column, size_t row, float depth, float *x,
    float *y)
{
	if (grid->ortho) {
		*x = (float)(grid->corner_mm[0] + (double)column * grid->pixel_mm);
		*y = (float)(grid->corner_mm[1] + (double)row * grid->pixel_mm);
	} else {
		*x = grid->ray[0][row * grid->w + column] * depth;
		*y = grid->ray[1][row * grid->w + column] * depth;
	}
}

void
splat_grid_points(const struct splat_grid *grid, size_t row, const float *restrict depth,
    float *restrict x, float *restrict y)
{
	const double left = grid->corner_mm[0], pixel = grid->pixel_mm;
	const float top = (float)(grid->corner_mm[1] + (double)row * pixel);
	const float *restrict rx = grid->ray[0] + row * grid->w, *restrict ry = grid->ray[1] +
	    row * grid->w;
	const int w = (int)grid->w;

	if (grid->ortho) {
		CPU_SIMD
		for (int i = 0; i < w; i++) {
			x[i] = px_isnan(depth[i]) ? PX_NAN : (float)(left + (double)i * pixel);
			y[i] = px_isnan(depth[i]) ? PX_NAN : top;
		}
		return;
	}
	CPU_SIMD
	for (int i = 0; i < w; i++) {
		x[i] = rx[i] * depth[i];
		y[i] = ry[i] * depth[i];
	}
}

float
splat_grid_slant(const struct splat_grid *grid, size_t column, size_t row)
{
	size_t cell = row * grid->w + column;
	float x, y;

	if (grid->ortho)
		return 1;
	x = grid->ray[0][cell];
	y = grid->ray[1][cell];
	return sqrtf(1 + x * x + y * y);
}

double
splat_grid_pixel(const struct splat_grid *grid, double depth)
{
	const double *K = grid->projector.K;

	return grid->ortho ? grid->pixel_mm :
	    depth * fmax(grid->bin[0] / K[0], grid->bin[1] / K[4]);
}

/* ---- where an orthographic grid lies ---- */

static int
compare(const void *a, const void *b)
{
	const float *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

int
splat_grid_field(struct splat_grid *grid, float *u, float *v, size_t n, double pixel_mm,
    const double center_mm[2])
{
	float *const place[2] = { u, v };
	const double cells[2] = { (double)grid->w, (double)grid->h };
	double pixel = 0, middle[2], low, high;
	size_t trim = (size_t)(TRIM * (double)n);

	for (size_t k = 0; k < 2; k++) {
		qsort(place[k], n, sizeof(float), compare);
		low = n ? (double)place[k][trim] : NAN;
		high = n ? (double)place[k][n - 1 - trim] : NAN;
		middle[k] = isnan(center_mm[k]) ? (low + high) / 2 : center_mm[k];
		/* the farther side counts where the middle is given */
		pixel = fmax(pixel, (2 + 4 * BESIDE) * fmax(high - middle[k], middle[k] - low) /
		    cells[k]);
	}
	grid->pixel_mm = isnan(pixel_mm) ? pixel : pixel_mm;
	if (!(grid->pixel_mm > FLT_MIN) || !isfinite(grid->pixel_mm) ||
	    !(fabs(middle[0]) + fabs(middle[1]) < FLT_MAX))
		return fail(NULL, "the points lie in one place, or there are none: "
		    "say --pixel and --center");
	for (size_t k = 0; k < 2; k++)
		grid->corner_mm[k] = middle[k] - (cells[k] - 1) / 2 * grid->pixel_mm;
	return 0;
}
