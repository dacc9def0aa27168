/* The loops over pixels, compiled for each instruction level. */
#include "skeleton.h"

#include "base/px.h"

static void
add_row(const float *restrict value, float *restrict sum, float *restrict count, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		sum[x] += px_select(px_isnan(value[x]), 0.0f, value[x]);
		count[x] += px_select(px_isnan(value[x]), 0.0f, 1.0f);
	}
}

static void
divide_row(float *restrict sum, const float *restrict count, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		sum[x] = px_select(count[x] > 0.0f, sum[x] / count[x], PX_NAN);
}

const struct skeleton_rows AT_LEVEL(skeleton_rows) = {
	.add = add_row,
	.divide = divide_row,
};
