/*
 * The passes of derivatives over rows, for files that are compiled once per instruction level
 * (base/cpu_level.h); corner.c has them for all machines. Sums keep their order in every lane,
 * so that all levels give the same bits.
 */
#pragma once

#include "base/cpu_level.h"
#include "feature/corner.h"

#define DERIVATIVE_LANES (CPU_VECTOR_BYTES / 4)
/* Floats that one step makes. */
#define DERIVATIVE_BLOCK 16
/* Work rows have the radius, rounded up to this, on both sides. */
#define DERIVATIVE_PAD 16

typedef float derivative_lanes
    __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias));

static inline derivative_lanes
derivative_load(const float *from)
{
	return *(const derivative_lanes *)from;
}

static inline void
derivative_store(float *to, derivative_lanes v)
{
	*(derivative_lanes *)to = v;
}

/* Smoothed, first and second derivative down the columns x0 <= x < x0 + DERIVATIVE_LANES of
 * row[0..2 radius], whose middle row is that of the result. */
static inline void
derivative_columns(const struct derivative_kernels *k, const float *const *row, size_t x0,
    float *const to[3], size_t to_x)
{
	size_t r = k->radius;
	derivative_lanes v = derivative_load(row[r] + x0);
	derivative_lanes smooth = v * k->weight[0][0], second = v * k->weight[2][0];
	derivative_lanes first = v - v;

	for (size_t i = 1; i <= r; i++) {
		derivative_lanes above = derivative_load(row[r - i] + x0);
		derivative_lanes below = derivative_load(row[r + i] + x0);
		derivative_lanes sum = above + below;

		smooth += sum * k->weight[0][i];
		first += (below - above) * k->weight[1][i];
		second += sum * k->weight[2][i];
	}
	derivative_store(to[0] + to_x, smooth);
	derivative_store(to[1] + to_x, first);
	derivative_store(to[2] + to_x, second);
}

/*
 * The first derivatives, the second ones or all five from what derivative_columns() computed:
 * from[0..2] at the column of the first lane, with radius columns on both sides. The others stay as
 * they are. `first` and `second` are constants where this is called; each sum has the same bits
 * whatever else is computed.
 */
static inline __attribute__((always_inline)) void
derivative_along(const struct derivative_kernels *k, const float *const from[3], bool first,
    bool second, derivative_lanes to[DERIVATIVES])
{
	derivative_lanes v = derivative_load(from[0]), zero = v - v;
	derivative_lanes x = zero, xy = zero, xx = v * k->weight[2][0];
	derivative_lanes y = derivative_load(from[1]) * k->weight[0][0];
	derivative_lanes yy = derivative_load(from[2]) * k->weight[0][0];

	for (size_t i = 1; i <= k->radius; i++) {
		derivative_lanes left = derivative_load(from[0] - i);
		derivative_lanes right = derivative_load(from[0] + i);

		if (first)
			x += (right - left) * k->weight[1][i];
		if (second)
			xx += (left + right) * k->weight[2][i];
		left = derivative_load(from[1] - i);
		right = derivative_load(from[1] + i);
		if (first)
			y += (left + right) * k->weight[0][i];
		if (!second)
			continue;
		xy += (right - left) * k->weight[1][i];
		left = derivative_load(from[2] - i);
		right = derivative_load(from[2] + i);
		yy += (left + right) * k->weight[0][i];
	}
	if (first) {
		to[DERIVATIVE_X] = x;
		to[DERIVATIVE_Y] = y;
	}
	if (second) {
		to[DERIVATIVE_XX] = xx;
		to[DERIVATIVE_XY] = xy;
		to[DERIVATIVE_YY] = yy;
	}
}

/* Floats of one work row for images of width w. */
static inline size_t
derivative_work_row(const struct derivative_kernels *k, size_t w)
{
	size_t pad = (k->radius + DERIVATIVE_PAD - 1) / DERIVATIVE_PAD * DERIVATIVE_PAD;

	return (w + DERIVATIVE_BLOCK - 1) / DERIVATIVE_BLOCK * DERIVATIVE_BLOCK + 2 * pad;
}

/* derivatives_row() at this file's level. */
static inline void
derivative_row(const struct derivative_kernels *k, const struct derivative_plane *in, size_t y,
    float *work, float *const out[DERIVATIVES])
{
	const float *row[2 * DERIVATIVES_RADIUS_MOST + 1];
	size_t pad = (k->radius + DERIVATIVE_PAD - 1) / DERIVATIVE_PAD * DERIVATIVE_PAD;
	size_t length = derivative_work_row(k, in->w);
	float *column[3];
	bool first = out[DERIVATIVE_X] || out[DERIVATIVE_Y];

	for (size_t i = 0; i <= 2 * k->radius; i++) {
		size_t at = y + i < k->radius ? 0 : y + i - k->radius;

		row[i] = in->v + (at < in->h ? at : in->h - 1) * in->stride;
	}
	for (size_t i = 0; i < 3; i++)
		column[i] = work + i * length + pad;
	for (size_t x = 0; x < in->w; x += DERIVATIVE_LANES)
		derivative_columns(k, row, x, column, x);
	for (size_t i = 0; i < 3; i++) {
		for (size_t x = 0; x < k->radius; x++) {
			column[i][-(ptrdiff_t)x - 1] = column[i][0];
			column[i][in->w + x] = column[i][in->w - 1];
		}
	}
	for (size_t x = 0; x < in->w; x += DERIVATIVE_LANES) {
		const float *const from[3] = { column[0] + x, column[1] + x, column[2] + x };
		derivative_lanes five[DERIVATIVES] = { 0 };

		if (first)
			derivative_along(k, from, true, true, five);
		else
			derivative_along(k, from, false, true, five);
		for (size_t i = 0; i < DERIVATIVES; i++) {
			if (out[i])
				derivative_store(out[i] + x, five[i]);
		}
	}
}
