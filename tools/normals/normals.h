/* What normals are made of, and the two ways: rows on the processor, a pass on the device. */
#ifndef NORMALS_H
#define NORMALS_H

#include "frame/frame.h"
#include "run/passthrough.h"

struct passes;
struct run;

/* What is planned for a frame. */
struct normals {
	struct passthrough passthrough;
	size_t channel[3];		/* x y z; of a depth map all the same */
	bool depth;
	float sign;			/* of what the products' sum is to be */
	float per_column, per_row;	/* depth map: 1 / distance of pixels */
	bool warned;
};

/* struct body's `rows` and `passes`. */
void normals_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);
int normals_passes(struct run *, struct passes *);

#endif
