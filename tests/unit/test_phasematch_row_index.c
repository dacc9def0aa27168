/* phasematch's search for several values together finds the same brackets as that for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/px.h"
#include "../../tools/phasematch/phasematch.h"

#include <cmocka.h>

#define SIZE_MOST 700

static float
uniform(uint seed, uint i)
{
	return px_uniform(px_hash(px_hash(px_hash(seed) ^ i) ^ 13u));
}

/* A row that rises by `step` a pixel, with noise, jumps and holes; of whole quarters, so that
 * values are equal, where `coarse`. */
static void
fill(float *row, size_t w, uint seed, float step, float noise, bool coarse)
{
	float from = 3 * uniform(seed, 1);

	for (size_t x = 0; x < w; x++) {
		uint i = (uint)(4 * x);

		if (uniform(seed, i + 5) < 0.01f)
			from += 20 * (uniform(seed, i + 6) - 0.5f);
		row[x] = from + step * (float)x + noise * (uniform(seed, i + 7) - 0.5f);
		if (coarse)
			row[x] = px_floor(4 * row[x]) / 4;
		if (uniform(seed, i + 8) < 0.02f)
			row[x] = PX_NAN;
	}
}

static void
compare(const float *row, size_t w, const float *value, size_t n)
{
	void *memory = aligned_alloc(64, phasematch_rows()->row_index_bytes(w));
	struct row_index index;
	struct row_cursor one = { 0 }, several = { 0 };
	struct row_brackets brackets;
	size_t held = 0;

	assert_non_null(memory);
	phasematch_rows()->row_index_place(&index, memory, w);
	phasematch_rows()->row_index_build(&index, row, w, 3);
	for (size_t x = 0; x < n; x += ROW_BRACKETS) {
		size_t part = n - x < ROW_BRACKETS ? n - x : ROW_BRACKETS;

		phasematch_rows()->row_index_find_all(&index, &several, value + x, part, &brackets);
		for (size_t i = 0; i < part; i++) {
			bool is = !px_isnan(value[x + i]) &&
			    row_index_find(&index, &one, value[x + i]);

			assert_int_equal(brackets.pixel[i], is ? (int)one.pixel : -1);
			if (!is)
				continue;
			assert_true(px_bits(brackets.from[i]) == px_bits(row[one.pixel]));
			assert_true(px_bits(brackets.to[i]) == px_bits(row[one.pixel + 1]));
			held++;
		}
	}
	if (w > 600)
		assert_true(held > 0);
	free(memory);
}

static void
rows_of_all_kinds(void **state)
{
	static const size_t widths[] = { 1, 2, 3, 22, 23, 24, 40, 255, 256, 257, 511, 650 };
	static const float steps[] = { 0.2f, 0.5f, 1, 2.5f };
	float row[SIZE_MOST], value[SIZE_MOST];

	(void)state;
	for (uint seed = 0; seed < 20; seed++)
		for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++)
			for (size_t s = 0; s < 4; s++) {
				bool coarse = seed % 4 == 3;
				float noise = seed % 3 == 2 ? 0.6f : 0.05f;

				fill(row, widths[k], seed, steps[s], noise, coarse);
				fill(value, widths[k] + seed, seed + 100, steps[s] * (0.6f +
				    0.04f * (float)seed), noise, coarse);
				compare(row, widths[k], value, widths[k] + seed);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_of_all_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
