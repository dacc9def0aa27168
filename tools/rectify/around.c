#include "around.h"

#include "base/cpu_level.h"

#if CPU_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

static void
find_samples(const uint *restrict column, const uint *restrict row, int stride, int *restrict at,
    int *restrict right, int *restrict down, int n)
{
	CPU_SIMD
	for (int i = 0; i < n; i++) {
		uint x = px_select(column[i] != RECTIFY_NOWHERE, column[i], 0u);

		at[i] = (int)rectify_whole(row[i]) * stride + (int)rectify_whole(x);
		right[i] = (int)rectify_step(x);
		down[i] = px_select(rectify_step(row[i]) != 0u, stride, 0);
	}
}

static void
find_rests(const uint *restrict column, const uint *restrict row, float *restrict fx,
    float *restrict fy, int n)
{
	CPU_SIMD
	for (int i = 0; i < n; i++) {
		fx[i] = px_select(column[i] != RECTIFY_NOWHERE, rectify_rest(column[i]), PX_NAN);
		fy[i] = rectify_rest(row[i]);
	}
}

void
around_find(struct around *around, struct around_planes planes, const uint *column,
    const uint *row, int n)
{
	around->column = column;
	around->row = row;
	around->planes = planes;
	find_samples(column, row, planes.stride, around->at, around->right, around->down, n);
	find_rests(column, row, around->fx, around->fy, n);
}

/* ---- 2x2 samples ---- */

static void
take_each(const struct around *around, const float *restrict from, struct around_fours *restrict to,
    int first, int end)
{
	for (int i = first; i < end; i++) {
		const float *above = from + around->at[i], *below = above + around->down[i];
		int right = around->right[i];

		to->a[i] = above[0];
		to->b[i] = above[right];
		to->c[i] = below[0];
		to->d[i] = below[right];
	}
}

#if CPU_VECTOR_BYTES == 64
#define LANES 16

/* The places from `first` on, if their samples lie in three rows of 32: samples are then chosen
 * from vectors, where loading each takes several times as long. */
static inline bool
take_lanes(const struct around *around, const float *restrict from,
    struct around_fours *restrict to, int first)
{
	const struct around_planes planes = around->planes;
	const uint *column = around->column + first, *row = around->row + first;
	uint left = rectify_whole(column[0]), top = rectify_whole(row[0]);
	uint end = rectify_whole(row[LANES - 1]);
	__m512i x = _mm512_loadu_si512(column), y = _mm512_loadu_si512(row), next;
	const __m512i rest = _mm512_set1_epi32(0xffff), one = _mm512_set1_epi32(1);
	__mmask16 right = _mm512_test_epi32_mask(x, rest);
	__mmask16 down = _mm512_test_epi32_mask(y, rest), second;
	const float *at;
	__m512 a[3], b[3];

	top = end < top ? end : top;
	if (left + 2 * LANES > (uint)planes.w || top + 3 > (uint)planes.h)
		return false;
	x = _mm512_sub_epi32(_mm512_srli_epi32(x, 16), _mm512_set1_epi32((int)left));
	y = _mm512_sub_epi32(_mm512_srli_epi32(y, 16), _mm512_set1_epi32((int)top));
	if (_mm512_cmpgt_epu32_mask(x, _mm512_set1_epi32(2 * LANES - 2)) |
	    _mm512_cmpgt_epu32_mask(y, one))
		return false;
	next = _mm512_mask_add_epi32(x, right, x, one);
	second = _mm512_test_epi32_mask(y, y);
	at = from + top * (size_t)planes.stride + left;
	for (int i = 0; i < 3; i++) {
		__m512 near = _mm512_loadu_ps(at), far = _mm512_loadu_ps(at + LANES);

		a[i] = _mm512_permutex2var_ps(near, x, far);
		b[i] = _mm512_permutex2var_ps(near, next, far);
		at += planes.stride;
	}
	/* two rows below, which the second next row of places needs first */
	__builtin_prefetch(at + planes.stride + LANES);
	a[0] = _mm512_mask_blend_ps(second, a[0], a[1]);	/* the upper row's */
	b[0] = _mm512_mask_blend_ps(second, b[0], b[1]);
	a[1] = _mm512_mask_blend_ps(second, a[1], a[2]);	/* the one's below it */
	b[1] = _mm512_mask_blend_ps(second, b[1], b[2]);
	_mm512_storeu_ps(to->a + first, a[0]);
	_mm512_storeu_ps(to->b + first, b[0]);
	_mm512_storeu_ps(to->c + first, _mm512_mask_blend_ps(down, a[0], a[1]));
	_mm512_storeu_ps(to->d + first, _mm512_mask_blend_ps(down, b[0], b[1]));
	return true;
}
#else
#define LANES AROUND_TILE

static inline bool
take_lanes(const struct around *around, const float *from, struct around_fours *to, int first)
{
	(void)around, (void)from, (void)to, (void)first;
	return false;
}
#endif

void
around_take_fours(const struct around *around, const float *from, struct around_fours *to, int n)
{
	for (int i = 0; i < n; i += LANES)
		if (i + LANES > n || !take_lanes(around, from, to, i))
			take_each(around, from, to, i, i + LANES < n ? i + LANES : n);
}

/* ---- 4x4 samples ---- */

void
around_take_quads(const struct around *around, const float *restrict from,
    float quad[restrict 4][AROUND_TILE][4], int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < 4; j++) {
			const float *row = from + around->at[i] + (j - 1) * around->down[i];
			float *to = quad[j][i];

			if (around->right[i])
				memcpy(to, row - 1, 4 * sizeof(*to));
			else
				to[0] = to[1] = to[2] = to[3] = *row;
		}
}
