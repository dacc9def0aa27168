/* Cuts an image's squares into patches, at the instruction level of the file that includes it. */
#pragma once

#include "unwrap/regions.h"

#define PATCH_LEVELS 4		  /* squares of 2, 4, 8 and 16 pixels */
#define PATCH_ROW (PATCH_SIDE + 4)	  /* samples of a row and its neighbours, in vectors */
#define PATCH_ALL ((1u << PATCH_SIDE) - 1)

/* ---- pairs of neighbours ---- */

/* What is found of a square of PATCH_SIDE pixels. Beyond the image its last column and row go on,
 * whose pixels agree with them. Of masks bit x is of column x, or of the pair or loop that it
 * begins; what would need a neighbour outside the square is 1. */
struct patch_square {
	size_t x0, y0, w, h;			 /* as far as the image goes */
	float phase[PATCH_SIDE + 1][PATCH_ROW];
	/* turns to the next column, row */
	int32_t along[PATCH_SIDE][PATCH_ROW], down[PATCH_SIDE][PATCH_ROW];
	uint32_t valid[PATCH_SIDE];
	uint32_t small_along[PATCH_SIDE], small_down[PATCH_SIDE]; /* steps */
	uint32_t loops[PATCH_SIDE];				  /* of four pixels that close */
	/* squares of 2, 4, ... pixels that are patches, in row y / side, bit x */
	uint32_t closed[PATCH_LEVELS][PATCH_SIDE / 2];
	int32_t patch[PATCH_SIDE][PATCH_SIDE], turns[PATCH_SIDE][PATCH_SIDE];
};

static void
load_square(struct patch_square *square, const struct phase_plane *phase)
{
	size_t w = square->w;
	const float *from;

	for (size_t y = 0; y <= PATCH_SIDE; y++) {
		float *to = square->phase[y];

		if (y >= square->h) {
			memcpy(to, square->phase[y - 1], sizeof(square->phase[0]));
			continue;
		}
		from = phase_row(phase, square->y0 + y) + square->x0;
		if (w == PATCH_SIDE)
			memcpy(to, from, PATCH_SIDE * sizeof(*to));
		else
			for (size_t x = 0; x < PATCH_SIDE; x++)
				to[x] = from[x < w ? x : w - 1];
		for (size_t x = PATCH_SIDE; x < PATCH_ROW; x++)
			to[x] = from[w - 1];
	}
}

static const int32_t bit[PATCH_ROW] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
	8192, 16384, 32768 };

/* The turns from n pixels to their neighbours, and a mask of the steps that are small ones. */
static inline uint32_t
find_turns(const float *restrict from, const float *restrict to, float unit,
    int32_t *restrict turns, size_t n)
{
	int32_t mask = 0;

	_Pragma("omp simd reduction(|:mask)")
	for (size_t x = 0; x < n; x++) {
		float step = (to[x] - from[x]) * unit, whole = phase_round(step);
		/* NaN compares as false */
		int32_t small = -((fabsf(step - whole) < PATCH_STEP_MOST) &
		    (fabsf(step) < 2 * PHASE_MOST));

		mask |= small & bit[x];
		turns[x] = small & (int32_t)-whole;
	}
	return (uint32_t)mask;
}

static inline uint32_t
find_valid(const float *restrict phase, float unit)
{
	int32_t mask = 0;

	_Pragma("omp simd reduction(|:mask)")
	for (size_t x = 0; x < PATCH_SIDE; x++)
		mask |= -phase_is_valid(phase[x], unit) & bit[x];
	return (uint32_t)mask;
}

/* The loops between two rows whose turns sum to 0. */
static inline uint32_t
find_loops(const int32_t *restrict along, const int32_t *restrict below,
    const int32_t *restrict down)
{
	int32_t mask = 0;

	_Pragma("omp simd reduction(|:mask)")
	for (size_t x = 0; x < PATCH_SIDE; x++)
		mask |= -(along[x] + down[x + 1] == down[x] + below[x]) & bit[x];
	return (uint32_t)mask;
}

static void
find_pairs(struct patch_square *square, float unit)
{
	for (size_t y = 0; y < PATCH_SIDE; y++) {
		const float *row = square->phase[y];

		square->valid[y] = find_valid(row, unit);
		square->small_along[y] =
		    find_turns(row, row + 1, unit, square->along[y], PATCH_SIDE);
		square->small_down[y] =
		    find_turns(row, square->phase[y + 1], unit, square->down[y], PATCH_ROW);
	}
	for (size_t y = 0; y + 1 < PATCH_SIDE; y++)
		square->loops[y] =
		    find_loops(square->along[y], square->along[y + 1], square->down[y]);
	square->loops[PATCH_SIDE - 1] = PATCH_ALL;
}

