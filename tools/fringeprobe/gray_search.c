/* Bits of planes. */
#include "gray_search.h"

#include <math.h>
#include <stdlib.h>

/* Brighter than the fringes' mean, or the middle of the range. */
int
gray_search_bits(struct gray_search *search, size_t i)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length;

	search->bit[i] = calloc(pixels, 1);
	if (!search->bit[i])
		return fail_memory();
	for (size_t p = 0; p < pixels; p++) {
		float mean = search->fringe ? search->fringe->mean[p] : field->mid[p];

		search->bit[i][p] = field->v[i][p] > (isnan(mean) ? field->mid[p] : mean);
	}
	return 0;
}

unsigned
gray_search_bit(const struct gray_search *search, const struct gray_code *code, size_t k, size_t p)
{
	const struct field *field = &search->sets->field[search->axis];
	unsigned bit = search->bit[code->plane[k]][p];

	if (code->inverses)
		bit = field->v[code->plane[k]][p] > field->v[code->inverse[k]][p];
	return bit ^ code->inverted[k];
}

unsigned
gray_search_value(const struct gray_search *search, const struct gray_code *code, size_t p)
{
	unsigned value = 0, last = 0;

	for (size_t k = 0; k < code->n; k++) {
		last ^= gray_search_bit(search, code, k, p);
		value = 2 * value + last;
	}
	return value;
}
