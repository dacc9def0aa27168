/* What becomes of the standard deviations of what is filtered. */
#ifndef GAUSS_SIGMA_H
#define GAUSS_SIGMA_H

#include "gauss_jobs.h"

struct meta;

/* Is input channel c the sigma of something that is filtered? Then it gets the output's next
 * channel. -1 after fail() where it is filtered itself, or already was. */
int gauss_sigma_plan(struct gauss *, const struct frame_head *in, size_t c, const char *list,
    struct frame_head *out, bool *carried);
/* After all channels: finds the job of each; the key sigma_window_px, of the Gaussian's standard
 * deviation. -1 after fail(). */
int gauss_sigma_join(struct gauss *, double window_px, struct meta *out);
/* Of a thread's scratch memory, for frames of width w. */
size_t gauss_sigma_bytes(const struct gauss *, size_t w);
/* Rows y0 <= y < y1 of all sigmas; continues as in struct row_scratch. */
void gauss_sigma_rows(const struct gauss *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, void *memory, bool continues);

#endif
