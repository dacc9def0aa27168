/* The loop over pixels, compiled for each instruction level. */
#include "skeleton.h"

#include "run/stage.h"
#include "skeleton.px.h"

static void
scale_row(const float *restrict in, float *restrict out, size_t w, float gain)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = skeleton_pixel(in[x], gain);
}

static void
scale(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct skeleton *skeleton = run->priv;

	(void)scratch;
	for (size_t y = y0; y < y1; y++)
		for (size_t c = 0; c < out->head.c; c++)
			scale_row(frame_floats(in, c, y), frame_floats(out, c, y), in->head.w,
			    skeleton->gain);
}

const struct skeleton_rows AT_LEVEL(skeleton_rows) = {
	.scale = scale,
};
