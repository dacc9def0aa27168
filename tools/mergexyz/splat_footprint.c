#include "splat_footprint.h"

#include <math.h>

#include "base/cpu_level.h"
#include "base/px.h"

/*
 * Which points have cells of the strip in their footprints, and which cell lies before each. Near
 * points are kept in the order 0, 16, 32, ..., 1, 17, ...: a neighbour's cells overlap those that
 * were written just before, in part, and a processor waits for such a write before it reads.
 */
static void
find_cells(const struct splat_points *points, size_t n, const struct splat_rows *rows,
    struct splat_block *block)
{
	const float above = (float)rows->y0, below = (float)rows->y1 - 1;
	const float right = (float)rows->w - 1;
	const int32_t pitch = (int32_t)rows->pitch, y0 = (int32_t)rows->y0;
	const size_t stride = (n + 7) / 8;
	uint8_t keep[SPLAT_SEGMENT], far[SPLAT_SEGMENT], any_far = 0;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = points->u[i], v = points->v[i], su = points->su[i], sv = points->sv[i];
		bool near = (su <= SPLAT_NEAR) & (sv <= SPLAT_NEAR);
		PX_F a = near ? 1.0f : su, b = near ? 1.0f : sv;
		bool in = (v + b > above) & (v - b < below) & (u + a > 0.0f) & (u - a < right) &
		    (points->weight[i] > 0.0f);
		/* what is not kept must stay within whole numbers */
		PX_F column = in ? px_floor(u) : 0.0f, row = in ? px_floor(v) : 0.0f;

		keep[i] = in & near;
		far[i] = in & !near;
		block->cell[i] = ((int32_t)row - y0 + 1) * pitch + (int32_t)column + 1;
	}
	_Pragma("omp simd reduction(|:any_far)")
	for (size_t i = 0; i < n; i++)
		any_far |= far[i];
	block->near = 0;
	for (size_t j = 0; j < stride; j++)
		for (size_t i = j; i < n; i += stride) {
			block->kept[block->near] = (uint8_t)i;
			block->near += keep[i];
		}
	block->n = block->near;
	for (size_t i = 0; i < n && any_far; i++)
		if (far[i])
			block->kept[block->n++] = (uint8_t)i;
}

/* The 2 x 2 cells around each point: its depth there by its plane, and its bilinear weight. */
static void
find_fours(const struct splat_points *points, size_t n, float (*restrict depth)[4],
    float (*restrict weight)[4], float (*restrict claim)[4])
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = points->u[i], v = points->v[i], d = points->d[i], w = points->weight[i];
		PX_F x0 = px_floor(u) - u, y0 = px_floor(v) - v, x1 = x0 + 1, y1 = y0 + 1;
		PX_F a0 = px_abs(x0), a1 = px_abs(x1), b0 = px_abs(y0), b1 = px_abs(y1);
		PX_F left = d + points->gx[i] * x0, right = d + points->gx[i] * x1;
		PX_F above = points->gy[i] * y0, below = points->gy[i] * y1;
		PX_F own_x = 0.5f * points->su[i] + SPLAT_OVERLAP;
		PX_F own_y = 0.5f * points->sv[i] + SPLAT_OVERLAP;
		bool in_x0 = a0 <= own_x, in_x1 = a1 <= own_x;
		bool in_y0 = b0 <= own_y, in_y1 = b1 <= own_y;

		depth[i][0] = left + above;
		depth[i][1] = right + above;
		depth[i][2] = left + below;
		depth[i][3] = right + below;
		weight[i][0] = (1 - a0) * (1 - b0) * w;
		weight[i][1] = (1 - a1) * (1 - b0) * w;
		weight[i][2] = (1 - a0) * (1 - b1) * w;
		weight[i][3] = (1 - a1) * (1 - b1) * w;
		claim[i][0] = in_x0 & in_y0 ? left + above : INFINITY;
		claim[i][1] = in_x1 & in_y0 ? right + above : INFINITY;
		claim[i][2] = in_x0 & in_y1 ? left + below : INFINITY;
		claim[i][3] = in_x1 & in_y1 ? right + below : INFINITY;
	}
}

/* Errors of their own add up by their squares, those that neighbours share as they are. */
static void
find_noise(const struct splat_points *points, size_t n, bool smoothed, float (*restrict noise)[4])
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = points->u[i], v = points->v[i], own = points->noise[i];
		PX_F x = px_floor(u) - u, y = px_floor(v) - v;
		PX_F a0 = smoothed ? 1.0f : 1 - px_abs(x), a1 = smoothed ? 1.0f : 1 - px_abs(x + 1);
		PX_F b0 = smoothed ? 1.0f : 1 - px_abs(y), b1 = smoothed ? 1.0f : 1 - px_abs(y + 1);

		noise[i][0] = a0 * b0 * own;
		noise[i][1] = a1 * b0 * own;
		noise[i][2] = a0 * b1 * own;
		noise[i][3] = a1 * b1 * own;
	}
}

void
splat_footprints(const struct splat_points *points, size_t n, const struct splat_source *source,
    const struct splat_rows *rows, struct splat_block *block, lanes claim[SPLAT_SEGMENT])
{
	find_cells(points, n, rows, block);
	block->noisy = source->sigma != NO_CHANNEL;
	if (block->near && block->noisy)
		find_noise(points, n, source->smoothed, (float (*)[4])block->noise);
	if (block->near)
		find_fours(points, n, (float (*)[4])block->depth, (float (*)[4])block->weight,
		    (float (*)[4])claim);
	for (size_t k = block->near; k < block->n; k++) {
		size_t i = block->kept[k];

		block->far[k - block->near] = (struct splat_far){ points->u[i], points->v[i],
			points->d[i], points->gx[i], points->gy[i], points->su[i], points->sv[i],
			points->weight[i], points->noise[i], source->smoothed };
	}
}
