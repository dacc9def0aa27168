/* gauss on the processor. */
#ifndef GAUSS_ROWS_H
#define GAUSS_ROWS_H

#include "gauss_jobs.h"

struct row_scratch;
struct run;

/* Plans the tiles for frames of width w, after the jobs; returns struct run's scratch_bytes. */
size_t gauss_plan_tiles(struct gauss *, size_t w);
/* struct body's `rows`. */
void gauss_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);

#endif