/* ---- squares that close ---- */

/* Bits whose n neighbours from them on are set: n is a power of two. */
static inline uint32_t
runs(uint32_t mask, size_t n)
{
	for (size_t k = 1; k < n; k *= 2)
		mask &= mask >> k;
	return mask;
}

/* Squares of `side` pixels whose row begins at y, from the four of half the side: the pairs and
 * loops between those must be good, too. */
static inline __attribute__((always_inline)) uint32_t
close_row(const struct patch_square *square, const uint32_t *quarters, size_t y, size_t side)
{
	/* the last bit of a square of so many pixels is of the loop beyond it */
	static const uint32_t last[PATCH_LEVELS] = { 0xAAAA, 0x8888, 0x8080, 0x8000 };
	size_t half = side / 2, level = side == 2 ? 0 : side == 4 ? 1 : side == 8 ? 2 : 3;
	uint32_t closed = quarters[0] & quarters[1], seam = PATCH_ALL;

	for (size_t i = 0; i < side; i++)
		seam &= square->small_along[y + i];
	for (size_t i = 0; i + 1 < side; i++)
		seam &= square->loops[y + i];
	closed &= closed >> half;
	return closed & seam >> (half - 1) & runs(square->small_down[y + half - 1], side) &
	    runs(square->loops[y + half - 1] | last[level], side);
}

static void
close_squares(struct patch_square *square)
{
	for (size_t y = 0; y < PATCH_SIDE; y += 2)
		square->closed[0][y / 2] = close_row(square, square->valid + y, y, 2);
	for (size_t y = 0; y < PATCH_SIDE; y += 4)
		square->closed[1][y / 4] = close_row(square, square->closed[0] + y / 2, y, 4);
	for (size_t y = 0; y < PATCH_SIDE; y += 8)
		square->closed[2][y / 8] = close_row(square, square->closed[1] + y / 4, y, 8);
	square->closed[3][0] = close_row(square, square->closed[2], 0, 16);
}

/* ---- patches ---- */

/* Makes a square of `side` pixels at column x and row y patch number `patch`. */
static inline __attribute__((always_inline)) void
give_number(struct patch_square *square, size_t x, size_t y, size_t side, int32_t patch)
{
	for (size_t j = y; j < y + side; j++) {
		int32_t *turns = square->turns[j];

		turns[x] = j == y ? 0 : square->turns[j - 1][x] + square->down[j - 1][x];
		for (size_t i = x; i + 1 < x + side; i++)
			turns[i + 1] = turns[i] + square->along[j][i];
		for (size_t i = x; i < x + side; i++)
			square->patch[j][i] = patch;
	}
}

/* Each pixel of a square of 2 is a patch, if it is valid. Returns the next number. */
static inline int32_t
number_pixels(struct patch_square *square, size_t x, size_t y, int32_t next)
{
	for (size_t i = 0; i < 4; i++) {
		size_t column = x + i % 2, row = y + i / 2;
		int32_t valid = column < square->w && row < square->h &&
		    (square->valid[row] >> column & 1);

		square->patch[row][column] = valid ? next : NO_PATCH;
		square->turns[row][column] = 0;
		next += valid;
	}
	return next;
}

/* The patches of the square of 2^level pixels. `next` is the next patch's number; returned: the one
 * behind the last that was given. */
static int32_t
cut_square(struct patch_square *square, size_t level, size_t x, size_t y, int32_t next)
{
	size_t side = (size_t)1 << level, half = side / 2;

	if (x >= square->w || y >= square->h)
		return next;
	if (square->closed[level - 1][y >> level] >> x & 1) {
		give_number(square, x, y, side, next);
		return next + 1;
	}
	if (level == 1)
		return number_pixels(square, x, y, next);
	for (size_t i = 0; i < 4; i++)
		next = cut_square(square, level - 1, x + i % 2 * half, y + i / 2 * half, next);
	return next;
}

/* ---- shares ---- */

/* Adds the square of a second difference, in turns, of pixels that follow each other, and counts
 * it; NaN is none. */
