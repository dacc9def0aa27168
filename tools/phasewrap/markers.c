#include "markers.h"

void
markers_copy_row(const struct capture_set *captures, const struct frame *in, struct frame *out,
    size_t y)
{
	size_t first = out->head.c - captures->codes - captures->markers;

	for (size_t i = 0; i < captures->markers; i++) {
		float *to = frame_floats(out, first + i, y);

		for (size_t x = 0; x < in->head.w; x++)
			to[x] = frame_sample(in, captures->marker[i].plane, y, x);
	}
}
