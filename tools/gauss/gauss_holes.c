/*
 * Windows with missing pixels: a pixel counts only if its mirror image about the centre is there
 * too. Where few are missing, what their mirror images gave is taken off the sums again; else all
 * pairs are summed. GAUSS_LANES columns are corrected together.
 */
#include "gauss_holes.h"

#include "base/px.h"

/* A missing pixel: row of the window, column as in struct gauss_row. */
struct hole {
	uint32_t row, column;
};

struct sums {
	vector part[2], weight;
};

/* A row of the window from column `from` on, with its mirror image. */
INLINED void
add_mirrored(struct sums *sums, const struct gauss_row *above, const struct gauss_row *below,
    const float *kernel, float row_weight, size_t from, size_t radius, size_t i)
{
	struct sums row = { 0 };

	#pragma GCC unroll 11
	for (size_t x = from; x <= 2 * radius; x++) {
		size_t a = i + radius - x, b = i + x - radius;
		vector both = VECTOR_IN(above->valid + a) * VECTOR_IN(below->valid + b);

		both *= kernel[x < radius ? radius - x : x - radius];
		for (size_t p = 0; p < 2; p++)
			row.part[p] += both *
			    (VECTOR_IN(above->part[p] + a) + VECTOR_IN(below->part[p] + b));
		row.weight += both;
	}
	for (size_t p = 0; p < 2; p++)
		sums->part[p] += row_weight * row.part[p];
	sums->weight += 2 * row_weight * row.weight;
}

/* Every pixel of the window with its mirror image. */
INLINED void
sum_mirrored(size_t radius, struct gauss_window *window, size_t i)
{
	const float *kernel = window->gauss->kernel + GAUSS_EDGE;
	struct gauss_row *const *row = window->row + radius;
	size_t at = GAUSS_EDGE + i;
	struct sums sums = { { VECTOR_IN(row[0]->part[0] + at), VECTOR_IN(row[0]->part[1] + at) },
		VECTOR_IN(row[0]->valid + at) };

	add_mirrored(&sums, row[0], row[0], kernel, 1, radius + 1, radius, at);
	for (size_t k = 1; k <= radius; k++)
		add_mirrored(&sums, row[-(ptrdiff_t)k], row[k], kernel, kernel[k], 0, radius, at);
	VECTOR(window->sum[0] + i) = sums.part[0];
	VECTOR(window->sum[1] + i) = sums.part[1];
	VECTOR(window->weight + i) = sums.weight;
}

#if CPU_VECTOR_BYTES == 64
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#elif CPU_VECTOR_BYTES == 32
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#else
#define EVEN 0, 2, 4, 6
#endif

/* Of 2 WIDTH numbers those with even index. */
static vector
even(const float *v)
{
	return __builtin_shufflevector(VECTOR_IN(v), VECTOR_IN(v + WIDTH), EVEN);
}

/* The mirror images of n missing pixels do not count. */
static void
take_off(struct gauss_window *window, const struct hole *hole, size_t n, size_t i0)
{
	const float *kernel = window->gauss->kernel;

	for (size_t i = i0 + GAUSS_EDGE; i < i0 + GAUSS_EDGE + GAUSS_LANES; i += WIDTH) {
		vector all = VECTOR_IN(window->weight + i - GAUSS_EDGE);
		vector sum0 = VECTOR_IN(window->sum[0] + i - GAUSS_EDGE);
		vector sum1 = VECTOR_IN(window->sum[1] + i - GAUSS_EDGE);

		for (size_t k = 0; k < n; k++) {
			const struct gauss_row *mirror =
			    window->row[window->size - 1 - hole[k].row];
			size_t at = 2 * i - hole[k].column;
			vector w = kernel[GAUSS_EDGE + hole[k].row - window->gauss->radius] *
			    VECTOR_IN(kernel + GAUSS_EDGE + i - hole[k].column);

			sum0 -= w * even(mirror->part[0] + at);
			sum1 -= w * even(mirror->part[1] + at);
			all -= w * (even(mirror->valid + at) + 1);
		}
		VECTOR(window->sum[0] + i - GAUSS_EDGE) = sum0;
		VECTOR(window->sum[1] + i - GAUSS_EDGE) = sum1;
		VECTOR(window->weight + i - GAUSS_EDGE) = all;
	}
}

static uint64_t
two_columns(const uint32_t *missing)
{
	return missing[0] | (uint64_t)missing[1] << 32;
}

/* How many are missing in the windows of GAUSS_LANES columns from i0 on. */
static size_t
count_holes(const struct gauss_window *window, size_t i0)
{
	size_t first = GAUSS_EDGE + i0 - window->gauss->radius, n = 0;

	for (size_t k = 0; k <= (window->size - 1) / 32; k++)
		for (size_t i = 0; i < GAUSS_LANES + window->size - 1; i += 2)
			n += (size_t)__builtin_popcountll(
			    two_columns(window->missing[k] + first + i));
	return n;
}

static void
list_holes(const struct gauss_window *window, size_t i0, struct hole *hole)
{
	size_t first = GAUSS_EDGE + i0 - window->gauss->radius;

	for (uint k = 0; k <= (window->size - 1) / 32; k++)
		for (size_t i = first; i < first + GAUSS_LANES + window->size - 1; i += 2) {
			uint64_t bits = two_columns(window->missing[k] + i);

			for (; bits; bits &= bits - 1) {
				uint bit = (uint)__builtin_ctzll(bits);

				*hole++ = (struct hole){ 32 * k + bit % 32, (uint)i + bit / 32 };
			}
		}
}

static bool
any_there(const float *valid)
{
	uint any = 0;

	#pragma omp simd reduction(|:any)
	for (size_t i = 0; i < GAUSS_LANES; i++)
		any |= px_bits(valid[i]);
	return any;
}

void
gauss_holes_mend(struct gauss_window *window, size_t y)
{
	size_t radius = window->gauss->radius;
	bool cut = gauss_window_reach(y, window->in->head.h, radius) < radius;
	struct hole hole[GAUSS_FEW(GAUSS_SIZE_MOST)];

	for (size_t i = 0; i < window->n; i += GAUSS_LANES) {
		size_t n = count_holes(window, i);

		if (n == 0 || !any_there(window->row[radius]->valid + GAUSS_EDGE + i))
			continue;
		if (n > GAUSS_FEW(window->size) || cut || gauss_window_near_border(window, i)) {
			for (size_t k = i; k < i + GAUSS_LANES; k += WIDTH)
				BY_RADIUS(sum_mirrored, radius, window, k);
		} else {
			list_holes(window, i, hole);
			take_off(window, hole, n, i);
		}
	}
}