static inline void
add_second_difference(float before, float at, float after, float *sum, float *n)
{
	float in = at - before, out = after - at;
	float bend = (out - phase_round(out)) - (in - phase_round(in)), square = bend * bend;
	bool given = square >= 0;

	*sum += given ? square : 0;
	*n += given ? 1.0f : 0.0f;
}

/* Loads a row of the image and the pixels around it into rim, in turns; what is invalid or beyond
 * the image is NaN. */
static void
load_rim(const struct patch_square *square, const struct phase_plane *phase, size_t row, float *rim)
{
	size_t y = square->y0 + row - 1; /* wraps above the image */
	const struct frame_head *head = &phase->frame->head;
	size_t x0 = square->x0, first = x0 > 0 ? 0 : 1;
	size_t end = square->w + (x0 + square->w < head->w ? 2 : 1);
	float unit = phase->turns;

	for (size_t x = 0; x < PATCH_ROW; x++)
		rim[x] = NAN;
	if (y >= head->h)
		return;
	if (first == 0 && end == PATCH_SIDE + 2) /* of a size that the compiler knows */
		memcpy(rim, phase_row(phase, y) + x0 - 1, (PATCH_SIDE + 2) * sizeof(*rim));
	else
		memcpy(rim + first, phase_row(phase, y) + x0 + first - 1,
		    (end - first) * sizeof(*rim));
	CPU_SIMD
	for (size_t x = 0; x < PATCH_ROW; x++) {
		float v = rim[x] * unit;

		rim[x] = fabsf(v) < PHASE_MOST ? v : NAN;
	}
}

/* The shares of a square's pixels (regions.h, struct votes). */
static void
share_square(const struct patch_square *square, const struct patches_job *job)
{
	const struct phase_plane *quality = job->quality;
	float rim[PATCH_SIDE + 2][PATCH_ROW], q[PATCH_SIDE];
	float share[PATCH_SIDE];

	for (size_t row = 0; row < square->h + 2; row++)
		load_rim(square, job->phase, row, rim[row]);
	for (size_t x = 0; x < PATCH_SIDE; x++)
		q[x] = 1;
	for (size_t y = 0; y < square->h; y++) {
		const float *above = rim[y], *row = rim[y + 1], *below = rim[y + 2];

		for (size_t x = 0; quality && x < square->w; x++) {
			float v = phase_row(quality, square->y0 + y)[square->x0 + x] *
			    quality->turns;

			q[x] = v > 0 ? v : 0;
		}
		CPU_SIMD
		for (size_t x = 0; x < PATCH_SIDE; x++) {
			float at = row[x + 1], sum = 0, n = 0;

			add_second_difference(row[x], at, row[x + 2], &sum, &n);
			add_second_difference(above[x + 1], at, below[x + 1], &sum, &n);
			add_second_difference(above[x], at, below[x + 2], &sum, &n);
			add_second_difference(above[x + 2], at, below[x], &sum, &n);
			/* four of them, or as if there were */
			sum *= 4 / (SHARE_ROUGH * SHARE_ROUGH) / (n > 1 ? n : 1);
			sum = q[x] / (1 + sum);
			sum *= sum;
			share[x] = SHARE_LEAST + sum * sum;
		}
		memcpy(job->patches->share + (square->y0 + y) * job->patches->w + square->x0, share,
		    square->w * sizeof(*share));
	}
}

/* The patches_cut of a tool. */
static void
patches_cut_row(void *arg, size_t j)
{
	const struct patches_job *job = arg;
	struct patches *patches = job->patches;
	struct patch_square square = { .y0 = j * PATCH_SIDE };

	square.h = patches_side(patches->h, square.y0);
	for (size_t i = 0; i < patches->across; i++) {
		square.x0 = i * PATCH_SIDE;
		square.w = patches_side(patches->w, square.x0);
		if (job->shares) {
			share_square(&square, job);
			continue;
		}
		load_square(&square, job->phase);
		find_pairs(&square, job->phase->turns);
		close_squares(&square);
		patches->first[j * patches->across + i] =
		    cut_square(&square, PATCH_LEVELS, 0, 0, 0);
		for (size_t y = 0; y < square.h; y++) {
			size_t at = (square.y0 + y) * patches->w + square.x0;

			memcpy(patches->patch + at, square.patch[y], square.w * sizeof(int32_t));
			memcpy(patches->turns + at, square.turns[y], square.w * sizeof(int32_t));
		}
	}
}
