/* What median mends, and the two ways: rows on the processor, a pass on the device. */
#ifndef MEDIAN_H
#define MEDIAN_H

#include "frame/frame.h"

struct passes;
struct row_scratch;
struct run;

enum median_shape { SHAPE_AUTO, SHAPE_ROW, SHAPE_COLUMN, SHAPE_BOX };

/* What is planned for a frame. */
struct median {
	enum median_shape shape;
	size_t phase;			/* the channel that is mended, of the input */
	size_t *source;			/* the input channel of every output channel */
};

/* struct body's `rows` and `passes`. */
void median_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);
int median_passes(struct run *, struct passes *);

#endif
