/* The loops over pixels, compiled for each instruction level. */
#include "skeleton.h"

#include "run/stage.h"
#include "skeleton.block.h"
#include "skeleton.px.h"

#define DEFINE_CONVERT(name, c_type) \
static void \
name(const c_type *restrict from, float *restrict to, size_t w) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < w; x++) \
		to[x] = from[x]; \
}

DEFINE_CONVERT(convert_uchar, uint8_t)
DEFINE_CONVERT(convert_ushort, uint16_t)

/* Row y of a channel as floats: its own, or else converted ones in `room`. Every plane has its own
 * type and stride. */
static const float *
row_of_floats(const struct frame *in, size_t c, size_t y, float *room)
{
	const void *row = frame_row(in, c, y);

	if (in->plane[c].type == SAMPLE_FLOAT)
		return row;
	if (in->plane[c].type == SAMPLE_UCHAR)
		convert_uchar(row, room, in->head.w);
	else
		convert_ushort(row, room, in->head.w);
	return room;
}

static void
subtract_row(const float *restrict left, const float *restrict right, float *restrict out, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = skeleton_pixel(left[x], right[x]);
}

static void
subtract(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct skeleton_block *planned = run->priv;
	float *room[2] = { scratch->memory };

	room[1] = room[0] + frame_stride(in->head.w, SAMPLE_FLOAT) / sizeof(float);
	for (size_t y = y0; y < y1; y++)
		subtract_row(row_of_floats(in, planned->left, y, room[0]),
		    row_of_floats(in, planned->right, y, room[1]), frame_floats(out, 0, y),
		    in->head.w);
}

const struct skeleton_rows AT_LEVEL(skeleton_rows) = {
	.subtract = subtract,
};
