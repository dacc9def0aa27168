#include "gray_code.h"

#include <string.h>

#include "base/cpu_level.h"
#include "fringe_sums.h"
#include "phasewrap.px.h"

static void
add_bit(const float *restrict plane, const float *restrict threshold, uint *restrict value,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		value[x] = phasewrap_binary(value[x], phasewrap_bit(plane[x], threshold[x]));
}

static void
write_index(const uint *restrict value, float *restrict index, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		index[x] = px_float(value[x]);
}

/* The threshold between two flat images. */
static void
between(struct tile *restrict tile, const float *restrict white, const float *restrict black,
    size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tile->threshold[0][x] = tile->threshold[1][x] = (white[x] + black[x]) * 0.5f;
}

void
gray_code_decode(const struct frame *in, const struct capture_code *code, const float *threshold,
    size_t y, size_t x, size_t n, struct tile *tile, float *index)
{
	memset(tile->value, 0, sizeof(tile->value));
	for (size_t i = 0; i < code->n; i++) {
		tile_load(tile, in, code->plane[i], y, x, n, tile->plane);
		if (code->inverse)
			tile_load(tile, in, code->inverse[i], y, x, n, tile->inverse);
		add_bit(tile->plane, code->inverse ? tile->inverse : threshold, tile->value, n);
	}
	write_index(tile->value, index, n);
}

void
gray_code_read_flats(const struct capture_set *captures, const struct phasewrap_limits *limits,
    const struct frame *in, size_t y, size_t x, size_t n, struct tile *tile)
{
	tile_load(tile, in, captures->flat[0], y, x, n, tile->plane);
	tile_load(tile, in, captures->flat[captures->flats - 1], y, x, n, tile->inverse);
	between(tile, tile->plane, tile->inverse, n);
	if (captures->fringes == 0 && captures->flats == 2)
		fringe_sums_judge_flats(*limits, tile, tile->plane, tile->inverse, n);
}
