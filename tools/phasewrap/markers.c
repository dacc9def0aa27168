#include "markers.h"

void
markers_copy_row(const struct phasewrap *wrap, const struct frame *in, struct frame *out, size_t y)
{
	const struct capture_set *captures = &wrap->captures;

	for (size_t i = 0; i < captures->markers; i++) {
		float *to = frame_floats(out, wrap->channels.marker + i, y);

		for (size_t x = 0; x < in->head.w; x++)
			to[x] = frame_sample(in, captures->marker[i].plane, y, x);
	}
}
